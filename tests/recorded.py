"""Selections recorded at commit 385ea5a, before the stages became strategies.

"hsic paper" was recorded again when HSIC gave up rounding most products to float32: its W moved by
3e-11, as much as they differed between processors before, and now by 2e-14.

``python tests/recorded.py`` records them again, with the code as it is: do so only when an answer
is meant to change, and say why in the commit.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from smrmr import Recipe, select, simulate
from smrmr.data import open_columns
from smrmr.paper import KnockoffFilter

STORED = Path(__file__).parent / "reference" / "selections.json"
SEED = 3


def drawn(design, n, p, seed):
    data = simulate(design, n, p, random_state=seed)
    y = np.array(["ill", "well"])[data.y.astype(int)] if data.target == "classes" else data.y
    return data.X, y


def with_copies(folder):
    X, y = drawn("1.d", 220, 100, 16)
    more = [3 - 2 * X[:, 10], np.full(220, 7.0), X[:, 11], np.exp(X[:, 3])]
    return np.column_stack([X, *more]), y


def from_a_file(folder):
    X, y = drawn("1.d", 220, 300, 17)
    np.save(folder / "X.npy", X)
    return open_columns(folder / "X.npy"), y


def of_three_levels(folder):
    X, y = drawn("1.d", 240, 100, 15)
    return np.digitize(X, [-0.6, 0.6]).astype(np.int8), y


def in_a_frame(folder):
    X, y = drawn("1.d", 130, 100, 21)
    frame = pd.DataFrame(X).add_prefix("g")
    frame["g3"] = pd.Categorical(np.where(frame["g3"] > 0, "a", "b"))
    return frame, y


def of_two_outputs(folder):
    X, y = drawn("1.d", 100, 100, 19)
    return X, np.column_stack([y, X[:, 0]])


def numbers(folder):
    return drawn("1.d", 200, 150, 11)


def classes(folder):
    return drawn("3.b", 100, 150, 12)


PAPER, DEFAULT = KnockoffFilter.paper, KnockoffFilter
CASES = {
    "default numbers": (numbers, Recipe(fdr=0.3, control=DEFAULT())),
    "default classes": (classes, Recipe(fdr=0.3, control=DEFAULT())),
    "paper numbers": (numbers, Recipe(fdr=0.3, control=PAPER())),
    "paper classes": (classes, Recipe(fdr=0.3, control=PAPER())),
    "hsic": (
        lambda folder: drawn("2.a", 100, 120, 14),
        Recipe(fdr=0.3, control=DEFAULT(measure="hsic", penalty="l1")),
    ),
    "hsic classes": (classes, Recipe(fdr=0.3, control=DEFAULT(measure="hsic"))),
    "hsic paper": (numbers, Recipe(fdr=0.3, control=PAPER(measure="hsic"))),
    "non-linear": (lambda folder: drawn("2.c", 300, 400, 13), Recipe(fdr=0.3, control=DEFAULT())),
    "ties": (of_three_levels, Recipe(fdr=0.3, control=DEFAULT())),
    "copies": (with_copies, Recipe(fdr=0.3, control=DEFAULT())),
    "source": (from_a_file, Recipe(fdr=0.3, control=DEFAULT())),
    "draws": (numbers, Recipe(fdr=0.5, control=DEFAULT(n_draws=2))),
    "no screen": (lambda folder: drawn("1.d", 250, 100, 18), Recipe(fdr=0.2, control=DEFAULT())),
    "dcor": (numbers, Recipe(fdr=0.3, control=DEFAULT(measure="dcor"))),
    "pearson scad": (numbers, Recipe(fdr=0.3, control=DEFAULT(measure="pearson", penalty="scad"))),
    "debiased": (numbers, Recipe(fdr=0.3, control=DEFAULT(lam="cv(debiased=true)"))),
    "mvr": (
        numbers,
        Recipe(
            fdr=0.3,
            control=DEFAULT(
                knockoffs="gaussian(s=mvr, covariance=sample, copula=false)",
                screening="split(recycle=false)",
                lam="cv",
            ),
        ),
    ),
    "outputs": (of_two_outputs, Recipe(fdr=0.3, control=DEFAULT())),
    "given knockoffs": (
        lambda folder: drawn("1.d", 240, 100, 20),
        Recipe(fdr=0.3, control=DEFAULT(knockoffs=lambda X, rng: rng.permuted(X, axis=0))),
    ),
    "frame": (in_a_frame, Recipe(fdr=0.3, target="continuous", control=DEFAULT())),
}


def computed(name, folder):
    """What the code finds now, in the form in which it is stored: W other than 0 by position."""
    data, recipe = CASES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of knockoffs that fail their diagnosis
        found = select(*data(folder), recipe, SEED)
    own = found.leaders == np.arange(found.n_features)  # copies share the W of the first
    return {
        "W": {str(k): float(found.W[k]).hex() for k in np.flatnonzero(own & (found.W != 0))},
        "selected": np.concatenate([np.empty(0, int), *found.members]).tolist(),
        "lam": [draw.lam.hex() for draw in found.evidence.draws],
    }


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        stored = {case: computed(case, Path(name)) for case in CASES}
    STORED.write_text(json.dumps(stored, indent=0) + "\n")
