"""Says what to type next after an empty answer, with the file and the options of this run."""

import shlex
from pathlib import Path
from typing import Any

import typer

from ..conditional.evidence import ConditionalEvidence
from ..report.words import level_that_selects
from ..selection import Selection
from .options import STAGES

# of this run, not of the next
HERE = ("file", "config", "resume", "run_dir", "json", "on_empty", "overwrite", "quiet")


def next_steps(
    found: Selection, context: typer.Context, options: dict[str, Any], folder: Path
) -> list[str]:
    """Lines for the terminal: commands, each with what it does; none if something was selected."""
    if found.selected.size:
        return []

    def again(word: object, **changes: Any) -> str:
        return _command(context, {**options, **changes, "out": f"{folder}-{word}"})

    steps = {}
    level = level_that_selects(found)
    if level is not None:
        n = len(found.at(level, "none").selected)
        then = f"selects {n} feature{'s' * (n != 1)}"
        steps[again(level, fdr=level)] = f"{then}; a level chosen after looking guarantees nothing"
    if not isinstance(found.evidence, ConditionalEvidence):
        left_out = dict.fromkeys(stage for stage in STAGES if stage != "rule")
        steps[again("tests", control="tests", **left_out)] = "tests can select a single feature"
    elif found.evidence.rule.alias != "bh":
        steps[again("bh", rule="bh")] = f"less strict than {found.evidence.rule.alias}"
    steps[again("best", n_features=10)] = "the best ten, without guarantee"
    return ["What next:", *(f"  {command}\n      ({why})" for command, why in steps.items())]


def _command(context: typer.Context, options: dict[str, Any]) -> str:
    """The command as it would be typed: its file, and the options that are not as by default."""
    typed = ["smrmr", str(context.command.name), str(options["file"])]
    for parameter in context.command.params:
        name, flag = str(parameter.name), parameter.opts[0]
        value = options[name]
        if name in HERE or value is None or value == parameter.default:
            continue
        if isinstance(value, bool):
            typed.append(flag)
        else:
            for one in value if isinstance(value, list | tuple) else [value]:
                typed += [flag, str(one)]
    return shlex.join(typed)
