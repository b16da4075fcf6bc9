"""Turns what was chosen on the page into a command, into lines of Python, and into arguments."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from ..recipe import Recipe

Settings: TypeAlias = Mapping[str, Any]
"""Choices by the names of the command's options; what is left out is its default."""

READING = (  # of `read_data`, one value each
    *("id", "sheet", "layer", "sep", "decimal", "encoding", "comment", "header_row", "skip"),
    *("format", "pheno", "limits", "missing", "missing_target", "transpose"),
)
LISTS = ("drop", "annotation", "na")  # of `read_data`, several values each
WHOLE = ("header_row", "skip")
ROLES = ("target", "time", "event", "groups")  # of one column each
OPTIONS = {"covariates": "covar-name"}  # names of the command that differ


def chosen(settings: Settings) -> dict[str, Any]:
    """The settings that say something."""
    return {name: value for name, value in settings.items() if value not in (None, "", [], False)}


def arguments(settings: Settings) -> list[str]:
    """Options of `smrmr select` as they are typed."""
    typed: list[str] = []
    for name, value in chosen(settings).items():
        option = f"--{OPTIONS.get(name, name).replace('_', '-')}"
        if name == "covariates":
            typed += [option, ",".join(value)]
        elif value is True:
            typed.append(option)
        else:
            several = value if isinstance(value, list) else [value]
            typed += [part for one in several for part in (option, str(one))]
    return typed


def command(kind: str, file: Path, settings: Settings) -> str:
    """The line that does the same in a terminal."""
    return shlex.join(["smrmr", kind, str(file), *arguments(settings)])


def reading(settings: Settings) -> dict[str, Any]:
    """Arguments of `read_data`."""
    how = {name: settings[name] for name in (*READING, *LISTS) if name in chosen(settings)}
    beside = [*settings.get("covariates", ()), settings.get("groups"), settings.get("event")]
    if beside := [name for name in beside if name]:
        how["beside"] = beside
    target = settings.get("time") or settings.get("target")
    return {"target": target, **how} if target else how


def target_kind(settings: Settings) -> str:
    """How the target is read."""
    return "survival" if settings.get("event") else settings.get("target_type") or "auto"


def recipe_of(settings: Settings) -> Recipe:
    """What to do."""
    from ..recipe import Recipe  # takes long to load

    return Recipe(fdr=settings.get("fdr", Recipe.fdr), target=target_kind(settings))


def known_of_rows(data: Any, settings: Settings) -> dict[str, Any]:
    """The target, covariates and groups of rows of a table that was read, as `select` takes them.

    As `python_lines` says it.
    """
    from ..types import pd

    y, groups, covariates = data.y, settings.get("groups"), settings.get("covariates")
    if event := settings.get("event"):
        y = pd.DataFrame({"event": data.beside[event].to_numpy(), "time": y.to_numpy()})
    return {
        "y": y,
        "covariates": data.beside[[*covariates]] if covariates else None,
        "groups": data.beside[groups].to_numpy() if groups else None,
    }


def python_lines(kind: str, file: Path, settings: Settings) -> str:
    """Lines of Python that do the same."""
    read, known = _keywords(reading(settings)), ""
    kind_of_target = "survival" if settings.get("event") else settings.get("target_type")
    asked = chosen({"fdr": settings.get("fdr"), "target": kind_of_target})
    asked["accuracy"] = True  # as the command does
    lines = ["import smrmr", "from smrmr.data import read_data", ""]
    lines.append(f"data = read_data({str(file)!r}{''.join(f', {one}' for one in read)})")
    y = "data.y"
    if event := settings.get("event"):
        y, lines = "y", ["import pandas as pd", *lines]
        lines.append(f"y = pd.DataFrame({{'event': data.beside[{event!r}].to_numpy(),")
        lines.append("                  'time': data.y.to_numpy()})")
    if covariates := settings.get("covariates"):
        known += f", covariates=data.beside[{[*covariates]!r}]"
    if groups := settings.get("groups"):
        known += f", groups=data.beside[{groups!r}].to_numpy()"
    lines.append(f"recipe = smrmr.Recipe({', '.join(_keywords(asked))})")
    lines.append(f"found = smrmr.select(data.X, {y}, recipe, 0{known})")
    if kind == "check":
        trials = chosen({"n_fits": settings.get("fits"), "minutes": settings.get("minutes")})
        how = "".join(f", {one}" for one in _keywords(trials))
        lines.append(f"found = found.check(data.X, {y}, recipe{known}{how})")
    lines += ["print(found)", "found.report('report.html')"]
    return "\n".join(lines) + "\n"


def _keywords(values: Mapping[str, Any]) -> Sequence[str]:
    return [f"{name}={value!r}" for name, value in values.items()]
