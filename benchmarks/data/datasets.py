"""The table of public data sets, `SOURCES`, and how each is read.

A new data set is one entry there, made from its files, its size and a function that reads it.
"""

from __future__ import annotations

import gzip
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile

import numpy as np
import pandas as pd
from scipy.io import loadmat

from smrmr.data.files.genotypes import BedColumns
from smrmr.types import Indices, Matrix, Progress, Vector

from .download import File, fetch
from .hiv import for_drug, listed_positions, mutations


@dataclass(frozen=True, eq=False)
class Dataset:
    """Features and target, and what is known of the true features.

    Attributes
    ----------
    X, y, names
        Features as float64, the target (numbers of classes if it has classes), feature names.
    target
        ``"classes"`` or ``"continuous"``.
    units
        What a feature counts as when findings are counted: itself, or the position it is at.
    truth
        The units that are true findings; empty if nobody knows.
    """

    X: Matrix
    y: Vector | Indices
    names: tuple[str, ...]
    target: str
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
    read: Callable[..., Dataset]


def load(name: str, progress: Progress | None = None) -> Dataset:
    """Load a data set by name, downloading its files where they are not at hand."""
    if name not in SOURCES:
        raise ValueError(f"there is no data set {name!r}. Use one of {', '.join(SOURCES)}.")
    source = SOURCES[name]
    paths = [fetch(forms, progress) for forms in source.files]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of readers about old files, which are known to be old
            data = source.read(*paths)
    except Exception as error:  # readers raise many kinds for one reason
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


def read_arrays(path: Path, truth: frozenset[int] = frozenset()) -> Dataset:
    """Read a MATLAB file with X and classes Y."""
    found = loadmat(path)
    return _with_classes(pd.DataFrame(found["X"]).add_prefix("x"), found["Y"].ravel(), truth)


def read_toxicity(path: Path) -> Dataset:
    """Read a CSV file with the column Class, or the largest CSV file of a zip archive."""
    if path.suffix == ".zip":
        with ZipFile(path) as archive:
            tables = [one for one in archive.infolist() if one.filename.endswith(".csv")]
            with archive.open(max(tables, key=lambda one: one.file_size)) as file:
                table = pd.read_csv(file)
    else:
        table = pd.read_csv(path)
    return _with_classes(table.drop(columns="Class"), table["Class"])


def _with_classes(
    features: pd.DataFrame, labels: Any, truth: frozenset[int] = frozenset()
) -> Dataset:
    X = features.to_numpy(np.float64)  # images come as bytes, whose differences would wrap around
    y = np.unique(labels, return_inverse=True)[1]
    return Dataset(X, y, tuple(features.columns), "classes", np.arange(X.shape[1]), truth)


def read_hiv(data: Path, listed: Path, drug: str) -> Dataset:
    """Read the mutations of the virus and the list of those that are known to matter."""
    X, y, names, positions = for_drug(mutations(data), drug)
    return Dataset(X, y, tuple(names), "continuous", positions, listed_positions(listed))


def read_riboflavin(path: Path) -> Dataset:
    """Read an R workspace with one list: the log production rate y, and genes as columns of x.

    R writes a vector of numbers as its length and then its values, highest byte first.
    """
    content = gzip.decompress(path.read_bytes())

    def vector(length: int) -> Vector:
        start = content.index(length.to_bytes(4, "big")) + 4
        return np.frombuffer(content, ">f8", length, start).astype(np.float64)

    n, p = 71, 4088
    X = vector(n * p).reshape(p, n).T
    return Dataset(X, vector(n), tuple(f"x{k}" for k in range(p)), "continuous", np.arange(p))


def read_cells(path: Path) -> Dataset:
    """Read an AnnData file: log counts of cells by genes, and the label of each cell."""
    import anndata

    cells = anndata.read_h5ad(path)
    genes = pd.DataFrame(cells.raw[:, cells.var_names].X.toarray(), columns=cells.var_names)
    return _with_classes(genes, cells.obs["bulk_labels"].astype(str))


def read_microarray(path: Path) -> Dataset:
    """Read an R workspace with one list: genes as columns of x, and classes y."""
    import rdata

    (found,) = rdata.read_rda(path).values()
    x = pd.DataFrame(np.asarray(found["x"], dtype=np.float64)).add_prefix("x")
    return _with_classes(x, np.asarray(found["y"]))


