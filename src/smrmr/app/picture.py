"""Draws any feature of a run against the target, as the report draws its best.

It runs in a process of its own, which reads the table: ``python -m smrmr.app.picture FOLDER NAME``.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from markupsafe import Markup

from ..data import read_data
from ..data.study import read_study
from ..report.shapes import shape_plot
from ..report.svg import draw_svg
from ..report.words import own_file
from ..runs.files import replacing
from ..runs.work import Work
from ..selection import Selection, summarise_for_plots
from ..settings import parse_bytes
from .folders import Entry
from .settings import known_of_rows, reading, recipe_of

SECONDS = 180  # that reading the table may take
PAGE = Markup(
    '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
    "<style>{style} body {{ background: var(--card); padding: .5rem; }}</style>{figure}</html>"
)


def picture_of(run: Entry, selection: Selection, feature: str) -> str:
    """A page with the feature against the target: of the answer, or drawn from the table."""
    k = selection.position(feature)
    if selection.leaders[k] in selection.plot_data.features:
        return page_of(selection, feature)
    name = sha256(selection.names[k].encode("utf-8", "replace")).hexdigest()[:24]
    kept = run.path / "pictures" / f"{name}.html"
    if not kept.exists():
        kept.parent.mkdir(exist_ok=True)
        command = [sys.executable, "-m", __name__, str(run.path), str(k), str(kept)]
        subprocess.run(command, check=True, capture_output=True, timeout=SECONDS)
    return kept.read_text(encoding="utf-8")


def page_of(selection: Selection, feature: str | int) -> str:
    """A page with the picture of a feature that the selection has a summary of."""
    plot = shape_plot(selection, feature)
    style = Markup(own_file("style.css"))
    return PAGE.format(title=plot.title, style=style, figure=draw_svg(plot, width=340, height=250))


def draw(run: Entry, feature: int, path: Path) -> None:
    """Summarise a feature on its table and write the page with its picture."""
    about = run.about
    found = Selection.from_json(
        (run.path / "answer" / "selection.json").read_text(encoding="utf-8")
    )
    recipe = recipe_of(about["settings"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = read_data(about["file"], **reading(about["settings"]))
        known = known_of_rows(data, about["settings"])
        study = recipe.controller.prepare(read_study(data.X, target=recipe.target, **known))
    work = Work(1, parse_bytes(recipe.max_memory), None)
    leader = found.leaders[[feature]]
    summary = summarise_for_plots(study, leader, recipe.controller.measure, False, work)
    with replacing(path) as unfinished:
        unfinished.write_text(page_of(replace(found, plot_data=summary), feature), "utf-8")


if __name__ == "__main__":
    draw(Entry(Path(sys.argv[1])), int(sys.argv[2]), Path(sys.argv[3]))
