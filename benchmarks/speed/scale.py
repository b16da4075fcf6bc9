"""Measures how far it goes: a million SNPs from a file, time against p and n, Dask workers.

    python -m benchmarks.speed.scale [features] [samples]

Every figure is taken in a process of its own: seconds after a small warm-up, the best of three
but for the whole fit, and peak memory. The .bed file is made once, in a folder for temporary
files, with 20 SNPs that matter.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import warnings
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from scipy.stats import rankdata

import smrmr
from smrmr.data.columns import Columns

from .timing import in_own_process

CODES = np.array([0b11, 0b10, 0b00], dtype=np.uint8)  # of 0, 1, 2 copies of the first allele


def write_bed(path, n, p):
    """Independent SNPs of frequencies 0.05 to 0.5; every tenth of the first 200 follows y."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    with path.open("wb") as file:
        file.write(bytes([0x6C, 0x1B, 0x01]))
        for start in range(0, p, 10_000):
            k = min(10_000, p - start)
            shares = rng.uniform(0.05, 0.5, k).astype(np.float32)[:, None]
            counts = np.zeros((k, n), dtype=np.uint8)
            for _ in range(2):
                counts += rng.random((k, n), dtype=np.float32) < shares
            for j in range(0, 200 if start == 0 else 0, 10):
                counts[j] = np.minimum(2, rng.binomial(2, 0.3, n) + y * (rng.random(n) < 0.35))
            bits = np.pad(CODES[counts], ((0, 0), (0, -n % 4)))
            file.write(sum(bits[:, i::4] << (2 * i) for i in range(4)).astype(np.uint8).tobytes())
    path.with_suffix(".fam").write_text("".join(f"f s{i} 0 0 1 {y[i] + 1}\n" for i in range(n)))
    path.with_suffix(".bim").write_text("".join(f"1\trs{j}\t0\t{j}\tA\tC\n" for j in range(p)))
    np.save(path.with_suffix(".npy"), y)


def narrowed(path, p):
    """The first p SNPs of the file."""
    return Columns.bare(smrmr.data.open_columns(path)).span(0, p).data


def from_file(path, p, jobs):
    source, y = narrowed(path, p), np.load(path.with_suffix(".npy"))
    return lambda: smrmr.relevance(source, y, target="classes", n_jobs=jobs)


def from_memory(path, p, jobs):
    X, y = narrowed(path, p).read(slice(None)), np.load(path.with_suffix(".npy"))
    return lambda: smrmr.relevance(X, y, target="classes", n_jobs=jobs)


def whole_fit(path, p, jobs):
    source, y = narrowed(path, p), np.load(path.with_suffix(".npy"))
    recipe = smrmr.Recipe(fdr=0.3, control="knockoffs", target="classes", n_jobs=jobs)

    def fit():
        found = smrmr.select(source, y, recipe, rng=0)
        true = sum(k < 200 and k % 10 == 0 for k in found.selected)
        print(f"    {found} {true} of them matter", file=sys.stderr)

    return fit


def continuous(path, n, jobs):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 1000))
    y = X[:, 0] + rng.standard_normal(n)
    return lambda: smrmr.relevance(X, y, target="continuous", n_jobs=jobs)


def on_dask(work, workers):
    """Work on one or both of two Dask workers of one thread each.

    There are always two, because with a single one joblib would do the work in the client.
    """
    import joblib
    from dask.distributed import Client, LocalCluster

    # Dask tells malloc to give memory back at once, which is costly here
    os.environ |= {f"MALLOC_{name}_THRESHOLD_": str(2**30) for name in ("TRIM", "MMAP")}
    client = Client(LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None))
    client.wait_for_workers(2)
    chosen = list(client.scheduler_info()["workers"])[:workers]

    def run():
        before, here = client.run(process_time), process_time()
        with joblib.parallel_config(backend="dask", workers=chosen, wait_for_workers_timeout=60):
            work()
        here, after = process_time() - here, client.run(process_time)
        there = ", ".join(f"{after[name] - before[name]:.1f}" for name in chosen)
        print(f"    processor: client {here:.1f} s, workers {there} s", file=sys.stderr)

    run()  # workers load and compile
    return run


def dask_relevance(path, p, workers):
    return on_dask(from_file(path, p, -1), workers)


def dask_tests(path, p, workers):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, p))
    y = rankdata(X[:, :10].sum(axis=1) + rng.standard_normal(500)) * 6 // 501
    recipe = smrmr.Recipe(control="tests", target="classes", alike=None, n_jobs=-1)
    return on_dask(lambda: smrmr.select(X, y, recipe), workers)


WORK = {
    f.__name__: f
    for f in (from_file, from_memory, whole_fit, continuous, dask_relevance, dask_tests)
}


def child(name, path, size, jobs):
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    for X in (rng.integers(0, 3, (60, 30)).astype(np.int8), rng.standard_normal((60, 30))):
        smrmr.select(X, X[:, 0] > 0, smrmr.Recipe(target="classes"), rng=0)
        smrmr.relevance(X, rng.standard_normal(60))
    work = WORK[name](Path(path), int(size), int(jobs))
    times = []
    for _ in range(1 if name == "whole_fit" else 3):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    seconds = min(times)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    print(json.dumps({"seconds": seconds, "megabytes": peak}))


def measure(name, path, size, jobs):
    found = json.loads(in_own_process("child", name, path, size, jobs).splitlines()[-1])
    cost = f"{found['seconds']:7.2f} s, {found['megabytes']:6.0f} MB"
    print(f"  {name:<14} {size:>9,} x{jobs}: {cost}", flush=True)
    return found


def exponent(sizes, seconds):
    return np.polyfit(np.log(sizes), np.log(seconds), 1)[0]


def main(p, n):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "snps.bed"
        write_bed(path, n, p)
        print(f"1. relevance of {p:,} SNPs x {n:,} samples, PC, two classes")
        file, memory = measure("from_file", path, p, 2), measure("from_memory", path, p, 2)
        print(
            f"   speed from the file: {memory['seconds'] / file['seconds']:.0%} of that from memory"
        )
        print("2. a whole fit")
        measure("whole_fit", path, p, 2)
        print("3. growth")
        sizes = [p // 100, p // 10, p]
        times = [measure("from_file", path, size, 2)["seconds"] for size in sizes]
        print(f"   exponent in p: {exponent(sizes, times):.2f}")
        sizes = [1000, 3000, 10_000]
        times = [measure("continuous", path, size, 2)["seconds"] for size in sizes]
        print(f"   exponent in n: {exponent(sizes, times):.2f}")
        print(
            "4. Dask, workers of one thread each: relevance, and tests of 500 rows and six classes"
        )
        for name, size in (("dask_relevance", p), ("dask_tests", 3000)):
            one, two = (measure(name, path, size, workers)["seconds"] for workers in (1, 2))
            print(f"   two workers: {one / two:.2f}x")


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        child(*sys.argv[2:])
    else:
        main(*(int(value) for value in (sys.argv[1:] + [1_000_000, 1000][len(sys.argv) - 1 :])))
