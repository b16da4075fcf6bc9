"""What pages on the method name is there: functions, files, tests; tables name the code's."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMING = ["formulas.md", "extending.md"]  # pages that tie words to the code
ROLE = re.compile(r"\{py:(?:func|class|meth|mod|obj)\}`([\w.]+)`")
PLACE = re.compile(r"`((?:src|tests|benchmarks)/[\w/.]+?)(?:::(\w+))?`")


def text_of(page):
    return (ROOT / "docs" / page).read_text(encoding="utf-8")


def named_object(path):
    """The object that a dotted path leads to, by the longest part of it that is a module."""
    parts = path.split(".")
    for size in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:size]))
        except ModuleNotFoundError:
            continue
        for name in parts[size:]:
            found = getattr(found, name)
        return found
    raise ModuleNotFoundError(path)


@pytest.mark.parametrize("page", NAMING)
def test_functions_that_a_page_names_can_be_imported(page):
    names = ROLE.findall(text_of(page))
    assert names
    for name in names:
        assert named_object(name) is not None, name


@pytest.mark.parametrize("page", NAMING)
def test_files_that_a_page_names_hold_what_it_says(page):
    """Oracle: the text of the files; a name is that of a function, a class or a constant."""
    places = PLACE.findall(text_of(page))
    assert places
    for path, name in places:
        assert (ROOT / path).exists(), path
        if name:
            defined = rf"^(?:    )?(?:def|class) {name}\b|^{name}\b.*="
            text = (ROOT / path).read_text(encoding="utf-8")
            assert re.search(defined, text, flags=re.MULTILINE), f"{path}::{name}"


def test_every_formula_is_tied_to_the_code():
    """Law: after a displayed formula, and before the next heading, a role or a path follows."""
    text = text_of("formulas.md")
    for formula in re.finditer(r"\$\$.*?\$\$", text, flags=re.DOTALL):
        rest = re.split(r"^#+ ", text[formula.end() :], maxsplit=1, flags=re.MULTILINE)[0]
        assert ROLE.search(rest) or PLACE.search(rest), formula[0]


def test_names_of_the_notation_are_in_the_code():
    """Oracle: the text of the file that each row names."""
    rows = re.findall(
        r"^\| (.+?) \| (`.+?`) \| .+ \| `(src/.+?)` \|$", text_of("notation.md"), re.M
    )
    assert (
        len(rows) == sum(line.startswith("| ") for line in text_of("notation.md").splitlines()) - 4
    )
    for symbol, names, path in rows:
        text = (ROOT / path).read_text(encoding="utf-8")
        for name in re.findall(r"`(\w+)`", names):
            assert re.search(rf"\b{name}\b", text), f"{symbol}: {name} is not in {path}"


def test_no_symbol_has_two_rows():
    symbols = re.findall(r"^\| (.+?) \| `", text_of("notation.md"), re.M)
    assert len(symbols) == len(set(symbols))
