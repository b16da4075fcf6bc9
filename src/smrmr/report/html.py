"""Writes a selection as one web page that needs nothing else."""

from __future__ import annotations

import os
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

import numpy as np
from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from ..runs.files import replacing
from ..selection import Selection
from . import words
from .marks import Figure, short
from .shapes import redundancy_plot, shape_plot
from .svg import draw_svg
from .table import MOST_ROWS, embedded, table_data
from .words import account_of

MOST_NAMES = 60  # of selected features above the table


def write_report(selection: Selection, path: str | os.PathLike[str]) -> Path:
    """Write a report that can be read in any browser, sent by mail and printed.

    One file without network access: what was found and what it promises, figures, a table of the
    features, a methods paragraph. An old file is replaced only once the new one is complete.

    Parameters
    ----------
    selection
        What `smrmr.select` returned.
    path
        Where to write; the directory must exist.

    Returns
    -------
    The path.
    """
    path = Path(path)
    with replacing(path) as unfinished:
        unfinished.write_text(render(selection), encoding="utf-8", newline="\n")
    return path


def render(selection: Selection) -> str:
    """The report as the text of one HTML page.

    Examples
    --------
    >>> from smrmr import select, simulate
    >>> from smrmr.report import render
    >>> data = simulate("1.d", n=200, p=95, random_state=0)
    >>> page = render(select(data.X, data.y, rng=0))
    >>> len(page) < 2_000_000, "https:" in page
    (True, False)
    """
    script = _own_file("page.js")
    environment = Environment(
        loader=FunctionLoader(_own_file),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    data, account = table_data(selection), account_of(selection)
    page = environment.get_template("template.html").render(
        selection=selection,
        asked=words.asked(selection),
        found=words.found(selection),
        why_nothing=words.why_nothing(selection),
        promise=words.promise(selection),
        warnings=words.warnings(selection),
        data_shown=words.data_shown(selection),
        assumptions=account.assumptions(selection),
        facts=account.facts(selection),
        chips=_chips(selection),
        n_unnamed=max(0, len(selection.selected) - MOST_NAMES),
        figures=[*account.figures(selection), _redundancy(selection)],
        draw=draw_svg,
        shapes=_shapes(selection),
        data=embedded(data),
        n_rows=len(data["rows"]),
        cut=data["cut"],
        most_rows=MOST_ROWS,
        methods=account.methods(selection),
        references=account.references(selection),
        style=Markup(_own_file("style.css")),
        script=Markup(script),
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
    )
    return page.encode("utf-8", "replace").decode()  # class labels may hold lone surrogates


def _own_file(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def _chips(selection: Selection) -> list[dict[str, str]]:
    """Selected features with what a reader wants to see first."""
    return [
        {
            "name": short(selection.names[k], 200),
            "about": f"W {selection.W[k]:.3g}, q-value {selection.q_values[k]:.3g}",
        }
        for k in selection.selected[:MOST_NAMES]
    ]


def _redundancy(selection: Selection) -> Figure:
    n = len(selection.picture.features)
    return Figure(
        "redundancy",
        redundancy_plot(selection),
        Markup(
            f"<b>How much features repeat each other.</b> The {n} features that stand out most, "
            'similar ones side by side; selected ones in <b class="key selected">bold</b>. Dark '
            "squares are features that tell much the same. Shades go by the root, so that weak "
            "association shows."
        ),
    )


def _shapes(selection: Selection) -> list[dict[str, str]]:
    """Each selected feature against the target; copies are drawn by the feature they copy."""
    drawn = selection.decision.selected
    drawn = drawn[np.isin(drawn, selection.picture.features)]
    return [
        {
            "name": short(selection.names[k], 200),
            "figure": draw_svg(shape_plot(selection, int(k)), width=280, height=210),
        }
        for k in drawn
    ]
