"""Writes what the coverage badge of the README shows, from what `make coverage` measured.

Run from the root of a clone: python tools/coverage_badge.py coverage.json
"""

import json
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
WRITTEN = "docs/_static/coverage.json"


def threshold() -> int:
    """Share of lines, in percent, below which `make coverage` fails."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return int(settings["tool"]["coverage"]["report"]["fail_under"])


def badge(percent: float) -> dict[str, object]:
    """What shields.io draws; whole percents, rounded down, so that it never promises too much."""
    color = "brightgreen" if percent >= threshold() else "red"
    return {"schemaVersion": 1, "label": "coverage", "message": f"{int(percent)}%", "color": color}


def main(measured: Path) -> None:
    """Read the report of coverage in JSON, write the badge, and print what it counts."""
    totals = json.loads(measured.read_text(encoding="utf-8"))["totals"]
    text = json.dumps(badge(totals["percent_covered"]))
    (ROOT / WRITTEN).write_text(f"{text}\n", encoding="utf-8")
    print(
        f"{totals['covered_lines']:,} of {totals['num_statements']:,} lines run "
        f"({totals['percent_covered']:.2f}%), {totals['excluded_lines']:,} are not counted"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
