"""Rows of the benchmark that survive a kill, grids that are read or refused, scripts that fit."""

from __future__ import annotations

import ast
import re
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks.data.datasets import PAPER_SETS
from benchmarks.grids.read import RealGrid, read_grid, read_real_grid
from benchmarks.methods import METHODS, ONLY_WHERE_NAMED
from benchmarks.stores import Store
from smrmr.designs import DESIGNS

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted((ROOT / "benchmarks").rglob("*.py"))


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "rows.csv", ("design", "level", "seed"), ("status", "fdr"))


def test_rows_come_back(store):
    assert store.done() == set()
    rows = [
        {"design": "1.a", "level": None, "seed": 0, "status": 'bad, "very"', "fdr": None},
        {"design": "null", "level": 0.3, "seed": 1, "status": "ok", "fdr": 1 / 3},
    ]
    store.append(rows[:1])
    store.append(rows[1:])
    assert store.done() == {("1.a", "", "0"), ("null", "0.3", "1")}
    assert {store.key_of(row) for row in rows} == store.done()
    frame = store.frame()
    assert frame["status"].tolist() == ['bad, "very"', "ok"]
    assert_allclose(frame["fdr"], [np.nan, 0.33333])
    assert frame["design"].tolist() == ["1.a", "null"]


def test_an_unfinished_line_is_dropped_and_other_columns_are_refused(store):
    row = {"design": "1.a", "level": 0.3, "seed": 0, "status": "ok", "fdr": 0.5}
    store.append([row])
    whole = store.path.read_bytes()
    store.path.write_bytes(whole + b"1.a,0.3,1,ok,0.")
    assert len(store.frame()) == 1
    store.begin()
    store.append([row | {"seed": 2}])
    assert store.path.read_bytes() == whole + b"1.a,0.3,2,ok,0.5\n"
    cut = store.path.read_bytes()[:-3]
    store.path.write_bytes(cut)
    other = Store(store.path, ("design",), ("fdr",))
    with pytest.raises(ValueError, match=r"columns design, level, seed.*another folder"):
        other.begin()
    assert store.path.read_bytes() == cut


def test_a_kill_in_the_first_line_leaves_a_file_that_works(store):
    store.path.write_bytes(b"design,lev")
    store.begin()
    store.append([{"design": "1.a", "level": 0.3, "seed": 0, "status": "ok", "fdr": 0}])
    assert store.done() == {("1.a", "0.3", "0")}


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b"1.a,0.3\n", "line 3: 2 values for 5 columns"),
        (b"1.a,0.3,1,ok,much\n", "line 3: fdr is 'much', no number"),
        (b"1.a,0.3,1,ok,\xff\n", "line 3: fdr is"),
        (b"1.a,0.3,\0,ok,0.5\n", "line 3: seed is '?', no number"),
    ],
)
def test_damaged_lines_are_named(store, line, fault):
    row = {"design": "1.a", "level": 0.3, "seed": 0, "status": "ok", "fdr": 0.5}
    store.append([row])
    store.path.write_bytes(store.path.read_bytes() + line)
    store.append([row | {"seed": 2}])
    with pytest.raises(ValueError, match=r"rows.csv is damaged") as raised:
        store.frame()
    assert fault in str(raised.value)


def test_two_runs_do_not_lose_each_others_rows(store):
    def run(seeds):
        for seed in seeds:
            store.append([{"design": "1.a", "level": 0.3, "seed": seed, "status": "ok", "fdr": 0}])

    store.begin()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(run, [range(k, 400, 4) for k in range(4)]))
    assert sorted(store.frame()["seed"]) == list(range(400))


def test_two_runs_that_begin_at_once_may_both_write_the_header(store):
    store.begin()
    row = {"design": "1.a", "level": 0.3, "seed": 0, "status": "ok", "fdr": 0.5}
    store.path.write_bytes(store.path.read_bytes() * 2)
    store.append([row])
    assert store.frame()["seed"].tolist() == [0]


def test_grids_are_read_seed_by_seed(tmp_path):
    file = tmp_path / "own.toml"
    file.write_text(
        'methods = ["SIS"]\n'
        '[[cells]]\ndesigns = ["1.a"]\nn = [50, 60]\np = [20]\nseeds = 2\n'
        '[[cells]]\ndesigns = ["null", "1.a"]\nn = [50]\np = [30, 20]\nseeds = 1\n'
    )
    grid = read_grid(str(file))
    assert grid.methods == ("SIS",)
    draws = [(c.design, c.n, c.p, seed) for c, seed in grid.draws()]
    assert {seed for *_, seed in draws[:5]} == {0}
    assert sorted(draws) == [  # that of 1.a listed twice is drawn once
        ("1.a", 50, 20, 0),
        ("1.a", 50, 20, 1),
        ("1.a", 50, 30, 0),
        ("1.a", 60, 20, 0),
        ("1.a", 60, 20, 1),
        ("null", 50, 20, 0),
        ("null", 50, 30, 0),
    ]


