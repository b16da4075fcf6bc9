"""Runs the code blocks of a Markdown page as a reader would: in order, in one folder.

- ``python`` blocks share one namespace.
- ``sh`` blocks hold commands of smrmr, one per line; ``> FILE`` writes what one prints.
- A ``text`` block right after one of these is what it prints. Whole numbers are the same. Others
  agree to one unit of the last digit that the page prints, which rounding may turn over anywhere,
  or to 2%, which versions of libraries may take. ``...`` stands for anything: alone on a line for
  any lines, between words for one word.
- ``console`` blocks are not run: what they call is not ours, or takes long.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from smrmr.cli.commands import app

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
RUN = ("python", "sh")
NUMBER = re.compile(r"((?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?!\w|\.\d))")  # not that in gene010
MARGIN = 0.02  # by which numbers with decimals may differ however many they have


@dataclass(frozen=True)
class Block:
    """A code block that is run, and what the page says it prints, if it does."""

    language: str
    code: str
    printed: str | None


def blocks_of(text: str) -> list[Block]:
    found = list(FENCE.finditer(text))
    following = [*found[1:], None] if found else []
    return [
        Block(block[1], block[2], after[2] if after and _belongs(text, block, after) else None)
        for block, after in zip(found, following, strict=True)
        if block[1] in RUN
    ]


def _belongs(text: str, block: re.Match[str], after: re.Match[str]) -> bool:
    return after[1] == "text" and not text[block.end() : after.start()].strip()


def run_blocks(text: str, name: str) -> None:
    """Run all blocks in the current folder; an error or another output is an AssertionError."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks_of(text):
        if block.language == "python":
            printed = _run_python(block.code, name, namespace)
        else:
            printed = "".join(map(run_command, commands_in(block.code)))
        if block.printed is not None:
            assert same_output(printed, block.printed), f"{name} prints:\n{printed}"


def _run_python(code: str, name: str, namespace: dict[str, Any]) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, name, "exec"), namespace)
    return printed.getvalue()


def commands_in(code: str) -> list[str]:
    lines = code.replace("\\\n", " ").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]


def run_command(line: str) -> str:
    """What a command prints where it is not written to a file."""
    program, *words = shlex.split(line, comments=True)
    assert program == "smrmr", f"{line}: a command that is not ours belongs in a console block"
    *words, mark, file = words if words[-2:-1] == [">"] else [*words, "", ""]
    done = CliRunner().invoke(app, words, env={"COLUMNS": "80"})
    assert done.exit_code == 0, f"{line}:\n{done.output}"
    if mark:
        Path(file).write_text(done.stdout, encoding="utf-8")
        return ""
    return done.stdout


def same_output(printed: str, told: str) -> bool:
    r"""Whether a block prints what its page tells.

    >>> same_output("p = 0.0123 (3.1 s)\n", "p = 0.0124 (... s)")
    True
    >>> same_output("a\nb\nc\n", "a\n...\nc"), same_output("a\nb\n", "a\n...\nc")
    (True, False)
    >>> same_output("q=9.9e-11 of [51\n", "q=1e-10 of [51"), same_output("50", "51")
    (True, False)
    """
    return _same_lines(_lines(printed), _lines(told))


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


def _same_lines(printed: list[str], told: list[str]) -> bool:
    if not told:
        return not printed
    if told[0] == "...":
        return any(_same_lines(printed[k:], told[1:]) for k in range(len(printed) + 1))
    return bool(printed) and _same_words(printed[0], told[0]) and _same_lines(printed[1:], told[1:])


def _same_words(printed: str, told: str) -> bool:
    ours, theirs = (re.findall(r"[^\s(),:]+|[(),:]", line) for line in (printed, told))
    return len(ours) == len(theirs) and all(map(_same_word, ours, theirs))


def _same_word(printed: str, told: str) -> bool:
    if told in ("...", printed):
        return True
    ours, theirs = NUMBER.split(printed), NUMBER.split(told)  # text, number, text, ...
    return ours[::2] == theirs[::2] and all(map(_same_number, ours[1::2], theirs[1::2]))


def _same_number(printed: str, told: str) -> bool:
    if not re.search("[.e]", told):
        return printed == told
    digits, _, exponent = told.partition("e")
    last = 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2]))
    apart = abs(float(printed) - float(told))
    return apart <= 1.001 * max(last, MARGIN * abs(float(told)))
