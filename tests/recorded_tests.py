"""Answers of the default method, recorded before its parts became strategies.

``python tests/recorded_tests.py`` records them again, with the code as it is: do so only when an
answer is meant to change, and say why in the commit. With ``compare`` it prints how far they are.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse

from recorded import drawn, of_three_levels, of_two_outputs, with_copies
from smrmr import Recipe, select, simulate
from smrmr.data import open_columns

STORED = Path(__file__).parent / "reference" / "tests.json"
DEFAULT = Recipe(fdr=0.1)


def numbers(folder):
    return drawn("2.c", 100, 100, 31)


def two_classes(folder):
    return drawn("3.b", 120, 100, 32)


def five_classes(folder):
    X, y = drawn("1.a", 150, 100, 33)
    return X, np.array(list("abcde"))[np.digitize(y, np.quantile(y, [0.1, 0.3, 0.5, 0.7]))]


def stages(folder):
    X, y = drawn("1.d", 120, 100, 34)
    return X, np.digitize(y, np.quantile(y, [0.2, 0.5, 0.8]))


def survival(folder):
    X, y = drawn("1.a", 150, 100, 35)
    rng = np.random.default_rng(35)
    time = rng.exponential(np.exp(-y / 4))
    censored = rng.exponential(2, 150)
    happened = time <= censored
    return X, pd.DataFrame({"event": happened, "time": np.minimum(time, censored)})


def confounded(folder):
    X, y = drawn("1.d", 120, 100, 36)
    rng = np.random.default_rng(36)
    age, plate = rng.normal(size=120), rng.integers(3, size=120)
    X = X + 0.8 * age[:, None] * (np.arange(100) % 3 == 0)
    covariates = pd.DataFrame({"age": age, "plate": pd.Categorical(plate)})
    return X, y + age**2 + plate, {"covariates": covariates}


def _of_donors(X, y, rng):
    donors = np.repeat(np.arange(40), 4)
    return X, y + 2 * rng.normal(size=40)[donors], donors


def within_donors(folder):
    X, y, donors = _of_donors(*drawn("1.d", 160, 100, 37), np.random.default_rng(37))
    return X + donors[:, None] % 5, y, {"groups": donors}


def means_of_donors(folder):
    data = simulate("1.a", 60, 100, random_state=38)
    donors = np.repeat(np.arange(60), 3)
    X = data.X[donors] + np.random.default_rng(38).normal(size=(180, 100))
    return X, data.y[donors], {"groups": donors}


def blocks(folder):
    data = simulate("blocks", 120, 100, random_state=39)
    return data.X, data.y


def categories(folder):
    X, y = drawn("1.d", 150, 100, 40)
    frame = pd.DataFrame(X).add_prefix("g")
    frame["g3"] = pd.Categorical(np.where(frame["g3"] > 0, "a", "b"))
    tissue = np.digitize(X[:, 10], [-0.5, 0.5])
    frame["tissue"] = pd.Categorical(np.array(["liver", "lung", "skin"])[tissue])
    return frame, y


def sparse(folder):
    rng = np.random.default_rng(41)
    X = scipy.sparse.csr_matrix(rng.poisson(0.4, (150, 60)).astype(float))
    dense = X.toarray()
    return X, dense[:, 0] + dense[:, 5] - dense[:, 9] + 0.5 * rng.normal(size=150)


def more_columns(folder):
    return drawn("1.a", 80, 1300, 42)


def many_rows(folder):
    X, y = drawn("1.a", 12_000, 20, 43)
    return X, y + X[:, 9] ** 2


def skewed(folder):
    X, y = drawn("1.d", 120, 100, 44)
    return np.exp(1.5 * X), y


def of_columns_on_disk(folder):
    X, y = drawn("1.d", 120, 110, 45)
    np.save(folder / "columns.npy", X)
    return open_columns(folder / "columns.npy"), y


CASES = {
    "numbers": (numbers, DEFAULT),
    "two classes": (two_classes, DEFAULT),
    "five classes": (five_classes, DEFAULT),
    "outputs": (of_two_outputs, DEFAULT),
    "stages": (stages, Recipe(fdr=0.1, target="ordinal")),
    "survival": (survival, Recipe(fdr=0.1, target="survival")),
    "covariates": (confounded, DEFAULT),
    "within groups": (within_donors, DEFAULT),
    "means of groups": (means_of_donors, DEFAULT),
    "copies": (with_copies, DEFAULT),
    "look-alikes": (blocks, DEFAULT),
    "given groups": (blocks, Recipe(fdr=0.1, alike=1, feature_groups=np.arange(100) // 4)),
    "categories": (categories, Recipe(fdr=0.1, target="continuous")),
    "ties": (of_three_levels, DEFAULT),
    "sparse": (sparse, DEFAULT),
    "more columns": (more_columns, DEFAULT),
    "many rows": (many_rows, DEFAULT),
    "skewed": (skewed, DEFAULT),
    "source": (of_columns_on_disk, DEFAULT),
    "kept": (numbers, Recipe(fdr=0.1, always_keep=["x0"], alike=None)),
    "holm": (two_classes, Recipe(fdr=0.1, control="tests(rule=holm)")),
    "hsic": (
        numbers,
        Recipe(
            fdr=0.1,
            control="tests(statistics=[hsic, linear, spread, absolute], check_residuals=false)",
        ),
    ),
}


def computed(name, folder):
    """What the code finds now, in the form in which it is stored."""
    data, recipe = CASES[name]
    X, y, *study = data(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of targets read as classes, and of large groups
        found = select(X, y, recipe, **(study[0] if study else {}))
    return {
        "selected": [sorted(group.tolist()) for group in found.members],
        "p": found.evidence.p_of_hypotheses.tolist(),
        "alone": found.alone.p.tolist(),
        "q": found.q_values.tolist(),
    }


if __name__ == "__main__":
    import sys
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        found = {case: computed(case, Path(name)) for case in CASES}
    if sys.argv[1:] == ["compare"]:
        stored = json.loads(STORED.read_text())
        for case in CASES:
            apart = [
                np.subtract(found[case][key], stored[case][key]) for key in ("p", "alone", "q")
            ]
            same = found[case]["selected"] == stored[case]["selected"]
            print(f"{case:<16} {np.abs(np.concatenate(apart)).max():.1e} selected the same: {same}")
    else:
        STORED.write_text(json.dumps(found, indent=0) + "\n")
