"""Selections that a report must look well for, each made in about a second.

    PYTHONPATH=src:tests python -m report_cases FOLDER [CASE ...]

writes their reports into a folder.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from recipes import recipe
from smrmr import Recipe, Selection, select, simulate
from smrmr.power.account import TableCheck
from smrmr.report import write_report
from smrmr.trials.effects import STRENGTHS
from trials_by_hand import ALARM, CLEAN, made

CELL_TYPES = (
    "CD4+/CD45RA+/CD25- Naive T",
    "CD8+/CD45RA+ Naive Cytotoxic",
    "CD14+ Monocyte",
    "CD19+ B",
    "CD34+",
    "CD4+/CD25 T Reg",
    "CD4+/CD45RO+ Memory",
    "CD56+ NK",
    "CD8+ Cytotoxic T",
    "Dendritic",
)
KINDS = ("well", "ill")
LEVEL = 0.3  # of the reports whose pictures are kept


def named(found: Selection, target: str, file: str = "cohort.csv") -> Selection:
    """A selection as the command line makes it: of a column of a file."""
    return replace(found, source={"target column": target, file: "a1" * 32}, seconds={})


def genes(n: int, p: int, seed: int = 0) -> tuple[pd.DataFrame, np.random.Generator]:
    """Independent columns with names as genes have them, and what else is drawn."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.normal(size=(n, p)), columns=[f"GENE{k}" for k in range(1, p + 1)]), rng


def numbers() -> Selection:
    """A number that rises, falls, bends and spreads with a few genes."""
    X, rng = genes(200, 60)
    total = 2 * X["GENE1"] - 2 * X["GENE2"] + 2 * np.abs(X["GENE3"]) + rng.normal(size=200)
    return named(select(X, total, Recipe(LEVEL)), "blood pressure")


def two_classes() -> Selection:
    X, rng = genes(160, 60)
    total = X["GENE1"] - X["GENE2"] + X["GENE3"] + 0.5 * rng.normal(size=160)
    return named(select(X, np.where(total > 0, *KINDS), Recipe(LEVEL)), "diagnosis")


def ten_classes() -> Selection:
    """Long labels, in another order than the alphabet's."""
    X, rng = genes(200, 20)
    kind = rng.integers(0, 10, size=200)
    for k in range(8):
        X.iloc[:, k] += 1.5 * np.isin(kind, [k, k + 1])
    return named(select(X, np.array(CELL_TYPES)[kind], Recipe(LEVEL)), "cell type")


def skewed() -> Selection:
    data = simulate("2.c", 300, 95, random_state=1)
    return named(select(data.X, data.y, Recipe(LEVEL, target="continuous")), "colony count")


def survival() -> Selection:
    X, rng = genes(250, 40)
    time = rng.exponential(np.exp(-X["GENE1"] + X["GENE2"]))
    y = pd.DataFrame({"event": rng.random(250) < 0.7, "time": time})
    return named(select(X, y, Recipe(LEVEL, target="survival")), "months")


def counts() -> Selection:
    """Most counts are zero, as those of single cells."""
    rng = np.random.default_rng(3)
    kind = rng.integers(0, 4, size=200)
    rate = np.full((200, 20), 0.25)
    for k in range(4):
        rate[kind == k, 2 * k : 2 * k + 2] = 1.5
    X = pd.DataFrame(rng.poisson(rng.gamma(1.0, rate)) * 1.0)
    X.columns = [f"GENE{k}" for k in range(1, 21)]
    return named(select(X, np.array(CELL_TYPES)[kind], Recipe(LEVEL)), "cell type", "cells.h5ad")


def one_finding() -> Selection:
    X, rng = genes(120, 60)
    return named(select(X, X["GENE7"] + rng.normal(size=120), Recipe(LEVEL)), "weight")


def sixty_findings() -> Selection:
    X, rng = genes(400, 75)
    return named(
        select(X, X.iloc[:, :60].sum(axis=1) + rng.normal(size=400), Recipe(fdr=0.05)), "yield"
    )


def groups() -> Selection:
    """Blocks of look-alikes: who of a block matters cannot be told."""
    rng = np.random.default_rng(2)
    block = np.repeat(rng.normal(size=(150, 12)), 5, axis=1)
    X = pd.DataFrame(block + 0.1 * rng.normal(size=(150, 60)))
    X.columns = [f"rs{1000 + k}" for k in range(60)]
    y = block[:, 0] - block[:, 25] + X["rs1052"] + rng.normal(size=150)
    return named(select(X, y, Recipe(LEVEL)), "height", "chr7.bed")


def empty() -> Selection:
    X, rng = genes(100, 60)
    return named(select(X, np.where(rng.random(100) < 0.5, *KINDS), Recipe(LEVEL)), "diagnosis")


def draws() -> Selection:
    X, rng = genes(120, 30)
    y = X.iloc[:, :15].sum(axis=1) + rng.normal(size=120)
    return named(select(X, y, recipe(n_draws=50, fdr=0.5, lam=0.01), rng=0), "yield")


def knockoffs() -> Selection:
    data = simulate("1.d", 200, 95, random_state=2)
    return named(select(data.X, data.y, recipe(fdr=0.3, lam="cv"), rng=2), "yield")


def covariates() -> Selection:
    """GENE1 goes with age, which the target follows; GENE2 matters beyond it."""
    X, rng = genes(200, 40)
    age = rng.uniform(20, 80, size=200)
    X["GENE1"] += 0.06 * age
    y = 0.1 * age + 2 * X["GENE2"] + rng.normal(size=200)
    return named(
        select(X, y, Recipe(LEVEL), covariates=pd.DataFrame({"age": age})), "blood pressure"
    )


def checked() -> Selection:
    """A check of three forms of effects, the level of which holds."""
    found = one_finding()
    power = {
        "line": (0.1, 0.4, 0.9, 1, 1),
        "bend": (0, 0, 0.6, 1, 1),
        "pair": (0, 0.1, 0.2, 0.7, 1),
    }
    planted = [
        (form, share, 5, 120, [found_of_five(5 * shares[i])] * 4)
        for form, shares in power.items()
        for i, share in enumerate(STRENGTHS)
    ]
    check = made(TableCheck, planted, [CLEAN] * 19 + [ALARM], level=LEVEL)
    return replace(found, table_check=check)


def level_broken() -> Selection:
    """A check of one form that finds too much, by odds ratio."""
    planted = [
        ("line", share, 1, 160, [(1, int(share > 0.1), 1 + int(share > 0.1), 1)] * 8)
        for share in STRENGTHS
    ]
    check = made(TableCheck, planted, [CLEAN] * 8 + [ALARM] * 12, target="classes", level=LEVEL)
    return replace(two_classes(), table_check=check)


def found_of_five(n: float) -> tuple[int, int, int, int]:
    """Outcome of a fit that finds so many of five effects, and nothing that is false."""
    return 5, round(n), round(n), 0


CASES: dict[str, Callable[[], Selection]] = {
    one.__name__: one
    for one in (
        numbers,
        two_classes,
        ten_classes,
        skewed,
        survival,
        counts,
        one_finding,
        sixty_findings,
        groups,
        empty,
        draws,
        knockoffs,
        covariates,
        checked,
        level_broken,
    )
}


@cache
def case(name: str) -> Selection:
    """A case by its name, made once."""
    return CASES[name]()


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for wanted in sys.argv[2:] or CASES:
        write_report(case(wanted), folder / f"{wanted}.html")
