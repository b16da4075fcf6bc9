"""How well `check` and `plan` predict: power of designs, attained FDR, time, and real tables.

    python -m benchmarks.studies.table_check power [tables]
    python -m benchmarks.studies.table_check plan [pilots]
    python -m benchmarks.studies.table_check coverage [runs] [design ...]
    python -m benchmarks.studies.table_check time
    SMRMR_DATA=/data python -m benchmarks.studies.table_check real [fits] [table ...]

power: eight designs as users' tables; `check` plants as many effects of the form and strength that
the design has, on the features that are true in it, and its power is held against the share of true
features found in stored rows of the yardstick (level 0.1, tests of single features). plan: the same
from pilots of half the rows, on features drawn at random.
coverage: how often the intervals of the attained FDR, and of the share of shuffled targets with a
finding, hold the rate that all runs together give; 60 fits per run. time: a check of 60 fits at
100 x 2,000. real: checks of real tables, as sentences. Two processes.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from smrmr import Recipe, check, plan, simulate
from smrmr.power.rates import Rate
from smrmr.types import Vector

from ..data.datasets import load
from ..experiments.run import seed_of
from ..stores import newest, open_store
from .credible_sets import lct

LEVEL = 0.1
NO_STOP = 1e-6  # precision that is never reached


@dataclass(frozen=True)
class Case:
    """A design at a size, and its effects as `check` plants them."""

    design: str
    n: int
    p: int
    form: str
    strength: float
    n_effects: int


# shares of variance by the definition of each design; e is the odds ratio of a slope of 1
CASES = (
    Case("weak", 200, 200, "line", 1 / 19, 10),
    Case("logistic", 200, 200, "line", np.e, 10),
    Case("even", 100, 500, "bend", (1 - 2 / np.pi) / (10 * (1 - 2 / np.pi) + 0.25), 10),
    Case("3.b", 100, 100, "line", 0.1, 10),
    Case("3.c", 100, 100, "line", 0.1, 10),
    Case("products", 100, 100, "pair", 1 / 3, 2),
    Case("blocks", 200, 600, "line", 1 / 11, 10),
    Case("genotypes", 100, 100, "line", 0.08, 10),
)
DESIGNS = ("weak", "genotypes", "curved")  # whose intervals are asked about
TABLES = ("TOX_171", "alon", "cells", "LCT")


def known_power(case: Case) -> tuple[float, float]:
    """Share of true features found in the stored rows, and its standard error."""
    rows = newest(open_store(Path("results"), "yardstick").frame())
    mine = rows[(rows["design"] == case.design) & (rows["n"] == case.n) & (rows["p"] == case.p)]
    tpr = mine.loc[(mine["method"] == "smrmr") & (mine["level"] == LEVEL), "tpr"].dropna()
    return float(tpr.mean()), float(tpr.sem())


def _how(case: Case, target: str) -> dict[str, object]:
    recipe = Recipe(fdr=LEVEL, target=target, alike=None, n_jobs=1)
    effects = {"forms": case.form, "strengths": case.strength, "n_effects": case.n_effects}
    return {"recipe": recipe, "precision": NO_STOP, **effects}


def checked(case: Case, seed: int, n_fits: int) -> float:
    """Power that a check of one table of a design predicts, in the layer of single features."""
    data = simulate(case.design, case.n, case.p, random_state=_seed(case, seed))
    how = _how(case, data.target) | {"plant_on": data.support.tolist()}
    found = check(data.X, data.y, rng=seed, n_fits=n_fits, **how)
    return found.power(1, "own").mean


def planned(case: Case, seed: int, n_fits: int) -> float:
    """Power at the size of a design that a plan predicts from a pilot of half the rows."""
    data = simulate(case.design, case.n // 2, case.p, random_state=_seed(case, seed))
    how = _how(case, data.target)
    found = plan(data.X, data.y, rng=seed, n_rows=case.n, n_fits=n_fits, **how)
    return found.power(0, "own").mean


def _seed(case: Case, seed: int) -> np.random.Generator:
    return np.random.default_rng(seed_of(f"table check {case.design}", seed))


def _quiet(predict: Callable[[Case, int, int], float], *about: Any) -> float:
    """Without warnings of tables, such as of rare alleles."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return predict(*about)


