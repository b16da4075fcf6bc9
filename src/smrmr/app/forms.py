"""Reads what the forms of the page send, and changes the settings of a table by it."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from .folders import Entry, files_of
from .messages import change
from .settings import ROLES, WHOLE, Settings, chosen

ROLE = "role:"  # before the name of a column
LIST_ROLES = {"covariate": "covariates", "drop": "drop", "annotation": "annotation"}
OWN_ROLES = {**{role: role for role in ROLES}, "id": "id"}
TEXTS = (
    *("sheet", "layer", "sep", "decimal", "encoding", "comment", "header_row", "skip", "limits"),
    *("missing", "missing_target", "target_type"),
)


def role_of(name: str, settings: Settings) -> str:
    """What a column is: ``"feature"`` unless something else was chosen."""
    own = (role for role, setting in OWN_ROLES.items() if settings.get(setting) == name)
    several = (role for role, setting in LIST_ROLES.items() if name in settings.get(setting, ()))
    return next(own, next(several, "feature"))


def with_role(settings: dict[str, Any], name: str, role: str) -> dict[str, Any]:
    """The settings with another role of one column.

    >>> with_role({"target": "y", "covariates": ["age"]}, "age", "drop")
    {'target': 'y', 'covariates': [], 'drop': ['age']}
    """
    changed = dict(settings)
    for setting in OWN_ROLES.values():
        if changed.get(setting) == name:
            del changed[setting]
    for setting in LIST_ROLES.values():
        if name in changed.get(setting, ()):
            changed[setting] = [one for one in changed[setting] if one != name]
    if role in OWN_ROLES:
        changed[OWN_ROLES[role]] = name
    elif role in LIST_ROLES:
        changed[LIST_ROLES[role]] = [*changed.get(LIST_ROLES[role], ()), name]
    if role in ("time", "event"):
        changed.pop("target", None)
    if role == "target":
        changed.pop("time", None)
        changed.pop("event", None)
    return changed


def settings_from(fields: list[tuple[str, str]], table: Entry) -> dict[str, Any]:
    """The settings of a table with what its form says."""
    settings, said = dict(table.about["settings"]), dict(fields)
    for field, value in fields:
        if field.startswith(ROLE) and role_of(field.removeprefix(ROLE), settings) != value:
            settings = with_role(settings, field.removeprefix(ROLE), value)
    if said.get("more"):
        settings = with_role(settings, said["more"], said.get("more_role", "feature"))
    if "reading" in said:  # a box that is not ticked is not sent
        settings |= {name: _typed(name, said.get(name, "")) for name in TEXTS}
        settings["transpose"] = "transpose" in said
        settings["na"] = [mark.strip() for mark in said.get("na", "").split(",") if mark.strip()]
        settings["pheno"] = _second_file(said.get("pheno", ""), said.get("pheno_sheet", ""), table)
    if "fdr" in said:
        settings["fdr"] = _level(said["fdr"])
    if "cure" in said:
        cure = json.loads(said["cure"])
        settings = change(settings, str(cure["name"]), cure["value"])
    return chosen(settings)


def _typed(name: str, text: str) -> Any:
    text = text.strip()
    return int(text) if name in WHOLE and text.isdecimal() else text


def _level(text: str) -> float:
    with suppress(ValueError):
        if 0 < float(text) < 1:
            return float(text)
    raise ValueError(f"the level {text!r} is no number between 0 and 1. Give one such as 0.1.")


def _second_file(name: str, sheet: str, table: Entry) -> str:
    """Another file of the same table, or a sheet of one; nothing else on the disk can be named."""
    paths = {path.name: path for path in files_of(table)}
    if name not in paths:
        return ""
    return f"{paths[name]}:{sheet.strip()}" if sheet.strip() else str(paths[name])
