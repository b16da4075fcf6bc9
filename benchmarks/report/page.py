"""Writes a page of tables as markdown."""

from __future__ import annotations

from pathlib import Path

from smrmr.runs.files import replacing

NOT_RUN = "not run"


def write_page(path: Path, title: str, sections: dict[str, str], notes: str = "") -> Path:
    """Write sections under their titles, those without text as not run; returns the path."""
    text = f"# {title}\n\nMeans, with standard errors in brackets.\n"
    text += f"\n{notes}\n" if notes else ""
    for name, body in sections.items():
        text += f"\n## {name}\n\n{body or NOT_RUN}\n"
    with replacing(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    return path