def read_mouse(bed: Path, bim: Path, fam: Path) -> Dataset:
    """Read gzipped PLINK files; y is the phenotype of the .fam, missing genotypes the median."""
    with TemporaryDirectory() as folder:
        for path in (bed, bim, fam):
            (Path(folder) / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
        source = BedColumns.open(Path(folder) / bed.stem)
        counts, names = source.read(slice(None)), source.names
    X = np.where(counts == source.gap, np.nan, counts)
    X = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    y = pd.read_csv(fam, sep=r"\s+", header=None)[5].to_numpy(np.float64)
    return Dataset(X, y, names, "continuous", np.arange(X.shape[1]))


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
    "riboflavin.RData": "ff5c2257a46367992cfb329041ffb5fef77663761811fef8c55043c274d8d2c5",
    "10x_pbmc68k_reduced.h5ad": "e71d41e737c941559b7c57c9243bdb3d2c889c2adfdf00e3422ac6b46783676f",
    "alon.RData": "76ea2ffa6226e29237bbe3f41a68ec42ca9ec3bbdbf3f19613cd254fd5fcc1c7",
    "gravier.RData": "6e84756200a8cc3032d18c7d60a60cf79b4236d5e19ac51413d15faf434d68ee",
    "khan.RData": "06ecda9812126eb72e1a254b07b90aa8eea4cef9639d8511082c1e15bfdee802",
    "mouse_hs1940.bed.gz": "97b4eccf1a660271c920432341736a6a31e58452dfaa9ae6a996afc083a95ada",
    "mouse_hs1940.bim.gz": "0b3a400e5e9f007ca6ad860bf8bd2614c757609bff89f3ec7d723bded9a080a1",
    "mouse_hs1940.fam.gz": "60fd73e2c7aaf56969c3da7c534add01ba2ea0b8398666f9ec68ac7f075c1ed5",
}
SKFEATURE = "https://jundongl.github.io/scikit-feature/files/datasets"
UCI = "https://archive.ics.uci.edu/static/public/728"
HIVDB = "https://hivdb.stanford.edu/pages/published_analysis/genophenoPNAS2006"
USEFUL_IN_MADELON = "28 48 64 105 128 153 241 281 318 336 338 378 433 442 451 453 455 472 475 493"


def _file(name: str, url: str = "") -> File:
    return File(name, url, CHECKSUMS.get(name))


def _mat(name: str, n: int, p: int, *others: File, truth: frozenset[int] = frozenset()) -> Source:
    file = _file(f"{name}.mat", f"{SKFEATURE}/{name}.mat")
    return Source(name, ((file, *others),), n, p, partial(read_arrays, truth=truth))


def _hiv(drug: str, n: int, p: int) -> Source:
    data = _file("PI_DATA.txt", f"{HIVDB}/DATA/PI_DATA.txt")
    listed = _file("PI_TSM.txt", f"{HIVDB}/MUTATIONLISTS/NP_TSM/PI")
    return Source(f"HIV {drug}", ((data,), (listed,)), n, p, partial(read_hiv, drug=drug))


TOXICITY = _file("toxicity.csv"), _file("toxicity-2.zip", f"{UCI}/toxicity-2.zip")
PAPER_SETS = (
    _mat("CLL_SUB_111", 111, 11340),
    _mat("GLIOMA", 50, 4434),
    _mat("SMK_CAN_187", 187, 19993),
    _mat("TOX_171", 171, 5748, _file("TOX-171.mat")),
    _mat("orlraws10P", 100, 10304),
    _mat("pixraw10P", 100, 10000),
    _mat("warpAR10P", 130, 2400),
    Source("Toxicity", (TOXICITY,), 171, 1203, read_toxicity),
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
OTHERS = (  # without an address: they come with packages for R, with scanpy and with GEMMA
    Source("cells", ((_file("10x_pbmc68k_reduced.h5ad"),),), 700, 765, read_cells),
    Source("alon", ((_file("alon.RData"),),), 62, 2000, read_microarray),
    Source("gravier", ((_file("gravier.RData"),),), 168, 2905, read_microarray),
    Source("khan", ((_file("khan.RData"),),), 63, 2308, read_microarray),
    Source("riboflavin", ((_file("riboflavin.RData"),),), 71, 4088, read_riboflavin),
    Source(
        "mouse genotypes",
        tuple((_file(f"mouse_hs1940.{ending}.gz"),) for ending in ("bed", "bim", "fam")),
        1940,
        12226,
        read_mouse,
    ),
)
SOURCES = {source.name: source for source in (*PAPER_SETS, *HIV_SETS, MADELON, *OTHERS)}
