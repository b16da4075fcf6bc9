"""The commands `smrmr check` and `smrmr plan`, as a stranger meets them."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from pandas.testing import assert_frame_equal
from typer.testing import CliRunner

import smrmr
from smrmr import Recipe
from smrmr.cli.commands import app
from smrmr.power.account import SamplePlan, TableCheck
from smrmr.power.words import words_of_check, words_of_plan

N, P = 40, 8
NAMES = [f"g{k}" for k in range(P)]
TABLE = ["table.csv", "--target", "y", "--covar-name", "age"]
SHORT = ["--strengths", "0.3,0.6", "--no-accuracy", "--seed", "3"]
BUDGET = ["--precision", "0.01"]  # which no number of fits here reaches
SELECTED = {
    *("selection.json", "report.html", "selected.csv", "groups.csv", "features.csv"),
    *("associated.csv", "own.csv", "pairs.csv", "panel.csv"),
}


def invoke(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)], env={"COLUMNS": "80"})


def done(*arguments):
    answer = invoke(*arguments)
    assert answer.exit_code == 0, answer.output
    return answer


def checked(*arguments):
    """What `smrmr check --json` prints, read back."""
    return TableCheck.from_json(done("check", *TABLE, *SHORT, *arguments, "--json").stdout)


def same(one, other):
    """Whether trials are the same but for the time that they took."""
    assert one.cells == other.cells
    assert_array_equal(one.cell_of, other.cell_of)
    assert_array_equal(one.outcomes, other.outcomes)
    return one.n_fits


@pytest.fixture(autouse=True)
def frame(tmp_path, monkeypatch):
    """A table of noise in the current folder; two of its features are alike."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    X = rng.standard_normal((N, P))
    X[:, 1] = X[:, 0] + 0.05 * rng.standard_normal(N)
    table = pd.DataFrame(X, columns=NAMES).assign(
        age=rng.standard_normal(N), y=rng.standard_normal(N)
    )
    table.to_csv("table.csv", index=False)
    return pd.read_csv("table.csv")


def test_the_numbers_of_a_check_are_those_of_python(frame):
    """Oracle: smrmr.check of the same table, effects, level and seed; its own tables of them."""
    found = checked("--fits", 7, "--forms", "line,pair", "--fdr", 0.2)
    ours = smrmr.check(
        *(frame[NAMES], frame["y"], Recipe(fdr=0.2), 3),
        covariates=frame[["age"]],
        forms=("line", "pair"),
        strengths=(0.3, 0.6),
        n_fits=7,
    )
    assert same(found, ours) == 7
    for table, name in ((ours.to_frame(), "check.csv"), (ours.levels(), "levels.csv")):
        assert_frame_equal(pd.read_csv(Path("smrmr-table-check") / name), table, check_dtype=False)


def test_the_answer_of_a_check_is_that_of_select_with_the_check(frame):
    """Oracle: the files of `smrmr select`, and the selection without the check, told as JSON."""
    found = checked("--fits", 3)
    folder = Path("smrmr-table-check")
    assert {path.name for path in folder.iterdir()} == SELECTED | {"check.csv", "levels.csv"}
    with_check = json.loads((folder / "selection.json").read_text())
    assert same(TableCheck.from_json(json.dumps(with_check["table_check"])), found) == 3
    plain = json.loads(done("select", *TABLE, *SHORT[2:], "--json").stdout)
    for key in set(plain) - {"seconds", "table_check", "statement"}:
        assert with_check[key] == plain[key], key
    assert "What this table can tell" in (folder / "report.html").read_text()
    refused = invoke("check", *TABLE)
    assert (refused.exit_code, "Say --overwrite" in refused.stderr) == (2, True)
    done("select", *TABLE, *SHORT[2:], "--out", folder, "--overwrite")
    assert {path.name for path in folder.iterdir()} == SELECTED  # no check of an earlier answer


def test_any_number_of_jobs_gives_the_same_numbers():
    """Oracle: the same command with one job; trials run in processes of their own with two."""
    one, two = (checked("--fits", 6, "--jobs", n, "--out", f"out{n}") for n in (1, 2))
    assert same(one, two) == 6


