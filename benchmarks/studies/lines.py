"""Counts the lines of code of the package, without blanks, comments and docstrings.

python -m benchmarks.studies.lines
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

import smrmr

ROOT = Path(smrmr.__file__).parent
EMPTY = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def docstring_lines(text):
    """Numbers of the lines that docstrings take."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            yield from range(node.body[0].lineno, node.body[0].end_lineno + 1)


def code_lines(text):
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    used = {
        line
        for token in tokens
        if token.type not in EMPTY
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(used - set(docstring_lines(text)))


def main():
    counts = Counter()
    for path in ROOT.rglob("*.py"):
        counts[path.relative_to(ROOT).parts[0]] += code_lines(path.read_text(encoding="utf-8"))
    for name, count in counts.most_common():
        print(f"{count:>6} {name}")
    print(f"{counts.total():>6} in all")


if __name__ == "__main__":
    main()
