"""Draws tables and figures from results/ again and puts the claims into docs/reproducing.md.

python -m docs.fill
"""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.report.figures import draw_figures
from benchmarks.report.tables import claims, write_tables
from benchmarks.stores import read_stores

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reproducing.md"
BLOCK = re.compile("(?<=<!-- claims -->\n).*?(?=<!-- end -->)", flags=re.DOTALL)


def filled(page: str) -> str:
    return BLOCK.sub(lambda _: claims(read_stores(ROOT / "results")) + "\n", page)


if __name__ == "__main__":
    write_tables(ROOT / "results")
    draw_figures(ROOT / "results")
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
