"""The engine: same bits for any jobs, blocks and budgets; progress; errors that help."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from decimal import Decimal

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import smrmr
from columns import NOMINAL, NUMERIC, frame, outliers
from smrmr.association.associations import parse_bytes
from smrmr.measures import MEASURES
from thinned import thinned

KINDS = {
    **{name: NUMERIC[name] for name in ("spread", "heavy_tails", "zero_inflated", "few_levels")},
    "lognormal": lambda n, rng: rng.lognormal(size=n),
    "five_classes": NOMINAL["five_classes"],
}
quiet = pytest.mark.filterwarnings("ignore:columns .* have fewer than 5")


@quiet
@pytest.mark.parametrize(
    ("n", "measure"),
    thinned(
        [(n, measure) for n in (50, 700) for measure in MEASURES],
        [*((50, measure) for measure in MEASURES), (700, "pc")],
    ),
)
def test_n_jobs_never_changes_a_bit(measure, n, rng):
    X, y = frame(n, rng, copies=14), rng.normal(size=n)
    one = smrmr.associate(X, y, measure=measure)
    for n_jobs in (2, 3):
        other = smrmr.associate(X, y, measure=measure, n_jobs=n_jobs)
        assert_array_equal(other.relevance, one.relevance)
        assert_array_equal(other.redundancy, one.redundancy)


@quiet
@pytest.mark.parametrize("measure", list(MEASURES))
def test_memory_budget_changes_nothing_that_counts(measure, rng):
    """PC to the bit, since it counts; the others within 1e-12."""
    X, y = frame(80, rng, copies=6), rng.normal(size=80)
    ample = smrmr.associate(X, y, measure=measure)
    scarce = smrmr.associate(X, y, measure=measure, max_memory="100kB")
    if measure == "pc":
        assert_array_equal(scarce.redundancy, ample.redundancy)
        assert_array_equal(scarce.relevance, ample.relevance)
    assert_allclose(scarce.redundancy, ample.redundancy, atol=1e-12)
    assert_allclose(scarce.relevance, ample.relevance, atol=1e-12)


@pytest.mark.parametrize(
    ("n", "kind"),
    thinned(
        [(n, kind) for n in (120, 300) for kind in KINDS],
        [(120, kind) for kind in ("spread", "heavy_tails", "few_levels", "five_classes")],
    ),
)
def test_hsic_of_a_pair_depends_on_its_two_columns_alone(kind, n, rng):
    """Law: budgets, jobs and the other columns move no value by more than 1e-12.

    Among columns with outliers, which have the highest ranks, and curves of normal columns.
    """
    X = pd.DataFrame({f"{kind}{k}": KINDS[kind](n, rng) for k in range(50)})
    for k in range(25):
        X[f"outliers{k}"] = outliers(n, rng)
        x = rng.normal(size=n)
        X[f"normal{k}"], X[f"curve{k}"] = x, np.sin(2 * x) + 0.2 * rng.normal(size=n)
    X, y = X[rng.permutation(X.columns)], x + rng.normal(size=n)
    found = smrmr.associate(X, y, measure="hsic", max_memory="1GB")
    for options in ({"max_memory": "600kB"}, {"max_memory": "5MB", "n_jobs": 2}, {"n_jobs": 2}):
        other = smrmr.associate(X, y, measure="hsic", **options)
        assert_allclose(other.redundancy, found.redundancy, rtol=0, atol=1e-12)
        assert_allclose(other.relevance, found.relevance, rtol=0, atol=1e-12)
    for size in (2, 2, 2, 2, 7, 40):
        some = rng.choice(X.shape[1], size, replace=False)
        other = smrmr.associate(X.iloc[:, some], y, measure="hsic")
        assert_allclose(other.redundancy, found.redundancy[np.ix_(some, some)], rtol=0, atol=1e-12)
        assert_allclose(other.relevance, found.relevance[some], rtol=0, atol=1e-12)


@quiet
def test_budget_changes_no_bit_of_pc_where_sums_round(rng):
    """At n = 3000 sums exceed 2^53, so the direction of a pair would show in its last bit."""
    X = frame(3000, rng, copies=3)
    X = X[rng.permutation(X.columns)]
    ample = smrmr.redundancy(X)
    for memory in ("300kB", "1MB", "3MB"):
        assert_array_equal(smrmr.redundancy(X, max_memory=memory), ample)


@quiet
@pytest.mark.parametrize("measure", list(MEASURES))
def test_multi_output_relevance_is_the_same_for_any_jobs(measure, rng):
    X, y = frame(40, rng, copies=50), rng.normal(size=(40, 2))
    one = smrmr.relevance(X, y, measure=measure)
    assert_array_equal(smrmr.relevance(X, y, measure=measure, n_jobs=2), one)
    scarce = smrmr.relevance(X, y, measure=measure, max_memory="100kB")
    assert_allclose(scarce, one, rtol=0 if measure == "pc" else 1e-12, atol=0)


def test_processes_give_the_same_answer(rng):
    X, y = rng.normal(size=(60, 150)), rng.normal(size=60)
    one = smrmr.associate(X, y)
    with joblib.parallel_config(backend="loky", n_jobs=2):
        other = smrmr.associate(X, y)
    assert_array_equal(other.relevance, one.relevance)
    assert_array_equal(other.redundancy, one.redundancy)


@pytest.mark.parametrize(
    ("measure", "kind"), [("pc", "spread"), ("hsic", "spread"), ("hsic", "heavy_tails")]
)
def test_work_stays_within_the_budget(measure, kind, rng):
    """Numpy reports its allocations to tracemalloc; the result itself comes on top.

    Without a limit these tables take 16 to 30 MB.
    """
    n, p = (600, 300) if measure == "pc" else (500, 100)
    X = np.column_stack([NUMERIC[kind](n, rng) for _ in range(p)])
    smrmr.redundancy(X[:, :3], measure=measure)
    tracemalloc.start()
    smrmr.redundancy(X, measure=measure, max_memory="10MB")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10e6 + 8 * p * p + 1.25e6


@quiet
@pytest.mark.parametrize("measure", list(MEASURES))
def test_relevance_stays_within_the_budget(measure, rng):
    """One column of high rank and one of many classes must not pad all others."""
    n, p = 3000, 200
    X = pd.DataFrame(rng.normal(size=(n, p)).astype(np.float32))
    X[7] = rng.standard_cauchy(size=n)
    X[9] = pd.Categorical(rng.integers(0, 100, size=n))
    X.columns = X.columns.astype(str)
    y = rng.normal(size=n)
    smrmr.relevance(X.iloc[:, :12], y, measure=measure)
    values = 8 * n * p  # a frame with categories is copied
    tracemalloc.start()
    smrmr.relevance(X, y, measure=measure, max_memory="40MB")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 40e6 + values + 10e6


def test_blas_threads_are_restored_after_concurrent_calls(rng):
    """Law: one thread of BLAS while anyone computes, as many as before when the last is done."""
    from threading import Thread

    from threadpoolctl import threadpool_info, threadpool_limits

    def blas_threads():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    inside = set()

    def kernel(a, b):
        inside.update(blas_threads())
        return a @ b.T

    X, measure = rng.normal(size=(40, 12)), smrmr.measures.HSIC(kernel)
    two = threadpool_limits(2, "blas")
    try:
        smrmr.redundancy(X, measure=measure)
        assert inside == {1}
        assert blas_threads() == {2}
        threads = [
            Thread(target=smrmr.redundancy, args=(X[:, :p],), kwargs={"measure": measure})
            for p in (4, 12, 6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert blas_threads() == {2}
    finally:
        two.restore_original_limits()


def test_associate_is_relevance_and_redundancy(rng):
    X, y = rng.normal(size=(30, 7)), rng.choice(["u", "v"], size=30)
    found = smrmr.associate(X, y, measure="hsic")
    assert_array_equal(found.relevance, smrmr.relevance(X, y, measure="hsic"))
    assert_array_equal(found.redundancy, smrmr.redundancy(X, measure="hsic"))
    assert found.target == "classes"


def test_progress_counts_up_to_its_total(rng):
    calls = []
    smrmr.associate(
        rng.normal(size=(20, 600)), rng.normal(size=20), progress=lambda *c: calls.append(c)
    )
    for stage in ("relevance", "redundancy"):
        counts = [(done, total) for name, done, total in calls if name == stage]
        assert counts == [(i + 1, len(counts)) for i in range(len(counts))]
        assert len(counts) > 1


def test_an_error_in_the_callback_reaches_the_caller(rng):
    def stop(*_):
        raise KeyboardInterrupt

    for n_jobs in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            smrmr.redundancy(rng.normal(size=(20, 300)), progress=stop, n_jobs=n_jobs)
    smrmr.redundancy(rng.normal(size=(20, 300)), n_jobs=2)  # nothing is left locked


# --- targets --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "kind", "warns"),
    [
        (["a", "b"] * 10, "classes", False),
        ([True, False] * 10, "classes", False),
        (pd.Series(["a", "b"] * 10, dtype="category"), "classes", False),
        (pd.Series([1, 2] * 10, dtype="category"), "classes", False),
        (pd.Categorical([1, 2] * 10), "classes", False),
        (pd.DataFrame({"cat": np.linspace(0, 1, 20)}), "continuous", False),
        ([0, 1] * 10, "classes", False),
        ([0.0, 1.0] * 10, "classes", False),
        ([3, 3, 3, 3, 7, 7, 7, 7, 7, 7] * 2, "classes", True),
        ([0] * 16 + [1] * 4, "continuous", False),
        (list(range(20)), "continuous", False),
        ([0.5, 1.0] * 10, "continuous", False),
        (np.array([1, 2.5] * 10, dtype=object), "continuous", False),
        ([Decimal("1.5"), Decimal("2")] * 10, "continuous", False),
        (np.array([1, "1"] * 10, dtype=object), "classes", False),
        (pd.DataFrame({"g": pd.Categorical([1, 2] * 10)}), "classes", False),
        (np.arange(40.0).reshape(20, 2), "multi-output", False),
        (np.arange(20.0)[:, None], "continuous", False),
    ],
)
def test_target_types(y, kind, warns, rng):
    X = rng.normal(size=(20, 2))
    if warns:
        with pytest.warns(UserWarning, match="target='continuous'") as caught:
            assert smrmr.associate(X, y).target == kind
        assert caught[0].filename == __file__
    else:
        assert smrmr.associate(X, y).target == kind


def test_target_type_can_be_chosen(rng):
    X, y = rng.normal(size=(20, 2)), [0, 1] * 10
    assert smrmr.associate(X, y, target="classes").target == "classes"
    assert smrmr.associate(X, y, target="continuous").target == "continuous"


def test_type_taken_is_logged(rng, caplog):
    caplog.set_level("INFO", logger="smrmr")
    smrmr.relevance(rng.normal(size=(20, 2)), ["a", "b"] * 10)
    smrmr.relevance(rng.normal(size=(20, 2)), rng.normal(size=(20, 2)))
    assert "classes" in caplog.text
    assert "multi-output" in caplog.text


def test_other_frames_keep_their_names():
    class Frame:
        """What polars and others offer: names and a conversion to an array."""

        columns = ("left", "right")

        def __array__(self, dtype=None, copy=None):
            return np.array([[1.0, np.nan]] * 5)

    with pytest.raises(ValueError, match="right: 5"):
        smrmr.redundancy(Frame())


@pytest.mark.parametrize("column", [[0, 0, 0, 1, 2, 3], [0, 0, 0, 0, 1, 2, 3, 4]])
def test_rare_columns_of_few_rows(column):
    for sign in (1, -1):
        with pytest.warns(UserWarning, match="fewer than 5"):
            smrmr.redundancy(sign * np.array(column, dtype=float)[:, None])


def test_rare_columns_are_named(rng):
    X = pd.DataFrame(rng.normal(size=(40, 4)), columns=["w", "x", "y", "z"])
    X["x"] = [1.0] * 36 + [0.0] * 4
    X["y"] = [0.0] * 5 + [1.0] * 35
    X["z"] = 3.0
    with pytest.warns(UserWarning, match="columns x have fewer than 5"):
        smrmr.redundancy(X)


# --- bad input ------------------------------------------------------------------------------

GOOD = np.arange(40.0).reshape(20, 2) % 7
WITH_NAN = np.where(GOOD == 3, np.nan, GOOD)
WITH_INF = np.where(GOOD == 3, -np.inf, GOOD)
Y = np.linspace(0, 1, 20)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (WITH_NAN, Y, r"2 of 2 columns of X have missing or infinite values \(x0: 3, x1: 3\)"),
        (WITH_INF, Y, "missing or infinite"),
        (pd.DataFrame({"gene": WITH_NAN[:, 0]}), Y, "gene: 3"),
        (pd.DataFrame({"g": pd.array([1, None] * 10, dtype="Int64")}), Y, "g: 10"),
        (pd.DataFrame({"g": pd.Categorical(["a", None] * 10), "h": Y}), Y, "g: 10"),
        (GOOD, np.where(Y > 0.9, np.nan, Y), "y has 2 missing or infinite values in 20"),
        (GOOD, ["a", None] * 10, "y has 10 missing"),
        (GOOD, pd.Series(["a", None] * 10, dtype="category"), "y has 10 missing"),
        (GOOD, Y[:-1], "X has 20 rows and y has 19"),
        (GOOD[:3], Y[:3], "X has 3 rows"),
        (Y, Y, r"reshape\(-1, 1\)"),
        (GOOD[:, :0], Y, "20 rows and 0 columns"),
        (GOOD[:0], Y[:0], "0 rows and 2 columns"),
        (np.zeros((2, 3, 4)), Y, r"shape \(2, 3, 4\)"),
        (GOOD.astype(complex), Y, "Complex"),
        (GOOD.astype(str), Y, "dtype"),
        (np.where(GOOD == 3, None, GOOD), Y, r"x0: 3, x1: 3"),
        (np.where(GOOD == 3, "high", GOOD.astype(object)), Y, "columns x0, x1 of X hold neither"),
        (pd.DataFrame({"name": ["a", "b"] * 10, "v": Y}), Y, "columns name of X hold neither"),
        (pd.DataFrame({"day": pd.date_range("2026-01-01", periods=20)}), Y, "columns day"),
        (np.ma.masked_greater(GOOD, 5), Y, "masked"),
        (GOOD, np.full(20, 2.5), "single value 2.5"),
        (GOOD, ["a"] * 20, "single class"),
        (GOOD, [f"id{i}" for i in range(20)], "looks like sample ids"),
        (GOOD, np.ones((20, 3)), "single value in every column"),
        (GOOD, Y.astype(complex), "Complex"),
        (GOOD, np.array(["a", "b"] * 20).reshape(20, 2), "2 columns and is meant as classes"),
        (GOOD, np.zeros((20, 2, 2)), "y has shape"),
        (GOOD, np.datetime64("2026-01-01") + np.arange(20), "dates"),
        (GOOD, pd.date_range("2026-01-01", periods=20, tz="UTC"), "dates"),
        (GOOD, np.ma.masked_greater(Y, 0.9), "y has masked values"),
        (GOOD, pd.Series([True, None] * 10, dtype="boolean"), "y has 10 missing"),
        (GOOD, pd.Series(["a", None] * 10, dtype="string"), "y has 10 missing"),
        (GOOD, pd.DataFrame({"y": pd.array([1, None] * 10, dtype="Int64")}), "y has 10 missing"),
        (GOOD, [[1, 2], [3]] * 10, "differ in length"),
        (GOOD, [10**400, 1] * 10, "too large"),
        (GOOD.astype(np.longdouble) * np.longdouble("1e4000"), Y, "missing or infinite"),
    ],
)
def test_bad_input_is_refused_with_help(X, y, message):
    with pytest.raises(ValueError, match=message):
        smrmr.associate(X, y)


def test_sparse_input_is_refused_by_name(rng):
    class Sparse:
        """The one method by which scipy's sparse matrices are told."""

        def toarray(self):
            return rng.normal(size=(5, 2))

    with pytest.raises(ValueError, match="toarray"):
        smrmr.redundancy(Sparse())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "nominal"}, "'ordinal' or 'survival'"),
        ({"target": "classes", "y": np.ones((20, 2)) * Y[:, None]}, "meant as classes"),
        ({"target": "continuous", "y": ["a", "b"] * 10}, "target='classes'"),
        ({"max_memory": "plenty"}, "500MB"),
        ({"max_memory": 0}, "500MB"),
        ({"measure": 3}, "'pearson'"),
        ({"measure": smrmr.measures.HSIC}, "'pearson'"),
    ],
)
def test_bad_options_are_refused_with_help(options, message):
    arguments = {"X": GOOD, "y": Y, **options}
    with pytest.raises(ValueError, match=message):
        smrmr.associate(**arguments)


