"""Writes a selection as one web page that needs nothing else."""

import os
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

from markupsafe import Markup

from ..runs.files import replacing
from ..selection import Selection
from .checks import checked
from .findings import listed, listing
from .glossary import glossary
from .parts import REPORT_PARTS
from .svg import draw_svg
from .table import embedded, table_data
from .words import (
    FOLDERS,
    counts_by_level,
    environment,
    own_file,
    say,
    say_items,
    warnings,
    why_nothing,
)


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
    script, data = own_file("page.js"), table_data(selection)
    parts = REPORT_PARTS[selection.evidence.kind]
    page = environment(autoescape=True).get_template("page.html")
    text = page.render(
        selection=selection,
        say=say,
        say_items=say_items,
        why_nothing=why_nothing(selection),
        warnings=warnings(selection),
        captions=f"{FOLDERS[selection.evidence.kind]}/captions.html",
        counts=counts_by_level(selection),
        findings=listed(selection),
        listing=listing(selection),
        checks=checked(selection, parts.CHECKS),
        glossary=lambda text: glossary(selection, text),
        draw=draw_svg,
        figures=parts.FIGURES,
        data=embedded(data),
        table=data,
        style=Markup(own_file("style.css")),
        script=Markup(script),
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
    )
    return text.encode("utf-8", "replace").decode()  # class labels may hold lone surrogates
