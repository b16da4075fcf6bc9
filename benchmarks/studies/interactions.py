"""Features that matter only together: what is found, and how often by chance.

    python -m benchmarks.studies.interactions [data sets] [first seed] [cell ...]

Per cell (a design at a size): share of true features found / FDR, with standard errors over data
sets, at levels 0.1 and 0.3, single features tested; the same of pairs; and how often p-values of
the statistic of false features are up to 0.05 and 0.01. At last how often a feature is found whose
effect has the sign of a treatment (n=200, p=1000), as a feature and as a pair with the treatment,
which is the only partner or one of all. Two processes.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence

import numpy as np
from joblib import Parallel, delayed

from smrmr import Recipe, select, simulate
from smrmr.conditional.rules import BenjaminiHochberg

from ..experiments.run import seed_of

LEVELS = (0.1, 0.3)
CELLS = (
    ("products", 100, 100),
    ("products", 200, 600),
    ("xor", 100, 100),
    ("xor", 200, 600),
    ("xor classes", 100, 100),
    ("lines and product", 100, 100),
    ("lines and product", 200, 600),
    ("interactions", 500, 500),
    ("null", 100, 100),
    ("null", 200, 600),
    ("1.d", 100, 100),
    ("equicorrelated", 100, 100),
    ("genotypes", 100, 100),
    ("blocks", 100, 100),
    ("curved", 200, 100),
)
TRUE_PAIRS = {
    "products": [(0, 10), (20, 30)],
    "xor": [(0, 10)],
    "xor classes": [(0, 10)],
    "lines and product": [(20, 30)],
    "interactions": [(k, k + 10) for k in range(0, 100, 20)],
}


def outcome(design: str, n: int, p: int, seed: int) -> list[float]:
    """TPR and FDP of features and of pairs, level by level, and shares of small p-values."""
    stream = np.random.default_rng(seed_of(f"together {design} {n} {p}", seed))
    data = simulate(design, n, p, random_state=stream)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = select(data.X, data.y, Recipe(target=data.target, alike=None, n_jobs=1))
    told = []
    for level in LEVELS:
        told += _rates(found.at(level).selected.tolist(), data.support.tolist())
    pairs, true = found.evidence.pairs, TRUE_PAIRS.get(design, [])
    q = pairs.q_values(BenjaminiHochberg())
    for level in LEVELS:
        named = [tuple(sorted(pair)) for pair in pairs.features[q <= level].tolist()]
        told += _rates(named, true)
    false = np.setdiff1d(np.arange(p), data.support)
    return told + [
        float(np.mean(found.evidence.p_of_interaction[false] <= a)) for a in (0.05, 0.01)
    ]


def _rates(named: Sequence[object], true: Sequence[object]) -> list[float]:
    hits = sum(one in true for one in named)
    return [hits / max(1, len(true)), (len(named) - hits) / max(1, len(named))]


def modified(partners: str, seed: int) -> tuple[bool, bool]:
    """Whether the feature is found whose effect has the sign of the treatment, and their pair."""
    rng = np.random.default_rng(seed_of("effect modification", seed))
    X, treated = rng.normal(size=(200, 1000)), rng.integers(0, 2, 200)
    y = X[:, 5] * (2 * treated - 1) + treated / 2 + rng.normal(size=200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        recipe = Recipe(partners=partners, alike=None, n_jobs=1)
        found = select(X, y, recipe, covariates={"treatment": treated})
    pairs = found.findings("pairs")
    named = (pairs["feature"] == "x5") & (pairs["partner"] == "treatment")
    return 5 in found.selected, bool(named.any())


def main(n_sets: int = 50, first: int = 0, cells: Sequence[str] = ()) -> None:
    """Print the table, a row per cell."""
    titles = [f"{what} at {a}" for what in ("features", "pairs") for a in LEVELS]
    print(f"{n_sets} data sets from seed {first}\n")
    print(f"| design | n, p | {' | '.join(titles)} | p <= .05 | p <= .01 |\n|" + "---|" * 8)
    for design, n, p in CELLS:
        if cells and f"{design} {n} {p}" not in cells and design not in cells:
            continue
        seeds = range(first, first + n_sets)
        drawn = Parallel(n_jobs=2)(delayed(outcome)(design, n, p, seed) for seed in seeds)
        table = np.array(drawn)
        mean, error = table.mean(axis=0), table.std(axis=0, ddof=1) / np.sqrt(n_sets)
        rates = [f"{mean[i]:.2f} / {mean[i + 1]:.2f} ({error[i + 1]:.2f})" for i in range(0, 8, 2)]
        small = [f"{mean[i]:.4f} ({error[i]:.4f})" for i in (8, 9)]
        print(f"| {design} | {n}, {p} | {' | '.join([*rates, *small])} |", flush=True)
    for partners in ("treatment", "all") if not cells else ():
        drawn = Parallel(n_jobs=2)(delayed(modified)(partners, seed) for seed in range(n_sets))
        as_feature, as_pair = np.mean(drawn, axis=0)
        print(f"effect modification, partners={partners}: {as_feature:.2f}, pair {as_pair:.2f}")


if __name__ == "__main__":
    numbers = [int(one) for one in sys.argv[1:3]]
    main(*numbers, cells=sys.argv[3:])
