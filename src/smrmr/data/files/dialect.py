"""Finds out how a table of text is written: its encoding, separator and decimal mark."""

import codecs
import csv
import io
import re
from dataclasses import dataclass, field
from pathlib import Path

from ...problems import Problem, setting
from ...settings import check_choice, check_count
from .content import content_of
from .layout import layout_of, n_titles

LINES, LETTERS = 100, 1_000_000  # by which a file is judged
MIN_ROWS = 4  # of a table that can be selected from
SEPARATORS = {
    "comma": ",", "semicolon": ";", "tab": "\t", r"\t": "\t", "bar": "|", "pipe": "|",
    "space": r"\s+", " ": r"\s+", "whitespace": r"\s+",
}  # fmt: skip
SAID = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", r"\s+": "blanks"}
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
WITH_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
WITH_POINT = re.compile(r"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")


@dataclass(frozen=True)
class Dialect:
    """How a table of text is written.

    `separator` is a regular expression for runs of blanks. `header` has a name for every column:
    where rows have one value more than the first line, as R writes them, the first name is empty;
    where that value is always empty, the last one is. `lines_above` are not read. `n_rows` is
    known of short files. `notes` say what was found out.
    """

    encoding: str
    separator: str
    decimal: str
    header: list[str]
    lines_above: int
    n_rows: int | None
    notes: list[str] = field(default_factory=list)


def dialect_of(
    file: io.BufferedReader,
    path: Path,
    usual: str,
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    comment: str | None = None,
    header_row: int | None = None,
    skip: int = 0,
) -> Dialect:
    """Judge a file by its first lines; what the user says wins. `usual` separates by habit."""
    check_choice("decimal", decimal, (None, ".", ","))
    if comment is not None and len(comment) != 1:
        raise Problem(f"{setting('comment', comment)} must be one character, such as '#'.")
    asked, encoding = encoding, _encoding(file, path, encoding)
    skip = rows_to_skip(header_row, skip)
    numbers, lines, n_more = _first_lines(file, path, encoding, comment, skip)
    separator = SEPARATORS.get(sep.lower(), sep) if sep else _separator(lines, usual)
    if separator != r"\s+" and len(separator) != 1:
        needed = "must be one character, or tab, space, comma, semicolon."
        raise Problem(f"{setting('sep', sep)} {needed}")
    all_rows, starts = _fields(lines, separator)
    layout = layout_of(all_rows, said=header_row is not None)
    header, rows = layout.header, all_rows[layout.last + 1 :]
    _refuse_unsplit(path, header, sep, comment)
    mark = decimal or _decimal(rows)
    notes = list(layout.notes)
    if sep is None and separator != usual:
        notes.append(f"columns are separated by {SAID[separator]}")
    if decimal is None and mark == ",":
        notes.append("numbers have decimal commas")
    if asked is None and encoding not in ("utf-8", "utf-8-sig"):
        notes.append(f"text is read as {encoding}")
    extra = rows and all(len(row) == len(header) + 1 for row in rows)
    if extra and not any(row[-1].strip() for row in rows):
        header = [*header, ""]  # every row ends in a separator
    elif extra:
        header = ["", *header]
    above = numbers[starts[layout.last]]
    n_rows = None if n_more is None else len(rows) + n_more
    return Dialect(encoding, separator, mark, header, above, n_rows, notes)


def rows_to_skip(header_row: int | None, skip: int) -> int:
    """Rows above the one that the user said is the header, or that are to be skipped.

    >>> rows_to_skip(3, 0), rows_to_skip(None, 2)
    (2, 2)
    """
    check_count("skip", skip, least=0)
    if header_row is None:
        return skip
    check_count("header_row", header_row, least=1)
    if skip:
        both = (
            f"{setting('header_row', header_row)} and {setting('skip', skip)} say the same twice."
        )
        raise Problem(both, cure="Leave one of them out.")
    return header_row - 1


