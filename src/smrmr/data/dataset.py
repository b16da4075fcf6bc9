"""Turns a file into features and a target that the selectors can use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..problems import Problem, setting
from ..settings import parse_bytes
from ..types import Indices, pd
from .feature_labels import split_annotations, with_features_in_columns, without_label_rows
from .files import Table, format_of, is_packed, load, read_in_blocks
from .files.format import APART
from .files.limits import reading_within
from .files.packed import standard_input
from .impute import complete, fill_source
from .joining import IN_COLUMNS, indexed, join, with_covariates, with_different_ids
from .messages import did_you_mean, refuse_all
from .number_texts import VALUES, Marks
from .row_names import named_rows
from .sentinels import CONFIRMED, problems_of_sentinels
from .sources import ColumnSource, names_of
from .tables import split_target, take_columns
from .texts import labels_to_categories

ROW = "row of the file"  # stands for all features of a sample until they are read


@dataclass(frozen=True, eq=False)
class Dataset:
    r"""Features and target of the same samples, and where they came from.

    Attributes
    ----------
    X
        DataFrame of numbers and categories, whose index holds sample ids; of a large .bed, .h5ad,
        .h5, .npy, .zarr or .parquet a source, which is read in blocks.
    y
        The target, one value per row.
    target
        Its name.
    notes
        What was decided on the way, in sentences.
    changes
        Those of the notes that a report of the study must hold: missing values that were filled,
        marks and limits that were replaced, rows that were left out.
    source
        File names and their SHA-256 checksums.
    beside
        Columns that were requested beside features and target: covariates, groups and the like.
    about_features
        What the file knows of the features (.var, .bim, columns of text beside features in rows),
        by their names; None if nothing.
    annotations
        Columns of `about_features` that are shown beside names of features in an answer.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from smrmr.data import read_data
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.csv"
    >>> _ = path.write_text("sample,a,age,y\nS1,5,40,1\nS2,6,50,2\nS3,7,60,4\nS4,9,70,3\n")
    >>> data = read_data(path, "y", id="sample", beside=["age"])
    >>> list(data.X.columns), list(data.X.index), data.beside["age"].tolist(), data.target
    (['a'], ['S1', 'S2', 'S3', 'S4'], [40, 50, 60, 70], 'y')
    """

    X: pd.DataFrame | ColumnSource
    y: pd.Series[Any]
    target: str
    notes: list[str]
    source: dict[str, str]
    beside: pd.DataFrame
    about_features: pd.DataFrame | None = None
    annotations: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()


def read_data(
    path: str | Path,
    target: str | None = None,
    *,
    format: str | None = None,
    layer: str | None = None,
    sheet: str | None = None,
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    comment: str | None = None,
    header_row: int | None = None,
    skip: int = 0,
    transpose: bool = False,
    pheno: str | Path | None = None,
    id: str | None = None,
    drop: Sequence[str] = (),
    annotation: Sequence[str] = (),
    beside: Sequence[str] = (),
    covar: str | Path | None = None,
    na: Sequence[str] = (),
    limits: str = "refuse",
    missing: str = "refuse",
    missing_target: str = "refuse",
    max_memory: str | int = "1GB",
) -> Dataset:
    r"""Read features and a target from a file.

    Formats are CSV, TSV, Excel, Parquet, NPY, NPZ, MATLAB, AnnData, HDF5, PLINK, zarr and what R
    saves. All that is wrong with a table is said in one message.

    Parameters
    ----------
    path
        The file; its extension says the format unless `format` does. It may be packed as .gz or
        .zip; ``-`` reads standard input.
    target
        Column to predict: of the table, of obs, of the .fam, or of `pheno`. May be left out where
        the file has a target of its own (Y of a .mat, y of an .npz, the phenotype of a .fam).
    format
        Extension that the file should have had, if its own misleads.
    layer
        AnnData: a layer, or ``"raw"``.
    sheet
        Excel: a sheet other than the first, its name or number; R: which object.
    sep
        Text: what separates columns, a character, ``"tab"`` or ``"space"``; else guessed.
    decimal
        Text: the decimal mark, ``"."`` or ``","``; else guessed.
    encoding
        Text: the encoding, such as ``"latin-1"``, if it is not UTF-8.
    comment
        Text: the character that begins a comment.
    header_row
        Text and Excel: the row of the header, counted from 1; else found below titles.
    skip
        Text and Excel: how many rows at the top are not read.
    transpose
        Features are in rows; the first column names them, the header names the samples. Other
        columns of text describe features: they are kept as labels.
    pheno
        Another table with the target: a file, ``"FILE:SHEET"``, or another sheet of the same book.
        It is joined by the column `id`, or by ids that agree where only one pair of columns does.
    id
        Column of sample ids. A column with a different text in every row is taken for them, and so
        are whole numbers that are all different if it is called so.
    drop
        Columns that are not features.
    annotation
        Columns that describe what is in rows and are no values: features with `transpose`, else
        samples; of AnnData and PLINK columns of var and .bim. Those of features are shown beside
        their names in an answer. Text of features in rows need not be named.
    beside
        Columns that are no features either and are handed on as they are, such as covariates: of
        the table, of obs, or of `covar`.
    covar
        Another table with covariates, joined like `pheno`; all of them if none is named.
    na
        What marks a missing value besides empty cells, NA and the like: texts, or numbers such as
        ``"-999"``. ``"none"`` says that numbers which stand out are values.
    limits
        What to do about values beyond a limit, such as "<0.5": ``"refuse"`` them, or replace them
        by the ``"limit"``, or by ``"half"`` of it where it is below.
    missing
        What to do about missing values of features: ``"refuse"`` them by an error that names the
        worst columns, ``"drop-columns"`` or ``"drop-rows"`` that have any, or fill each column with
        its own (``"impute-median"``, ``"impute-mean"``, ``"impute-mode"``). Infinite values count
        as missing.
    missing_target
        What to do about rows without a target: ``"refuse"`` or ``"drop"`` them. With
        ``missing="drop-rows"`` they are dropped as well.
    max_memory
        Budget for the work besides the data, as everywhere. A file that takes up more than eight
        times that once it is unpacked is refused, unless it is read in blocks.

    Returns
    -------
    Dataset
        Features, target, columns beside them, and what was decided on the way.

    Raises
    ------
    ValueError
        If there is no such file, its format is not known or needs a package, a column is not there,
        values are missing, or ids do not match; the message says where and what to change.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from smrmr.data import read_data
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.csv"
    >>> _ = path.write_text("a,b,y\n1,5,0.1\n2,6,0.2\n4,7,0.4\n3,9,0.3\n")
    >>> data = read_data(path, "y")
    >>> list(data.X.columns), data.y.tolist()
    (['a', 'b'], [0.1, 0.2, 0.4, 0.3])
    """
    marks = Marks(tuple(na), limits)
    how: dict[str, Any] = {"sheet": sheet, "sep": sep, "decimal": decimal, "encoding": encoding}
    how |= {"comment": comment, "header_row": header_row, "skip": skip, "layer": layer}
    if not (transpose or marks.need_the_table or missing.startswith("drop-")):
        needed = [name for name in (target, id, *beside) if name is not None]
        how[APART] = dict.fromkeys([*drop, *annotation], False) | dict.fromkeys(needed, True)
    with reading_within(parse_bytes(max_memory)):
        path, table = _opened(Path(path), format, marks, transpose=transpose, **how)
        if transpose:
            no_samples = [name for name in drop if name in table.features]
            table = with_features_in_columns(table, path, annotation, no_samples, marks)
            drop, annotation = [name for name in drop if name not in no_samples], ()
        else:
            table = without_label_rows(table, marks)
        table, source = _as_rows(table, path, marks)
        table, beside = _joined(table, path, id, pheno, covar, beside, marks)
    if source is not None and target is not None:
        _refuse_unknown(target, table, source, path)
    y, features, absent = split_target(table, target, path, transpose=transpose)
    if absent and IN_COLUMNS in absent[0].message:  # all else that is wrong follows from that
        raise absent[0]
    others, features, unknown = take_columns(table, beside, features)
    shown, more_to_drop, not_labels = split_annotations(table, annotation, features)
    drop = [*drop, *more_to_drop]
    names = features.columns if source is None else names_of(source) if drop else ()
    beside_source = [] if source is None else [name for name in features if name != ROW]
    left, not_there = None, list[Problem]()
    if source is None or drop:
        left, not_there = _columns_left(names, drop, beside_source)
    if source is None:
        features, named = named_rows(features.iloc[:, left] if drop else features)
    else:
        texts = features[[name for name in beside_source if name not in drop]]
        texts, named = named_rows(texts)
        features = features[[ROW]].set_axis(texts.index)
    asked = problems_of_sentinels(features, y, marks) if source is None else []
    found = complete(features, y, missing, missing_target)
    refuse_all(
        [*table.problems, *absent, *unknown, *not_labels, *not_there, *asked, *found.problems]
    )
    notes = table.notes + named + found.notes
    X: pd.DataFrame | ColumnSource
    if source is None:
        X, more = labels_to_categories(found.features)
        notes += more
        X.attrs |= {CONFIRMED: True} if VALUES in na else {}
    else:
        X = fill_source(source, missing, found.features[ROW].to_numpy(), left)
    others = others.iloc[found.rows].set_axis(found.features.index)
    y, name = found.y.set_axis(found.features.index), str(found.y.name)
    changes = (*table.changes, *found.changes)
    about = table.about_features
    return Dataset(X, y, name, notes, table.checksums, others, about, shown, changes)


def _opened(path: Path, format: str | None, marks: Marks, **how: Any) -> tuple[Path, Table]:
    """What messages call the file, and its table."""
    if path.suffix.lower() in (".bim", ".fam"):
        path = path.with_suffix(".bed")
    with standard_input(path, format) as place:
        piped = place is not path
        table = load(place, format, whole=piped, marks=marks, **how)
    path = Path("standard input") if piped else path
    return path, replace(table, checksums={path.name: next(iter(table.checksums.values()))})


def _as_rows(table: Table, path: Path, marks: Marks) -> tuple[Table, ColumnSource | None]:
    """The table, and its features if they are read in blocks.

    Then numbers of rows stand for them, which are joined and left out like features in memory.
    """
    if table.in_blocks is None and hasattr(table.features, "iloc"):
        return table, None
    source: ColumnSource = table.features if table.in_blocks is None else table.in_blocks
    n, p = source.shape
    if marks.need_the_table:
        raise Problem(
            f"{setting('na')} and {setting('limits')} are for tables that fit in memory, and "
            f"{path} is read in blocks."
        )
    note = f"{n:,} x {p:,} values are read in blocks, not all at once"
    others = table.about.iloc[:, :0] if table.in_blocks is None else table.features
    rows = others.assign(**{ROW: np.arange(n)})
    return replace(table, features=rows, notes=[*table.notes, note]), source


def _joined(
    table: Table,
    path: Path,
    id: str | None,
    pheno: str | Path | None,
    covar: str | Path | None,
    beside: Sequence[str],
    marks: Marks,
) -> tuple[Table, Sequence[str]]:
    """The table with what other tables know of its samples, and the columns beside features."""
    if pheno is not None:
        table = join(table, path, pheno, id, marks)
    elif id is not None:
        table = indexed(table, id, path)
        table = with_different_ids(table, path) if covar is None else table
    if covar is not None:
        table, more_names = with_covariates(table, path, covar, id, marks)
        beside = [*beside, *(() if set(beside) & set(more_names) else more_names)]
    return table, beside


def open_columns(
    path: str | Path, key: str | None = None, *, missing: str = "refuse"
) -> ColumnSource:
    """Open a file whose columns are read when they are needed.

    Parameters
    ----------
    path
        .npy, .h5ad, .h5 or .hdf5, .zarr, .bed, .parquet with columns of numbers.
    key
        Which matrix of an HDF5 file or a zarr group (``"X"`` if left out).
    missing
        What to do about missing values when they are read: ``"refuse"``, ``"impute-median"``,
        ``"impute-mean"`` or ``"impute-mode"``; genotypes have no median and no mean.

    Returns
    -------
    ColumnSource
        What `smrmr.select`, `smrmr.associate` and the estimators take as X.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If files of this format cannot be read by columns, or only once they are unpacked.

    Examples
    --------
    The answer is that of the same array in memory, to the last bit:

    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from smrmr import relevance, simulate
    >>> from smrmr.data import open_columns
    >>> data = simulate("1.a", n=100, p=20, random_state=0)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "X.npy"
    >>> np.save(path, data.X)
    >>> source = open_columns(path)
    >>> bool((relevance(source, data.y) == relevance(data.X, data.y)).all())
    True
    """
    path = Path(path).absolute()  # workers may start elsewhere
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}.")
    if is_packed(path):
        raise ValueError(f"{path} cannot be read by columns while it is packed. Unpack it.")
    opener = format_of(path).open
    if opener is None:
        raise ValueError(f"{path} cannot be read by columns. Use {read_in_blocks()}.")
    return fill_source(opener(path, key), missing)


def _refuse_unknown(target: str, table: Table, source: ColumnSource, path: Path) -> None:
    """Refuse a target that a file read in blocks does not know."""
    if target in table.about or target in table.features:
        return
    known, why = [*table.about], "It is read in blocks, so none of its features can be the target."
    if table.in_blocks is not None:
        known, why = [*known, *names_of(source)], ""
    no_such = f"{path} knows no {target!r} of its samples.{did_you_mean(target, known)}"
    raise Problem(no_such, why, f"Use {setting('pheno', ...)}.")


def _columns_left(
    names: Sequence[str], drop: Sequence[str], others: Sequence[str]
) -> tuple[Indices, list[Problem]]:
    """Places of the columns that are not dropped, and what is wrong with names to drop.

    There are `others`, which may be dropped as well.
    """
    known = {*names, *others}
    problems = [
        Problem(f"{setting('drop', [name])}: no such column.{did_you_mean(name, names)}")
        for name in drop
        if name not in known
    ]
    left = np.array([k for k, name in enumerate(names) if name not in drop], dtype=np.intp)
    if not left.size:
        needed = "A table with features is needed."
        problems.append(Problem("no feature is left beside the target.", needed))
    return left, problems
