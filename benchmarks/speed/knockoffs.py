"""Times the choice of s against knockpy, side by side in one run.

    make bench

prints one line per bar: what was compared, both times, the ratio and the bar.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import toeplitz

from smrmr.control.knockoffs.decorrelation import mvr

from .timing import best, report


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
    mvr_against_knockpy()


if __name__ == "__main__":
    main()
