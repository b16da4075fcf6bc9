"""Times knockoffs against each other and against knockpy, side by side in one run.

    make bench

prints one line per bar: what was compared, both times, the ratio and the bar.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from scipy.linalg import toeplitz

import smrmr
from smrmr.control.knockoffs.decorrelation import mvr

from .timing import best, in_own_process, report, resident


def factors_against_dense(rng):
    wide = rng.normal(size=(200, 20_000))
    narrow = rng.normal(size=(200, 2_000))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 2,000 sample correlations from 200 rows are singular
        thin, dense = best(
            lambda: smrmr.gaussian_knockoffs(wide, covariance="factors", random_state=0),
            lambda: smrmr.gaussian_knockoffs(narrow, covariance="sample", random_state=0),
            repeat=3,
        )
    ratio = (thin / 20_000) / (dense / 2_000)
    detail = f"{thin / 20:.3f} ms per column against {dense / 2:.3f} ms"
    report(
        "time per column, factors at p=20,000 over dense at p=2000", f"{ratio:.2f}", "<= 1", detail
    )


def factors_memory():
    """In a process of its own: peak resident memory above what was held before the call."""
    extra, size = map(float, in_own_process("memory").split())
    detail = f"{extra / 1e6:.0f} MB for {size / 1e6:.0f} MB of data"
    report(
        "peak memory of factors at p=20,000 over the data", f"{extra / size:.1f}x", "<= 10x", detail
    )


def measure_memory():
    X = np.random.default_rng(0).normal(size=(200, 20_000))
    smrmr.gaussian_knockoffs(X[:, :50], covariance="factors")
    before = resident("VmRSS")
    smrmr.gaussian_knockoffs(X, covariance="factors")
    print(resident("VmHWM") - before, X.nbytes)


def mvr_against_knockpy():
    from knockpy import smatrix

    sigma = toeplitz(0.5 ** np.arange(500.0))
    mvr(sigma)
    ours, theirs = best(
        lambda: mvr(sigma),
        lambda: smatrix.compute_smatrix(sigma, method="mvr", verbose=False),
        repeat=3,
    )
    detail = f"{ours:.2f} s against {theirs:.2f} s"
    report("mvr, p=500, against knockpy", f"{theirs / ours:.1f}x", ">= 1x", detail)


def main():
    rng = np.random.default_rng(0)
    factors_against_dense(rng)
    factors_memory()
    mvr_against_knockpy()


if __name__ == "__main__":
    measure_memory() if sys.argv[1:] == ["memory"] else main()
