"""Any table in: sparse matrices and tables of every library give what dense arrays give."""

from __future__ import annotations

import pickle
import sys
import tracemalloc
import warnings
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from smrmr import Recipe, SmRMR, associate, redundancy, relevance, select
from smrmr.data.columns import Columns, as_columns
from smrmr.data.sources import SparseColumns
from smrmr.data.study import read_study
from smrmr.rivals import MRMR, SIS, HSICLasso
from thinned import thinned

nothing_said = pytest.mark.filterwarnings("ignore:Knockoffs. NOT exchangeable")
SPARSE = [sparse.csr_matrix, sparse.csc_array, sparse.coo_array, sparse.lil_matrix]


def assert_same(found, expected):
    """The same answer, bit for bit."""
    assert_array_equal(found.evidence.scores, expected.evidence.scores)
    assert_array_equal(found.q_values, expected.q_values)
    assert_array_equal(found.selected, expected.selected)
    assert_array_equal(found.relevance, expected.relevance)


@pytest.fixture(scope="module")
def counts():
    """Counts, mostly zero, of which two tell the class; a copy and a constant among them."""
    rng = np.random.default_rng(0)
    X = rng.poisson(rng.uniform(0.2, 1.5, 40), (120, 40)).astype(np.float64)
    y = np.where(X[:, 4] + 2 * (X[:, 9] > 1) + rng.normal(size=120) > 1.5, "ill", "well")
    X[:, 20], X[:, 33] = 0.0, X[:, 31]
    return X, y


@pytest.fixture(scope="module")
def from_counts(counts):
    """What the array of counts gives, fitted once for each recipe."""
    return cache(lambda **settings: select(*counts, Recipe(**settings), rng=0))


# --- sparse matrices ------------------------------------------------------------------------


@nothing_said
@pytest.mark.parametrize("control", ["tests", "knockoffs"])
@pytest.mark.parametrize("form", thinned(SPARSE, [sparse.csr_matrix, sparse.coo_array]))
def test_sparse_matrices_select_what_arrays_do(form, control, counts, from_counts):
    """Oracle: the dense array."""
    X, y = counts
    found = select(form(X), y, Recipe(fdr=0.4, control=control), rng=0)
    assert_same(found, from_counts(fdr=0.4, control=control))
    assert found.constants.tolist() == [20]
    assert [group.tolist() for group in found.copies] == [[31, 33]]


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8, np.uint16, bool])
def test_sparse_numbers_of_any_kind(dtype, counts):
    """Oracle: the dense array of the same kind."""
    X, y = counts[0][:, :20].astype(dtype), counts[1]
    assert_same(select(sparse.csr_array(X), y), select(X, y))


def test_entries_given_twice_add_up_and_the_matrix_stays(counts):
    """Oracle: the sum, and the matrix as it was."""
    X, y = counts
    rows, columns = np.nonzero(X)
    half = np.repeat(X[rows, columns] / 2, 2)
    twice = sparse.coo_matrix((half, (np.repeat(rows, 2), np.repeat(columns, 2))), X.shape)
    assert_array_equal(relevance(twice, y), relevance(X, y))
    order = np.lexsort((rows, columns))
    pointers = np.concatenate([[0], np.cumsum(2 * np.bincount(columns, minlength=40))])
    raw = sparse.csc_matrix(
        (np.repeat(X[rows, columns][order] / 2, 2), np.repeat(rows[order], 2), pointers), X.shape
    )
    n_stored = raw.nnz
    assert_array_equal(as_columns(raw).values, X)
    assert raw.nnz == n_stored == 2 * np.count_nonzero(X)


@pytest.mark.parametrize("measure", ["pc", "hsic", "dcor", "pearson"])
def test_associations_of_sparse_matrices(measure, counts):
    """Oracle: the dense array."""
    X, y = counts
    found, expected = (associate(A, y, measure=measure) for A in (sparse.csr_array(X), X))
    assert_array_equal(found.relevance, expected.relevance)
    assert_array_equal(found.redundancy, expected.redundancy)


