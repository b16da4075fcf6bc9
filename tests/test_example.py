"""The table that ships with the package is the one that its script makes."""

from __future__ import annotations

import io
import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from smrmr import load_example
from smrmr.cli.commands import app
from smrmr.example_table import STUDIES

ROOT = Path(__file__).parents[1]


def test_the_script_makes_the_table():
    """Oracle: tools/make_example.py, run again."""
    make = runpy.run_path(str(ROOT / "tools" / "make_example.py"))["make_table"]
    made = pd.read_csv(io.StringIO(make().to_csv(index=False)))
    pd.testing.assert_frame_equal(made, pd.read_csv(ROOT / "src/smrmr/example_table.csv"))


@pytest.mark.parametrize("study", STUDIES)
def test_the_command_prints_what_python_loads(study):
    printed = CliRunner().invoke(app, ["example", study]).stdout
    pd.testing.assert_frame_equal(pd.read_csv(io.StringIO(printed)), load_example(study))


@pytest.mark.parametrize("study", STUDIES)
def test_the_true_genes_move_the_outcome(study):
    """Oracle: the outcome made again with one gene changed at a time, the same noise drawn."""
    made = runpy.run_path(str(ROOT / "tools" / "make_example.py"))
    assert load_example(study).attrs["true"] == _genes_that_move(made, study)


def _genes_that_move(made, study):
    age, plate = np.full(made["N_PATIENTS"], 50), np.zeros(made["N_PATIENTS"])
    z = np.random.default_rng(0).standard_normal((made["N_PATIENTS"], made["N_GENES"]))
    more = (age, plate) if study == "toxicity" else ()

    def outcome(z):
        drawn = made[study](z, *more, np.random.default_rng(7))
        return drawn["months"] if study == "survival" else drawn

    names = made["names"](made["N_GENES"])
    moved = []
    for k, name in enumerate(names):
        changed = z.copy()
        changed[:, k] += 1
        if (outcome(changed) != outcome(z)).any():
            moved.append(name)
    return moved


def test_a_study_that_is_not_there_is_one_message():
    done = CliRunner().invoke(app, ["example", "foo"])
    assert done.exit_code == 2
    assert "Use 'response', 'disease', 'survival' or 'toxicity'." in done.output
