"""Times knockoffs: against knockpy side by side, and against an older checkout.

    make bench
    SMRMR_BEFORE=older-checkout/src python -m benchmarks.speed.knockoffs

prints one line per bar: what was compared, both times, the ratio and the bar. Without SMRMR_BEFORE
what would be compared with the older code is a plain time. Times are those of one processor core,
best of a few; old and new code take turns, each in processes of their own.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from scipy.linalg import toeplitz

from .timing import best, in_own_process, report


def choice_of_s() -> Callable[[], Any]:
    from smrmr.paper.decorrelation import mvr

    sigma = toeplitz(0.5 ** np.arange(1000.0))
    return lambda: mvr(sigma)


def drawing() -> Callable[[], Any]:
    from smrmr.paper import Gaussian, draw_knockoffs

    X, sigma = correlated(1000, 500)
    return lambda: draw_knockoffs(X, Gaussian("equi", sigma), random_state=0)


def ties() -> Callable[[], Any]:
    from smrmr.paper import draw_knockoffs

    X = (correlated(800, 200)[0] > np.linspace(0.2, 2.2, 200)).astype(float)
    return lambda: draw_knockoffs(X, random_state=0)


def copies() -> Callable[[], Any]:
    from smrmr.data.columns import as_columns
    from smrmr.features.copies import find_copies

    columns = as_columns(np.random.default_rng(0).normal(size=(187, 20_000)))
    return lambda: find_copies(columns, by_rank=True)


def fit(n: int, p: int) -> Callable[[], Any]:
    from smrmr import Recipe, select

    X, y = regression(n, p)
    recipe = Recipe(control="knockoffs", fdr=0.2, n_jobs=1)
    select(X[:200, :20], y[:200], recipe, rng=0)  # loads the libraries
    select(X[:1500, :20], y[:1500], recipe, rng=0)
    return lambda: select(X, y, recipe, rng=0)


# what to time, how often, and the bar
CASES = {
    "mvr, p=1,000": (choice_of_s, 2, ">= 5x"),
    "equicorrelated draw, n=1,000, p=500": (drawing, 5, ">= 1x"),
    "draw for 200 columns of 0/1, n=800": (ties, 2, ">= 1x"),
    "search for copies, n=187, p=20,000": (copies, 5, ">= 3x"),
    "fit, n=500, p=500": (lambda: fit(500, 500), 3, ">= 3x"),
    "fit, n=10,000, p=50": (lambda: fit(10_000, 50), 2, ">= 5x"),
    "fit, n=2,600, p=500": (lambda: fit(2600, 500), 1, ">= 20x"),
}


def correlated(n: int, p: int) -> tuple[Any, Any]:
    """Gaussian columns, each correlated by 0.5 with the next, and their correlations."""
    sigma = toeplitz(0.5 ** np.arange(float(p)))
    return np.random.default_rng(0).normal(size=(n, p)) @ np.linalg.cholesky(sigma).T, sigma


def regression(n: int, p: int) -> tuple[Any, Any]:
    """Features as in `correlated`, and the noisy sum of ten of them."""
    X, _ = correlated(n, p)
    return X, X[:, :10].sum(axis=1) + np.random.default_rng(1).normal(scale=3.0, size=n)


def measure(name: str) -> None:
    """Run in a process of its own: print the best time of a case."""
    warnings.simplefilter("ignore")
    prepare, repeat, _ = CASES[name]
    run = prepare()
    if repeat > 1:
        run()
    times = []
    for _ in range(repeat):
        start = process_time()
        run()
        times.append(process_time() - start)
    print(min(times))


def compare_with_before() -> None:
    older = os.environ.get("SMRMR_BEFORE")
    for name, (_, repeat, bar) in CASES.items():
        times: dict[Any, list[float]] = {}
        for _ in range(2 if older and repeat > 1 else 1):
            for source in filter(None, ("here", older)):
                changes = {"OPENBLAS_NUM_THREADS": "1"}
                if source != "here":
                    changes["PYTHONPATH"] = source
                times.setdefault(source, []).append(float(in_own_process(name, **changes)))
        now = min(times["here"])
        if older:
            before = min(times[older])
            detail = f"{now:.3g} s, before {before:.3g} s"
            report(name, f"{before / now:.1f}x", bar, detail)
        else:
            report(name, "", "", f"{now:.3g} s")


def compare_with_knockpy() -> None:
    try:
        from knockpy import smatrix
        from knockpy.knockoff_filter import KnockoffFilter
        from knockpy.knockoffs import GaussianSampler
    except ImportError:
        print("knockpy is not installed, so nothing is compared with it")
        return
    from smrmr.paper.decorrelation import mvr

    sigma = toeplitz(0.5 ** np.arange(500.0))
    X, wide = correlated(1000, 500)
    tall, y = regression(10_000, 50)
    theirs_equi = {"X": X, "mu": np.zeros(500), "Sigma": wide, "method": "equicorrelated"}
    lasso = {"X": tall, "y": y, "fdr": 0.2, "shrinkage": None}
    pairs = {
        "mvr, p=500": (
            lambda: mvr(sigma),
            lambda: smatrix.compute_smatrix(sigma, method="mvr", verbose=False),
        ),
        "equicorrelated draw, n=1,000, p=500": (
            drawing(),
            lambda: GaussianSampler(**theirs_equi).sample_knockoffs(),
        ),
        "fit, n=10,000, p=50": (
            fit(10_000, 50),
            lambda: KnockoffFilter(ksampler="gaussian", fstat="lasso").forward(**lasso),
        ),
    }
    for name, (ours, theirs) in pairs.items():
        ours()
        mine, other = best(ours, theirs, repeat=3, clock=process_time)
        detail = f"{mine:.3g} s against {other:.3g} s"
        report(f"{name}, against knockpy", f"{other / mine:.2g}x", ">= 1x", detail)


def main() -> None:
    warnings.simplefilter("ignore")
    compare_with_knockpy()
    compare_with_before()


if __name__ == "__main__":
    measure(sys.argv[1]) if len(sys.argv) > 1 else main()
