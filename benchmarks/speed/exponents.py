"""Measures how a whole fit grows with rows, features, classes and workers, and extrapolates.

    python -m benchmarks.speed.exponents

Seconds are the processor's, on one thread, of a process that has compiled everything; workers are
joblib's processes, by the clock. The target depends on ten columns: straight, bent, by a product.
"""

from __future__ import annotations

import json
import sys
import warnings
from time import perf_counter, process_time

import joblib
import numpy as np

import smrmr
from smrmr.conditional import passes, products

from .scale import exponent
from .timing import in_own_process

ROWS = [12_000, 24_000, 48_000]  # x 100
FEATURES = [100, 200, 400]  # 12,000 x
CLASSES = [3, 6, 12]  # of 1,000 x 300
FAR = 1_000_000, 100_000


def table(n, p, classes=0):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p), dtype=np.float32)
    signal = X[:, :5].sum(axis=1) + np.abs(X[:, 5]) + X[:, 6] * X[:, 7] + X[:, 8] + X[:, 9]
    y = signal + 3 * rng.standard_normal(n)
    if classes:
        y = np.digitize(y, np.quantile(y, np.arange(1, classes) / classes)).astype(str)
    return X, y


def cost(n, p, classes=0):
    X, y = table(n, p, classes)
    start = process_time()
    smrmr.select(X, y, smrmr.Recipe(n_jobs=1), rng=0)
    return process_time() - start


def by_workers(n_jobs):
    X, y = table(1000, 1000)
    with joblib.parallel_config("loky"):
        smrmr.select(X[:, :50], y, smrmr.Recipe(n_jobs=n_jobs), rng=0)  # workers compile
        start = perf_counter()
        smrmr.select(X, y, smrmr.Recipe(n_jobs=n_jobs), rng=0)
    return perf_counter() - start


def child():
    warnings.simplefilter("ignore")
    cost(10_500, 30)
    cost(300, 30, 3)
    found = {
        "rows x 100": (ROWS, [cost(n, 100) for n in ROWS]),
        "12,000 x features": (FEATURES, [cost(12_000, p) for p in FEATURES]),
        "classes of 1,000 x 300": (CLASSES, [cost(1000, 300, k) for k in CLASSES]),
        "workers, 1,000 x 1,000": ([1, 2], [by_workers(k) for k in (1, 2)]),
    }
    print(json.dumps(found))


def main():
    found = json.loads(in_own_process("child").splitlines()[-1])
    slopes = {}
    for name, (sizes, seconds) in found.items():
        slopes[name] = exponent(sizes, seconds)
        listed = ", ".join(
            f"{size:,}: {value:.1f} s" for size, value in zip(sizes, seconds, strict=True)
        )
        print(f"{name:<24} {listed}; exponent {slopes[name]:.2f}")
    extrapolate(found, slopes)


def extrapolate(found, slopes):
    (n, p), tested = FAR, 20_000  # features that are tested
    last, grown = found["12,000 x features"][1][-1], tested / FEATURES[-1]
    by_rows = last * (n / ROWS[0]) ** slopes["rows x 100"]
    seconds, pairs = by_rows * grown ** slopes["12,000 x features"], by_rows * grown**2
    scores = 4e-12 * n * tested  # TB
    at_once = passes.MAX_TASK_VALUES / n, max(passes.MIN_BLOCK, passes.MAX_BLOCK_VALUES // n)
    read = scores * tested * (2 / at_once[0] + 1 / at_once[1] + 0.5 * n / products.BLOCK_VALUES)
    print(f"{n:,} x {p:,}, of which {tested:,} are tested, extrapolated:")
    print(f"  processor: {seconds / 3600:,.0f} hours by these exponents,")
    print(f"    {pairs / 3600:,.0f} where pairs of features take all of the time")
    print(f"  files: the table {4e-12 * n * p:,.1f} TB in single precision; ranks, scores, scores")
    print(f"    as partners and products with the residual {4 * scores:,.2f} TB")
    print(f"  read from files, by all workers together: {read:,.0f} TB")


if __name__ == "__main__":
    child() if sys.argv[1:] == ["child"] else main()
