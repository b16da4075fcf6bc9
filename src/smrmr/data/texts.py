"""Says what columns of text hold: numbers in disguise, dates, ids, or labels that can be used."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..problems import Problem, setting
from ..types import pd
from .ids import is_called_ids
from .messages import WITH_COMMA, WITHOUT_COMMA, named, number_with_comma, quoted
from .number_texts import GAPS, LIMIT, text_columns

YES_NO = {"yes": 1, "no": 0, "y": 1, "n": 0, "true": 1, "false": 0, "t": 1, "f": 0}
MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
DATE = re.compile(
    r"(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2(?:\d{4}|\d{2})"
    rf"|\d{{1,2}}[ -]{MONTH}\.?(?:[ ,-]+\d{{2,4}})?|{MONTH}\.? \d{{1,2}},? \d{{4}})"
    r"(?:[T ]\d{1,2}:\d{2}.*)?|\d{1,2}:\d{2}(?::\d{2})?",
    re.IGNORECASE,
)
GENE_AS_DATE = re.compile(r"\d{1,2}-(?:Mar|Sep|Dec|Oct|Feb|Apr|Nov)")
NUMBER = r"[+-]?[\d.,]*\d"
AMOUNT = re.compile(rf"[$€£¥]\s?{NUMBER}|{NUMBER}\s?(?:[%€£$¥]|EUR|USD|GBP)")
MIN_ROWS_PER_LEVEL = 5  # on average, of a category of more than two levels
ID = setting("id")  # which names the column that has ids
USE_ID = f"Use {ID}"
GROUPS = setting("groups")  # likewise
COMMAS = "text"  # that is numbers with commas
FREE_TEXT = 0.5  # share of values that are different, from which on a text is no label


@dataclass(frozen=True)
class Fault:
    """What makes a column of text no feature: what it holds, what to do, and an example."""

    holds: str
    cure: str
    example: str = ""

    @property
    def found(self) -> str:
        """What it holds, with the example."""
        return self.holds + (f" such as {self.example}" if self.example else "")


def is_nested(known: pd.Series[Any]) -> bool:
    """Whether values of a column are lists, tables and the like, as Parquet files may hold."""
    return len(known) > 0 and isinstance(known.iloc[0], list | dict | np.ndarray)


def names_like_dates(names: Iterable[Any]) -> list[str]:
    """Say that names look as if a spreadsheet had turned genes such as MARCH1 into dates."""
    found = [name for name in names if GENE_AS_DATE.fullmatch(str(name))]
    said = "names that look like genes a spreadsheet turned into dates"
    return [f"{said} (SEPT2 becomes 2-Sep): {quoted(found)}"] if found else []


def problems_of_target(known: pd.Series[Any]) -> list[Problem]:
    """What is wrong with a target of text that is neither labels nor numbers with commas.

    Those are refused where the target is read, for they may be meant as labels.
    """
    text = getattr(known.dtype, "kind", "O") not in "biuf"
    fault = disguise_of(known) if text else None
    if fault is None or fault.holds == COMMAS:
        return []
    return [Problem(f"the target {known.name!r} holds {fault.found}.", cure=f"{fault.cure}.")]


def problems_of_texts(features: pd.DataFrame) -> list[Problem]:
    """What is wrong with columns that hold neither numbers nor labels, one problem per kind."""
    faults: dict[tuple[str, str], list[tuple[str, Fault]]] = {}
    for k in text_columns(features):
        if fault := fault_of(features.iloc[:, k]):
            alike = faults.setdefault((fault.holds, fault.cure), [])
            alike.append((str(features.columns[k]), fault))
    return [_problem(found) for found in faults.values()]


def _problem(columns: list[tuple[str, Fault]]) -> Problem:
    names, fault = [name for name, _ in columns], columns[0][1]
    what = f"column {names[0]!r} holds" if len(names) == 1 else f"columns {quoted(names)} hold"
    cure = fault.cure.replace(ID, setting("id", names[0]))
    cure = cure.replace(GROUPS, setting("groups", names[0]))
    if fault.cure == USE_ID and len(names) > 1:
        cure = f"Say which one names the rows, such as {setting('id', names[0])}"
    more = " and so on" if len(names) > 3 else ""
    drop = f"{cure}, or leave them out: {setting('drop', names[:3])}{more}."
    return Problem(f"{what} {fault.found}.", cure=drop)


def fault_of(column: pd.Series[Any]) -> Fault | None:
    """What makes a column of text no feature; None for labels, which are one."""
    known = column.dropna()
    fault = disguise_of(known)
    levels = 0 if fault else known.nunique()
    if fault is not None or levels <= 2 or getattr(column.dtype, "ordered", False):
        return fault
    if levels == len(known):
        return Fault("a different text in every row, as ids do", USE_ID)
    example = f"{str(known.iloc[0])!r} ({levels} different labels in {len(known)} rows)"
    if len(known) < MIN_ROWS_PER_LEVEL * levels and is_called_ids(str(column.name)):
        cure = f"If rows of one id belong together, use {GROUPS}"
        return Fault("ids that are repeated", cure, example)
    if levels > FREE_TEXT * len(known):
        return Fault("free text", "Code what matters of it as labels or numbers", example)
    if len(known) < MIN_ROWS_PER_LEVEL * levels:
        cure = f"Merge labels until there are {MIN_ROWS_PER_LEVEL} rows for each on average"
        return Fault("too many labels", cure, example)
    return None


def disguise_of(known: pd.Series[Any]) -> Fault | None:
    """Dates and numbers that are written so that they cannot be read.

    `known` has no gaps, and rows are numbered from 0 by its index.
    """
    if is_nested(known):
        return Fault("lists or tables", "Give each of their values a column of its own")
    texts = [str(value).strip() for value in known.unique()]
    if not texts:
        return None
    dated = getattr(known.dtype, "kind", "O") in "mM"
    if dated or all(hasattr(v, "strftime") for v in known.iloc[:3]) or _all(DATE, texts):
        cure = "Turn them into numbers, such as days from a start"
        return Fault("dates or times", cure, repr(texts[0]))
    if _all(AMOUNT, texts):
        cure = "Write numbers alone, such as 12.5 for 12.5%"
        return Fault("amounts of money or per cent", cure, repr(texts[0]))
    if with_comma := number_with_comma(text for text in texts if text not in GAPS):
        cure = (
            f"They look like numbers with a decimal comma (then use {setting('decimal', ',')}) or "
            "with separators of thousands (then write 1234 for 1,234)"
        )
        return Fault(COMMAS, cure, repr(with_comma))
    limits = [text for text in texts if LIMIT.fullmatch(text)]
    if limits and all(_is_number(text) or text in GAPS for text in texts if text not in limits):
        half, limit = setting("limits", "half"), setting("limits", "limit")
        cure = f"Use {half} to replace them by half the limit where it is below, or {limit}"
        return Fault("values beyond a limit", cure, repr(limits[0]))
    strange = np.flatnonzero([not _is_number(str(value).strip()) for value in known])
    if 0 < len(strange) < len(known) / 2:
        many = f" and {len(strange) - 1} more" if len(strange) > 1 else ""
        example = f"{str(known.iloc[strange[0]])!r} in row {known.index[strange[0]] + 1}{many}"
        cure = "Correct such values, or leave them empty where they are missing"
        return Fault("numbers and text", cure, example)
    return None


def _is_number(text: str) -> bool:
    return bool(WITHOUT_COMMA.fullmatch(text) or WITH_COMMA.fullmatch(text))


def _all(pattern: re.Pattern[str], texts: Iterable[str]) -> bool:
    return all(pattern.fullmatch(text) for text in texts)


def labels_to_categories(features: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Turn labels into categories, and yes and no into 1 and 0, and say what was done."""
    out, answers, many = features.copy(deep=False), [], []
    for k in text_columns(features):
        column, name = features.iloc[:, k], features.columns[k]
        levels = {str(value).strip().lower() for value in column.unique()}
        if len(levels) == 2 and levels <= YES_NO.keys() and {YES_NO[v] for v in levels} == {0, 1}:
            numbers = [YES_NO[str(value).strip().lower()] for value in column]
            out.isetitem(k, np.array(numbers, dtype=np.int8))
            answers.append(name)
        elif str(column.dtype) != "category":
            out.isetitem(k, column.astype("category"))
        if len(levels) > 2:
            ordered = ", in order" if getattr(column.dtype, "ordered", False) else ""
            many.append(f"{name!r} ({len(levels)} labels{ordered})")
    notes = [f"yes and no in {quoted(answers)} read as 1 and 0"] if answers else []
    return out, notes + ([f"each of {named(many)} is one feature"] if many else [])
