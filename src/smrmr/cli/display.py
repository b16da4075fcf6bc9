"""Shows a selection on the terminal, and what to type next after an empty one."""

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from ..conditional.evidence import ConditionalEvidence
from ..data.messages import named
from ..power.account import LAYERS, TableCheck, Trials, layer_of, ratio_of
from ..power.words import SHORT, percent, written_shortly
from ..report.statement import statement
from ..report.words import about_columns, counts_by_level, level_that_selects, near_miss_pairs, say
from ..selection import Selection
from ..selection.annotations import first_annotation
from ..types import Indices, pd
from .options import STAGES

MOST_IN_DEMO = 12  # findings, with which a demo fits a screen of 24 lines
MOST_IN_SET = 2  # members of a credible set that are named
MOST_IN_PANEL = 10  # features of the panel that are named
MOST_PAIRS = 5  # pairs that are named
MOST_ASSOCIATED = 5  # associated features that are listed where nothing is selected
MAX_WORD = 18  # characters that are not folded: an Ensembl id with its version
SPARED = "most similar"  # the column that is left out where there is no room for it
RATIO = {"odds ratio": "OR", "hazard ratio": "HR"}  # where there is room for no more
LABELS = {  # heads of columns, short enough for a terminal
    "p_value": "p given others",
    "p_value_alone": "p alone",
    "q_value": "q-value",
    "q_value_alone": "q alone",
    "direction_alone": "direction alone",
    "effect_alone": "effect alone",
    "share_explained": "share explained",
    "shape": "shape alone",
}
# of this run, not of the next
HERE = ("file", "config", "resume", "run_dir", "json", "on_empty", "overwrite", "quiet")


def show_answer(found: Selection, next_steps: list[str]) -> None:
    """What was selected, or near misses; what other levels would select; what to do next."""
    said = Console()
    said.print(statement(found, name_near_misses=False), highlight=False, markup=False)
    if found.selected.size:
        shown = _shown(found)
        beside = _groups(found) if found.n_groups else _neighbours(found)
        said.print(drawn(shown, beside if found.n_groups or "partner" not in shown else {}))
        tables = [shown]
    else:
        instead = {title: table for title, table in _instead(found).items() if len(table)}
        for title, table in instead.items():
            said.print(drawn(table, title=title, title_justify="left"))
        tables = [*instead.values()]
    for line in legend(found, tables):
        said.print(line, highlight=False, markup=False)
    if pairs := named(_pairs(found), MOST_PAIRS):
        said.print(f"Pairs that act together: {pairs}.", highlight=False)
    if panel := named((_label(found, k) for k in found.panel.features), MOST_IN_PANEL):
        said.print(f"Panel to predict with: {panel}.", highlight=False)
    said.print(say(found, "levels", counts=counts_by_level(found)), highlight=False)
    for line in next_steps:
        said.print(line, highlight=False, markup=False, soft_wrap=True)


def show_demo(found: Selection, true: Indices, design: str, seconds: float) -> None:
    """What was selected from a simulation, and how much of it is true; on one screen."""
    said = Console()
    said.print(
        f"Design {design}: {found.n_rows} samples of {found.n_features:,} features, {len(true)} of "
        f"them true. {statement(found)} ({seconds:.1f} s)"
    )
    hits = [bool(np.isin(group, true).any()) for group in found.members]
    if hits:
        truth = ["[green]true[/green]" if hit else "false" for hit in hits]
        said.print(drawn(_shown(found)[:MOST_IN_DEMO], {"truth": truth[:MOST_IN_DEMO]}))
    if len(hits) > MOST_IN_DEMO:
        said.print(f"and {len(hits) - MOST_IN_DEMO} more, in selected.csv.")
    members = np.concatenate([np.empty(0, np.intp), *found.members])
    missed = np.count_nonzero(~np.isin(true, members))
    said.print(
        f"{len(true) - missed} true features found, {hits.count(False)} false, {missed} missed."
    )


def _instead(found: Selection) -> dict[str, Any]:
    """What to look at where nothing is selected: associated features and near misses, by title."""
    table, most = found.findings("associated"), MOST_ASSOCIATED
    listed = ("feature", "p_value_alone", "q_value_alone", "direction_alone", "effect_alone")
    more = f": the first {most} of {len(table):,}" if len(table) > most else ""
    return {
        f"Associated alone{more}": table[[*listed]][:most],
        "Near misses, to be tested on new data, not findings": (
            found.near_misses(MOST_ASSOCIATED).drop(columns="status")
        ),
        "Pairs that came closest, not findings": pd.DataFrame(near_miss_pairs(found)).drop(
            columns="selected", errors="ignore"
        ),
    }


def _pairs(found: Selection) -> list[str]:
    """The pairs that act together, by the names of both."""
    table = found.findings("pairs")
    both = zip(table["feature"], table["partner"], strict=True)
    return [f"{_cut(one)} and {_cut(other)}" for one, other in both]


def _shown(found: Selection) -> Any:
    """The findings, with what the controller shows of them; an annotation is shown for shapes."""
    shown, first = found.presentation.shown(found), first_annotation(found)
    if first is not None:
        shown = (first, *(name for name in shown if name != "shape"))
    return found.findings()[["feature", *shown]]