@pytest.mark.parametrize(
    "selector",
    [SmRMR(), SIS(5), MRMR(5), MRMR(3, measure="pc"), HSICLasso(5), HSICLasso(3, block_size=50)],
    ids=str,
)
@pytest.mark.parametrize(
    "form", thinned([sparse.csr_array, sparse.csc_matrix, sparse.coo_array], [sparse.csc_matrix])
)
def test_selectors_take_sparse_and_keep_its_format(selector, form, counts):
    """Oracle: the dense array, and its columns."""
    X, y = counts
    if hasattr(selector, "random_state"):
        selector.set_params(random_state=0)
    support = selector.fit(X, y).get_support()
    kept = selector.fit(form(X), y).transform(form(X))
    assert_array_equal(selector.get_support(), support)
    assert type(kept) is form
    assert_array_equal(kept.toarray(), X[:, support])
    with pytest.raises(ValueError, match="expecting 40 features"):
        selector.transform(form(X[:, 1:]))


def test_missing_values_of_sparse_matrices_are_named(counts):
    X, y = counts[0].copy(), counts[1]
    X[[3, 5], 17], X[7, 2] = np.nan, np.inf
    for fit in (relevance, select, SmRMR().fit):
        with pytest.raises(ValueError, match=r"2 of 40 columns.*\(x17: 2, x2: 1\)"):
            fit(sparse.csr_matrix(X), y)
    with pytest.raises(ValueError, match="Complex"):
        relevance(sparse.csr_matrix(counts[0] * 1j), y)
    with pytest.raises(ValueError, match="Sparse matrices must have no missing values"):
        SmRMR(missing="impute-median").fit(sparse.csr_matrix(counts[0]), y)
    line = sparse.coo_array(X[0])
    one_row = r"shape \(40,\)" if line.ndim == 1 else "1 rows and 40 columns"  # before scipy 1.13
    with pytest.raises(ValueError, match=one_row):
        relevance(line, y)


