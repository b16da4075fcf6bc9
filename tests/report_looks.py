"""Takes pictures of reports in a browser, to be looked at and to be compared with.

    PYTHONPATH=src:tests python -m report_looks

draws all reference pictures again; look at them before they are committed.
"""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image

from report_cases import CASES, case
from smrmr.report import write_report

REFERENCES = Path(__file__).parent / "reference" / "reports"
WAYS = {
    "light": {"width": 1200},
    "dark": {"width": 1200, "color_scheme": "dark"},
    "narrow": {"width": 400},
    "print": {"width": 800, "media": "print"},
    "open": {"width": 1200, "open": True},
}
LOOKS = [
    *((name, "light") for name in CASES),
    ("numbers", "dark"),
    ("empty", "dark"),
    ("groups", "narrow"),
    ("level_broken", "narrow"),
    ("ten_classes", "narrow"),
    ("counts", "print"),
    ("sixty_findings", "print"),
    ("numbers", "open"),
    ("draws", "open"),
    ("covariates", "open"),
]
# what differs from one machine or version to the next, and what is only text
HIDDEN = "header, #table, #methods, #settings, #glossary { display: none }"
LIMIT = {"narrow": 0.15}  # share of cells that may differ: where lines are short fonts count more
TINT = 5.0  # pixels of colour that fewer colours may add or take away
GRID = 24  # letters are smaller than such a cell, so that fonts hardly matter


def start(driver):
    """A browser, or None if there is none."""
    program = shutil.which("chromium")
    return program and driver.chromium.launch(executable_path=program, args=["--no-sandbox"])


DRAWN = """() => document.fonts.ready.then(() => new Promise(
    done => requestAnimationFrame(() => requestAnimationFrame(done))))"""


def picture(browser, selection, way, style=HIDDEN):
    """The head of a report, its findings and its checks, at half size."""
    asked = WAYS[way]
    with TemporaryDirectory() as folder:
        path = write_report(selection, Path(folder) / "report.html")
        page = browser.new_page(
            viewport={"width": asked["width"], "height": 800},
            color_scheme=asked.get("color_scheme", "light"),
        )
        page.goto(path.as_uri())
        page.emulate_media(media=asked.get("media", "screen"))
        page.add_style_tag(content=style)
        if "open" in asked:
            page.evaluate("document.querySelectorAll('details').forEach(e => e.open = true)")
        page.evaluate(DRAWN)
        taken = Image.open(io.BytesIO(page.screenshot(full_page=True)))
        page.close()
    return taken.convert("RGB").reduce(2)


def few_colours(one):
    """A picture that takes little room, unless its greys would get a tint by it."""
    few = one.quantize(128, Image.Quantize.MAXCOVERAGE)
    return few if abs(colour(few.convert("RGB")) - colour(one)) < TINT else one


def difference(one, two):
    """Share of the cells of a coarse grid that differ plainly between two pictures."""
    size = max(1, one.width // GRID), max(1, one.height // GRID)
    cells = [
        np.asarray(each.resize(size, Image.Resampling.BOX), dtype=np.float64) for each in (one, two)
    ]
    return float(np.mean(np.abs(cells[0] - cells[1]).max(axis=2) > 24))


def colour(one):
    """Pixels that have a colour, which figures have and text has not, per pixel of width."""
    return float(np.count_nonzero(np.ptp(np.asarray(one).astype(int), axis=2) > 30)) / one.width


def reference(name, way):
    return REFERENCES / f"{name}-{way}.png"


if __name__ == "__main__":
    from playwright.sync_api import sync_playwright

    REFERENCES.mkdir(exist_ok=True)
    with sync_playwright() as driver:
        browser = start(driver)
        for name, way in LOOKS:
            few_colours(picture(browser, case(name), way)).save(reference(name, way), optimize=True)