def _encoding(file: io.BufferedReader, path: Path, asked: str | None) -> str:
    """The encoding requested, or that of the file's first bytes, or UTF-8."""
    if asked is not None:
        try:
            name = codecs.lookup(asked).name
        except LookupError:
            usual = "Usual are utf-8, latin-1, cp1252 and utf-16."
            raise Problem(f"{setting('encoding', asked)} is not known.", usual) from None
        return "utf-8-sig" if name == "utf-8" else name
    start = file.read(4096)
    for mark, name in BYTE_ORDER_MARKS:
        if start.startswith(mark):
            return name
    if kind := content_of(start):
        raise Problem(f"{path} is no table of text: by its content it is {kind}.")
    if b"\x00" in start:
        half = f"If it is UTF-16, use {setting('encoding', 'utf-16-le')}."
        cure = "" if any(start[1:64:2]) else half
        raise Problem(f"{path} holds binary data, not text: its extension is wrong.", cure=cure)
    return "utf-8"


def _first_lines(
    file: io.BufferedReader, path: Path, encoding: str, comment: str | None, skip: int
) -> tuple[list[int], list[str], int | None]:
    """The first lines that are neither blank nor comments, and their numbers.

    Also how many more there are, if few, or None.
    """
    lines: list[str] = []
    numbers: list[int] = []
    n_more, is_all = 0, True
    file.seek(0)
    text = io.TextIOWrapper(file, encoding=encoding, newline="")
    for number, line in enumerate(text):
        if number < skip or not line.strip() or (comment and line.startswith(comment)):
            continue
        if len(lines) > 2 and sum(map(len, lines)) > LETTERS:  # enough to judge the file by
            n_more += 1
        else:
            lines.append(line.rstrip("\r\n"))
            numbers.append(number)
        if len(lines) == LINES or n_more == MIN_ROWS:
            is_all = False
            break
    text.detach()
    if not lines:
        below = f" below {skip} rows" if skip else ""
        raise Problem(f"{path} is empty{below}.", "A header and rows are needed.")
    return numbers, lines, n_more if is_all else None


def _fields(lines: list[str], separator: str) -> tuple[list[list[str]], list[int]]:
    """The cells of every line, or of as many as quotation marks join, and where these begin."""
    if separator == r"\s+":
        lines, separator = [re.sub(r"\s+", " ", line).strip() for line in lines], " "
    reader, rows, starts = csv.reader(lines, delimiter=separator), [], [0]
    for row in reader:
        rows.append(row)
        starts.append(reader.line_num)
    return rows, starts


def _separator(lines: list[str], usual: str) -> str:
    """What splits most rows into as many cells as the header has, with the fewest titles above it.

    Blanks if nothing else does.
    """

    def fit(separator: str) -> tuple[float, int, int]:
        try:
            rows, _ = _fields(lines, separator)
        except csv.Error:  # a line that is not split is too long for a cell
            return -1.0, 0, 0
        above = n_titles(rows)
        header, *sizes = map(len, rows[above:])
        if header < 2:
            return -1.0, 0, 0
        shares = [sum(n == header + more for n in sizes) / max(len(sizes), 1) for more in (0, 1)]
        return max(shares) if sizes else 1.0, -above, header

    best = max([usual, *(s for s in ",;\t|" if s != usual)], key=fit)
    if fit(best)[0] < 0 and fit(r"\s+")[0] == 1:
        return r"\s+"
    return best


def _refuse_unsplit(path: Path, header: list[str], sep: str | None, comment: str | None) -> None:
    """Refuse a first line that nothing splits although it holds more than one word."""
    if len(header) > 1 or (len(header[0].split()) == 1 and sep is None):
        return
    line = f"the first line of {path} is {header[0][:60]!r}"
    if sep is not None:
        raise Problem(f"{setting('sep', sep)} separates nothing: {line}.")
    if not header[0][0].isalnum() and comment is None:
        comment = setting("comment", header[0][0])
        raise Problem(f"{line}.", cure=f"If it is a comment, use {comment}.")
    raise Problem(
        f"{line}, which is one column.",
        "Columns that are lined up by blanks need the same number of values in every row.",
        "If it is more than one name, say what separates them: "
        f"{setting('sep', 'tab')}, {setting('sep', 'space')}, or any character. If the names are "
        f"in another line, say so: {setting('header_row', ...)}.",
    )


def _decimal(rows: list[list[str]]) -> str:
    """A comma if some numbers have one, not all of them may be thousands, and none has a point."""
    cells = [cell.strip() for row in rows for cell in row]
    commas = [cell for cell in cells if "," in cell and WITH_COMMA.fullmatch(cell)]
    if all(THOUSANDS.fullmatch(cell) for cell in commas):
        return "."
    return "." if any(WITH_POINT.fullmatch(cell) for cell in cells) else ","
