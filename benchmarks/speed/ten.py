"""Ten cases that users have, timed as ratios that hardly depend on the machine.

    python -m benchmarks.speed.ten "numbers 100x100"

prints the processor seconds of one fit on one thread, and those of a fixed piece of work
(`reference`), each the best of three in turn. Tables are drawn here and not by the package, so that
they are the same for every version of it.
"""

from __future__ import annotations

import sys
import warnings
from time import process_time

import numpy as np

from .timing import best

REPEATS = 3
N_TRUE = 10  # columns that the target depends on
LEVEL = 0.1


def reference():
    """Do a fixed piece of work of the kinds that a fit does: products, ranks, plain loops."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((500, 500))
    for _ in range(5):
        A @ A
    rng.standard_normal((500, 1000)).argsort(axis=1, kind="stable")
    sum(k * k for k in range(2_000_000))


def chained(n, p, rng):
    """Standard normal columns; neighbours have correlation 0.5."""
    X = rng.standard_normal((p, n))
    for k in range(1, p):
        X[k] = 0.5 * X[k - 1] + np.sqrt(0.75) * X[k]
    return X.T


def true_columns(X):
    """Those that the target depends on, spread over the table."""
    return X[:, :: X.shape[1] // N_TRUE][:, :N_TRUE]


def response(X, rng):
    return true_columns(X).sum(axis=1) + rng.standard_normal(len(X))


def fit(X, y, target="continuous", **beside):
    import smrmr

    smrmr.SmRMR(control="tests", fdr=LEVEL, target=target, n_jobs=1).fit(X, y, **beside)


def numbers(n, p, rng):
    X = chained(n, p, rng)
    fit(X, response(X, rng))


def ten_classes(n, p, rng):
    X = chained(n, p, rng)
    scores = true_columns(X) @ rng.standard_normal((N_TRUE, 10))
    fit(X, (scores + rng.gumbel(size=scores.shape)).argmax(axis=1).astype(str), "classes")


def survival(n, p, rng):
    import pandas as pd

    X = chained(n, p, rng)
    time, lost = rng.exponential(np.exp(-true_columns(X).sum(axis=1))), rng.exponential(2, n)
    fit(X, pd.DataFrame({"event": time <= lost, "time": np.minimum(time, lost)}), "survival")


def snps(n, p, rng):
    X = (rng.random((2, n, p)) < rng.uniform(0.1, 0.5, p)).sum(axis=0).astype(float)
    fit(X, response(X, rng))


def groups_of_rows(n, p, rng):
    X = chained(n, p, rng)
    fit(X, response(X, rng), groups=np.arange(n) // 5)


def check(n, p, rng):
    import smrmr

    X = chained(n, p, rng)
    recipe = smrmr.Recipe(control="tests", fdr=LEVEL, n_jobs=1)
    smrmr.check(X, response(X, rng), recipe, n_fits=1, strengths=(0.3,))


CASES = {  # what is done, with how many rows and columns
    "numbers 100x100": (numbers, 100, 100),
    "numbers 100x500": (numbers, 100, 500),
    "numbers 500x5000": (numbers, 500, 5000),
    "numbers 187x20000": (numbers, 187, 20_000),
    "numbers 10000x50": (numbers, 10_000, 50),
    "ten classes 300x300": (ten_classes, 300, 300),
    "survival 200x500": (survival, 200, 500),
    "SNPs 500x2000": (snps, 500, 2000),
    "groups of rows 200x500": (groups_of_rows, 200, 500),
    "check, one fit 100x500": (check, 100, 500),
}


def measure(name):
    """Run in a process of its own: print the seconds of a case and of the reference.

    The first run of a case compiles what the cache does not hold, so it is never the best.
    """
    warnings.simplefilter("ignore")
    case, n, p = CASES[name]
    found = best(
        lambda: case(n, p, np.random.default_rng(0)), reference, repeat=REPEATS, clock=process_time
    )
    print(*found)


if __name__ == "__main__":
    measure(sys.argv[1])
