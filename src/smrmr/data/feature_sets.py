"""Reads sets of features, such as pathways: overlapping, named, in a GMT or a CSV file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..problems import Problem
from ..types import pd


def read_feature_sets(path: Path, names: Sequence[str]) -> tuple[dict[str, list[str]], int]:
    r"""Features of every set that are known by name, and how many names are not.

    A GMT file has a line per set: its name, a description, and features, parted by tabs. A CSV file
    has a row per feature of a set: the set, then the feature.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "sets.gmt"
    >>> _ = path.write_text("repair\tof DNA\tBRCA1\tATM\nother\t\tXYZ\n")
    >>> read_feature_sets(path, ["BRCA1", "ATM", "TP53"])
    ({'repair': ['BRCA1', 'ATM']}, 1)
    """
    try:
        given = _read_gmt(path) if path.suffix.lower() == ".gmt" else _read_csv(path)
    except FileNotFoundError:
        raise Problem(f"there is no file {path}.") from None
    except (UnicodeDecodeError, ValueError) as error:
        raise Problem(
            f"{path} is no table of sets ({error}).",
            "A GMT file has a set per line, a CSV file a column of sets and one of features.",
        ) from None
    known = set(names)
    sets = {name: [one for one in members if one in known] for name, members in given.items()}
    found = {name: members for name, members in sets.items() if members}
    if not found:
        first = next((one for members in given.values() for one in members), "none")
        raise Problem(
            f"no name in {path} (such as {first!r}) is a feature.",
            f"Features are called {names[0]!r} and the like.",
        )
    everyone = {one for members in given.values() for one in members}
    return found, len(everyone - known)


def _read_gmt(path: Path) -> dict[str, list[str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [line.rstrip("\r\n").split("\t") for line in lines if line.strip()]
    return {row[0]: [one for one in row[2:] if one] for row in rows}


def _read_csv(path: Path) -> dict[str, list[str]]:
    head = path.read_text(encoding="utf-8").partition("\n")[0]
    separator = next((one for one in "\t;" if one in head), ",")
    frame = pd.read_csv(path, dtype=str, keep_default_na=False, sep=separator)
    if frame.shape[1] < 2:
        raise ValueError("it has one column")
    sets: dict[str, list[str]] = {}
    for name, feature in zip(frame.iloc[:, 0], frame.iloc[:, 1], strict=True):
        sets.setdefault(name, []).append(feature)
    return sets
