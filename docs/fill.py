"""Draws tables and figures from results/ again and puts the claims into docs/reproducing.md.

.venv/bin/python docs/fill.py
"""

from __future__ import annotations

import re
from pathlib import Path

from smrmr.benchmark.figures import draw_figures
from smrmr.benchmark.tables import claims, write_tables

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reproducing.md"
BLOCK = re.compile("(?<=<!-- claims -->\n).*?(?=<!-- end -->)", flags=re.DOTALL)


def filled(page: str) -> str:
    return BLOCK.sub(lambda _: claims(ROOT / "results") + "\n", page)


if __name__ == "__main__":
    write_tables(ROOT / "results")
    draw_figures(ROOT / "results")
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
