"""ARCHITECTURE.md names what is there. Oracle: the source, and one matrix sent through it."""

from __future__ import annotations

import ast
import re
import warnings
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from smrmr import Recipe, simulate
from smrmr.conditional.marginal import marginal_tests
from smrmr.conditional.preparing import prepare_inputs
from smrmr.data.study import read_study
from smrmr.features.groups import find_groups
from smrmr.features.rank_table import RankTable
from smrmr.runs.work import Work
from smrmr.settings import as_generator

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "smrmr"
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
NAMED = re.findall(r"\[`([\w.]+)`\]\((src/[^)]+)\)", TEXT)
FIGURE = ROOT / "docs" / "_static" / "architecture.svg"


def defined(path):
    """Functions, classes, their methods and variables that a file defines, as they are written."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            methods = (one for one in node.body if isinstance(one, ast.FunctionDef))
            names |= {f"{node.name}.{method.name}" for method in methods}
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names


def test_functions_are_where_it_says():
    assert len(NAMED) > 50
    wrong = [(name, path) for name, path in NAMED if name not in defined(ROOT / path)]
    assert wrong == []


def test_files_and_folders_are_there():
    quoted = re.findall(r"`([\w./]+(?:/|\.pyi?|\.txt))`", TEXT)
    assert len(quoted) > 20
    roots = (ROOT, PACKAGE, PACKAGE / "cli", PACKAGE / "report")
    missing = [name for name in quoted if not any((root / name).exists() for root in roots)]
    assert [name for name in missing if name != "_loops.py"] == []
    links = re.findall(r"\]\(([^)#]+)\)", TEXT)
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_folder_of_the_package_is_told():
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert [name for name in sorted(folders) if f"{name}/" not in TEXT] == []


def test_the_figure_names_what_is_there():
    """The figure has a light ground of its own, so that dark pages leave its text readable."""
    tree = ElementTree.parse(FIGURE)
    words = " ".join(" ".join(node.itertext()) for node in tree.iter() if "text" in node.tag)
    named = re.findall(r"[\w/]+(?:/|\.py)", words)
    assert len(set(named)) >= 13
    assert [name for name in named if not (PACKAGE / name).exists()] == []
    shapes = [node for node in tree.getroot() if node.tag.endswith("rect")]
    whole = tree.getroot().get("width"), tree.getroot().get("height"), "#f8fafc"
    assert (shapes[0].get("width"), shapes[0].get("height"), shapes[0].get("fill")) == whole


@pytest.fixture(scope="module")
def study():
    data = simulate("1.d", n=100, p=5000, random_state=0)
    return read_study(data.X, data.y)


def test_tests_see_the_shapes_it_tells(study):
    recipe, work = Recipe(), Work(1)
    columns = study.columns
    assert f"`columns` of {columns.n_rows} by {columns.n_columns:,}, `target` of 100" in TEXT
    cuts = recipe.cuts_for(columns.n_rows, columns.n_columns)
    ranks = RankTable.of(columns)
    groups = find_groups(ranks, recipe.control.by_rank, cuts, None, work)
    assert {len(numbers) for numbers in groups.hypotheses} == {5000}
    statistics = recipe.control.statistics
    alone = marginal_tests(study, ranks, groups.copies, statistics, work)
    n_genes, n_rows = prepare_inputs(study, ranks, groups, alone, statistics, work).Z.shape
    assert f"`Z` of {n_genes:,} by {n_rows}" in TEXT


def test_knockoffs_see_the_numbers_it_tells(study):
    recipe, work = Recipe(control="knockoffs"), Work(1)
    ranks = RankTable.of(study.columns)
    groups = find_groups(ranks, recipe.control.by_rank, (1.0,), None, work)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a draw may fail its diagnosis
        evidence = recipe.control.weigh(study, ranks, groups, None, 0.3, as_generator(0), work)
    (draw,) = evidence.draws
    kept = len(draw.kept)
    assert f"looks at {draw.n_screen} rows alone" in TEXT
    assert f"a shortlist of {len(draw.shortlisted)}" in TEXT
    assert f"{kept} genes, and the other {draw.n_select} rows" in TEXT
    assert f"`Knockoffs`](src/smrmr/paper/gaussian.py): {draw.n_select} by {kept}" in TEXT
    assert f"`relevance` of {2 * kept}, `redundancy` of {2 * kept} by {2 * kept}" in TEXT
    assert f"{2 * kept} `theta`" in TEXT
    assert f"W of {kept} genes" in TEXT
    assert not evidence.scores[np.setdiff1d(np.arange(5000), draw.kept)].any()