def test_a_check_goes_on_from_its_folder():
    """Oracle: twelve fits at once; that six of them were kept is told by the dates of files."""
    at_once = checked("--fits", 12, *BUDGET, "--out", "once")
    six = checked("--fits", 6, *BUDGET, "--run-dir", "run")
    before = {path: path.stat().st_mtime_ns for path in Path("run/trials").glob("stage*")}
    twelve = checked("--fits", 12, *BUDGET, "--run-dir", "run", "--overwrite")
    assert (six.n_fits, len(before)) == (6, 6)
    assert same(twelve, at_once) == 12
    assert {path: path.stat().st_mtime_ns for path in before} == before
    other = invoke("check", *TABLE, *SHORT, "--run-dir", "run", "--overwrite", "--fdr", "0.3")
    assert (other.exit_code, "fdr was 0.1 and is 0.3" in other.stderr) == (2, True)
    Path("mine").mkdir()
    Path("mine/notes.txt").write_text("")
    mine = invoke("check", *TABLE, *SHORT, "--run-dir", "mine", "--overwrite")
    assert (mine.exit_code, "holds no run" in mine.stderr) == (2, True)
    assert [path.name for path in Path("mine").iterdir()] == ["notes.txt"]


def test_the_terminal_says_the_check_first_and_where_the_report_is_last():
    """Oracle: sentences of the check, and the numbers of its tables, by hand from the files."""
    told = done("check", *TABLE, *SHORT, "--fits", 6, "--forms", "line,bend").stdout
    lines = told.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[-1] == f"Report: {Path('smrmr-table-check/report.html')}"
    saved = json.loads(Path("smrmr-table-check/selection.json").read_text())["table_check"]
    words = " ".join(filter(None, words_of_check(TableCheck.from_json(json.dumps(saved)))))
    assert " ".join(told.split()).startswith(words)
    power = (
        pd.read_csv("smrmr-table-check/check.csv")
        .set_index(["form", "share", "layer"])
        .sort_index()
    )
    rows = [re.split(r"\s*│\s*", line.strip()) for line in lines if "│" in line]
    forms = {"linear": "line", "U-shaped": "bend"}
    assert [row[:2] for row in rows[:4]] == [
        [form, share] for form in forms for share in ("30%", "60%")
    ]
    for form, share, found, alone, n in rows[:4]:
        expected = power.loc[forms[form], float(share[:-1]) / 100]
        assert _percent(found) == pytest.approx(expected["power"]["signals"], abs=0.006)
        assert _percent(alone) == pytest.approx(expected["power"]["associated"], abs=0.006)
        assert int(n) == expected["n_fits"]["signals"]
    levels = pd.read_csv("smrmr-table-check/levels.csv").set_index("layer")
    assert [row[0] for row in rows[4:]] == list(levels.index)
    for layer, _, by_chance in rows[4:]:
        assert _percent(by_chance) == pytest.approx(levels["any_false"][layer], abs=0.006)


def _percent(written):
    return float(written.split("%")[0]) / 100


def test_quiet_prints_the_path_alone_and_progress_counts_trials():
    """Oracle: lines by hand. What needs no more fits ends the count where it is."""
    quiet = done("check", *TABLE, *SHORT, "--fits", 2, "--quiet")
    assert (quiet.stdout, quiet.stderr) == (f"{Path('smrmr-table-check/report.html')}\n", "")
    loud = done("check", *TABLE, *SHORT, "--fits", 12, "--overwrite", *BUDGET)
    assert re.findall(r"trial (\d+) of 12", loud.stderr) == [str(2 * k) for k in range(1, 7)]
    early = done("plan", "--p", 5, "--n-rows", 10, "--fits", 20, "--precision", 0.9)
    assert re.findall(r"trial (\d+ of \d+)", early.stderr) == ["2 of 20", "4 of 20", "5 of 5"]


def test_effects_are_planted_on_features_that_are_named(frame):
    """Oracle: smrmr.check with these features; names are repeated, or parted by commas."""
    found = checked("--fits", 3, "--plant-on", "g2,g3", "--plant-on", "g4", "--n-effects", 1)
    how = {"covariates": frame[["age"]], "strengths": (0.3, 0.6), "n_fits": 3, "n_effects": 1}
    ours = smrmr.check(frame[NAMES], frame["y"], None, 3, plant_on=["g2", "g3", "g4"], **how)
    assert same(found, ours) == 3
    assert found.planted_on == "g2, g3, g4"
    alike = checked("--fits", 3, "--plant-on", "clusters", "--n-effects", 1, "--overwrite")
    ours = smrmr.check(frame[NAMES], frame["y"], None, 3, plant_on="clusters", **how)
    assert same(alike, ours) == 3


