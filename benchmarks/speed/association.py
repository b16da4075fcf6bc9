"""Times the association engine against well-written rivals, side by side in one run.

    make bench

prints one line per bar: what was compared, both times, the ratio and the bar. One thread unless
said. Every comparison alternates between the two sides and takes the best of each, since machines
are noisy; memory is the growth of the peak resident set in a fresh process.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
from threadpoolctl import threadpool_limits

import smrmr
from smrmr.measures.kernel_loops import median_distance

from .timing import best, in_own_process, report, resident

# --- the rivals -----------------------------------------------------------------------------


def pc_by_blas(X):
    """PC^2 of all pairs, one float32 GEMM per anchor (no float64 temporaries)."""
    n, p = X.shape
    X = X.astype(np.float32)
    signs, total = np.empty_like(X), np.zeros((p, p), np.float32)
    means = np.empty((n, p), np.float32)
    gram = np.empty((p, p), np.float32)
    for r in range(n):
        np.subtract(X, X[r], out=signs)
        np.sign(signs, out=signs)
        means[r] = signs.mean(axis=0)
        np.matmul(signs.T, signs, out=gram)
        gram -= n * np.outer(means[r], means[r])
        np.multiply(gram, gram, out=gram)
        total += gram
    squares = (means**2).sum(axis=0)
    total += n * (1 - 1 / n) ** 2 - squares - squares[:, None]
    norms = np.sqrt(np.diag(total))
    return total / norms / norms[:, None]


def hsic_dense(X, n_slabs=1):
    """Normalised HSIC of all pairs: float32 kernel matrices, a few rows at a time, and SYRK."""
    n, p = X.shape
    widths = [median_distance(np.sort(x)) for x in X.T]
    columns = (X / widths).T.astype(np.float32)
    gram, sums = np.zeros((p, p)), np.zeros((p, n))
    height = -(-n // n_slabs)
    slab = np.empty((p, height * n), np.float32)
    for start in range(0, n, height):
        rows = min(height, n - start)
        for k, x in enumerate(columns):
            matrix = slab[k, : rows * n].reshape(rows, n)
            for strip in range(0, rows, 32):  # stays in cache
                part = matrix[strip : strip + 32]
                np.subtract(x[start + strip : start + strip + len(part), None], x, out=part)
                np.multiply(part, part, out=part)
                np.multiply(part, np.float32(-0.5), out=part)
                np.exp(part, out=part)
                np.subtract(part, np.float32(0.6), out=part)  # keeps the cancellation below small
                sums[k, start + strip : start + strip + len(part)] = part.sum(axis=1)
        gram += slab[:, : rows * n] @ slab[:, : rows * n].T
    gram += sums.sum(axis=1)[:, None] * sums.sum(axis=1) / n**2 - 2 / n * sums @ sums.T
    norms = np.sqrt(np.diag(gram))
    return gram / norms / norms[:, None]


# --- the bars -------------------------------------------------------------------------------


def projection_all_pairs(rng):
    X = rng.normal(size=(500, 300))
    assert np.abs(pc_by_blas(X) - smrmr.redundancy(X)).max() < 1e-4
    ours, rival, two = best(
        lambda: smrmr.redundancy(X),
        lambda: pc_by_blas(X),
        lambda: smrmr.redundancy(X, n_jobs=2),
        repeat=9,
    )
    detail = f"{ours:.3f} s against {rival:.3f} s"
    report("1 PC, all pairs, n=500, p=300, against BLAS", f"{rival / ours:.1f}x", ">= 2.5x", detail)
    detail = f"{two:.3f} s against {ours:.3f} s"
    report("1 the same on 2 threads", f"{ours / two:.2f}x", ">= 1.6x", detail)


def projection_threads(rng):
    X = rng.normal(size=(500, 1200))
    one, two = best(lambda: smrmr.redundancy(X), lambda: smrmr.redundancy(X, n_jobs=2), repeat=3)
    detail = f"{two:.2f} s against {one:.2f} s"
    report("1 2 threads at p=1200", f"{one / two:.2f}x", "", detail)


def projection_one_pair(rng):
    pairs = [rng.normal(size=(2, n)) for n in (10_000, 20_000)]
    small, large = best(
        *[
            lambda x=x, y=y: smrmr.association.projection_correlation_squared(x, y)
            for x, y in pairs
        ],
        repeat=25,
    )
    detail = f"{1e3 * large:.2f} ms against {1e3 * small:.2f} ms"
    report("2 PC, one pair, n=20,000 over n=10,000", f"{large / small:.2f}", "<= 2.4", detail)


def hsic_all_pairs(rng):
    for n, bar, slabs, repeat in ((1000, ">= 2x", 1, 3), (4000, ">= 6x", 16, 1)):
        X = rng.normal(size=(n, 300))
        ours, rival = best(
            lambda X=X: smrmr.redundancy(X, measure="hsic"),
            lambda X=X, slabs=slabs: hsic_dense(X, slabs),
            repeat=repeat,
        )
        detail = f"{ours:.2f} s against {rival:.2f} s"
        name = f"3 HSIC, all pairs, n={n}, p=300, against dense float32"
        report(name, f"{rival / ours:.1f}x", bar, detail)
    ours, rival = (peak_memory(side, 1000) for side in ("ours", "dense"))
    detail = f"{ours / 1e6:.0f} MB against {rival / 1e6:.0f} MB"
    report("3 peak extra memory at n=1000", f"1/{rival / ours:.0f}", "<= 1/20", detail)


def peak_memory(side, n):
    """Growth of the peak resident set while one side works, in a process of its own."""
    return float(in_own_process("--memory", side, n))


def measure_memory(side, n):
    """Linux only: the peak is reset before the work starts."""
    X = np.random.default_rng(0).normal(size=(n, 300))
    work = hsic_dense if side == "dense" else (lambda X: smrmr.redundancy(X, measure="hsic"))
    with threadpool_limits(1):
        work(X[:200, :4].copy())  # compiles and opens the libraries
        Path("/proc/self/clear_refs").write_text("5")
        before = resident("VmRSS")
        work(X)
    print(resident("VmHWM") - before)


def distance_all_pairs(rng):
    import dcor

    n, p, sample = 1000, 200, 400
    X = rng.normal(size=(n, p))
    left, right = np.triu_indices(p, 1)
    some = rng.choice(len(left), sample, replace=False)
    columns = X.T.copy()

    def rowwise():
        return dcor.rowwise(
            dcor.distance_correlation_sqr,
            columns[left[some]],
            columns[right[some]],
            compile_mode=dcor.CompileMode.COMPILE_CPU,
        )

    error = np.abs(rowwise() - smrmr.redundancy(X, measure="dcor")[left[some], right[some]]).max()
    ours, rival = best(lambda: smrmr.redundancy(X, measure="dcor"), rowwise, repeat=3)
    rival *= len(left) / sample
    detail = f"{ours:.2f} s against {rival:.0f} s (from {sample} pairs), values to {error:.0e}"
    name = "4 dCor, all pairs, n=1000, p=200, against dcor.rowwise"
    report(name, f"{rival / ours:.0f}x", "> 1x, 1e-10", detail)


def genotypes(rng):
    n, p = 1000, 100_000
    genotype = rng.binomial(2, 0.3, size=(n, p)).astype(np.int8)
    continuous = rng.standard_normal(size=(n, p), dtype=np.float32)
    y = np.where(rng.random(n) < 0.5, "case", "control")
    ours, rival = best(
        lambda: smrmr.relevance(genotype, y), lambda: smrmr.relevance(continuous, y), repeat=2
    )
    detail = f"{ours:.2f} s against {rival:.2f} s"
    name = "5 PC relevance, 100,000 genotypes, against continuous"
    report(name, f"{rival / ours:.1f}x", ">= 5x", detail)


def start_up():
    def run(code, **environment):
        start = perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | environment)
        return perf_counter() - start

    ours, rival, empty = best(
        lambda: run("import smrmr"),
        lambda: run("import numba, sklearn.feature_selection"),
        lambda: run("pass"),
        repeat=5,
    )
    detail = f"{ours - empty:.2f} s against {rival - empty:.2f} s"
    name = "6 import smrmr over numba and sklearn.feature_selection"
    report(name, f"{(ours - empty) / (rival - empty):.2f}", "<= 1.2", detail)
    first = (
        "import numpy as np, smrmr, time; r = np.random.default_rng(0);"
        "X = r.normal(size=(100, 100)); y = r.normal(size=100);"
        "t = time.perf_counter(); smrmr.associate(X, y); print(time.perf_counter() - t)"
    )
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        for name, bar in (("cold cache", "<= 15 s"), ("warm cache", "")):
            done = subprocess.run(
                [sys.executable, "-c", first],
                check=True,
                env=environment,
                capture_output=True,
                text=True,
            )
            name = f"6 first associate of a process, n=p=100, {name}"
            report(name, f"{float(done.stdout):.2f} s", bar, "")


def main():
    rng = np.random.default_rng(0)
    print(f"smrmr {smrmr.__version__}, numpy {np.__version__}, {os.cpu_count()} cores")
    with threadpool_limits(1):
        projection_all_pairs(rng)
        projection_threads(rng)
        projection_one_pair(rng)
        hsic_all_pairs(rng)
        distance_all_pairs(rng)
        genotypes(rng)
    start_up()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--memory"]:
        measure_memory(sys.argv[2], int(sys.argv[3]))
    else:
        main()
