"""Prints what the default answers on data made to mislead, `benchmarks.adversary`.

    python -m benchmarks.studies.adversary [data sets] [first seed] [case ...]

Per case at level 0.1, with standard errors over data sets: the FDR; the share of data sets with a
false finding; the share whose answer warns in its first line, and in a Python warning; the share
refused; and the FDR of what is left, answers that are neither refused nor warned of. Two processes.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np
from joblib import Parallel, delayed

from smrmr import Recipe, select
from smrmr.problems import Problem
from smrmr.report.statement import doubts

from ..adversary import CASES
from ..experiments.run import seed_of

LEVEL = 0.1
CAUTION = "conservative"  # a doubt that says p-values are too large warns of no false feature


@dataclass(frozen=True)
class Outcome:
    """What became of one data set: shares and, as 0 or 1, claims."""

    fdp: float
    any_false: bool
    in_first_line: bool
    in_warning: bool
    refused: bool

    @property
    def silent_fdp(self) -> float:
        """False findings that nobody was warned of, as a share of all."""
        return 0.0 if self.in_first_line or self.refused else self.fdp


def judged(name: str, seed: int) -> Outcome:
    """Draw a case and judge the answer of the default, with tests of single features."""
    case = CASES[name](np.random.default_rng(seed_of(f"adversary {name}", seed)))
    recipe = Recipe(fdr=LEVEL, target=case.target, alike=None, n_jobs=1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = select(case.X, case.y, recipe, **case.given)
        except Problem:
            return Outcome(0.0, False, False, False, refused=True)
    n_false = int((~np.isin(found.selected, case.support)).sum())
    return Outcome(
        fdp=n_false / max(1, len(found.selected)),
        any_false=n_false > 0,
        in_first_line=any(CAUTION not in doubt for doubt in doubts(found)),
        in_warning=any(issubclass(one.category, UserWarning) for one in caught),
        refused=False,
    )


def outcomes(name: str, seeds: Sequence[int], jobs: int = 2) -> list[Outcome]:
    """One outcome per data set of a case."""
    return list(Parallel(n_jobs=jobs)(delayed(judged)(name, seed) for seed in seeds))


def main(n_sets: int = 50, first: int = 0, names: Sequence[str] = ()) -> None:
    """Print the table, a row per case."""
    print("| case | FDR | any false | first line | Python warning | refused | silent FDR |")
    print("|---|---|---|---|---|---|---|")
    for name in names or CASES:
        found = outcomes(name, range(first, first + n_sets))
        rows = np.array([(*astuple(one), one.silent_fdp) for one in found], dtype=float)
        errors = rows.std(axis=0, ddof=1) / np.sqrt(n_sets)
        fdr, *shares, silent = rows.mean(axis=0)
        told = [f"{fdr:.2f} ({errors[0]:.2f})", *(f"{share:.2f}" for share in shares)]
        print(f"| {name} | {' | '.join(told)} | {silent:.2f} ({errors[-1]:.2f}) |", flush=True)


if __name__ == "__main__":
    n_sets, first = (int(one) for one in [*sys.argv[1:3], *("50", "0")[len(sys.argv[1:3]) :]])
    main(n_sets, first, sys.argv[3:])
