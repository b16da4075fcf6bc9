"""Times whole fits of this code and of an older checkout, side by side.

    SMRMR_BEFORE=/older/clone/src SMRMR_DATA=/data python -m benchmarks.speed.before [case ...]

Processor seconds of one thread after everything is compiled, the best of three runs of each, in
turn. The cases are those of `CASES`; real tables that are not at hand are left out. A case of two
to ten classes gives the exponent of the time in the number of classes.
"""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from pathlib import Path
from time import process_time

import numpy as np

from .timing import in_own_process, report

REPEATS = 3
LEVEL = 0.1
N_CLASSES = (2, 3, 5, 10)  # of the tables that the exponent comes from


def drawn(design, n, p):
    def make():
        import smrmr

        data = smrmr.simulate(design, n, p, random_state=0)
        y = data.y.astype(int).astype(str) if data.target == "classes" else data.y
        return data.X, y

    return make


def of_classes(n_classes, n=300, p=300):
    """Classes of equal size that ten columns tell apart, of two to ten of them in like manner."""

    def make():
        rng = np.random.default_rng(0)
        X, slopes = rng.standard_normal((n, p)), rng.standard_normal((10, n_classes))
        scores = X[:, :10] @ slopes + rng.gumbel(size=(n, n_classes))
        for _ in range(50):  # so that classes are about equally frequent
            shares = np.bincount(scores.argmax(axis=1), minlength=n_classes) / n
            scores -= 0.5 * np.log(n_classes * np.maximum(shares, 0.5 / n))
        return X, scores.argmax(axis=1).astype(str)

    return make


def real(name):
    def make():
        from ..data.datasets import load

        data = load(name)
        return data.X, data.y.astype(str) if data.target == "classes" else data.y

    return make


CASES = {
    "numbers, 100 x 100": (drawn("1.d", 100, 100), ">= 1x"),
    "numbers, 100 x 500": (drawn("1.d", 100, 500), ">= 1x"),
    "numbers, 500 x 500": (drawn("1.d", 500, 500), ">= 1x"),
    "numbers, 100 x 5,000": (drawn("1.d", 100, 5000), ">= 1x"),
    "numbers, 500 x 5,000": (drawn("1.d", 500, 5000), ">= 1x"),
    "numbers, 187 x 20,000": (drawn("1.d", 187, 20_000), ">= 1x"),
    "two classes, 200 x 300": (drawn("3.b", 200, 300), ">= 1x"),
    "ten classes, 100 x 100": (drawn("many classes", 100, 100), ">= 1x"),
    **{f"{k} classes, 300 x 300": (of_classes(k), ">= 1x") for k in N_CLASSES},
    "TOX_171": (real("TOX_171"), ">= 6x"),
    "orlraws10P": (real("orlraws10P"), ">= 6x"),
    "warpAR10P": (real("warpAR10P"), ">= 6x"),
    "cells": (real("cells"), ">= 25x, <= 6 s"),
}


def measure(path):
    """Run in a process of its own: print the seconds of a fit, and how many features it names."""
    import smrmr

    warnings.simplefilter("ignore")
    table = np.load(path)
    kind = "continuous" if table["y"].dtype.kind == "f" else "classes"
    selector = smrmr.SmRMR(fdr=LEVEL, control="tests", target=kind, n_jobs=1)
    rows = np.sort(np.argsort(table["y"], kind="stable")[:: max(1, len(table["y"]) // 60)])
    selector.fit(table["X"][rows][:, :30], table["y"][rows])  # compiles
    start = process_time()
    selector.fit(table["X"], table["y"])
    print(process_time() - start, len(selector.selection_.selected))


def fitted(path, source):
    """Seconds and findings of a fit, here or in an older checkout."""
    changes = {"OPENBLAS_NUM_THREADS": "1"} | ({"PYTHONPATH": source} if source else {})
    seconds, n_selected = in_own_process("fit", path, **changes).split()
    return float(seconds), int(n_selected)


def main(names):
    older, growth = os.environ.get("SMRMR_BEFORE", ""), {}
    for name in names or CASES:
        make, bar = CASES[name]
        try:
            X, y = make()
        except FileNotFoundError as error:
            report(name, "", bar, str(error))
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "table.npz")
            np.savez(path, X=X, y=y)
            runs = [
                [fitted(path, source) for source in (("", older) if older else ("",))]
                for _ in range(REPEATS)
            ]
        now, *before = (min(of_one) for of_one in zip(*runs, strict=True))
        detail = f"{now[0]:.2f} s, {now[1]} findings"
        if before:
            detail += f"; before {before[0][0]:.2f} s, {before[0][1]} findings"
        report(name, f"{before[0][0] / now[0]:.2f}x" if before else "", bar, detail)
        growth[name] = now[0]
    if len(growth) == len(CASES):
        seconds = [growth[f"{k} classes, 300 x 300"] for k in N_CLASSES]
        slope = np.polyfit(np.log(N_CLASSES), np.log(seconds), 1)[0]
        report("growth in classes, 300 x 300", f"{slope:.2f}", "<= 0.5", "exponent")


if __name__ == "__main__":
    measure(sys.argv[2]) if sys.argv[1:2] == ["fit"] else main(sys.argv[1:])
