"""Times a pair of columns by their number of rows, and how near that is to what a machine can do.

    python -m benchmarks.speed.pairs
    SMRMR_BEFORE=/older/clone/src python -m benchmarks.speed.pairs

CPU time of one thread. The second form times an older state as well, in processes of its own, by
turns. Times per pair include the preparation of 64 columns. "Off the law" is the largest ratio of a
time and of the power law fitted through all sizes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from time import process_time

import numpy as np
from threadpoolctl import threadpool_limits

from .timing import report

ROWS = (100, 200, 500, 1000, 1500, 2600, 5000, 10_000, 20_000)
COLUMNS = 64
TURNS = 2


def spread(n, rng):
    return rng.normal(size=(n, COLUMNS))


def tied(n, rng):
    return np.round(rng.normal(size=(n, COLUMNS)), 1)


def cpu_time(work, repeat=2):
    """Best CPU time of some repetitions, after one that compiles."""
    work()
    times = []
    for _ in range(repeat):
        start = process_time()
        work()
        times.append(process_time() - start)
    return min(times)


def time_pairs():
    """Seconds per pair, by kind of column, anchors and rows."""
    import smrmr
    from smrmr.measures import MEASURES

    rng, pairs, found = np.random.default_rng(0), COLUMNS * (COLUMNS - 1) / 2, {}
    has_anchors = hasattr(MEASURES["pc"](), "anchors")
    for kind in (spread, tied):
        for n in ROWS:
            X = kind(n, rng)
            for anchors in ("all", 512):
                if anchors == "all" or (has_anchors and n > anchors):
                    measure = f"pc(anchors={anchors})" if has_anchors else "pc"
                    seconds = cpu_time(lambda X=X, m=measure: smrmr.redundancy(X, measure=m))
                    found[f"{kind.__name__} {anchors} {n}"] = seconds / pairs
    return found


def hsic_times(n=1000, p=300, n_tile=96):
    """Seconds of HSIC redundancy, and of its products by float32 matrix products at full speed.

    Products that count are those of rows of factors whose bound is not negligible.
    """
    import smrmr
    from smrmr.data.columns import Columns
    from smrmr.measures.embedding import NEGLIGIBLE
    from smrmr.measures.protocol import Use

    X = np.random.default_rng(0).normal(size=(n, p))
    (block,) = Columns.bare(X[:, :n_tile]).blocks(0)
    (part,) = smrmr.measures.HSIC().prepare(block, Use(p, n_tile))
    sizes = part.sizes
    counted = (sizes[:, None] * sizes > NEGLIGIBLE).sum() * p * (p - 1) / (2 * n_tile**2)
    rows = part.rows.astype(np.float32)
    product = cpu_time(lambda: rows @ rows[::-1].T, repeat=5)
    needed = product * counted / len(rows) ** 2
    return {
        "hsic": cpu_time(lambda: smrmr.redundancy(X, measure="hsic"), repeat=4),
        "hsic by float32": needed,
    }


def genotype_times(n=1000, p=100_000):
    """Seconds of the relevance of genotypes, and of copying them."""
    import smrmr

    rng = np.random.default_rng(0)
    genotypes = rng.binomial(2, 0.3, size=(p, n)).astype(np.int8).T
    classes = np.where(rng.random(n) < 0.5, "case", "control")
    number = rng.normal(size=n)
    return {
        "genotypes, classes": cpu_time(lambda: smrmr.relevance(genotypes, classes)),
        "genotypes, number": cpu_time(lambda: smrmr.relevance(genotypes, number)),
        "copy": cpu_time(lambda: genotypes.copy(order="K"), repeat=5),
    }


def best_of_turns():
    """Smallest times of this state and of the one before, by turns."""
    states = [None, os.environ.get("SMRMR_BEFORE")]
    best = [{}, {}]
    for _ in range(TURNS):
        for times, source in zip(best, states[: 1 + bool(states[1])], strict=False):
            environment = os.environ | ({"PYTHONPATH": source} if source else {})
            command = [sys.executable, "-m", "benchmarks.speed.pairs", "--times"]
            done = subprocess.run(command, env=environment, capture_output=True, check=True)
            for name, seconds in json.loads(done.stdout).items():
                times[name] = min(seconds, times.get(name, np.inf))
    return best


def off_the_law(times):
    """Largest ratio of a time and of the power law through all, either way, and the exponent."""
    logs = np.log([*times])
    rows = np.log(ROWS[-len(logs) :])
    slope, shift = np.polyfit(rows, logs, 1)
    return float(np.exp(np.abs(logs - slope * rows - shift).max())), slope


def main():
    now, before = best_of_turns()
    for kind in ("spread", "tied"):
        for n in ROWS:
            for anchors in ("all", 512):
                name = f"{kind} {anchors} {n}"
                if name not in now:
                    continue
                old = before.get(f"{kind} all {n}")
                ratio = f"{old / now[name]:.1f}x" if old else ""
                detail = f"{1e6 * now[name]:.2f} us" + (f" against {1e6 * old:.2f}" if old else "")
                title = f"7 PC, per pair, {kind} columns, n={n}, {anchors} anchors"
                report(title, ratio, "", detail)
        for state, times in (("now", now), ("before", before)):
            some = [times[f"{kind} all {n}"] for n in ROWS if f"{kind} all {n}" in times]
            if some:
                worst, slope = off_the_law(some)
                name = f"7 PC, per pair, {kind} columns, off the law, {state}"
                report(name, f"{worst:.2f}x", "<= 1.5x", f"n to the power {slope:.2f}")
    shares = (
        ("8 HSIC, n=1000, p=300, share of float32 products", "hsic", "hsic by float32", ">= 40%"),
        ("9 genotypes and classes, share of a copy", "genotypes, classes", "copy", ">= 10%"),
        ("9 genotypes and a number, share of a copy", "genotypes, number", "copy", ">= 10%"),
    )
    for name, ours, limit, bar in shares:
        for state, times in (("now", now), ("before", before)):
            if times:
                detail = f"{times[limit]:.3f} s against {times[ours]:.3f} s"
                report(f"{name}, {state}", f"{times[limit] / times[ours]:.0%}", bar, detail)


if __name__ == "__main__":
    if sys.argv[1:] == ["--times"]:
        with threadpool_limits(1):
            print(json.dumps(time_pairs() | hsic_times() | genotype_times()))
    else:
        main()
