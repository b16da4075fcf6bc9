"""Times whole fits of tables with many rows, and how they grow.

    python -m benchmarks.speed.rows
    SMRMR_BEFORE=/older/clone/src python -m benchmarks.speed.rows

Each line is a process of its own: processor seconds of one thread after everything is compiled,
unless seconds by the clock are told. The second form times an older checkout as well. The last part
writes a table of a million rows to a temporary folder (0.8 GB, twice) and selects from the files by
the command line.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

from .timing import in_own_process, report

FITS = {  # (controller, rows, columns): bar on the ratio to before
    ("tests", 500, 5000): ">= 1x",
    ("tests", 2600, 500): "",
    ("tests", 10_000, 50): ">= 5x",
    ("knockoffs", 2600, 500): ">= 20x",
    ("knockoffs", 10_000, 50): ">= 5x",
}
GROWTH = (2000, 10_000, 30_000, 100_000)
GROWTH_COLUMNS = 100
LARGE = 100_000, 200  # two threads, by the clock
FROM_DISK = 1_000_000, 100
FROM_NPY = """
import numpy, smrmr
source = smrmr.data.open_columns("X.npy")
found = smrmr.select(source, numpy.load("y.npy"), smrmr.Recipe(fdr=0.3, n_jobs=2))
print(*found.selected, sep="\\n")
"""
SELECTIONS = {  # what a new process of Python is given
    "X.npy": ["-W", "ignore", "-c", FROM_NPY],
    "table.parquet": [
        *["-m", "smrmr", "select", "table.parquet", "--target", "y"],
        *["--fdr", "0.3", "--jobs", "2"],
    ],
}


def table(n, p):
    """Columns of which the first nine tell of the target: lines, waves, bows, an interaction."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    x = X.T
    told = np.sin(2 * x[0]) + x[1] ** 2 + x[2] + np.tanh(2 * x[3]) + x[4] + x[5] * x[6]
    return X, told + 0.5 * x[7] + 0.3 * x[8] + rng.standard_normal(n)


def measure(control, n, p, n_jobs):
    """Run in a process of its own: print seconds of a fit, the peak memory and the stages."""
    import smrmr

    warnings.simplefilter("ignore")
    selector = smrmr.SmRMR(fdr=0.3, control=control, n_jobs=n_jobs, random_state=0)
    selector.fit(*table(max(60, min(n, 12_000)), p=12))  # compiles
    X, y = table(n, p)
    clock, cpu = perf_counter(), process_time()
    selector.fit(X, y)
    found = {
        "clock": perf_counter() - clock,
        "cpu": process_time() - cpu,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
        "stages": selector.selection_.seconds,
        "selected": sorted(selector.selection_.selected.tolist()),
    }
    print(json.dumps(found))


def fitted(control, n, p, n_jobs=1, source=None):
    """What `measure` printed, here or in an older checkout."""
    changes = {"OPENBLAS_NUM_THREADS": "1"} | ({"PYTHONPATH": source} if source else {})
    return json.loads(in_own_process("fit", control, n, p, n_jobs, **changes))


def from_disk():
    """Seconds by the clock of a selection from files of a million rows."""
    n, p = FROM_DISK
    with tempfile.TemporaryDirectory() as folder:
        import pandas as pd

        X, y = table(n, p)
        np.save(Path(folder, "X.npy"), X)
        np.save(Path(folder, "y.npy"), y)
        frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(p)]).assign(y=y)
        frame.to_parquet(Path(folder, "table.parquet"))
        del X, frame
        for name, arguments in SELECTIONS.items():
            start = perf_counter()
            command = [sys.executable, *arguments]
            done = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE)
            seconds = perf_counter() - start
            lines = len(done.stdout.splitlines())
            memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
            detail = f"{seconds:.0f} s by the clock, {memory:.1f} GB at most so far, {lines} lines"
            report(f"{name}, {n:,} x {p}, from disk", "", "<= 600 s", detail)


def main():
    older = os.environ.get("SMRMR_BEFORE")
    for (control, n, p), bar in FITS.items():
        now = fitted(control, n, p)
        ratio, detail = "", f"{now['cpu']:.2f} s"
        if older:
            before = fitted(control, n, p, source=older)
            ratio = f"{before['cpu'] / now['cpu']:.1f}x"
            detail += f", before {before['cpu']:.2f} s"
        report(f"{control}, {n:,} x {p:,}", ratio, bar if older else "", detail)
    for control in ("tests", "knockoffs"):
        seconds = [fitted(control, n, GROWTH_COLUMNS)["cpu"] for n in GROWTH]
        slope = np.polyfit(np.log(GROWTH), np.log(seconds), 1)[0]
        told = ", ".join(f"{s:.1f} s at {n:,}" for n, s in zip(GROWTH, seconds, strict=True))
        report(
            f"{control}, growth in rows, {GROWTH_COLUMNS} columns", f"{slope:.2f}", "<= 1.1", told
        )
    found = fitted("tests", *LARGE, n_jobs=2)
    stages = ", ".join(f"{name} {seconds:.0f}" for name, seconds in found["stages"].items())
    detail = f"{found['clock']:.0f} s by the clock, {found['memory']:.2f} GB in all: {stages}"
    report("tests, two threads, {:,} x {}".format(*LARGE), "", "<= 60 s, 2 GB", detail)
    from_disk()


if __name__ == "__main__":
    if sys.argv[1:2] == ["fit"]:
        measure(sys.argv[2], *map(int, sys.argv[3:]))
    else:
        main()
