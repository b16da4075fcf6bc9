"""Turns a file into features and a target that the selectors can use."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...types import Indices
from ..sources import ColumnSource
from .annotated import read_h5ad
from .arrays import read_mat, read_npy, read_npz, read_zarr
from .delimited import read_delimited, read_parquet
from .genotypes import read_bed
from .large import ROW, chosen_part, open_large
from .missing import settle_missing
from .table import Table, did_you_mean

if TYPE_CHECKING:
    import pandas as pd

READERS: dict[str, Callable[..., Table]] = {
    "csv": read_delimited,
    "tsv": read_delimited,
    "parquet": read_parquet,
    "npy": read_npy,
    "npz": read_npz,
    "mat": read_mat,
    "h5ad": read_h5ad,
    "bed": read_bed,
    "zarr": read_zarr,
}
ALIASES = {"txt": "tsv", "tab": "tsv", "pq": "parquet", "bim": "bed", "fam": "bed"}


@dataclass(frozen=True)
class Dataset:
    """Features and target of the same samples, and where they came from.

    Attributes
    ----------
    X
        DataFrame of numbers and two-level categories, whose index holds sample ids; of a large
        .bed, .h5ad, .npy or .zarr a source, which is read in blocks.
    y
        The target, one value a row.
    target
        Its name.
    notes
        What was decided on the way, one sentence each.
    source
        File names and their SHA-256 checksums.
    """

    X: pd.DataFrame | ColumnSource
    y: pd.Series[Any]
    target: str
    notes: list[str]
    source: dict[str, str]


def read_data(
    path: str | Path,
    target: str | None = None,
    *,
    format: str | None = None,
    layer: str | None = None,
    transpose: bool = False,
    pheno: str | Path | None = None,
    id: str | None = None,
    drop: Sequence[str] = (),
    missing: str = "refuse",
) -> Dataset:
    r"""Read features and a target from CSV, TSV, Parquet, NPY, NPZ, MAT, AnnData, PLINK or zarr.

    Parameters
    ----------
    path
        The file; its extension says the format unless `format` does. ``.gz`` for CSV and TSV.
    target
        Column to predict: of the table, of obs, of the .fam, or of `pheno`. May be left out where
        the file has a target of its own (Y of a .mat, y of an .npz, the phenotype of a .fam).
    layer
        AnnData: a layer, or ``"raw"``.
    transpose
        Features are in rows; the first column names them, the header names the samples.
    pheno, id
        Another table with the target, joined by the column `id`.
    drop
        Columns that are not features.
    missing
        See `settle_missing`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from smrmr import read_data
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.csv"
    >>> _ = path.write_text("a,b,y\n1,5,0.1\n2,6,0.2\n4,7,0.4\n3,9,0.3\n")
    >>> data = read_data(path, "y")
    >>> list(data.X.columns), data.y.tolist()
    (['a', 'b'], [0.1, 0.2, 0.4, 0.3])
    """
    path = Path(path)
    if path.suffix.lower() in (".bim", ".fam"):
        path = path.with_suffix(".bed")
    kind = _kind(path, format, layer, transpose)
    large = open_large(path, kind, layer)
    table = _read(path, kind, layer, transpose) if large is None else large[0]
    source = {path.name: _checksum(path)}
    notes = list(table.notes)
    if pheno is not None:
        pheno = Path(pheno)
        table, joined = _join(table, pheno, id)
        notes += joined
        source[pheno.name] = _checksum(pheno)
    elif id is not None:
        table = _indexed(table, id, path)
    if large is not None and target is not None and target not in table.about:
        raise ValueError(
            f"{path} knows no {target!r} of its samples.{did_you_mean(target, table.about)} It is "
            "read in blocks, so none of its features can be the target: use --pheno."
        )
    y, features = _split(table, target, path)
    if large is None:
        features = _without(features, drop)
        features, y, more = _settle(features, y, missing)
        return Dataset(_typed(features), y, str(y.name), notes + more, source)
    features, y, more = _settle(features, y, missing)
    left = _columns_without(large[1], drop)
    X = chosen_part(large[1], features[ROW].to_numpy(), left, missing)
    return Dataset(X, y, str(y.name), notes + more, source)


def _columns_without(source: ColumnSource, drop: Sequence[str]) -> Indices | None:
    if not drop:
        return None
    names = source.names or tuple(f"x{k}" for k in range(source.shape[1]))
    known = set(names)
    for name in drop:
        if name not in known:
            raise ValueError(f"--drop {name}: no such column.{did_you_mean(name, names)}")
    left = np.array([k for k, name in enumerate(names) if name not in drop], dtype=np.intp)
    if not left.size:
        raise ValueError("no feature is left beside the target. A table with features is needed.")
    return left


def _kind(path: Path, format: str | None, layer: str | None, transpose: bool) -> str:
    """The format of a file that is there, and for which the options make sense."""
    if not path.exists():
        near = (
            did_you_mean(path.name, [p.name for p in path.parent.glob("*")])
            if path.parent.is_dir()
            else ""
        )
        raise ValueError(f"there is no file {path}.{near}")
    ending = path.name.removesuffix(".gz").rsplit(".", 1)[-1].lower()
    kind = (format or ALIASES.get(ending, ending)).lower()
    if kind not in READERS:
        raise ValueError(
            f"{path}: the format {kind!r} is not known. Use --format with one of "
            f"{', '.join(READERS)}."
        )
    if path.is_dir() and kind != "zarr":
        raise ValueError(f"{path} is a folder. A file is needed.")
    if layer is not None and kind != "h5ad":
        raise ValueError(f"--layer is for .h5ad files; {path.name} is {kind}.")
    if transpose and kind not in ("csv", "tsv", "parquet"):
        raise ValueError(f"--transpose is for tables of text and Parquet; {path.name} is {kind}.")
    return kind


def _read(path: Path, kind: str, layer: str | None, transpose: bool) -> Table:
    options: dict[str, Any] = {"layer": layer} if kind == "h5ad" else {}
    if kind in ("csv", "tsv", "parquet"):
        options["transpose"] = transpose
    try:
        return READERS[kind](path, **options)
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}") from None


def _join(table: Table, pheno: Path, id: str | None) -> tuple[Table, list[str]]:
    """Keep samples that both tables know, in the order of the first."""
    if id is None:
        raise ValueError("--pheno needs --id, the column of ids that joins it to the data.")
    other = _read(pheno, _kind(pheno, None, None, False), None, transpose=False)
    renamed = {name: f"{name}_about" for name in other.about if name in other.features}
    columns = other.features.join(other.about.rename(columns=renamed))
    if id not in columns:
        raise ValueError(f"{pheno} has no column {id!r}.{did_you_mean(id, columns)}")
    keys = columns[id].astype(str)
    if keys.duplicated().any():
        twice = keys[keys.duplicated()].unique()
        raise ValueError(f"{pheno}: ids {', '.join(map(repr, twice[:5]))} appear more than once.")
    columns = columns.drop(columns=id).set_index(keys.to_numpy())
    if id in table.features:
        table = _indexed(table, id, pheno)
    ids = table.features.index.astype(str)
    if ids.has_duplicates:
        twice = ids[ids.duplicated()].unique()
        raise ValueError(f"the data have ids {', '.join(map(repr, twice[:5]))} more than once.")
    common = ids.isin(columns.index)
    unmatched = int((~common).sum()), int((~columns.index.isin(ids)).sum())
    if not common.any():
        raise ValueError(
            f"no id of {pheno} (such as {columns.index[0]!r}) is an id of the data (such as "
            f"{ids[0]!r}). Is {id!r} the right column?"
        )
    rows = np.flatnonzero(common)
    features = table.features.iloc[rows].set_axis(ids[rows])
    about = columns.loc[ids[rows]]
    notes = [f"{len(rows)} samples joined by {id!r}"]
    if any(unmatched):
        notes.append(
            f"{unmatched[0]} samples of the data have no phenotype and {unmatched[1]} phenotypes "
            "no sample; they are left out"
        )
    return Table(features, about, None), notes


def _indexed(table: Table, id: str, path: Path) -> Table:
    if id not in table.features:
        raise ValueError(f"{path} has no column {id!r}.{did_you_mean(id, table.features)}")
    ids = table.features[id].astype(str).to_numpy()
    features = table.features.drop(columns=id).set_axis(ids)
    return Table(features, table.about.set_axis(ids), table.target, table.notes)


def _split(table: Table, target: str | None, path: Path) -> tuple[pd.Series[Any], pd.DataFrame]:
    """Take the target out of what is known of the samples, or out of the features."""
    name = target if target is not None else table.target
    if name is None:
        raise ValueError(
            f"name the column to predict: --target COLUMN.{did_you_mean('', table.about)}"
        )
    if name in table.about:
        return table.about[name], table.features
    if name in table.features:
        return table.features[name], table.features.drop(columns=name)
    known = [*table.about.columns, *table.features.columns]
    raise ValueError(f"{path} has no column {name!r}.{did_you_mean(name, known)}")


def _without(features: pd.DataFrame, drop: Sequence[str]) -> pd.DataFrame:
    for name in drop:
        if name not in features:
            raise ValueError(f"--drop {name}: no such column.{did_you_mean(name, features)}")
    features = features.drop(columns=list(drop))
    if features.shape[1] == 0:
        raise ValueError("no feature is left beside the target. A table with features is needed.")
    return features


def _settle(
    features: pd.DataFrame, y: pd.Series[Any], missing: str
) -> tuple[pd.DataFrame, pd.Series[Any], list[str]]:
    """Leave out rows without a target, which no rule can fill, then settle the features."""
    notes = []
    unknown = y.isna().to_numpy()
    if unknown.any():
        if unknown.all():
            raise ValueError(f"the target {y.name!r} has no value at all.")
        if missing == "refuse":
            raise ValueError(
                f"the target {y.name!r} is missing in {int(unknown.sum())} of {len(y)} rows. Any "
                "choice of --missing leaves such rows out (drop-rows, impute-median, ...)."
            )
        notes.append(f"{int(unknown.sum())} of {len(y)} rows without a target dropped")
        features, y = features.iloc[np.flatnonzero(~unknown)], y[~unknown]
    position = features.reset_index(drop=True)
    position, more = settle_missing(position, missing)
    rows = position.index.to_numpy()
    return position.set_axis(features.index[rows]), y.iloc[rows], notes + more


def _typed(features: pd.DataFrame) -> pd.DataFrame:
    """Refuse what is neither numbers nor two labels; turn two labels into a category."""
    text = [
        k for k, dtype in enumerate(features.dtypes) if getattr(dtype, "kind", "O") not in "biuf"
    ]
    if not text:
        return features
    features = features.copy()
    for k in text:
        column = features.iloc[:, k]
        if str(column.dtype) != "category" or column.nunique() != 2:
            _check_text(column)
        features.isetitem(k, column.astype("category"))
    return features


def _check_text(column: pd.Series[Any]) -> None:
    import pandas as pd

    name, levels = column.name, column.nunique()
    if getattr(column.dtype, "kind", "O") in "mM":
        raise ValueError(f"column {name!r} holds dates. Turn them into numbers, or --drop {name}")
    numeric = pd.to_numeric(column.astype(object), errors="coerce")
    strange = numeric.isna()
    if 0 < strange.sum() < len(column) / 2:
        row = int(np.flatnonzero(strange)[0])
        raise ValueError(
            f"column {name!r} holds numbers and text: row {row + 1} is {column.iloc[row]!r}. Mend "
            f"the {int(strange.sum())} such values, or --drop {name}"
        )
    if levels == len(column):
        raise ValueError(
            f"column {name!r} holds a different text in every row, so it looks like ids. Use "
            f"--id {name}, or --drop {name}"
        )
    if levels > 2:
        raise ValueError(
            f"column {name!r} holds {levels} different labels, for which there are no knockoffs. "
            f"Code them as 0/1 columns, or --drop {name}"
        )


def _checksum(path: Path) -> str:
    """SHA-256 of a file, or of all files of a folder in order."""
    digest = hashlib.sha256()
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    for file in files:
        with file.open("rb") as stream:
            for chunk in iter(lambda: stream.read(1 << 20), b""):
                digest.update(chunk)
    return digest.hexdigest()