def test_our_grids_hold_what_they_promise():
    full = read_grid("full")
    assert {c.design for c in full.cells} == set(list(DESIGNS)[:18])  # others: the yardstick
    assert min(c.seeds for c in full.cells) >= 50
    paper = {(c.n, c.p) for c in full.cells if c.design == "2.c"}
    assert paper == {(n, p) for n in (100, 500) for p in (100, 500, 5000)}
    assert list(full.methods) == [name for name in METHODS if name not in ONLY_WHERE_NAMED]
    assert read_grid("boruta").methods == ("Boruta",)
    for name in ("quick", "speed"):
        assert read_grid(name).cells


CELLS = '[[cells]]\ndesigns = ["1.a"]\nn = [50]\np = [20]\nseeds = 2\n'


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("cells = 3", "no [[cells]]"),
        ("x = [", "not a TOML file"),
        (CELLS.replace("1.a", "9.z"), "'9.z' is not one of 1.a"),
        ('methods = ["magic"]\n' + CELLS, "'magic' is not one of"),
        (CELLS.replace("seeds", "draws"), "needs designs, n, p, seeds"),
        (CELLS.replace("[50]", "50"), "n = 50 must list positive integers"),
        (CELLS.replace("[50]", "[-5]"), "n = [-5] must list positive integers"),
        (CELLS.replace("seeds = 2", "seeds = 2.5"), "seeds = 2.5 must be a positive integer"),
        (CELLS.replace('["1.a"]', '"1.a"'), "designs = '1.a' must list one name or more"),
        (CELLS.replace('["1.a"]', "3"), "designs = 3 must list one name or more"),
        ("methods = []\n" + CELLS, "methods = [] must list one name or more"),
        ('method = ["SIS"]\n' + CELLS, "method is not known"),
        (CELLS.replace("[20]", "[5]"), "p = 5 is too few, 1.a needs 6 features"),
    ],
)
def test_bad_grids_are_refused(tmp_path, text, fault):
    file = tmp_path / "grid.toml"
    file.write_text(text)
    with pytest.raises(ValueError, match="grid") as raised:
        read_grid(str(file))
    assert fault in str(raised.value)


def test_an_unknown_grid_is_refused():
    with pytest.raises(ValueError, match=r"no grid 'huge'.*quick, full, speed, yardstick"):
        read_grid("huge")


def test_grids_name_data_sets(tmp_path):
    quick, full = read_real_grid("quick"), read_real_grid("full")
    assert quick.datasets == full.datasets == tuple(source.name for source in PAPER_SETS)
    assert (quick.repeats, full.repeats, full.seeds) == (2, 10, 5)
    assert (*quick.truth, "madelon") == full.truth
    file = tmp_path / "own.toml"
    file.write_text('truth = ["madelon"]\nseeds = 1\n')
    assert read_real_grid(str(file)) == RealGrid((), 0, ("madelon",), 1)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "names no data"),
        ('datasets = ["GLIOMA"]', "datasets and repeats go together"),
        ('datasets = ["GLIOMAS"]\nrepeats = 1', "'GLIOMAS' is not one of CLL_SUB_111"),
        ('truth = ["GLIOMA"]\nseeds = 1', "'GLIOMA' is not one of HIV APV"),
        ('truth = ["madelon"]\nseeds = 0', "seeds = 0 must be a positive integer"),
        ("cells = 3", "cells is not known. A grid has datasets, repeats, truth, seeds"),
    ],
)
def test_bad_grids_of_data_are_refused(tmp_path, text, fault):
    file = tmp_path / "grid.toml"
    file.write_text(text)
    with pytest.raises(ValueError, match="grid") as raised:
        read_real_grid(str(file))
    assert fault in str(raised.value)


def test_an_unknown_grid_of_data_is_refused():
    with pytest.raises(ValueError, match=r"no grid 'fast'\. Name one of quick, full"):
        read_real_grid("fast")


def names_of_the_library(script):
    """Names of smrmr that a script imports, within functions too, or reaches by dots."""
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "smrmr":
            yield from (f"{node.module}.{name.name}" for name in node.names if not node.level)
        elif isinstance(node, ast.Attribute):
            yield from re.findall(r"^smrmr(?:\.\w+)+$", ast.unparse(node))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_what_scripts_take_from_the_library_is_there(script):
    """Oracle: the library; scripts that nobody runs for months would break unseen."""
    for name in names_of_the_library(script):
        first, *rest = name.split(".")
        value = import_module(first)
        for part in rest:
            if not isinstance(value, ModuleType):
                break
            if not hasattr(value, part):
                import_module(f"{value.__name__}.{part}")
            value = getattr(value, part)
