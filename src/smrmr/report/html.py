"""Writes a selection as one web page that needs nothing else."""

import os
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

from markupsafe import Markup

from ..runs.files import replacing
from ..selection import Selection
from . import words
from .checks import checked
from .figures import REPORT_PARTS
from .findings import (
    groups_listing,
    layer_listing,
    listed,
    listing,
    pairs_listing,
    panel_shapes,
    sets_listing,
)
from .pair_plots import pair_figures
from .power_tables import power_section
from .statement import headline
from .svg import draw_svg
from .table import embedded, table_data


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
    pathlib.Path
        Where it is.

    Raises
    ------
    OSError
        If the file cannot be written, such as FileNotFoundError for a directory that is not there.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from smrmr import select, simulate
    >>> from smrmr.report import write_report
    >>> data = simulate("1.a", n=80, p=12, random_state=2)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.html"
    >>> write_report(select(data.X, data.y), path).name
    'report.html'
    """
    path = Path(path)
    with replacing(path) as unfinished:
        unfinished.write_text(render(selection), encoding="utf-8", newline="\n")
    return path


def render(selection: Selection) -> str:
    """The report as the text of one HTML page.

    Parameters
    ----------
    selection
        What `smrmr.select` returned.

    Returns
    -------
    str
        A page that needs no other file and no network.

    Examples
    --------
    >>> from smrmr import select, simulate
    >>> from smrmr.report import render
    >>> data = simulate("1.a", n=80, p=12, random_state=2)
    >>> page = render(select(data.X, data.y))
    >>> len(page) < 2_000_000, "https:" in page
    (True, False)
    """
    script, data = words.own_file("page.js"), table_data(selection)
    parts = REPORT_PARTS[selection.evidence.kind]
    page = words.environment(autoescape=True).get_template("page.html")
    text = page.render(
        selection=selection,
        say=words.say,
        say_items=words.say_items,
        about=words.about_columns(selection),
        why_nothing=words.why_nothing(selection),
        warnings=words.warnings(selection),
        captions=f"{words.FOLDERS[selection.evidence.kind]}/captions.html",
        counts=words.counts_by_level(selection),
        findings=listed(selection),
        listing=listing(selection),
        headline=headline(selection),
        layer_listing=layer_listing,
        sets_listing=sets_listing,
        given_groups=groups_listing(selection),
        pairs=pairs_listing(selection),
        near_miss_pairs=words.near_miss_pairs(selection),
        panel_shapes=panel_shapes(selection),
        pair_figures=pair_figures(selection),
        power=power_section(selection),
        checks=checked(selection, parts.CHECKS),
        glossary=lambda text: glossary(selection, text),
        draw=draw_svg,
        figures=parts.FIGURES,
        data=embedded(data),
        table=data,
        style=Markup(words.own_file("style.css")),
        script=Markup(script),
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
    )
    return text.encode("utf-8", "replace").decode()  # class labels may hold lone surrogates


def glossary(selection: Selection, page: str) -> list[tuple[str, str]]:
    """Words with their meaning, by the alphabet: those that stand on the page."""
    text = Markup(page).striptags()
    items = (item.split(": ", 1) for item in words.say_items(selection, "glossary"))
    known = [(word, meaning) for word, meaning in items if _stands_in(word, text)]
    return sorted(known, key=lambda item: item[0].casefold())


def _stands_in(word: str, text: str) -> bool:
    """Whether a word, or its plural, stands in a text; single letters as they are written."""
    either = 0 if len(word) == 1 else re.IGNORECASE
    return re.search(rf"\b{re.escape(word)}(s|es)?\b", text, either) is not None
