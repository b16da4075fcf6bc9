"""Each piece's own contribution: the default with one thing changed at a time.

    python -m benchmarks.studies.pieces [data sets] [first seed] [n] [p] [design ...]

Per design and variant: share of true features found / false discovery rate, each with its standard
error over data sets, at levels 0.1 and 0.3; all variants see the same data. A variant is a line of
`VARIANTS`: a control, and constants of modules to set while it runs. Two processes.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np
from joblib import Parallel, delayed

from smrmr import Recipe, select, simulate

from ..experiments.run import seed_of

LEVELS = (0.1, 0.3)
TESTS = "smrmr.conditional"
DESIGNS = ("1.d", "2.a", "3.b", "3.c", "heavy", "equicorrelated", "even", "mixed", "weak",
           "logistic")  # fmt: skip


@dataclass(frozen=True)
class Variant:
    """The tests as text, and values that names such as "smrmr.conditional.combine.X" get."""

    control: str = "tests"
    constants: dict[str, Any] = field(default_factory=dict)


VARIANTS: dict[str, Variant] = {
    "default": Variant(),
    "linear statistic alone": Variant("tests(statistics=linear)"),
    "LASSO alone": Variant("tests(distillers=lasso)"),
    "ridge alone": Variant("tests(distillers=ridge)"),
    "blend alone": Variant("tests(distillers=blend)"),
    "without logistic regression": Variant("tests(distillers=[blend, ridge])"),
    "residuals not checked": Variant("tests(check_residuals=false)"),
    "neighbours in full": Variant(constants={f"{TESTS}.residuals.IN_FULL": 0.0}),
    "without components": Variant(constants={f"{TESTS}.components.BEYOND_NOISE": 1e6}),
    "weights whatever the fit": Variant(constants={f"{TESTS}.combine.LESS_IF_LINEAR": 0.0}),
    "fits without a clear gain": Variant(constants={f"{TESTS}.distillers.LEAST_ERRORS": 0.0}),
    "ranks lose all dimensions": Variant(
        constants={f"{TESTS}.statistics.dependence.LINEAR_PART": 1.0}
    ),
}


def rates(design: str, variant: str, n: int, p: int, seed: int) -> list[float]:
    """Share of true features found and of false findings, level by level, on one data set."""
    data = simulate(
        design, n, p, random_state=np.random.default_rng(seed_of(f"pieces {design} {n} {p}", seed))
    )
    chosen = VARIANTS[variant]
    with ExitStack() as changed, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, value in chosen.constants.items():
            changed.enter_context(patch(name, value))
        recipe = Recipe(control=chosen.control, target=data.target, alike=None, n_jobs=1)
        found = select(data.X, data.y, recipe)
    told = []
    for level in LEVELS:
        selected = found.at(level).selected
        hits = int(np.isin(selected, data.support).sum())
        told += [hits / max(1, len(data.support)), (len(selected) - hits) / max(1, len(selected))]
    return told


def main(
    n_sets: int = 10, first: int = 0, n: int = 100, p: int = 100, designs: Sequence[str] = ()
) -> None:
    """Print the table, a row per design and variant."""
    print(f"n={n}, p={p}, {n_sets} data sets from seed {first}\n")
    titles = [f"{what} at {level}" for level in LEVELS for what in ("TPR", "FDR")]
    print(f"| design | variant | {' | '.join(titles)} |\n|" + "---|" * (2 + len(titles)))
    for design in designs or DESIGNS:
        for variant in VARIANTS:
            calls = (
                delayed(rates)(design, variant, n, p, seed) for seed in range(first, first + n_sets)
            )
            found = np.array(Parallel(n_jobs=2)(calls))
            errors = found.std(axis=0, ddof=1) / np.sqrt(n_sets)
            told = [f"{m:.2f} ({e:.2f})" for m, e in zip(found.mean(axis=0), errors, strict=True)]
            print(f"| {design} | {variant} | {' | '.join(told)} |", flush=True)


if __name__ == "__main__":
    numbers = [int(one) for one in sys.argv[1:5]]
    main(*numbers, designs=sys.argv[5:])
