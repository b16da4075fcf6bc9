"""Shows a selection in a notebook or at a prompt: a small card, and a few lines of text."""

from typing import Any

from ..selection import Selection
from .marks import short
from .statement import statement
from .words import advice, environment, say

MOST_ROWS = 10  # of the card
MOST_LINES = 5  # of the text


def card(selection: Selection) -> str:
    """A small card in HTML that needs nothing else: names, numbers, shape, and what comes next.

    This is how a notebook shows a `smrmr.Selection`.

    Parameters
    ----------
    selection
        What `smrmr.select` returned.

    Returns
    -------
    str
        The card; names are escaped.

    Examples
    --------
    >>> from smrmr import select, simulate
    >>> from smrmr.report import card
    >>> data = simulate("1.a", n=80, p=12, random_state=2)
    >>> found = select(data.X, data.y)
    >>> card(found).count("<tr>")
    3
    """
    page = environment(autoescape=True).get_template("card.html")
    table = selection.findings() if selection.selected.size else selection.near_misses(MOST_ROWS)
    text = page.render(
        selection=selection,
        said=statement(selection, name_near_misses=False),
        advice=advice(selection),
        rows=table[:MOST_ROWS].to_dict("records"),
        measured=selection.presentation.MEASURED,
        alike=alike,
    )
    return text.encode("utf-8", "replace").decode()  # names may hold lone surrogates


def brief(selection: Selection) -> str:
    """A selection in a few lines: what was found, and the first of it.

    This is how a prompt shows a `smrmr.Selection`.

    Parameters
    ----------
    selection
        What `smrmr.select` returned.

    Returns
    -------
    str
        The lines.

    Examples
    --------
    >>> from smrmr import select, simulate
    >>> from smrmr.report import brief
    >>> data = simulate("1.a", n=80, p=12, random_state=2)
    >>> found = select(data.X, data.y)
    >>> print(brief(found).splitlines()[0])
    Selection: 2 features at FDR 0.1, of 12 features and 80 rows
    """
    n, measured = len(selection.selected), selection.presentation.MEASURED
    counted, level = say(selection, "counted"), say(selection, "level")
    sure = "" if selection.decision.guaranteed else ", without guarantee"
    features = f"feature{'s' * (selection.n_of_interest != 1)}"
    size = f"of {selection.n_of_interest:,} {features} {say(selection, 'of_interest')}".strip()
    size = f"{size} and {selection.n_rows:,} rows"
    head = f"Selection: {counted} at {level}{sure}, {size}"
    rows = selection.findings() if n else selection.near_misses(MOST_LINES)
    lines = [_line(row, measured) for row in rows[:MOST_LINES].to_dict("records")]
    if not n and lines:
        lines.insert(0, "near misses, which are no findings:")
    more = [f"and {n - MOST_LINES} more"] if n > MOST_LINES else []
    return "\n  ".join([head, *lines, *more])


def _line(row: dict[str, Any], measured: str) -> str:
    shape = f", {short(row['shape'])}" if row["shape"] else ""
    numbers = f"{measured.replace('_value', '')} {row[measured]:.2g}, q-value {row['q_value']:.2g}"
    return f"{short(row['feature'])}{alike(row)}: {numbers}{shape}"


def alike(row: dict[str, Any]) -> str:
    """How many look-alikes a finding represents, besides itself; nothing if there are none."""
    n = row.get("size", 1) - 1
    return f" and {n} look-alike{'s' * (n > 1)}" if n else ""
