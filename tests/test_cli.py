"""The command line as a stranger meets it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path

import pandas as pd
import pytest
from typer.main import get_command
from typer.testing import CliRunner

from doc_blocks import run_command
from smrmr import Recipe, SmRMR, simulate
from smrmr.cli.commands import app
from smrmr.paper import KnockoffFilter
from smrmr.settings import write_setting

pytestmark = pytest.mark.filterwarnings("ignore:Knockoffs. NOT exchangeable")


def run(*arguments, cwd=None):
    return subprocess.run(
        [sys.executable, "-m", "smrmr", *arguments], capture_output=True, text=True, cwd=cwd
    )


def test_one_level_by_default_everywhere():
    """Oracle: the number that the page on choices, and the first page, give as the default."""
    docs = Path(__file__).parents[1] / "docs"
    (level,) = re.findall(r"([\d.]+) is the default", (docs / "settings.md").read_text("utf-8"))
    (first,) = re.findall(r"level is ([\d.]+), the default", (docs / "start.md").read_text("utf-8"))
    assert first == level
    told = [Recipe().fdr, SmRMR().fdr, SmRMR.paper().fdr]
    for command in ("select", "demo"):
        (option,) = (o for o in get_command(app).commands[command].params if o.name == "fdr")
        told.append(option.default)
    assert told == [float(level)] * 5


@pytest.mark.parametrize("options", [[], ["--control", "knockoffs"]])
def test_demo_counts_true_false_and_missed_features(options, tmp_path, monkeypatch):
    """The counts and the table agree with selected.csv, and an easy design is mostly found."""
    monkeypatch.chdir(tmp_path)
    done = invoke("demo", "--design", "1.d", "--n", "400", "--p", "150", *options)
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert len(lines) + len(done.stderr.splitlines()) < 24  # with the command itself, a screen
    assert max(map(len, lines)) <= 80
    last = lines[-2]
    found, false, missed = map(int, re.findall(r"\d+", last))
    assert (tmp_path / "smrmr-demo" / "report.html").exists()
    rows = [line.split("│") for line in done.stdout.splitlines() if re.match(r" *x\d+ +│", line)]
    true = {f"x{k}" for k in range(0, 100, 10)}
    selected = pd.read_csv(tmp_path / "smrmr-demo" / "selected.csv")["feature"].tolist()
    truths = [str(name in true).lower() for name in selected]
    assert (truths.count("true"), truths.count("false")) == (found, false)
    assert found + missed == 10
    assert found >= 7
    shown = [(cells[0].strip(), cells[-1].strip()) for cells in rows]
    assert shown == list(zip(selected, truths, strict=True))[:12]


@pytest.mark.parametrize("options", [["--n", "18"], ["--n", "60", "--control", "knockoffs"]])
def test_demo_says_that_nothing_was_found(options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = invoke("demo", "--design", "1.a", "--p", "50", "--fdr", "0.05", *options)
    assert done.exit_code == 0, done.output
    said = " ".join(done.stdout.split())
    assert "Given all others nothing is selected at FDR 0.05" in said
    assert "0 true features found, 0 false, 2 missed." in said


def test_bad_design_is_a_message_and_not_a_traceback():
    for arguments in (["--design", "9.z"], ["--p", "5"], ["--control", "nope"], ["--fdr", "2"]):
        done = invoke("demo", *arguments)
        assert done.exit_code == 2
        assert done.stderr.startswith("smrmr: ")
        assert "Traceback" not in done.stderr


def test_version():
    assert run("--version").stdout.strip() == version("smrmr")


@pytest.mark.slow
def test_examples_of_every_help_page_work_when_pasted(tmp_path, monkeypatch):
    """In the order of a reader: `select` comes before those that read what it wrote."""
    monkeypatch.chdir(tmp_path)
    commands = [command.name or command.callback.__name__ for command in app.registered_commands]
    for command in commands:
        if command == "app":  # which serves until it is ended: see test_app_in_a_browser
            continue
        said = " ".join(CliRunner().invoke(app, [command, "--help"]).stdout.split())
        (example,) = re.findall(r"Example: (.*?) [╭│]", said)
        for line in example.split(" && "):
            run_command(line)


@pytest.fixture
def table(tmp_path):
    data = simulate("1.c", 120, 40, random_state=0)
    path = tmp_path / "table.csv"
    pd.DataFrame(data.X).add_prefix("x").assign(y=data.y).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def answer(tmp_path_factory):
    """A folder that `select` wrote, for tests to copy."""
    folder = tmp_path_factory.mktemp("answer")
    invoke("simulate", "1.c", "-n", "80", "-p", "40", "--out", folder / "table.csv")
    done = invoke("select", folder / "table.csv", "--target", "y", "--out", folder / "out")
    assert done.exit_code == 0, done.output
    return folder / "out"


def invoke(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


def test_every_setting_is_reachable(table, tmp_path):
    """Oracle: the recipe made in Python. The paper's pipeline and each stage have an option."""
    arguments = ["select", table, "--target", "y", "--out", tmp_path / "out", "--json"]
    arguments.append("--overwrite")
    cases = {
        ("--control", "paper"): KnockoffFilter.paper(),
        ("--measure", "pc(anchors=all)"): KnockoffFilter(measure="pc(anchors=all)"),
        ("--measure", "pearson", "--penalty", "scad(a=3)"): KnockoffFilter(
            measure="pearson", penalty="scad(a=3)"
        ),
        ("--lam", "0.02", "--screening", "none", "--draws", "2"): KnockoffFilter(
            lam=0.02, screening="none", n_draws=2
        ),
        ("--knockoffs", "gaussian(s=mvr)", "--control", "paper(cross_terms=false)"): (
            KnockoffFilter.paper(cross_terms=False, knockoffs="gaussian(s=mvr)")
        ),
    }
    for options, control in cases.items():
        done = invoke(*arguments, *options)
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["settings"]["control"] == write_setting(control)


