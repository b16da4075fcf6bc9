"""Times how soon the command answers, and what importing the package costs.

    python -m benchmarks.speed.startup

Seconds are those of the processor (user and system), best of some runs, which other work on the
machine changes least; beside them how often `import numpy` would fit in, which tells machines
apart. Then come seconds by the clock until the first message, and at last first fits, in processes
that find nothing compiled, with how much of that is compiling, and one after `smrmr demo`, which
compiles for all that follow. Where SMRMR_BEFORE names the folder
src of an older checkout, its first fits are told beside ours.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from .timing import report

RUNS = 3
HELP, IMPORT, FIRST = "<= 0.4 s", "<= 0.5 s", "<= 1.5 s"
COMMANDS = {  # what: (arguments of Python, bar)
    "smrmr --help": (["-m", "smrmr", "--help"], HELP),
    "smrmr --version": (["-m", "smrmr", "--version"], HELP),
    "smrmr select with a wrong option": (["-m", "smrmr", "select", "--colour", "red"], HELP),
    "smrmr select with a wrong setting": (
        ["-m", "smrmr", "select", "table.csv", "--target", "y", "--fdr", "2"],
        FIRST,
    ),
    "smrmr select with a wrong column": (
        ["-m", "smrmr", "select", "table.csv", "--target", "z"],
        "",
    ),
    "import smrmr": (["-c", "import smrmr"], IMPORT),
    "smrmr.select": (["-c", "import smrmr; smrmr.select"], ""),
    "smrmr.SmRMR": (["-c", "import smrmr; smrmr.SmRMR"], ""),
    "scikit-learn's selectors alone": (["-c", "import sklearn.feature_selection"], ""),
}
DRAWN = """
import numpy as np
rng = np.random.default_rng(0)
X = rng.standard_normal((100, 500))
y = X[:, :5].sum(axis=1) + rng.standard_normal(100)
"""
FITS = {  # what: (lines of Python, bar); nothing is compiled yet, but for the last
    "first fit, 100 x 500 numbers": (DRAWN + "smrmr.SmRMR().fit(X, y)", "<= 3 s"),
    "first fit, two classes": (DRAWN + "smrmr.SmRMR(target='classes').fit(X, y > 0)", ""),
    "smrmr demo": ("sys.argv = ['smrmr', 'demo']; smrmr.cli.main()", "<= 6 s"),
}
AFTER_DEMO = "first fit after smrmr demo"
FITS[AFTER_DEMO] = FITS["first fit, 100 x 500 numbers"]
WATCHED = """
import atexit, json, sys, time
from numba.core import event
spent, found = [], []
class Listener(event.Listener):
    def on_start(self, event):
        found.append(event)
        spent.append([time.process_time(), 0.0])
    def on_end(self, event):
        start, inside = spent.pop()
        total = time.process_time() - start
        compiling[0] += total - inside
        if spent:
            spent[-1][1] += total
compiling = [0.0]
event.register("numba:compile", Listener())
def tell():
    seconds = time.process_time()
    print("\\n" + json.dumps([seconds, compiling[0], len(found)]))
atexit.register(tell)
import smrmr, smrmr.cli
"""


def processor_seconds(arguments):
    """Seconds of the processor that a process of Python takes."""
    before = os.times()
    subprocess.run([sys.executable, *arguments], capture_output=True)
    after = os.times()
    used = (after.children_user, after.children_system)
    return sum(used) - before.children_user - before.children_system


def seconds_to_first_message(arguments):
    """Seconds by the clock until a process writes to its error stream."""
    start = perf_counter()
    running = subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    running.stderr.read(1)
    seconds = perf_counter() - start
    running.communicate()
    return seconds


def first_fit(lines, source=None, demo=False):
    """Seconds of the processor of a first fit, of them compiling, and the functions compiled."""
    with tempfile.TemporaryDirectory() as empty:
        there = {"NUMBA_CACHE_DIR": empty, "OPENBLAS_NUM_THREADS": "1"}
        there |= {"PYTHONPATH": source} if source else {}
        asked = {"capture_output": True, "text": True, "env": os.environ | there}
        if demo:
            subprocess.run([sys.executable, "-m", "smrmr", "demo"], cwd=empty, check=True, **asked)
        command = [sys.executable, "-W", "ignore", "-c", WATCHED + lines]
        done = subprocess.run(command, **asked)
    return json.loads(done.stdout.splitlines()[-1])


def report_first_fits():
    """One line per first fit, best of some runs, with an older checkout alternating with ours."""
    older = os.environ.get("SMRMR_BEFORE")
    for name, (lines, bar) in FITS.items():
        ours, theirs = [], []
        for _ in range(RUNS):
            ours.append(first_fit(lines, demo=name == AFTER_DEMO))
            if older:
                theirs.append(first_fit(lines, older, demo=name == AFTER_DEMO))
        seconds, compiling, n_functions = min(ours)
        detail = f"{compiling:.2f} s of it compiling {n_functions} functions"
        if older:
            before, compiling, n_functions = min(theirs)
            detail += f"; before {before:.2f} s, {compiling:.2f} s for {n_functions} functions"
            detail += f": {before / seconds:.1f}x"
        report(name, f"{seconds:.2f} s", bar, detail)


def main():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "table.csv").write_text("a,b,y\n1,2,0.1\n2,1,0.2\n3,5,0.4\n4,3,0.3\n5,4,0.6\n")
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
        os.chdir(folder)
        numpy = min(processor_seconds(["-c", "import numpy"]) for _ in range(RUNS))
        for name, (arguments, bar) in COMMANDS.items():
            seconds = min(processor_seconds(arguments) for _ in range(RUNS))
            report(name, f"{seconds:.2f} s", bar, f"{seconds / numpy:.1f}x import numpy")
        asked = COMMANDS["smrmr select with a wrong column"][0]
        seconds = min(seconds_to_first_message(asked) for _ in range(RUNS))
        report("smrmr select, first message by the clock", f"{seconds:.2f} s", FIRST, "")
        report_first_fits()


if __name__ == "__main__":
    main()