def test_a_settings_file_takes_options_of_check():
    """Oracle: the same options typed."""
    typed = checked("--fits", 3)
    Path("o.toml").write_text('strengths = "0.3,0.6"\nfits = 3\nseed = 3\naccuracy = false\n')
    told = done("check", *TABLE, "--config", "o.toml", "--overwrite", "--json").stdout
    assert same(TableCheck.from_json(told), typed) == 3


def test_an_empty_answer_names_a_check_that_runs_with_the_same_options():
    """Oracle: settings in the answers of both commands; nothing is selected from noise."""
    arguments = [*TABLE, "--drop", "g6", "--drop", "g7", "--alike", "0.8", "--no-accuracy"]
    told = done("select", *arguments, "--fdr", "0.01", "--rule", "holm", "--on-empty", "raise")
    first = [*map(str.strip, told.stdout.split("What next:")[1].strip().splitlines()[:4])]
    assert first[1] == "(which effects this table could have shown, in a minute or two)"
    assert first[3] == "(how many rows it takes to find them)"
    (program, *words), (same_program, *later) = map(shlex.split, first[::2])
    assert (program, words[0], same_program, later[0]) == ("smrmr", "check", "smrmr", "plan")
    done(*words, "--fits", 2, "--strengths", 0.5)
    done(*later, "--fits", 2, "--n-rows", 20)
    one, other = (
        json.loads((Path(folder) / "selection.json").read_text())
        for folder in ("smrmr-table", "smrmr-table-check")
    )
    assert one["selected"] == []
    assert other["settings"] == one["settings"] | {"on_empty": "none"}
    assert (other["names"], other["covariates"]) == (one["names"], one["covariates"])


@pytest.mark.parametrize("pilot", [True, False])
def test_the_numbers_of_a_plan_are_those_of_python(frame, pilot):
    """Oracle: smrmr.plan of the same pilot, or the same numbers, and seed; its own table."""
    how = ["--n-rows", "20,60", "--strengths", 0.4, "--fits", 4, "--seed", 1, "--json"]
    ours = {"n_rows": (20, 60), "strengths": 0.4, "n_fits": 4, "rng": 1}
    if pilot:
        told = done("plan", *TABLE, *how).stdout
        ours |= {"X": frame[NAMES], "y": frame["y"], "covariates": frame[["age"]]}
    else:
        told = done(
            "plan", "--p", 12, "--correlation", 0.5, "--class-shares", "0.3,0.7", *how
        ).stdout
        ours |= {"p": 12, "correlation": 0.5, "class_shares": (0.3, 0.7)}
    expected = smrmr.plan(**ours)
    assert same(SamplePlan.from_json(told), expected) == 4
    folder = Path("smrmr-table-plan" if pilot else "smrmr-plan")
    assert {path.name for path in folder.iterdir()} == {"plan.csv", "plan.json", "plan.png"}
    assert_frame_equal(
        pd.read_csv(folder / "plan.csv"), expected.to_frame(), check_dtype=False, rtol=1e-9
    )
    assert (folder / "plan.json").read_text() == told.rstrip("\n")


