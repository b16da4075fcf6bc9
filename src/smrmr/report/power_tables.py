"""Lists what a check of a table measured: rates of false findings by layer, power by strength."""

from dataclasses import dataclass, replace
from typing import Any

from ..power.account import LAYERS, TableCheck, ratio_of
from ..power.words import (
    SHORT,
    doubts_of_check,
    level_attained,
    percent,
    what_was_planted,
    words_of_power,
    written_shortly,
)
from ..selection import Selection
from ..selection.pairs import pairs_of
from .findings import Listing, as_listing
from .marks import short
from .words import say

LONGEST = 200  # of names of features that effects were planted on


@dataclass(frozen=True)
class PowerSection:
    """What the section on power says, and its two tables."""

    doubts: list[str]
    planted: str
    level: str
    sentences: list[str]
    rates: Listing
    strengths: Listing


def power_section(selection: Selection) -> PowerSection | None:
    """The section of a selection whose table was checked; nothing of others."""
    check = selection.table_check
    if check is None:
        return None
    layers = [name for name in LAYERS if name != "pairs" or pairs_of(selection).n_tested]
    return PowerSection(
        [*doubts_of_check(check), *filter(None, [say(selection, "unseen")])],
        what_was_planted(replace(check, planted_on=short(check.planted_on, LONGEST))),
        level_attained(check),
        [*words_of_power(check)],
        _rates(check, layers),
        _strengths(check, layers),
    )


def _rates(check: TableCheck, layers: list[str]) -> Listing:
    """Rates of false findings, a row for each layer."""
    return as_listing(
        {
            "layer": layers,
            "attained FDR": [
                written_shortly(check.attained_fdr(name)) or "not known" for name in layers
            ],
            "shuffled target": [written_shortly(check.any_false(name)) for name in layers],
        }
    )


def _strengths(check: TableCheck, layers: list[str]) -> Listing:
    """Power in every layer, a row for each strength of each form."""
    planted = [(c, cell) for c, cell in enumerate(check.cells) if cell.form]
    columns: dict[str, list[Any]] = {
        "form": [SHORT[cell.form] for _, cell in planted],
        "variance explained": [percent(cell.share) for _, cell in planted],
    }
    if check.ratio:
        columns[check.ratio] = [
            f"{ratio_of(check.target, cell.share, cell.n_effects):.2f}" for _, cell in planted
        ]
    columns["fits"] = [check.power(c).n for c, _ in planted]
    for name in layers:
        if name != "pairs" or "pair" in check.forms:
            columns[name] = [written_shortly(check.power(c, name)) for c, _ in planted]
    return as_listing(columns)