def test_sparse_matrices_are_warned_of_as_arrays_are(rng):
    """Oracle: what is said of the dense array."""
    X = rng.poisson(0.3, (90, 70)).astype(float)
    X[:45] = X[45:]  # every sample twice
    X[:, 3] = np.arange(90) == 4
    X[:, 6] = np.arange(90)
    y = rng.normal(size=90)
    said = []
    for A in (X, sparse.csr_matrix(X)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            select(A, y)
        said.append([str(one.message) for one in caught])
    assert said[0] == said[1]
    assert [any(word in one for one in said[0]) for word in ("fewer than 5", "ids", "far more")]
    assert len(said[0]) == 3


def test_covariates_that_are_a_sparse_feature_are_refused(counts):
    """Oracle: the words that a dense array gets."""
    X, y = counts[0].copy(), counts[1]
    X[:, 12] = np.arange(120) % 9
    for A in (X, sparse.csc_array(X)):
        with pytest.raises(ValueError, match="covariate depth is the feature x12"):
            select(A, y, covariates={"depth": X[:, 12]})


@nothing_said
@pytest.mark.parametrize("control", ["tests", "knockoffs"])
def test_covariates_and_groups_of_sparse_rows(control, counts, rng):
    """Oracle: the dense array."""
    X, y = counts
    beside = {"covariates": {"age": rng.normal(size=120)}, "groups": np.arange(120) // 3}
    found, expected = (
        select(A, y, Recipe(control=control), rng=0, **beside) for A in (sparse.csr_array(X), X)
    )
    assert_same(found, expected)
    assert_array_equal(found.unadjusted, expected.unadjusted)


def mostly_zero(rng, shape):
    return np.where(rng.random(shape) < 0.05, rng.random(shape), 0.0)


def test_little_of_a_sparse_matrix_is_sent_to_workers(rng):
    matrix = sparse.csc_array(mostly_zero(rng, (500, 4000)))
    columns = Columns.bare(SparseColumns.of(matrix))
    span = columns.span(1000, 1010)
    assert len(pickle.dumps(span)) < 20_000 < len(pickle.dumps(columns))
    assert np.shares_memory(span.data.matrix.data, columns.data.matrix.data)
    assert_array_equal(span.values, matrix[:, 1000:1010].toarray())
    rows, some = np.array([7, 3, 400]), np.array([9, 2, 2000])
    assert_array_equal(columns.take(rows, some).values, matrix.toarray()[np.ix_(rows, some)])


def test_sparse_columns_are_dense_a_few_at_a_time(rng):
    """Oracle: the size of the dense array, half of which is more than enough."""
    X = sparse.csr_array(mostly_zero(rng, (2000, 5000)))
    y = rng.normal(size=2000)
    relevance(X[:, :10], y)  # compiles
    tracemalloc.start()
    relevance(X, y, max_memory="10MB", n_jobs=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 2000 * 5000 / 2


def test_a_run_directory_knows_its_sparse_matrix(counts, tmp_path):
    X, y = counts
    run = tmp_path / "run"
    expected = select(sparse.csr_array(X), y, rng=0, run_dir=run)
    assert_same(select(sparse.csc_array(X), y, rng=0, run_dir=run), expected)
    other = X.copy()
    other[0, 35] += 1
    with pytest.raises(ValueError, match="X was"):
        select(sparse.csr_array(other), y, rng=0, run_dir=run)


# --- tables of every library ----------------------------------------------------------------


@pytest.fixture(scope="module")
def table():
    """Columns of every kind, as pandas has them, and what tells the class."""
    rng = np.random.default_rng(1)
    n = 120
    frame = pd.DataFrame(rng.normal(size=(n, 6)), columns=list("uvwxyz"))
    frame["count"] = rng.poisson(3, n)
    frame["small"] = rng.normal(size=n).astype(np.float32)
    frame["flag"] = rng.random(n) < 0.4
    frame["Int"] = pd.array(rng.integers(0, 9, n), dtype="Int64")
    frame["Float"] = pd.array(rng.normal(size=n), dtype="Float64")
    frame["Bool"] = pd.array(rng.random(n) < 0.5, dtype="boolean")
    frame["sex"] = pd.Categorical(rng.choice(["m", "f"], n))
    frame["blood"] = pd.Categorical(rng.choice(["A", "B", "0"], n))
    levels = ["none", "mild", "severe"]
    frame["stage"] = pd.Categorical(rng.choice(levels, n), levels, ordered=True)
    told = frame["v"] + 2 * (frame["blood"] == "B") + frame["stage"].cat.codes
    return frame, np.where(told + 0.5 * rng.normal(size=n) > 1.5, "ill", "well")


def in_polars(frame):
    stage = pl.Series("stage", frame["stage"].astype(object).where(frame["stage"].notna(), None))
    return pl.from_pandas(frame).with_columns(
        stage.cast(pl.Enum(["none", "mild", "severe"])), pl.col("sex").cast(pl.Categorical)
    )


LIBRARIES = {"polars": in_polars, "pyarrow": pa.Table.from_pandas}
every_library = pytest.mark.parametrize("library", LIBRARIES)


@every_library
def test_every_library_gives_the_same_columns(library, table):
    """Oracle: the pandas DataFrame that the table was made from."""
    frame, _ = table
    mine, theirs = as_columns(LIBRARIES[library](frame)), as_columns(frame)
    assert mine.names == theirs.names == tuple(frame.columns)
    assert_array_equal(mine.values, theirs.values)
    assert_array_equal(mine.nominal, theirs.nominal)
    assert [mine.names[k] for k in np.flatnonzero(mine.nominal)] == ["sex", "blood"]


@every_library
def test_every_library_selects_alike(library, table):
    """Oracle: the pandas DataFrame, and the columns that tell."""
    frame, y = table
    expected = select(frame, y, Recipe(fdr=0.1))
    found = select(LIBRARIES[library](frame), y, Recipe(fdr=0.1))
    assert_same(found, expected)
    assert set(found.selected_names) == {"v", "blood", "stage"}


def test_ordered_categories_are_the_places_of_their_levels(table):
    """Oracle: the places given as numbers."""
    frame, y = table
    places = frame["stage"].map({"none": 0.0, "mild": 1.0, "severe": 2.0}).astype(float)
    assert_same(select(frame, y), select(frame.assign(stage=places), y))


def test_categories_of_many_levels_are_one_feature_given_as_columns_too(table):
    """Oracle: its one-hot columns given as a group, which are asked about as one."""
    frame, y = table
    levels = pd.get_dummies(frame["blood"], prefix="blood").astype(float)
    wide = pd.concat([frame.drop(columns="blood"), levels], axis=1)
    groups = {name: name.split("_")[0] for name in wide.columns}
    one = select(frame, y, Recipe(alike=None))
    many = select(wide, y, Recipe(feature_groups=groups))
    k = one.position("blood")
    assert one.support[k]
    lead = [name for name in many.selected_names if name.startswith("blood_")]
    assert len(lead) == 1
    assert many.p_values[many.position(lead[0])] < 1e-4 > one.p_values[k]


@every_library
def test_knockoffs_refuse_categories_of_every_library(library, table):
    frame, y = table
    with pytest.raises(ValueError, match=r"columns blood are categories with more than two.*0/1"):
        select(LIBRARIES[library](frame), y, Recipe(control="knockoffs"))


@pytest.mark.parametrize("kind", [np.asarray, lambda X: X.astype(object).tolist()])
def test_objects_that_are_numbers_are_numbers(kind, counts, from_counts):
    """Oracle: the same as floats."""
    X, y = counts
    objects = kind(X.astype(object))
    assert_same(select(objects, y), from_counts())
    assert_array_equal(SmRMR().fit(objects, y).support_, from_counts().support)


def test_booleans_are_numbers(counts):
    """Oracle: zeros and ones."""
    X, y = counts[0][:, :20] > 0, counts[1]
    expected = select(X.astype(float), y)
    for flags in (X, pd.DataFrame(X), X.astype(object), pl.DataFrame(X), sparse.csr_array(X)):
        assert_same(select(flags, y), expected)


@pytest.mark.parametrize(
    "make",
    [
        lambda frame: frame,
        pl.from_pandas,
        pa.Table.from_pandas,
        lambda frame: frame.astype({"b": "string"}),
    ],
)
def test_text_is_refused_by_name(make, rng):
    frame = pd.DataFrame({"a": rng.normal(size=20), "b": ["x", "y"] * 10, "c": ["1", "2"] * 10})
    for fit in (relevance, select, SmRMR().fit, SIS(1).fit):
        with pytest.raises(ValueError, match=r"columns b, c of X hold neither.*astype\('category"):
            fit(make(frame), rng.normal(size=20))


@pytest.mark.parametrize("make", [lambda X: X, lambda X: X.to_numpy(), pl.from_pandas])
def test_all_that_is_wrong_with_x_is_one_message(make, rng):
    """Oracle: a column of text, a gap, an infinity and a gap in the text, in one table."""
    X = pd.DataFrame(rng.normal(size=(20, 4)), columns=["x0", "x1", "x2", "x3"])
    X.loc[3, "x1"], X.loc[4, "x2"] = np.nan, np.inf
    X["x3"] = [None, *["u", "v"] * 9, "u"]
    for fit in (relevance, select, SmRMR().fit, SIS(1).fit):
        with pytest.raises(ValueError, match=r"^2 things must be mended") as refused:
            fit(make(X), rng.normal(size=20))
        text, gaps = str(refused.value).splitlines()[1:]
        assert "columns x3 of X hold neither numbers nor categories" in text
        assert "3 of 4 columns of X have missing or infinite values (x1: 1, x2: 1, x3: 1)" in gaps


LABELS = {  # of five columns, and what they are called as text
    "numbers": [10, 20, 30, 40, 50],
    "numbers and text": [0, 1, 2, 3, "age"],
    "all kinds": ["a", 1, 2.5, ("x", "y"), None],
    "numbers out of order": [4, 3, 2, 1, 0],
    "two levels": [("a", 1), ("a", 2), ("b", 1), ("b", 2), ("b", 3)],
}


@pytest.mark.parametrize("labels", LABELS)
def test_labels_of_columns_stay_what_they_are(labels, rng):
    """Oracle: the same numbers without labels; what comes out is called as what went in."""
    values = rng.normal(size=(60, 5))
    y = values[:, 3] + values[:, 1] + rng.normal(size=60) / 2
    X = pd.DataFrame(values, columns=pd.Index(LABELS[labels], tupleize_cols=labels == "two levels"))
    kept = [LABELS[labels][1], LABELS[labels][3]]
    assert_same(select(X, y), select(values, y))
    for selector in (SmRMR(), SIS(2)):
        fitted = selector.fit(X, y)
        assert fitted.get_feature_names_out().tolist() == kept
        assert_array_equal(fitted.transform(X), values[:, [1, 3]])
        out = fitted.set_output(transform="pandas").transform(X)
        assert out.columns.tolist() == kept
    assert set(select(X, y).selected_names) == {str(name) for name in kept}


def test_a_number_that_is_the_name_of_another_column_is_asked_about(rng):
    """Oracle: labels 4 to 0, of which 2 is in its place; a text is the name."""
    X = pd.DataFrame(rng.normal(size=(60, 5)), columns=[4, 3, 2, 1, 0])
    y = X[3] + rng.normal(size=60) / 2
    with pytest.raises(ValueError, match=r"only: feature 3 may be .* position, .* the name: '3'"):
        select(X, y, Recipe(only=[3]))
    found = select(X, y, Recipe(only=["3", 2]))
    assert found.of_interest.tolist() == [1, 2]
    with pytest.raises(ValueError, match="feature 3 may be the one of that position"):
        found.explain(3)
    assert found.position(2) == 2


@pytest.mark.parametrize("levels", [(0, 1), (-1, 1), (1, 2), (0, 1, 2)])
def test_zeros_and_ones_are_classes_without_a_word(levels, rng):
    """Oracle: labels of the same rows; other whole numbers may be quantities."""
    y = rng.choice(levels, size=60)
    X = rng.normal(size=(60, 3))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        target = read_study(X, y).target
    assert target.kind == "classes"
    assert_array_equal(target.values, read_study(X, y.astype(str)).target.values)
    said = [str(one.message) for one in caught if "whole-numbered" in str(one.message)]
    assert len(said) == (levels not in [(0, 1), (-1, 1)])


def test_ids_in_a_table_are_told_how_to_leave_it(rng):
    """Law: the advice is followed by a table that can be fitted; labels get other advice."""
    X = pd.DataFrame(rng.normal(size=(20, 2)), columns=["a", "b"])
    X["who"], X["site"] = [f"p{i}" for i in range(20)], ["u", "v"] * 10
    with pytest.raises(ValueError, match=r"columns who, site .*X\.set_index\('who'\)\.$"):
        select(X, X["a"] + rng.normal(size=20))
    with pytest.raises(ValueError, match=r"columns site .*to_numeric\(X\[c\]\)\.$"):
        select(X.set_index("who"), X["a"].to_numpy())
    assert select(X.set_index("who")[["a", "b"]], rng.normal(size=20)).n_features == 2


def test_text_in_arrays_is_refused_by_name(rng):
    X = rng.normal(size=(20, 3)).astype(object)
    X[4, 1] = "high"
    for fit in (relevance, select, SmRMR().fit, SIS(1).fit):
        with pytest.raises(ValueError, match="columns x1 of X hold neither"):
            fit(X, rng.normal(size=20))
    with pytest.raises(ValueError, match=r"LazyFrame.*collect\(\)"):
        relevance(pl.DataFrame(np.eye(5)).lazy(), np.arange(5.0))


@every_library
def test_missing_values_of_every_library_are_counted(library, table):
    """Oracle: how many were taken out."""
    frame, y = table
    holes = frame.copy()
    for rows, name in enumerate(holes.columns.drop(["count", "flag"])):
        holes.loc[: rows % 3, name] = None
    holes["flag"] = frame["flag"].astype("boolean").where(np.arange(120) > 4)
    with pytest.raises(ValueError, match=r"14 of 15 columns of X have missing.*flag: 5"):
        select(LIBRARIES[library](holes), y)
    filled = SmRMR(missing="impute-mode").fit(LIBRARIES[library](holes), y)
    again = SmRMR(missing="impute-mode").fit(holes, y)
    assert_array_equal(filled.support_, again.support_)
    assert filled.transform(LIBRARIES[library](holes)).shape == (120, filled.support_.sum())


@every_library
@pytest.mark.parametrize("labels", [True, False])
def test_names_go_in_and_containers_come_out(library, labels, table):
    """Oracle: the pandas DataFrame; categories keep the table, numbers become an array."""
    frame, y = table
    frame = frame if labels else frame.select_dtypes(["number", "bool"])
    mine = LIBRARIES[library](frame) if labels else pl.from_pandas(frame)
    mine = mine if library == "polars" or labels else pa.Table.from_pandas(frame)
    fitted = SmRMR().fit(mine, y)
    names = fitted.get_feature_names_out().tolist()
    assert fitted.feature_names_in_.tolist() == list(frame.columns)
    assert names == SmRMR().fit(frame, y).get_feature_names_out().tolist() != []
    kept = fitted.transform(mine)
    assert type(kept) is (type(mine) if labels else np.ndarray)
    if labels:
        kept = kept.to_pandas()
        assert list(kept.columns) == names
        assert kept["v"].tolist() == frame["v"].tolist()
    else:
        assert_array_equal(kept, frame[names].to_numpy(dtype=float))
    for out, kind in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        shown = SmRMR().set_output(transform=out).fit(mine, y).transform(mine)
        assert isinstance(shown, kind)
        assert list(shown.columns) == names
    with pytest.raises(ValueError, match="feature names"):
        fitted.transform(LIBRARIES["pyarrow"](frame.rename(columns={"v": "V"})))


def test_numbers_beside_booleans_come_out_as_numbers(table):
    """Oracle: the same columns as floats."""
    frame, y = table
    mixed = frame[["v", "flag", "count"]]
    kept = SIS(3).fit(mixed, y).transform(mixed)
    assert_array_equal(kept, mixed.to_numpy(dtype=float))
    assert kept.dtype == np.float64


@pytest.mark.parametrize("target", ["classes", "ordinal", "continuous", "survival"])
def test_targets_and_what_is_beside_them_in_every_library(target, table, rng):
    """Oracle: the same given as pandas."""
    frame, y = table
    X = frame[list("uvwxyz")].to_numpy()
    stage = pd.Categorical(np.where(y == "ill", "b", "a"), ["a", "b"], ordered=True)
    given = {
        "classes": pd.Series(y),
        "ordinal": pd.Series(stage),
        "continuous": pd.Series(frame["v"].to_numpy() + rng.normal(size=120)),
        "survival": pd.DataFrame({"died": y == "ill", "time": rng.exponential(size=120)}),
    }[target]
    beside = pd.DataFrame({"age": rng.normal(size=120), "site": rng.choice(list("abc"), 120)})
    group = pd.Series(np.arange(120) // 2).astype(str)
    expected = select(X, given, Recipe(target=target), covariates=beside)
    ways = [(pl.from_pandas, pl.from_pandas)]
    ways += [
        (lambda c: pa.Table.from_pandas(c) if c.ndim == 2 else pa.array(c), pa.Table.from_pandas)
    ]
    for column, frames in ways:
        there = column(given)
        if target == "ordinal" and isinstance(there, pl.Series):
            there = there.cast(pl.Enum(["a", "b"]))
        found = select(X, there, Recipe(target=target), covariates=frames(beside))
        assert_same(found, expected)
        assert found.covariates == ("age", "site")
    if target == "continuous":
        within = [
            select(X, given, groups=one) for one in (group, pl.Series(group), pa.array(group))
        ]
        assert_same(within[1], within[0])
        assert_same(within[2], within[0])


def test_tables_of_numbers_need_no_pyarrow(table, monkeypatch):
    """Oracle: the array, and the names of the columns."""
    frame, y = table
    numbers = frame[list("uvwxyz")]
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    found = select(pl.DataFrame(dict(numbers)), y)
    assert_same(found, select(numbers.to_numpy(), y))
    assert found.names == tuple("uvwxyz")
    with pytest.raises(ImportError, match=r'more than numbers.*pip install "smrmr\[files\]"'):
        redundancy(pl.DataFrame({"u": numbers["u"], "blood": frame["blood"].tolist()}))


# --- Dask arrays ----------------------------------------------------------------------------


def test_dask_arrays_are_taken_by_selectors(counts):
    """Oracle: the array itself; docs/scaling.md says that they are taken as they are."""
    array = pytest.importorskip("dask.array", reason="needs: pip install smrmr[dask]")
    X, y = counts
    expected = SmRMR().fit(X, y)
    whole = array.from_array(X, chunks=(50, 40))
    for mine in (array.from_array(X, chunks=(40, 7)), whole.map_blocks(sparse.csr_matrix)):
        fitted = SmRMR().fit(mine, y)
        assert_same(fitted.selection_, expected.selection_)
        assert_array_equal(fitted.transform(mine), X[:, expected.support_])
        assert_array_equal(SIS(5).fit(mine, y).ranking_, SIS(5).fit(X, y).ranking_)
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        SmRMR().fit(whole[whole[:, 0] > 0], y)


def test_dask_tables_are_told_how(counts):
    frames = pytest.importorskip("dask.dataframe", reason="needs: pip install smrmr[dask]")
    X, y = counts
    with pytest.raises(ValueError, match=r"to_dask_array\(lengths=True\)"):
        SmRMR().fit(frames.from_pandas(pd.DataFrame(X), npartitions=2), y)
