"""Times the ten cases of `benchmarks.speed.ten` at a commit, and keeps one line per commit.

    python -m benchmarks.speed.commits [commit ...]

The lines are in ``results/commits.csv``; without a commit, HEAD is timed. A commit that has a line
is not timed again. Kept is the time of each case over that of the reference in the same process, so
lines of different machines can be compared, roughly: believe a change of a third, not of a tenth.
A cell is empty where the package of that commit cannot do what the case asks.

Why not asv: it keeps seconds of one machine, and builds an environment for every commit, which
takes longer than the ten cases do. Here older code runs with the packages that are installed now.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from ..stores import Store
from .ten import CASES

ROOT = Path(__file__).parents[2]
ONE_THREAD = {f"{kind}_NUM_THREADS": "1" for kind in ("OPENBLAS", "OMP", "MKL")}
N_DIGITS = 10  # of a commit's name


def open_lines(folder: Path) -> Store:
    """The store of lines: commit, its date, seconds of the reference, the ratio of every case."""
    return Store(folder / "commits.csv", ("commit",), ("date", "reference", *CASES))


def keep_lines(commits, store, repository=ROOT, cases=tuple(CASES)):
    """Append a line for every commit that has none."""
    store.begin()
    for commit in commits:
        shown = git(repository, "show", "--no-patch", "--pretty=format:%H %ct", commit)
        name, seconds = shown.decode().split()
        if (name[:N_DIGITS],) in store.done():
            print(f"{name[:N_DIGITS]} has a line.")
            continue
        date = datetime.fromtimestamp(int(seconds), UTC).isoformat()
        line = {"commit": name[:N_DIGITS], "date": date}
        store.append([line | ratios(repository, name, cases)])


def ratios(repository, commit, cases):
    """Ratios of cases at a commit by their names, and the best seconds of the reference."""
    found, references = {}, []
    with tempfile.TemporaryDirectory() as folder:
        archive = git(repository, "archive", "--format=tar", commit, "src")
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        for case in cases:
            seconds = timed(case, Path(folder, "src"))
            if seconds:
                found[case] = seconds[0] / seconds[1]
                references.append(seconds[1])
            print(f"{commit[:N_DIGITS]} {case:<24} {found.get(case, '-'):.4}", flush=True)
    return found | {"reference": min(references, default=None)}


def timed(case, source):
    """Seconds of a case with the package in `source`, and of the reference; None if it fails."""
    environment = os.environ | ONE_THREAD | {"PYTHONPATH": f"{source}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "benchmarks.speed.ten", case]
    run = subprocess.run(command, env=environment, cwd=source, capture_output=True, text=True)
    if run.returncode:
        print(run.stderr.strip().splitlines()[-1])
        return None
    return [float(word) for word in run.stdout.split()[-2:]]


def git(repository, *words):
    return subprocess.run(["git", *words], cwd=repository, check=True, capture_output=True).stdout


if __name__ == "__main__":
    keep_lines(sys.argv[1:] or ["HEAD"], open_lines(ROOT / "results"))
