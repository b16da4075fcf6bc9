"""The reference lists every public name once, and no other."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from pathlib import Path

import smrmr

PAGE = Path(__file__).parents[1] / "docs" / "api.md"
MODULES = (
    "smrmr.association",
    "smrmr.conditional",
    "smrmr.data",
    "smrmr.measures",
    "smrmr.paper",
    "smrmr.report",
    "smrmr.rivals",
    "smrmr.testing",
    "smrmr.anndata",
)
RETURNED = (
    "smrmr.power.",
    "smrmr.paper.solver.",
    "smrmr.controllers.",
    "smrmr.independence.",
    "smrmr.selection.layers.",
    "smrmr.layers.",
)  # where values that functions return are at home


def listed():
    """Names in the tables of the page, with the module that each table is of."""
    found = []
    module = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith(".. currentmodule::"):
            module = line.split()[-1]
        elif re.fullmatch(r"   \w+", line):
            found.append(f"{module}.{line.strip()}")
    return found


def public():
    """Names of the package and of its public modules, one for each object."""
    names = {f"smrmr.{name}" for name in smrmr.__all__ if f"smrmr.{name}" not in MODULES}
    for path in MODULES:
        module = getattr(smrmr, path.split(".")[1])
        own = [name for name, value in vars(module).items() if inspect.isfunction(value)]
        own = [name for name in own if getattr(module, name).__module__ == path and name[0] != "_"]
        names |= {f"{path}.{name}" for name in getattr(module, "__all__", own)}
    at_top = {id(getattr(smrmr, name)) for name in smrmr.__all__}
    return {
        name
        for name in names
        if name.count(".") == 1 or id(_object(name)) not in at_top  # also a name of the package
    }


def _object(name):
    _, module, own = name.split(".")
    return getattr(getattr(smrmr, module), own)


def test_every_public_name_is_listed_once():
    """Oracle: what the package and its public modules say is public."""
    counts = Counter(name for name in listed() if not name.startswith(RETURNED))
    assert set(counts) == public()
    assert set(counts.values()) == {1}


def test_returned_values_are_where_the_page_says():
    import importlib

    returned = [name for name in listed() if name.startswith(RETURNED)]
    assert returned
    for name in returned:
        module, _, own = name.rpartition(".")
        assert inspect.isclass(getattr(importlib.import_module(module), own)), name


def test_the_command_page_has_every_command_and_its_options():
    """Oracle: the application itself."""
    import typer

    from smrmr.cli.commands import app

    page = (PAGE.parent / "cli.md").read_text(encoding="utf-8")
    commands = typer.main.get_command(app).commands
    told = re.findall(r"^\| `(\w+)` \|", page, flags=re.MULTILINE)
    assert told == list(commands)
    told = {}
    for section in page.split("\n## ")[1:]:
        title, _, text = section.partition("\n")
        table = "\n".join(line for line in text.splitlines() if line.startswith("|"))
        told[title] = set(re.findall(r"--[a-z][a-z-]*", table))
    select, check, plan = (_options(commands[name]) for name in ("select", "check", "plan"))
    assert told["Options of select"] == select
    assert told["Options of check and plan"] == (check | plan) - select


def _options(command):
    every = {flag for one in command.params for flag in one.opts if flag.startswith("--")}
    return every - {"--help"}