def test_plain_functions_refuse_bad_variables():
    for function in (smrmr.association.hsic_v, smrmr.association.projection_correlation_squared):
        with pytest.raises(ValueError, match="x has 20 samples and y has 19"):
            function(Y, Y[:-1])
        with pytest.raises(ValueError, match="At least 4"):
            function([1, 2], [1, 2])
        with pytest.raises(ValueError, match="x has 1 missing"):
            function([1, 2, 3, np.nan], [1, 2, 3, 4])
        with pytest.raises(ValueError, match="several columns of labels"):
            function([["a", "b"]] * 4, [1, 2, 3, 4])


def test_memory_sizes():
    assert parse_bytes("1GB") == 10**9
    assert parse_bytes("250 mb") == 250 * 10**6
    assert parse_bytes("2k") == 2000


# --- installation ---------------------------------------------------------------------------


@pytest.mark.slow
def test_unwritable_numba_cache_does_not_matter(tmp_path):
    """A package directory and a home where nothing can be written: compile without cache."""
    import shutil
    from pathlib import Path

    package = tmp_path / "smrmr"
    shutil.copytree(
        Path(smrmr.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__")
    )
    blocker = tmp_path / "file"
    blocker.write_text("in the way of every directory")
    for directory in (package, package / "measures"):
        (directory / "__pycache__").write_text("in the way")
    code = (
        "import smrmr; print(smrmr.association.projection_correlation_squared([1,2,3,4],[1,2,3,5]))"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={
            "PYTHONPATH": str(tmp_path),
            "HOME": str(blocker),
            "XDG_CACHE_HOME": str(blocker / "cache"),
            "PATH": "",
        },
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "1.0"
    assert not list(package.rglob("*.nbi"))
