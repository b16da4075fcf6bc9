"""Times whole selections by ours and by rivals: one table, seconds of the processor on one thread.

    python -m benchmarks.speed.against

Every cell is a process of its own; compiling and loading are left out by a small fit before. A dash
says that a rival is not installed, refuses the size or takes longer than a minute. Rivals that
only rank (mRMR, mutual information) promise no level: they are told to take ten features; nor do
the LASSO by cross-validation and Boruta. A second table has the seconds of each over ours, above 1
where ours takes less.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections import namedtuple
from time import process_time

import numpy as np

from .. import rivals
from .rows import table
from .timing import in_own_process

SIZES = ((100, 100), (100, 500), (500, 5000), (2600, 500), (10_000, 50))
LONGEST = 60  # seconds by the clock
LEVEL = 0.1
Problem = namedtuple("Problem", "X y target")


def ours(control):
    def select(X, y):
        import smrmr

        smrmr.SmRMR(control=control, random_state=0).fit(X, y)

    return select


def rival(method):
    return lambda X, y: method(Problem(X, y, "continuous"), 0)


def trex(X, y):
    rivals.trex(Problem(X, y, "continuous"), 0)(LEVEL)


def mrmr(X, y):
    import pandas as pd
    from mrmr import mrmr_regression

    mrmr_regression(pd.DataFrame(X), pd.Series(y), K=10, n_jobs=1, show_progress=False)


def mutual_information(X, y):
    from sklearn.feature_selection import mutual_info_regression

    mutual_info_regression(X, y, random_state=0)


def lasso_cv(X, y):
    from sklearn.linear_model import LassoCV

    LassoCV(cv=5).fit(X, y)


METHODS = {
    "**smrmr**": ours("tests"),
    '`control="knockoffs"`': ours("knockoffs"),
    '`control="paper"`': ours("paper"),
    "LASSO knockoffs (knockpy)": rival(rivals.lasso_knockoffs),
    "d0CRT (hidimstat)": rival(rivals.d0crt),
    "T-Rex (trexselector)": trex,
    "LASSO by cross-validation (scikit-learn)": lasso_cv,
    "mRMR (mrmr_selection)": mrmr,
    "mutual information (scikit-learn)": mutual_information,
    "Boruta": rival(rivals.boruta),
}


def measure(name, n, p):
    """Run in a process of its own: print the seconds of a selection."""
    warnings.simplefilter("ignore")
    METHODS[name](*table(100, 20))
    X, y = table(n, p)
    start = process_time()
    METHODS[name](X, y)
    print(f"\n{process_time() - start}")


def cell(name, n, p):
    threads = {f"{kind}_NUM_THREADS": "1" for kind in ("OPENBLAS", "OMP", "MKL")}
    try:
        printed = in_own_process("time", name, n, p, timeout=LONGEST, **threads)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return np.nan
    return float(printed.split()[-1])


def show(name, seconds):
    """Print one line of a table; a dash for what is not known."""
    cells = ["-" if np.isnan(one) else f"{one:.2g}" for one in seconds]
    print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def head(title):
    print(f"\n| {title} | " + " | ".join(f"{n:,} x {p:,}" for n, p in SIZES) + " |")
    print("|---" * (1 + len(SIZES)) + "|")


def main():
    seconds = {}
    head("seconds")
    for name in METHODS:
        seconds[name] = np.array([cell(name, n, p) for n, p in SIZES])
        show(name, seconds[name])
    head("over ours")
    for name in list(METHODS)[1:]:
        show(name, seconds[name] / seconds["**smrmr**"])


if __name__ == "__main__":
    np.random.seed(0)  # noqa: NPY002 some rivals draw from it
    measure(sys.argv[2], *map(int, sys.argv[3:])) if sys.argv[1:2] == ["time"] else main()
