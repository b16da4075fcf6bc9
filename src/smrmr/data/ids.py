"""Ids of samples: which columns are called so, and how they are written."""

import re
from typing import Any

import numpy as np

NAMES_ROWS = frozenset(  # words in names of columns of ids
    ("id", "ids", "sample", "patient", "subject", "participant", "individual", "barcode", "case")
)
MAY_FOLLOW = frozenset(("name", "number", "no", "nr", "code", "label"))  # patient number
OF_TABLES = frozenset(("index", "row", "rownames", "unnamed", "nr"))  # that count rows
SOME_WORD = re.compile("|".join(NAMES_ROWS | OF_TABLES), re.IGNORECASE)  # what is looked at closer


def is_called_ids(name: str) -> bool:
    """Whether a column is called like ids of samples.

    >>> [is_called_ids(name) for name in ("Patient ID", "sampleId", "subject_no", "ID2", "width")]
    [True, True, True, False, False]
    """
    if not SOME_WORD.search(name):  # nearly all names, of a million
        return False
    parts = re.sub(r"([a-z])(?=[A-Z])", r"\1 ", name).lower()
    words = re.findall(r"[^\W_\d]+\d*", parts)
    if not words or len(words) > 3:
        return False
    if set(words) <= OF_TABLES or words[-1] in ("id", "ids"):
        return True
    return words[0] in NAMES_ROWS and set(words[1:]) <= MAY_FOLLOW | NAMES_ROWS


def as_ids(values: Any) -> list[str]:
    """Values of a column or an index as texts; whole numbers without a decimal point.

    >>> as_ids(np.array([7.0, 12.0])), as_ids(np.array(["7.0", "a"]))
    (['7', '12'], ['7.0', 'a'])
    """
    array = np.asarray(values)
    if array.dtype.kind == "f" and np.isfinite(array).all() and (array == np.rint(array)).all():
        array = array.astype(np.int64)
    return [str(value) for value in array]
