"""The data flow one way: a folder imports only from itself and from those before it.

Oracle: the order below, which is that of the method.
"""

from __future__ import annotations

import ast
from pathlib import Path
from types import ModuleType

import smrmr

ROOT = Path(smrmr.__file__).parent
ORDER = [
    "types",
    "problems",
    "docstrings",
    "settings",
    "data",
    "runs",
    "measures",
    "association",
    "features",
    "decision",
    "conditional",
    "paper",
    "controllers",
    "layers",
    "rows",
    "power",
    "recipe",
    "selection",
    "pipeline",
    "independence",
    "designs",
    "trials",
    "example_table",
    "report",
    "anndata",
    "estimator",
    "selector",
    "rivals",
    "testing",
    "app",
    "cli",
]

SHOWS_ITSELF = {  # a selection shows and checks itself by way of what comes after it
    ("selection/selection.py", "report"),
    ("selection/selection.py", "trials"),
    ("power/account.py", "report"),
}


def entries():
    """Folders and modules at the root of the package, without the two that only re-export."""
    folders = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    return folders | {path.stem for path in ROOT.glob("*.py")} - {"__init__", "__main__"}


def imported(path):
    """Entries at the root that a file imports from."""
    package = path.parent.relative_to(ROOT).parts
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            names = [node.module] if node.module else [alias.name for alias in node.names]
            yield from ([*base, *name.split(".")][0] for name in names)
        if isinstance(node, ast.Import):
            yield from (a.name.split(".")[1] for a in node.names if a.name.startswith("smrmr."))


def test_every_entry_has_its_place():
    assert entries() == set(ORDER)


def test_imports_follow_the_order():
    for path in ROOT.rglob("*.py"):
        here = path.relative_to(ROOT).with_suffix("").parts[0]
        if here in ORDER:
            for there in imported(path):
                if (path.relative_to(ROOT).as_posix(), there) in SHOWS_ITSELF:
                    continue  # within functions: `report` imports `selection` when it is loaded
                assert ORDER.index(there) <= ORDER.index(here), f"{path} imports {there}"


def test_few_import_the_method_of_the_paper():
    """Law: it is no default, so that only what offers, runs or shows it knows of it."""
    knowing = {"paper", "controllers", "layers", "selection", "selector", "report", "cli"}
    for path in ROOT.rglob("*.py"):
        here = path.relative_to(ROOT).with_suffix("").parts[0]
        there = set(imported(path))
        assert here in knowing or "paper" not in there, f"{path} imports paper"
        assert here != "paper" or "conditional" not in there, f"{path} imports conditional"


def test_public_names_stand_for_themselves():
    """Law: a public name is no module of the same name, so that none can take its place.

    lazy_loader would guard such a name by a module that no worker process can be sent.
    """
    assert type(smrmr) is ModuleType
    assert set(smrmr.__all__) <= set(dir(smrmr))
    modules = {name for name in smrmr.__all__ if isinstance(getattr(smrmr, name), ModuleType)}
    assert modules == {
        "anndata",
        "association",
        "conditional",
        "data",
        "measures",
        "paper",
        "report",
        "rivals",
        "testing",
    }
    assert entries() & set(smrmr.__all__) == modules
    assert 15 <= len(smrmr.__all__) <= 23
