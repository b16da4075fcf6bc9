"""Makes the example table that ships with the package: simulated, so the truth is known.

python tools/make_example.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.random import Generator

TABLE = Path(__file__).parents[1] / "src" / "smrmr" / "example_table.csv"
N_PATIENTS, N_GENES = 120, 150


def make_table() -> pd.DataFrame:
    """Outcomes, age, plate and the logarithms of how strongly 150 genes are expressed."""
    rng = np.random.default_rng(1)
    age = rng.integers(35, 80, N_PATIENTS)
    plate = np.arange(N_PATIENTS) % 4
    z = standard_scores(age, plate, rng)
    outcomes = pd.DataFrame(
        {
            "response": response(z, rng),
            "disease": disease(z, rng),
            **survival(z, rng),
            "toxicity": toxicity(z, age, plate, rng),
            "age": age,
            "plate": [f"plate{number + 1}" for number in plate],
        }
    )
    level, spread = rng.uniform(4, 9, N_GENES), rng.uniform(0.5, 0.9, N_GENES)
    genes = pd.DataFrame((level + spread * z).round(2)).set_axis(names(N_GENES), axis=1)
    return pd.concat([outcomes, genes], axis=1)


def names(n_genes: int) -> list[str]:
    return [f"gene{number:03d}" for number in range(1, n_genes + 1)]


def standard_scores(age: np.ndarray, plate: np.ndarray, rng: Generator) -> np.ndarray:
    """Genes of which neighbours correlate by 0.4.

    Genes 41 to 44 are hard to tell apart, 120 goes with age, 140 with the plate it was read on.
    """
    z = rng.standard_normal((N_PATIENTS, N_GENES))
    for k in range(1, N_GENES):
        z[:, k] = 0.4 * z[:, k - 1] + np.sqrt(1 - 0.4**2) * z[:, k]
    for k in (41, 42, 43):
        z[:, k] = 0.95 * z[:, 40] + np.sqrt(1 - 0.95**2) * rng.standard_normal(N_PATIENTS)
    z[:, 119] = 0.5 * z[:, 119] + (age - 57) / 15
    z[:, 139] = 0.5 * z[:, 139] + 0.8 * (plate - 1.5)
    return z


def response(z: np.ndarray, rng: Generator) -> np.ndarray:
    """Response to a drug: a rise, a fall, a U, a threshold, and one gene among look-alikes."""
    lines = 2 * z[:, 9] + 2 * z[:, 40] - 2 * z[:, 59]
    signal = lines + 3 * np.abs(z[:, 29]) + 4 * (z[:, 79] > 0.5)
    return np.asarray(50 + signal + rng.standard_normal(N_PATIENTS)).round(1)


def disease(z: np.ndarray, rng: Generator) -> np.ndarray:
    """Who is ill: more often with much of genes 20 and 70 and with little of gene 100."""
    odds = 3 * (z[:, 19] + z[:, 69] - z[:, 99])
    return np.where(rng.logistic(size=N_PATIENTS) < odds, "ill", "well")


def survival(z: np.ndarray, rng: Generator) -> dict[str, np.ndarray]:
    """Months to death or the end of the study: genes 15 and 85 raise the risk, 55 lowers it."""
    months = 30 * rng.exponential(np.exp(-1.2 * (z[:, 14] + z[:, 84] - z[:, 54])))
    ended = rng.uniform(24, 90, N_PATIENTS)
    return {
        "months": np.minimum(months, ended).clip(0.1).round(1),
        "died": (months <= ended).astype(int),
    }


def toxicity(z: np.ndarray, age: np.ndarray, plate: np.ndarray, rng: Generator) -> np.ndarray:
    """Rises with age, is read higher on some plates, and follows genes 25, 75 and 110."""
    signal = 1.5 * (z[:, 24] + z[:, 74] - z[:, 109]) + (age - 57) / 10 + 1.5 * (plate - 1.5)
    return np.asarray(20 + signal + rng.standard_normal(N_PATIENTS)).round(1)


if __name__ == "__main__":
    make_table().to_csv(TABLE, index=False)
    print(f"{TABLE.name}: {TABLE.stat().st_size:,} bytes")
