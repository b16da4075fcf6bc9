"""Lists the public data sets of the benchmark, and loads them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np
import pandas as pd

from smrmr.data.formats.matlab import read_mat
from smrmr.types import Indices, Matrix, Progress, Vector

from .fetch import File, fetch
from .hiv import for_drug, listed_positions, mutations

SKFEATURE = "https://jundongl.github.io/scikit-feature/files/datasets"
UCI = "https://archive.ics.uci.edu/static/public/728"
HIVDB = "https://hivdb.stanford.edu/pages/published_analysis/genophenoPNAS2006"
USEFUL_IN_MADELON = "28 48 64 105 128 153 241 281 318 336 338 378 433 442 451 453 455 472 475 493"


@dataclass(frozen=True, eq=False)
class BenchmarkSet:
    """A data set, and what is known of its true features.

    Attributes
    ----------
    X, y, names
        Features as float64, the target (class numbers for ``kind="classes"``), feature names.
    kind
        ``"classes"`` or ``"continuous"``.
    units
        What a feature counts as when findings are counted: itself, or the position it is at.
    truth
        The units that are true findings; empty if nobody knows.
    """

    X: Matrix
    y: Vector | Indices
    names: tuple[str, ...]
    kind: str
    units: Indices
    truth: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Source:
    """Where a data set comes from, its size, and how it is read.

    `files` lists, for each file needed, the forms that it comes in; the first one that has an
    address is downloaded. `read` takes their paths.
    """

    name: str
    files: tuple[tuple[File, ...], ...]
    n: int
    p: int
    read: Callable[..., BenchmarkSet]


def load(name: str, progress: Progress | None = None) -> BenchmarkSet:
    """Load a data set by name, downloading its files where they are not at hand."""
    if name not in SOURCES:
        raise ValueError(f"there is no data set {name!r}. Use one of {', '.join(SOURCES)}.")
    source = SOURCES[name]
    paths = [fetch(forms, progress) for forms in source.files]
    try:
        data = source.read(*paths)
    except (OSError, ValueError, LookupError, BadZipFile) as error:
        raise ValueError(
            f"{' or '.join(map(str, paths))} is not the file that {name} is read from "
            f"({type(error).__name__}: {error}). Delete it to download it again, and the .sha256 "
            "beside it if there is one."
        ) from None
    if data.X.shape != (source.n, source.p):
        raise ValueError(
            f"{name} has {data.X.shape[0]} rows and {data.X.shape[1]} features; {source.n} and "
            f"{source.p} are expected. Its file is of another version: delete it, or replace it."
        )
    return data


def read_arrays(path: Path, truth: frozenset[int] = frozenset()) -> BenchmarkSet:
    """Read a MATLAB file with X and classes Y."""
    table = read_mat(path)
    return _classes(table.features, table.about[table.target], truth)


def _read_toxicity(path: Path) -> BenchmarkSet:
    if path.suffix == ".zip":
        with ZipFile(path) as archive:
            tables = [one for one in archive.infolist() if one.filename.endswith(".csv")]
            with archive.open(max(tables, key=lambda one: one.file_size)) as file:
                table = pd.read_csv(file)
    else:
        table = pd.read_csv(path)
    return _classes(table.drop(columns="Class"), table["Class"])


def _classes(
    features: pd.DataFrame, labels: Any, truth: frozenset[int] = frozenset()
) -> BenchmarkSet:
    X = features.to_numpy(np.float64)  # images come as bytes, whose differences would wrap around
    y = np.unique(labels, return_inverse=True)[1]
    names = tuple(map(str, features.columns))
    return BenchmarkSet(X, y, names, "classes", np.arange(X.shape[1]), truth)


def _read_hiv(data: Path, listed: Path, drug: str) -> BenchmarkSet:
    X, y, names, positions = for_drug(mutations(data), drug)
    return BenchmarkSet(X, y, tuple(names), "continuous", positions, listed_positions(listed))


# of files of which we had the original; others are held to their first download
CHECKSUMS = {
    "GLIOMA.mat": "c31cd32edd770c7a102729839e670e588bc959a591e0eae5a0676c9ca11d4c4f",
    "TOX-171.mat": "f52f57e61775b7830c84750456d7fadfd220d1cc8eed26419c3390eb9216cc84",
    "orlraws10P.mat": "6ffa58759c5636f4ce311d23e44ef8de9f39bbb844902154c0cc5daac71226d6",
    "pixraw10P.mat": "aa4b474244ae847dc2efdc868c0ff58fc3748a830c2ffdf760a1697cf72088f8",
    "warpAR10P.mat": "92b5f7e72b5715ada8f2df16e6d8e5effd8e0034a53a656ed9ef76e3f727d413",
    "toxicity.csv": "445fb1c5dcd3705700fcb08f683ab0169ca8288d3cd81a63300c56dff6783239",
    "PI_DATA.txt": "b89d2ad33300c0e936cb44292e1aee90644a047cb82a6a29fdca14e9d97af8ef",
    "PI_TSM.txt": "6b4e55a133b01a8d98c170edd6980e1d508093c610a0aea18d7e83c832badccc",
    "madelon.mat": "7dc9c9ff8d902651948e2df7f9cb6ed38c5d91e4c4159914cecb1ddbc7def12c",
}


def _file(name: str, url: str = "") -> File:
    return File(name, url, CHECKSUMS.get(name))


def _mat(name: str, n: int, p: int, *others: File, truth: frozenset[int] = frozenset()) -> Source:
    file = _file(f"{name}.mat", f"{SKFEATURE}/{name}.mat")
    return Source(name, ((file, *others),), n, p, partial(read_arrays, truth=truth))


def _toxicity() -> Source:
    forms = _file("toxicity.csv"), _file("toxicity-2.zip", f"{UCI}/toxicity-2.zip")
    return Source("Toxicity", (forms,), 171, 1203, _read_toxicity)


def _hiv(drug: str, n: int, p: int) -> Source:
    data = _file("PI_DATA.txt", f"{HIVDB}/DATA/PI_DATA.txt")
    listed = _file("PI_TSM.txt", f"{HIVDB}/MUTATIONLISTS/NP_TSM/PI")
    return Source(f"HIV {drug}", ((data,), (listed,)), n, p, partial(_read_hiv, drug=drug))


PAPER_SETS = (
    _mat("CLL_SUB_111", 111, 11340),
    _mat("GLIOMA", 50, 4434),
    _mat("SMK_CAN_187", 187, 19993),
    _mat("TOX_171", 171, 5748, _file("TOX-171.mat")),
    _mat("orlraws10P", 100, 10304),
    _mat("pixraw10P", 100, 10000),
    _mat("warpAR10P", 130, 2400),
    _toxicity(),
)
HIV_SETS = (
    _hiv("APV", 767, 201),
    _hiv("ATV", 328, 147),
    _hiv("IDV", 825, 207),
    _hiv("LPV", 515, 184),
    _hiv("NFV", 842, 208),
    _hiv("RTV", 793, 206),
    _hiv("SQV", 824, 207),
)
MADELON = _mat("madelon", 2600, 500, truth=frozenset(map(int, USEFUL_IN_MADELON.split())))
SOURCES = {source.name: source for source in (*PAPER_SETS, *HIV_SETS, MADELON)}
