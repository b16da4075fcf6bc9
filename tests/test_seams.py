"""Between controllers and the rest of the package mypy sees every member that is used.

Oracle: mypy on a copy of the package, as it is and with one member renamed where it is defined.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import smrmr

ROOT = Path(smrmr.__file__).parent
PROJECT = Path(__file__).parents[1] / "pyproject.toml"
USERS = (
    "conditional",
    "controllers.py",
    "data/targets",
    "pipeline.py",
    "recipe.py",
    "selection",
    "report",
)
RENAMED = [
    ("conditional/evidence.py", "def members_of"),
    ("conditional/evidence.py", "def p_values"),
    ("conditional/evidence.py", "residual_variance: Vector"),
    ("paper/evidence.py", "def members_of"),
    ("paper/evidence.py", "def theta_knockoff"),
    ("conditional/controller.py", "def prepare"),
    ("paper/filter.py", "def weigh"),
    ("conditional/evidence.py", "p_by_target: tuple"),
    ("conditional/distillers/lasso.py", "def fit"),
    ("conditional/distillers/ridge.py", "def held_out"),
    ("conditional/statistics/joint.py", "def p_values"),
    ("conditional/statistics/permutation.py", "def p_values"),
    ("conditional/rules.py", "def adjust"),
    ("data/targets/classes.py", "def mean"),
    ("selection/knockoffs.py", "def outcomes"),
    ("selection/conditional.py", "MEASURED ="),
    ("report/conditional/plots.py", "FIGURES:"),
]


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The package in a folder of its own, with the settings of the project."""
    folder = tmp_path_factory.mktemp("seams")
    shutil.copytree(ROOT, folder / "smrmr", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def faults(folder):
    """What mypy says of those who use evidence and controllers."""
    options = [f"--config-file={PROJECT}", f"--cache-dir={folder / 'cache'}"]
    files = [f"smrmr/{name}" for name in USERS]
    command = [sys.executable, "-m", "mypy", *options, *files]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return [line for line in done.stdout.splitlines() if ": error:" in line]


@pytest.mark.slow
def test_nothing_is_wrong_as_it_is(copy):
    assert faults(copy) == []


@pytest.mark.slow
@pytest.mark.parametrize(("file", "member"), RENAMED)
def test_a_renamed_member_is_seen(copy, file, member):
    path = copy / "smrmr" / file
    text = path.read_text(encoding="utf-8")
    word = re.search(r"(?:def )?(\w+)", member)[1]
    renamed = text.replace(member, member.replace(word, f"{word}_renamed"), 1)
    assert renamed != text
    path.write_text(renamed, encoding="utf-8")
    try:
        assert faults(copy)
    finally:
        path.write_text(text, encoding="utf-8")
