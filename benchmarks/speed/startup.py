"""Times how soon the command answers, and what importing the package costs.

    python -m benchmarks.speed.startup

Seconds are those of the processor (user and system), best of some runs, which other work on the
machine changes least; beside them how often `import numpy` would fit in, which tells machines
apart. The last lines are seconds by the clock until the first message.
"""

from __future__ import annotations

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


if __name__ == "__main__":
    main()
