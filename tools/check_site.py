"""Checks that the site that `make docs` has built loads nothing over the network.

Run from the root of a clone: python tools/check_site.py docs/_build/html
"""

import re
import sys
from pathlib import Path

LOADED = re.compile(  # scripts, styles, fonts and pictures, as opposed to links that are followed
    r"<(?:script|img|iframe|source)\b[^>]*\bsrc=[\"']?((?:https?:)?//[^\"'\s>]+)"
    r"|<link\b(?=[^>]*\brel=[\"']?(?:stylesheet|preload|icon))"
    r"[^>]*\bhref=[\"']?((?:https?:)?//[^\"'\s>]+)"
)


def from_elsewhere(page: Path) -> list[str]:
    """Addresses that a page loads by itself from other hosts."""
    return [one or other for one, other in LOADED.findall(page.read_text(encoding="utf-8"))]


def main(folder: Path) -> None:
    """Stop with an error that names the pages, if there are any."""
    pages = sorted(folder.rglob("*.html"))
    assert pages, f"{folder} holds no pages"
    found = {page.relative_to(folder).as_posix(): from_elsewhere(page) for page in pages}
    found = {name: addresses for name, addresses in found.items() if addresses}
    assert not found, f"these pages load over the network: {found}"
    print(f"{len(pages)} pages load nothing over the network")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
