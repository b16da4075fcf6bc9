"""The gallery has the examples that it promises, and they ask for nothing that docs do not install.

That they run is for make docs to show, which runs each of them.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
EXAMPLES = sorted(FOLDER.glob("plot_*.py"))
PROMISED = [
    "plot_1_expression",
    "plot_2_genotypes",
    "plot_3_cells",
    "plot_4_survival",
    "plot_5_pipeline",
    "plot_6_levels",
    "plot_7_redundant",
    "plot_8_measure",
    "plot_9_pairs",
    "plot_a_check",
]
INSTALLED = {"anndata", "matplotlib", "numpy", "pandas", "scipy", "sklearn", "smrmr"}


def test_the_examples_are_those_that_other_pages_lead_to():
    assert [path.stem for path in EXAMPLES] == PROMISED


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_begins_with_a_title(path):
    """Oracle: reStructuredText, which wants a title underlined by as many signs as it has."""
    title, line, blank, *text = (ast.get_docstring(tree_of(path)) or "").splitlines()
    assert title
    assert line == "=" * len(title)
    assert not blank
    assert any(text)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_imports_what_docs_install(path):
    imported = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            imported |= {name.name.partition(".")[0] for name in node.names}
        if isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").partition(".")[0])
    assert "smrmr" in imported
    assert imported <= INSTALLED | sys.stdlib_module_names


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_draws_and_tells(path):
    """A figure is shown, text cells tell the story, and it ends with its limits."""
    text = path.read_text(encoding="utf-8")
    assert "\nplt.show()\n" in text
    assert text.count("\n# %%\n") >= 4
    assert "\n# Caution\n# -------\n" in text


def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))