def compare(what: str, n_tables: int, n_fits: int) -> None:
    """Print predicted and known power, a row per design."""
    predict = checked if what == "check" else planned
    print(f"| design | n, p | known | {what} | difference |\n|---|---|---|---|---|")
    for case in CASES:
        found = np.array(
            Parallel(n_jobs=2)(
                delayed(_quiet)(predict, case, seed, n_fits) for seed in range(n_tables)
            )
        )
        known, error = known_power(case)
        mine = found.std(ddof=1) / np.sqrt(n_tables) if n_tables > 1 else np.nan
        told = f"{known:.2f} ({error:.2f}) | {found.mean():.2f} ({mine:.2f})"
        difference = found.mean() - known
        print(f"| {case.design} | {case.n}, {case.p} | {told} | {difference:+.2f} |", flush=True)


def _rates(name: str, seed: int) -> tuple[Rate, Rate]:
    data = simulate(name, 100, 100, random_state=_seed(Case(name, 100, 100, "", 0, 0), 0))
    recipe = Recipe(fdr=LEVEL, target=data.target, n_jobs=1)
    found = check(data.X, data.y, recipe, rng=1000 + seed, precision=NO_STOP)
    return found.attained_fdr(), found.any_false()


def coverage(n_runs: int, designs: tuple[str, ...]) -> None:
    """Print how often intervals hold the mean over all runs, a row per table and rate."""
    print("| table | rate | mean | half length | covered |\n|---|---|---|---|---|")
    for name in designs:
        runs = Parallel(n_jobs=2)(delayed(_rates)(name, seed) for seed in range(n_runs))
        for title, rates in zip(("FDR", "any false"), zip(*runs, strict=True), strict=True):
            truth = float(np.mean([rate.mean for rate in rates]))
            held = [rate.low <= truth <= rate.high for rate in rates]
            half = np.mean([rate.half_width for rate in rates])
            told = f"{truth:.3f} | {half:.3f} | {sum(held)} of {n_runs}"
            print(f"| {name} | {title} | {told} |", flush=True)


def timed() -> None:
    """Print how long a check of 60 fits takes at 100 x 2,000, on two processes."""
    data = simulate("weak", 100, 2000, random_state=0)
    start = perf_counter()
    found = check(data.X, data.y, Recipe(n_jobs=2), precision=NO_STOP)
    print(f"{found.n_fits} fits at 100 x 2,000: {perf_counter() - start:.0f} s")


def real(n_fits: int, names: tuple[str, ...]) -> None:
    """Print the check of real tables in sentences."""
    for name in names:
        X, y, target = _real_table(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            recipe = Recipe(fdr=LEVEL, target=target, n_jobs=2)
            found = check(X, y, recipe, n_fits=n_fits)
        print(f"\n## {name}: {X.shape[0]} x {X.shape[1]:,}\n\n{found}\n", flush=True)
        print(found.levels().round(3).to_string(index=False))
        print(found.to_frame().round(3).to_string(index=False), flush=True)


def _real_table(name: str) -> tuple[np.ndarray, Vector, str]:
    """Features and target; of genotypes without a phenotype a number drawn at random."""
    if name == "LCT":
        X = lct()
        if X is None:
            raise FileNotFoundError("LCT.bed is not at hand: name its folder in SMRMR_DATA.")
        return X.T, np.random.default_rng(0).standard_normal(X.shape[1]), "continuous"
    data = load(name)
    labels = np.asarray(data.y).astype(str) if data.target == "classes" else data.y
    return data.X, labels, data.target


def main() -> None:
    """Do what the first argument names."""
    what, *rest = sys.argv[1:] or ["power"]
    if what == "power":
        compare("check", int(rest[0]) if rest else 10, 12)
    elif what == "plan":
        compare("plan", int(rest[0]) if rest else 10, 6)
    elif what == "coverage":
        coverage(int(rest[0]) if rest else 40, tuple(rest[1:]) or DESIGNS)
    elif what == "time":
        timed()
    else:
        real(int(rest[0]) if rest else 60, tuple(rest[1:]) or TABLES)


if __name__ == "__main__":
    main()
