"""Draws tables and figures from results/ again and puts what they say into the docs.

python -m docs.fill
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.report.against import against
from benchmarks.report.figures import draw_figures
from benchmarks.report.groups import groups_tables
from benchmarks.report.tables import claims, write_tables
from benchmarks.report.yardstick import write_yardstick, yardstick
from benchmarks.stores import read_stores

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / name for name in ("README.md", "docs/reproducing.md", "docs/power.md", "docs/choices.md")
]
BLOCKS = {
    "claims": claims,
    "yardstick": yardstick,
    "groups": groups_tables,
    "against": against,
}  # by the comment that opens them
BLOCK = re.compile(f"(?<=<!-- )({'|'.join(BLOCKS)}) -->\n.*?(?=<!-- end -->)", flags=re.DOTALL)


def filled(page: str) -> str:
    return BLOCK.sub(lambda block: f"{block[1]} -->\n{block_named(block[1])}\n", page)


@cache
def block_named(name: str) -> str:
    return str(BLOCKS[name](stored()))


@cache
def stored() -> dict[str, Any]:
    return read_stores(ROOT / "results")


if __name__ == "__main__":
    write_tables(ROOT / "results")
    write_yardstick(ROOT / "results")
    draw_figures(ROOT / "results")
    for page in PAGES:
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