def drawn(frame: Any, beside: Mapping[str, list[str]] | None = None, **title: Any) -> Table:
    """A DataFrame for the terminal, and columns beside it that are written already.

    Words are not cut, for ids of genes differ in their last characters; they are folded where there
    is no room.
    """
    columns = {name: [*frame[name].map(_written)] for name in frame} | dict(beside or {})
    least = {name: _longest_word([_head(name), *cells]) for name, cells in columns.items()}
    fits = sum(least.values()) + 3 * len(least) <= Console().width  # with what divides columns
    if not fits and SPARED in columns:
        return drawn(frame, **title)
    table = Table(show_edge=False, **title)
    for name in columns:
        table.add_column(_head(name), overflow="fold", min_width=least[name] if fits else None)
    for row in zip(*columns.values(), strict=True):
        table.add_row(*row)
    return table


def _head(name: str) -> str:
    return LABELS.get(name, name.replace("_", " "))


def _longest_word(texts: Iterable[str]) -> int:
    """Length of the longest word, as far as it is not folded."""
    return min(max((len(word) for text in texts for word in text.split()), default=1), MAX_WORD)


def legend(found: Selection, tables: Iterable[Any]) -> list[str]:
    """What columns of these tables hold, a line for each whose head says too little."""
    shown = {name for table in tables for name in table}
    return [
        f"{LABELS.get(name, name)}: {meaning}."
        for name, meaning in about_columns(found).items()
        if name in shown
    ]


def _groups(found: Selection) -> dict[str, list[str]]:
    """For each group the members that may carry its association."""
    written = []
    for one in found.carriers:
        names = (_label(found, k) for k in np.concatenate(one.sets))
        size = len(one.members)
        written.append(f"{named(names, MOST_IN_SET)} of {size}" if size > 1 else "")
    return {"credible set": written}


def _neighbours(found: Selection) -> dict[str, list[str]]:
    """The feature most associated with each finding, by its annotation if it has one."""
    near = [found.presentation.neighbours(found, int(k))[:1] for k in found.selected]
    written = [", ".join(f"{_label(found, j)} ({r:.2f})" for j, r in some) for some in near]
    return {SPARED: written}


def _label(found: Selection, k: int) -> str:
    """The first annotation of a feature, such as its symbol; else its name."""
    first = first_annotation(found)
    return _cut((first and found.annotations[first][k]) or found.names[k])


def _written(cell: Any) -> str:
    return _cut(cell) if isinstance(cell, str) else f"{cell:.3g}" if cell % 1 else f"{cell:.0f}"


def _cut(name: str) -> str:
    """Short and safe in a terminal: no markup, no control characters."""
    shown = "".join(c if c.isprintable() else "?" for c in name)
    shown = shown if len(shown) <= 30 else shown[:29] + "…"
    return shown.replace("[", r"\[")


def paragraphs(sentences: Iterable[str]) -> None:
    """Print sentences, each on a line of its own."""
    said = Console()
    for sentence in filter(None, sentences):
        said.print(sentence, highlight=False, markup=False)


def show_power(trials: Trials, by_rows: bool) -> None:
    """The power of all that was planted: in the layer whose business it is, and alone."""
    rows = []
    for c, cell in enumerate(trials.cells):
        if not cell.form:
            continue
        found, alone = trials.power(c, layer_of(cell.form)), trials.power(c, "associated")
        row: dict[str, Any] = {"rows": f"{cell.n_rows:,}"} if by_rows else {}
        row |= {"form": SHORT[cell.form], "share": percent(cell.share)}
        if trials.ratio:
            row[RATIO[trials.ratio]] = f"{ratio_of(trials.target, cell.share, cell.n_effects):.2f}"
        row |= {
            "found": written_shortly(found) or "-",
            "associated": percent(alone.mean) if alone.n else "-",
            "fits": found.n,
        }
        rows.append(row)
    among = "pairs" if trials.forms == ("pair",) else "signals"
    if "pair" in trials.forms and among == "signals":
        among += ", interactions among pairs"
    title = f"Power (95% interval): effects found among {among}"
    Console().print(drawn(pd.DataFrame(rows), title=title, title_justify="left"))


def show_levels(check: TableCheck) -> None:
    """Rates of false findings, layer by layer."""
    rows = []
    for layer in LAYERS:
        attained, by_chance = check.attained_fdr(layer), check.any_false(layer)
        row = {"layer": layer, "attained FDR": written_shortly(attained) or "-"}
        rows.append(row | {"shuffled targets with findings": written_shortly(by_chance) or "-"})
    title = f"False findings (95% interval), level {check.level:g}"
    Console().print(drawn(pd.DataFrame(rows), title=title, title_justify="left"))


def next_steps(
    found: Selection, context: typer.Context, options: dict[str, Any], folder: Path
) -> list[str]:
    """Lines for the terminal: commands, each with what it does; none if something was selected."""
    if found.selected.size:
        return []

    def again(word: object, **changes: Any) -> str:
        command = word if word in ("check", "plan") else "select"
        return _command(context, command, {**options, **changes, "out": f"{folder}-{word}"})

    steps = {again("check"): "which effects this table could have shown, in a minute or two"}
    steps[again("plan")] = "how many rows it takes to find them"
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


def _command(context: typer.Context, command: str, options: dict[str, Any]) -> str:
    """A command as it would be typed: its file, and its options that are not as by default."""
    typed, every = ["smrmr", command, str(options["file"])], context.find_root().command
    for parameter in every.commands[command].params:  # type: ignore[attr-defined]
        name, flag = str(parameter.name), parameter.opts[0]
        value = options.get(name)
        if name in HERE or value is None or value == parameter.default:
            continue
        if isinstance(value, bool):
            typed.append(flag if value else parameter.secondary_opts[0])
        else:
            for one in value if isinstance(value, list | tuple) else [value]:
                typed += [flag, str(one)]
    return shlex.join(typed)
