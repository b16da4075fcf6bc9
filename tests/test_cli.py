"""The command line as a stranger meets it."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "smrmr", *arguments], capture_output=True, text=True
    )


def test_demo_counts_true_and_false_picks():
    """Design 1.a is easy: every method finds its two features among fifty."""
    done = run("demo", "--design", "1.a", "--n", "100", "--p", "50")
    assert done.returncode == 0, done.stderr
    for method in ("SIS (pc)", "MRMR", "HSICLasso", "penalised mRMR"):
        row = next(line for line in done.stdout.splitlines() if method in line)
        cells = [cell.strip() for cell in row.strip("│┃| ").split("│")]
        assert cells[1:3] == ["2", "0"], row
        assert set(cells[3].split()) == {"x0", "x5"}


def test_bad_design_is_a_message_and_not_a_traceback():
    for arguments in (["--design", "9.z"], ["--p", "5"], ["--measure", "nope"]):
        done = run("demo", *arguments)
        assert done.returncode == 2
        assert done.stderr.startswith("smrmr: ")
        assert "Traceback" not in done.stderr


def test_version():
    assert run("version").stdout.strip() == version("smrmr")
