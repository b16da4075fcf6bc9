"""Measures how a whole fit grows with rows, features, classes and workers, and extrapolates.

    python -m benchmarks.speed.exponents
    python -m benchmarks.speed.exponents workers

Seconds are the processor's, on one thread, of a process that has compiled everything; workers are
joblib's processes, by the clock. The target depends on ten columns: straight, bent, by a product.
The second form says by the clock, on a machine with nothing else to do, what two threads gain over
one in every stage, of numbers and of cells, and what two workers of Dask gain over one process.
"""

from __future__ import annotations

import json
import sys
import warnings
from functools import partial
from time import perf_counter, process_time

import joblib
import numpy as np

import smrmr
from smrmr.conditional import products, results

from . import cells, rows
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


def with_threads(X, y, n_jobs):
    """Seconds by the clock of every stage, and of all together."""
    start = perf_counter()
    found = smrmr.select(X, y, smrmr.Recipe(n_jobs=n_jobs), rng=0).seconds
    return found | {"all": perf_counter() - start}


def gains(name, *ways, repeat=3):
    """Print what the second way gains over the first in every stage, by the best of each."""
    rounds = [[way() for way in ways] for _ in range(repeat)]
    one, two = (
        {stage: min(found[i][stage] for found in rounds) for stage in rounds[0][i]} for i in (0, 1)
    )
    of_stages = ", ".join(
        f"{stage} {one[stage]:.2f} s {one[stage] / max(two[stage], 1e-3):.2f}x"
        for stage in one
        if one[stage] > 0.02
    )
    print(f"{name}: {of_stages}", flush=True)


def numbers():
    X, y = rows.table(500, 5000)
    with_threads(X[:, :50], y, 2)  # compiles
    gains("two threads, 500 x 5,000", *(partial(with_threads, X, y, k) for k in (1, 2)))


def some_cells():
    X, is_ill = cells.draw(5000, 2000)
    y = np.where(is_ill, "ill", "well")
    with_threads(X[:2500, :50], y[:2500], 2)
    ways = (partial(with_threads, X, y, k) for k in (1, 2))
    gains("two threads, cells 5,000 x 2,000", *ways, repeat=2)


def dask():
    from dask.distributed import Client, LocalCluster

    X, y = rows.table(500, 5000)
    with Client(LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)) as client:
        client.wait_for_workers(2)

        def by_dask(X):
            with joblib.parallel_config(backend="dask"):
                return with_threads(X, y, -1)

        by_dask(X[:, :500]), with_threads(X[:, :500], y, 1)  # workers load and compile
        gains(
            "two workers of Dask, 500 x 5,000", partial(with_threads, X, y, 1), partial(by_dask, X)
        )


WORKERS = {f.__name__: f for f in (numbers, some_cells, dask)}


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
    at_once = results.MAX_TASK_VALUES / n, max(results.MIN_BLOCK, results.MAX_BLOCK_VALUES // n)
    read = scores * tested * (2 / at_once[0] + 1 / at_once[1] + 0.5 * n / products.BLOCK_VALUES)
    print(f"{n:,} x {p:,}, of which {tested:,} are tested, extrapolated:")
    print(f"  processor: {seconds / 3600:,.0f} hours by these exponents,")
    print(f"    {pairs / 3600:,.0f} where pairs of features take all of the time")
    print(f"  files: the table {4e-12 * n * p:,.1f} TB in single precision; ranks, scores, their")
    print(f"    sizes, scores as partners and products with the residual {5 * scores:,.2f} TB")
    print(f"  read from files, by all workers together: {read:,.0f} TB")


if __name__ == "__main__":
    if sys.argv[1:] == ["child"]:
        child()
    elif sys.argv[1:] == ["workers"]:
        for name in WORKERS:
            print(in_own_process(name, OPENBLAS_NUM_THREADS="1"), end="", flush=True)
    elif sys.argv[1:]:
        warnings.simplefilter("ignore")
        WORKERS[sys.argv[1]]()
    else:
        main()
