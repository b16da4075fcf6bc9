"""Times what fits are made of beside what the machine can do at most: shares of a limit.

    python -m benchmarks.speed.limits

Seconds of the processor on one thread, best of some runs. The limits are

- of projection correlation a loop that counts the bits which two sets have in common, as many words
  as all anchors have, and does nothing else;
- of genotypes (0, 1, 2) against two classes a copy of the table;
- of a whole fit to many columns the three products of matrices that compare all pairs of columns
  (with each other, with absolute values, and times the residual), in single precision; of few
  columns and many rows one sort of every column.
"""

from __future__ import annotations

import warnings
from time import process_time

import numpy as np
from threadpoolctl import threadpool_limits

import smrmr
from smrmr.runs.compiled import compiled, popcount

from .rows import table
from .timing import best, report

PAIRS = {100: 400, 500: 300, 2600: 100}  # rows: columns
SNPS = 1000, 50_000
FITS = (100, 100), (100, 500), (500, 5000), (2600, 500), (10_000, 50)
FEW = 100  # columns up to which sorting takes longer than products


@compiled
def count_common(a, b, repeats):
    """Bits that two sets have in common, again and again; shifted, so that no repeat is saved."""
    total = np.uint64(0)
    for k in range(repeats):
        shift = np.uint64(k & 1)
        for w in range(len(a)):
            total += popcount(a[w] & (b[w] >> shift))
    return total


def share(name, work, limit, bar=""):
    ours, least = best(work, limit, clock=process_time)
    report(name, f"{least / ours:.0%}", bar, f"{ours:.3g} s, at most possible in {least:.3g} s")


def pairs(n, p):
    X = np.random.default_rng(0).normal(size=(n, p))
    words, n_pairs = -(-n // 64), p * (p - 1) // 2
    a, b = np.random.default_rng(1).integers(2**63, size=(2, 512), dtype=np.uint64)
    repeats = n_pairs * n * words // 512
    share(
        f"PC of all pairs, {n} x {p}",
        lambda: smrmr.redundancy(X, measure="pc", n_jobs=1),
        lambda: count_common(a, b, repeats),
    )


def genotypes(n, p):
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.integers(3, size=(n, p), dtype=np.int8))
    y, copy = np.where(rng.random(n) < 0.5, "case", "control"), np.empty_like(X)
    share(
        f"PC with two classes, {p:,} genotypes of {n:,}",
        lambda: smrmr.relevance(X, y, measure="pc", n_jobs=1),
        lambda: np.copyto(copy, X),
        ">= 15%",
    )


def fits(n, p):
    X, y = table(n, p)
    Z = np.ascontiguousarray(X.T, dtype=np.float32)

    def products():
        for other in (Z, np.abs(Z), Z * Z[0]):
            Z @ other.T

    def sorting():
        np.argsort(X, axis=0)

    share(
        f"whole fit, {n:,} x {p:,}",
        lambda: smrmr.SmRMR(n_jobs=1).fit(X, y),
        sorting if p <= FEW else products,
    )


def main():
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        for n, p in PAIRS.items():
            pairs(n, p)
        genotypes(*SNPS)
        for size in FITS:
            fits(*size)


if __name__ == "__main__":
    main()