def test_a_plan_is_shown_and_replaced_only_if_asked():
    """Oracle: its sentences, the rows of plan.csv, and folders that are no plan left alone."""
    arguments = ["plan", "--p", 6, "--event-share", 0.5, "--n-rows", "1000,20", "--fits", 4]
    arguments += ["--strengths", 1.4, "--run-dir", "run"]
    told = done(*arguments).stdout
    lines = told.splitlines()
    assert max(map(len, lines)) <= 80
    saved = SamplePlan.from_json(Path("smrmr-plan/plan.json").read_text())
    assert " ".join(told.split()).startswith(" ".join(words_of_plan(saved)))
    rows = [re.split(r"\s*│\s*", line.strip()) for line in lines if "│" in line]
    assert [row[0] for row in rows] == ["20", "1,000"]
    assert {row[3] for row in rows} == {"1.40"}
    assert lines[-1] == f"Plan: {Path('smrmr-plan/plan.png')}"
    assert "holds an earlier plan. Say --overwrite" in invoke(*arguments).stderr
    again = done(*arguments, "--overwrite", "--json").stdout
    assert same(SamplePlan.from_json(again), saved) == 4
    done("select", *TABLE, "--no-accuracy")
    refused = invoke(*arguments, "--overwrite", "--out", "smrmr-table")
    assert (refused.exit_code, "no plan of smrmr" in refused.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", *TABLE, "--plant-on", "gg2"], "--plant-on: there is no feature 'gg2'. Did you"),
        (["check", *TABLE, "--strengths", "2"], "--strengths 2.0 is an odds or hazard ratio"),
        (["check", *TABLE, "--strengths", "a"], "--strengths a is no strength"),
        (
            ["check", *TABLE, "--strengths", "0.2", "--n-effects", "20"],
            "more than all variance. Lower --strengths or --n-effects",
        ),
        (["check", *TABLE, "--minutes", "0"], "--minutes 0.0 is no time"),
        (["check", *TABLE, "--fits", "0"], "--fits 0 must be a whole number"),
        (["check", *TABLE, "--precision", "2"], "--precision 2.0 is not"),
        (["check", *TABLE, "--forms", "line,bent"], "--forms bent is not known. Use 'line'"),
        (["check", *TABLE, "--seed", "-1"], "--seed -1 is no seed"),
        (["check", *TABLE, "--jobs", "0"], "--jobs 0 is not a number"),
        (["check"], "name the file to read: smrmr check FILE"),
        (["plan", *TABLE, "--p", "20"], "--p 20 is for plans without a pilot table"),
        (["plan", *TABLE, "--correlation", "0.2"], "--correlation 0.2 is for plans without"),
        (["plan"], "there is no pilot table. Give one, or the number of features: --p 2000"),
        (["plan", "--p", "9", "--target", "y"], "--target is about a pilot table"),
        (["plan", "--p", "9", "--only", "g1"], "--only is about a pilot table"),
        (["plan", "--p", "9", "--n-rows", "3"], "--n-rows 3 are no numbers of rows. Whole"),
        (["plan", "--p", "9", "--class-shares", "0.3,x"], "--class-shares 0.3,x are no shares"),
        (["plan", "--p", "9", "--event-share", "0"], "--event-share 0.0 is not"),
        (["plan", "--p", "9", "--minutes", "0"], "--minutes 0.0 is no time"),
    ],
)
def test_values_that_cannot_be_meant_are_refused_in_one_line(arguments, message):
    """Oracle: messages by hand, in names of options; nothing is fitted and nothing written."""
    refused = invoke(*arguments)
    assert refused.exit_code == 2
    *before, said = refused.stderr.splitlines()
    assert message in said
    assert before in ([], ["Reading table.csv"], ["Planning"])
    assert [path.name for path in Path().iterdir()] == ["table.csv"]


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs signals of POSIX")
@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupted_check_says_how_to_go_on_and_does(jobs):
    """Oracle: the same command left alone. Ctrl-C reaches all processes of a terminal."""
    how = [*TABLE, *SHORT, "--fits", "100", *BUDGET, "--jobs", str(jobs)]
    for kept in (["--run-dir", "run"], []):
        running = subprocess.Popen(
            [sys.executable, "-m", "smrmr", "check", *how, *kept],
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        begun = b""
        while b"trial" not in begun:
            begun += os.read(running.stderr.fileno(), 1000)
        os.killpg(running.pid, signal.SIGINT)
        *_, said = (begun + running.communicate()[1]).decode().splitlines()
        assert running.returncode == 130
        assert said == (
            "smrmr: interrupted; finished work is in run, and the same command goes on from there."
            if kept
            else "smrmr: interrupted; nothing was written."
        )
        assert not Path("smrmr-table-check").exists()
    assert 0 < len([*Path("run/trials").glob("stage*")]) < 100
    went_on = done("check", *how, "--run-dir", "run", "--json").stdout
    alone = done("check", *how, "--out", "alone", "--json").stdout
    assert same(TableCheck.from_json(went_on), TableCheck.from_json(alone)) == 100
