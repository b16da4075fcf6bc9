"""Prepares the HIV protease inhibitor data: mutations of the virus against resistance to a drug."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from smrmr.types import Indices, Matrix, Vector

DRUGS = ("APV", "ATV", "IDV", "LPV", "NFV", "RTV", "SQV")
CELL = r"\.|-|[A-Zid]+"  # missing, wild type, or the amino acids seen (i insertion, d deletion)
MIN_SEEN = 3


def mutations(path: Path) -> pd.DataFrame:
    """Fold changes of every drug, then one column of 0 and 1 for each (position, letter) seen.

    Samples with a cell that is none of wild type, missing or letters are dropped. Mutations are
    named by position and letter, such as ``82A``.
    """
    table = pd.read_csv(path, sep="\t", dtype=str, keep_default_na=False)
    positions = [name for name in table if name[:1] == "P" and name[1:].isdigit()]
    proper = table[positions].apply(lambda cells: cells.str.fullmatch(CELL)).all(axis=1)
    table = table[proper].reset_index(drop=True)
    columns = {drug: pd.to_numeric(table[drug], errors="coerce") for drug in DRUGS}
    for name in positions:
        cells = table[name]
        for letter in sorted(set("".join(cells)) - set(".-")):
            columns[name[1:] + letter] = cells.str.contains(letter, regex=False).astype(float)
    return pd.DataFrame(columns)


def for_drug(table: pd.DataFrame, drug: str) -> tuple[Matrix, Vector, list[str], Indices]:
    """X, y, names of the mutations and their positions, for one drug.

    y is the logarithm of the fold change; samples without one are dropped, then mutations seen
    fewer than three times, then all but the first of mutations seen in the same samples.
    """
    known = table[table[drug].notna()]
    seen = known.drop(columns=list(DRUGS))
    seen = seen.loc[:, seen.sum() >= MIN_SEEN]
    seen = seen.loc[:, ~seen.T.duplicated()]
    names = [str(name) for name in seen]
    positions = np.array([int(name[:-1]) for name in names], dtype=np.intp)
    return seen.to_numpy(np.float64), np.log(known[drug].to_numpy(np.float64)), names, positions


def listed_positions(path: Path) -> frozenset[int]:
    """Positions of a list of mutations: a position in each line, then letters."""
    lines = path.read_text(encoding="ascii").splitlines()
    return frozenset(int(line.split()[0]) for line in lines if line.strip())
