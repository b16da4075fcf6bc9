"""Lists the features for the table of the page, as data that no name can break out of."""

import json
from typing import Any

import numpy as np
from markupsafe import Markup

from ..selection import Selection
from ..types import Indices
from .words import about_columns

MOST_ROWS = 5000
NAME_BYTES = 600_000  # for all names together, so that the page stays below 2 MB
SHORTEST_CUT = 24
# What a spreadsheet would run as a formula. The script of the page uses the same pattern, so it
# keeps to what Python and JavaScript both understand.
DANGEROUS = r"^[=+\-@\t\r]"
IN_FILES = (  # columns that features.csv has, and for which the page has no room
    *("direction_alone", "effect_alone_low", "effect_alone_high", "residual_variance"),
    *("higher_in_alone", "lower_in_alone", "rising_outputs_alone", "falling_outputs_alone"),
)
LABELS = {
    "q_value": "q-value",
    "theta": "coefficient",
    "theta_knockoff": "knockoff's",
    "p_value": "p given others",
    "q_value_own": "q-value",
    "p_value_alone": "p alone",
    "q_value_alone": "q alone",
    "direction": "direction given others",
    "direction_alone": "direction alone",
    "effect": "effect given others",
    "effect_alone": "effect alone (interval)",
    "higher_in_alone": "higher in, alone",
    "rising_outputs_alone": "rising outputs, alone",
    "shape": "shape alone",
    "residual_variance": "residual variance",
    "relevance_unadjusted": "unadjusted relevance",
}


def table_data(selection: Selection) -> dict[str, Any]:
    """Columns and rows of the table; `cut` is the length at which names are cut, 0 if none is."""
    features = table_rows(selection)
    names, cut = _names([selection.names[k] for k in features])
    columns: dict[str, Any] = {"feature": names, "outcome": selection.outcomes[features].tolist()}
    more = {k: v for k, v in selection.table_columns().items() if k not in IN_FILES}
    if not any(more.get("partner", ())):
        more.pop("partner", None)
    if selection.decision.rule == "e-values":
        more["frequency"] = selection.frequency
    columns |= {name: values[features].tolist() for name, values in more.items()}
    return {
        "columns": list(columns),
        "rows": [list(row) for row in zip(*columns.values(), strict=True)],
        "labels": {name: LABELS.get(name, name.replace("_", " ")) for name in columns},
        "about": {k: v for k, v in about_columns(selection).items() if k in columns},
        "dangerous": DANGEROUS,
        "cut": cut,
    }


def table_rows(selection: Selection) -> Indices:
    """Features in the page: the selected, those weighed by score, the most relevant, up to 5000."""
    place = np.full(selection.n_features, len(selection.selected))
    place[selection.selected] = np.arange(len(selection.selected))
    weighed = np.isin(np.arange(selection.n_features), selection.evidence.weighed)
    order = np.lexsort((-selection.relevance, -selection.evidence.scores, ~weighed, place))
    return np.asarray(order[:MOST_ROWS])


def embedded(data: Any) -> Markup:
    """Data as JSON for a script element, which nothing but ``<`` could close or confuse."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))


def _names(names: list[str]) -> tuple[list[str], int]:
    """Names that fit, all cut at one length if they must be, and that length."""
    names = [name.encode("utf-8", "replace").decode() for name in names]  # no lone surrogates
    sizes = np.array([len(name) for name in names])
    weights = np.array([len(name.encode()) for name in names])
    if weights.sum() <= NAME_BYTES:
        return names, 0
    cut = max(SHORTEST_CUT, int(NAME_BYTES * sizes.sum() / weights.sum() / len(names)))
    return [name if len(name) <= cut else name[: cut - 1] + "…" for name in names], cut
