"""Puts tables made from the rows in results/ into the docs; `make figures` draws the figures.

python -m docs.fill
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.report.against import against, rivals
from benchmarks.report.commits import commits
from benchmarks.report.groups import groups_tables
from benchmarks.report.tables import claims
from benchmarks.report.yardstick import sizes, yardstick
from benchmarks.speed.commits import open_lines
from benchmarks.stores import read_stores

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = {
    "claims": claims,
    "yardstick": yardstick,
    "sizes": sizes,
    "groups": groups_tables,
    "against": against,
    "rivals": rivals,
    "commits": commits,
}  # by the comment that opens them
BLOCK = re.compile(f"(?<=<!-- )({'|'.join(BLOCKS)}) -->\n.*?(?=<!-- end -->)", flags=re.DOTALL)


def filled(page: str) -> str:
    return BLOCK.sub(lambda block: f"{block[1]} -->\n{block_named(block[1])}\n", page)


@cache
def block_named(name: str) -> str:
    return str(BLOCKS[name](stored()))


@cache
def stored() -> dict[str, Any]:
    results = ROOT / "results"
    return read_stores(results) | {"commits": open_lines(results).frame()}


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