def test_options_and_settings_files_name_every_choice_of_the_recipe():
    """Oracle: the fields of Recipe and KnockoffFilter; two of them go by another name."""
    options = {option.name for option in get_command(app).commands["select"].params}
    renamed = {"target": "target_type", "n_jobs": "jobs", "n_draws": "draws"}
    for f in (*fields(Recipe), *fields(KnockoffFilter)):
        inside_control = f.name == "cross_terms"
        assert inside_control or renamed.get(f.name, f.name) in options


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "y", "--target", "x1"], "--target was given 2 times. Give it once."),
        (["--target=y", "--fdr", "0.1", "--fdr=0.2"], "--fdr was given 2 times"),
        (["--target", "y", "--groups", ""], "--groups was given no value"),
        (["--target", "y", "--only="], "--only was given no value"),
        (["--target", "y", "--jobs", "0"], "--jobs 0 is not a number"),
        (["--target", "y", "--measure", "magic"], "--measure magic is not known"),
        (["--target", "y", "--screening", "split(half=1)"], "split has no setting half"),
        (["--target", "y", "--out", "table.csv"], "--out table.csv is a file. Name a folder"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(table, monkeypatch, arguments, message):
    monkeypatch.chdir(table.parent)
    done = invoke("select", table, *arguments)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert [path.name for path in table.parent.iterdir()] == ["table.csv"]


def test_a_folder_stands_for_the_selection_in_it(answer, tmp_path):
    folder = shutil.copytree(answer, tmp_path / "out")
    by_file, by_folder = (
        invoke("explain", path, "x0") for path in (folder / "selection.json", folder)
    )
    assert by_file.stdout == by_folder.stdout
    assert by_folder.exit_code == 0
    (folder / "report.html").unlink()
    assert invoke("report", folder).exit_code == 0
    assert (folder / "report.html").exists()
    for bad in (tmp_path / "nothing", tmp_path):
        done = invoke("explain", bad, "x0")
        assert done.exit_code == 2
        assert "there is no file" in done.stderr


@pytest.mark.parametrize("damage", ["names", "few names", "text"])
def test_damaged_selections_are_one_message(answer, tmp_path, damage):
    folder = shutil.copytree(answer, tmp_path / "out")
    path = folder / "selection.json"
    content = json.loads(path.read_text())
    content["names"] = None if damage == "names" else content["names"][:3]
    path.write_text("{" if damage == "text" else json.dumps(content))
    for command in (["explain", folder, "x0"], ["report", folder]):
        done = invoke(*command)
        assert done.exit_code == 2
        assert "not a selection saved by smrmr" in done.stderr


def test_data_leave_with_the_result_only_if_asked(table, tmp_path):
    """Law: no entry of the table is in any file that is written, unless --keep-data says so."""
    values = {float(v) for v in pd.read_csv(table).to_numpy().ravel()}
    for options, kept in (([], False), (["--keep-data"], True)):
        folder = tmp_path / f"out{kept}"
        assert invoke("select", table, "--target", "y", "--out", folder, *options).exit_code == 0
        text = "".join(path.read_text() for path in folder.iterdir())
        numbers = {float(n) for n in re.findall(r"-?\d+\.\d{6,}(?:e-?\d+)?", text)}
        assert bool(values & numbers) == kept
