"""The command line as a stranger meets it."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "smrmr", *arguments], capture_output=True, text=True
    )


def test_demo_ranks_and_marks_true_features():
    done = run("demo", "--design", "1.a", "--n", "100", "--p", "50")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if " x" in line]
    assert [("true" in line) for line in lines[:3]] == [True, True, False]
    assert "2 of the 2 true features are among the first 2" in done.stdout


def test_bad_design_is_a_message_and_not_a_traceback():
    for arguments in (["--design", "9.z"], ["--p", "5"], ["--measure", "nope"]):
        done = run("demo", *arguments)
        assert done.returncode == 2
        assert done.stderr.startswith("smrmr: ")
        assert "Traceback" not in done.stderr


def test_version():
    assert run("version").stdout.strip() == version("smrmr")
