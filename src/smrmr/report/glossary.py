"""Explains the words of a page that a reader may not know."""

import re

from markupsafe import Markup

from ..selection import Selection
from .words import say_items


def glossary(selection: Selection, page: str) -> list[tuple[str, str]]:
    """Words with their meaning, by the alphabet: those that stand on the page."""
    text = Markup(page).striptags()
    items = (item.split(": ", 1) for item in say_items(selection, "glossary"))
    known = [(word, meaning) for word, meaning in items if _stands_in(word, text)]
    return sorted(known, key=lambda item: item[0].casefold())


def _stands_in(word: str, text: str) -> bool:
    """Whether a word, or its plural, stands in a text; single letters as they are written."""
    either = 0 if len(word) == 1 else re.IGNORECASE
    return re.search(rf"\b{re.escape(word)}(s|es)?\b", text, either) is not None
