"""The command line as a stranger meets it."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import version

from typer.testing import CliRunner

from smrmr.cli.commands import app


def run(*arguments, cwd=None):
    return subprocess.run(
        [sys.executable, "-m", "smrmr", *arguments], capture_output=True, text=True, cwd=cwd
    )


def test_demo_counts_true_false_and_missed_features(tmp_path):
    """The counts agree with the table, and an easy design is mostly found."""
    done = run("demo", "--design", "1.d", "--n", "400", "--p", "150", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    last = done.stdout.splitlines()[-2]
    found, false, missed = map(int, re.findall(r"\d+", last))
    assert (tmp_path / "smrmr-demo" / "report.html").exists()
    rows = [line.split("│")[1:6] for line in done.stdout.splitlines() if line.startswith("│ x")]
    truths = [cells[4].strip() for cells in rows]
    assert (truths.count("true"), truths.count("false")) == (found, false)
    assert found + missed == 10
    assert found >= 7
    true = {f"x{k}" for k in range(0, 100, 10)}
    assert all((cells[0].strip() in true) == (cells[4].strip() == "true") for cells in rows)


def test_demo_says_that_nothing_was_found(tmp_path):
    done = run("demo", "--design", "1.a", "--n", "60", "--p", "50", "--fdr", "0.05", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "Nothing selected at FDR 0.05" in said
    assert "0 true features found, 0 false, 2 missed." in said


def test_bad_design_is_a_message_and_not_a_traceback():
    for arguments in (["--design", "9.z"], ["--p", "5"], ["--control", "nope"], ["--fdr", "2"]):
        done = run("demo", *arguments)
        assert done.returncode == 2
        assert done.stderr.startswith("smrmr: ")
        assert "Traceback" not in done.stderr


def test_version():
    assert run("version").stdout.strip() == version("smrmr")


def test_examples_of_every_help_page_work_when_pasted(tmp_path, monkeypatch):
    """In the order of a reader: `select` comes before those that read what it wrote."""
    monkeypatch.chdir(tmp_path)
    commands = [command.callback.__name__ for command in app.registered_commands]
    for command in commands:
        said = " ".join(CliRunner().invoke(app, [command, "--help"]).stdout.split())
        (example,) = re.findall(r"Example: (.*?) [╭│]", said)
        for line in example.split(" && "):
            program, *arguments = line.split()
            assert program == "smrmr"
            done = CliRunner().invoke(app, arguments)
            assert done.exit_code == 0, (line, done.output)
