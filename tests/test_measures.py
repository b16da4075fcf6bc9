"""Every measure on every kind of column against literal formulas, and the laws they obey."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import oracles
import smrmr
from columns import NOMINAL, NUMERIC, frame, variables
from smrmr.measures import HSIC, MEASURES, contingency, hsic, projection
from smrmr.measures.coding_loops import code_small_integers
from thinned import thinned

ALL = [*MEASURES, HSIC("laplacian"), HSIC(width=0.7)]
quiet = pytest.mark.filterwarnings("ignore:columns .* have fewer than 5")


def dense_kernel(variable, kernel):
    return oracles.delta(variable) if variable.dtype.kind in "OU" else kernel(variable)


def pearson2(x, y):
    """Normalised HSIC with linear kernels on one-hot vectors."""
    a, b = oracles.as_vectors(x), oracles.as_vectors(y)
    return oracles.cosine(lambda u, v: oracles.hsic_v(u @ u.T, v @ v.T), a, b)


def metric(variable):
    """Distances; classes are at distance 1 from each other."""
    if variable.dtype.kind in "OU":
        return 1 - oracles.delta(variable)
    return oracles.distances(variable)


def literal(measure, x, y):
    """The association of two variables by the paper's formulas; 0 for a constant, by decision."""
    if any(v.ndim == 1 and len(set(v)) == 1 for v in (x, y)):
        return 0.0
    if measure == "pc":
        return oracles.pc2(x, y)
    if measure == "dcor":
        return oracles.dcor2(metric(x), metric(y))
    if measure == "pearson":
        return pearson2(x, y)
    width = None if measure == "hsic" else measure.width
    laplacian = getattr(measure, "kernel", "gaussian") == "laplacian"
    kernel = oracles.laplacian if laplacian else oracles.gaussian
    return oracles.nr_hsic(*(dense_kernel(v, lambda u: kernel(u, width)) for v in (x, y)))


def associations(measure, x, y, **options):
    return float(smrmr.relevance(pd.DataFrame({"x": x}), y, measure=measure, **options)[0])


# --- against stored numbers and slow transcriptions ------------------------------------------


def test_stored_values(stored_cases):
    """Oracle: numbers from triple loops written outside this project."""
    assert len(stored_cases) == 3
    for case in stored_cases:
        x, y, genotype = (np.array(case[k], dtype=float) for k in ("x", "y", "genotype"))
        classes, y2d = np.array(case["classes"]).astype(str), np.array(case["y2d"])
        laplacian = HSIC("laplacian")
        found = {
            "pc2(x,y)": associations("pc", x, y),
            "pcov2(x,y)": smrmr.association.projection_covariance_squared(x, y),
            "pc2(x,genotype) ties": associations("pc", x, genotype, target="continuous"),
            "pc2(genotype,y) ties": associations("pc", genotype, y),
            "pc2(x,classes) nominal=one-hot": associations("pc", x, classes),
            "pc2(x,y2d) multivariate": associations("pc", x, y2d),
            "nr_hsic(x,y) gaussian median": associations("hsic", x, y),
            "nr_hsic(x,y) laplacian median": associations(laplacian, x, y),
            "nr_hsic(x,classes) gaussian,delta": associations("hsic", x, classes),
            "nr_hsic(x,y2d) gaussian": associations("hsic", x, y2d),
            "hsic_v(x,y) gaussian": smrmr.association.hsic_v(x, y),
            "hsic_u(x,y) gaussian": smrmr.association.hsic_u(x, y),
            "dcor2(x,y)": associations("dcor", x, y),
            "median_bandwidth(x)": smrmr.measures.hsic.median_distance(x[None, :]),
        }
        assert found.keys() == case["values"].keys()
        for name, value in case["values"].items():
            assert_allclose(found[name], value, atol=1e-10, err_msg=name)


@quiet
@pytest.mark.parametrize("measure", ALL, ids=str)
@pytest.mark.parametrize("n", [9, 19])
def test_redundancy_equals_literal_formulas(measure, n, rng):
    """Oracle: `oracles.py`, on every pair of kinds of columns, ties and classes included."""
    X = frame(n, rng)
    columns = variables(X)
    D = smrmr.redundancy(X, measure=measure)
    for k, x in enumerate(columns):
        for m, y in enumerate(columns[: k + 1]):
            expected = literal(measure, x, y)
            assert_allclose(D[k, m], expected, atol=1e-10, err_msg=f"{X.columns[[k, m]]}")


@quiet
@pytest.mark.parametrize("measure", ALL, ids=str)
def test_relevance_equals_literal_formulas(measure, rng):
    """Oracle: `oracles.py`, for continuous, tied, class and multi-output targets."""
    n = 17
    X = frame(n, rng, copies=1)
    columns = variables(X)
    y2 = rng.normal(size=(n, 3))
    y2[3] = y2[11]  # a tie of vectors
    targets = [
        (columns[0] ** 3, "continuous"),
        (np.round(columns[0]), "continuous"),
        (columns[-1], "auto"),
        (y2, "auto"),
    ]
    for y, target in targets:
        found = smrmr.relevance(X, y, measure=measure, target=target)
        expected = [literal(measure, x, np.asarray(y)) for x in columns]
        assert_allclose(found, expected, atol=1e-10)


@quiet
@pytest.mark.parametrize("n", [64, 65, 127, 1024, 1025, 3000])
def test_pc_paths_agree(n, rng, monkeypatch):
    """Bit sets, sweep and contingency tables count the same: each is the others' oracle."""
    X = frame(n, rng, copies=1)
    found = []
    monkeypatch.setattr(projection, "BIT_SET_PARTNERS", 1)
    monkeypatch.setattr(projection, "BIT_SET_ROWS", 0)
    for rows, levels in [(0, 16), (4096, 16), (4096, 1), (0, 1)]:
        monkeypatch.setattr(projection, "BIT_SET_ANCHORS", rows)
        monkeypatch.setattr(projection, "TABLE_LEVELS", levels)
        found.append(smrmr.redundancy(X))
    for other in found[1:]:
        assert_allclose(other, found[0], rtol=1e-13, atol=1e-15)


def test_pc_of_many_rows_equals_brute_force(rng):
    """Oracle: signs summed anchor by anchor, at a size where the directory has several groups."""
    n = 2500
    x = rng.normal(size=n)
    y = np.round(x**2 + rng.normal(size=n), 1)
    totals = {"xx": 0, "xy": 0, "yy": 0}
    for r in range(n):
        s, t = np.sign(x - x[r]), np.sign(y - y[r])
        for name, (a, b) in {"xx": (s, s), "xy": (s, t), "yy": (t, t)}.items():
            product = a @ b - a.sum() * b.sum() / n
            means = a.mean() ** 2 + b.mean() ** 2
            totals[name] += product**2 - means + (1 - 1 / n) ** 2
    expected = totals["xy"] / np.sqrt(totals["xx"] * totals["yy"])
    assert_allclose(smrmr.association.projection_correlation_squared(x, y), expected, rtol=1e-12)
    assert_allclose(smrmr.relevance(x[:, None], y)[0], expected, rtol=1e-12)


def test_pc_never_negative_in_the_smallest_samples():
    """All orders and ties of two columns of 4 and 5 rows: the clip at 0 hides nothing."""
    from itertools import product

    for n in (4, 5):
        patterns = [p for p in product(range(3 if n == 5 else n), repeat=n) if len(set(p)) > 1]
        values = np.array(patterns, dtype=float).T
        signs = np.sign(values[:, None, :] - values[None, :, :])  # sample, anchor, column
        centred = signs - signs.mean(axis=0)
        cross = np.einsum("irk,irm->rkm", signs, centred) ** 2
        means = (signs.mean(axis=0) ** 2)[:, :, None] + (signs.mean(axis=0) ** 2)[:, None, :]
        assert (cross - means + (1 - 1 / n) ** 2).sum(axis=0).min() > -1e-12


@pytest.mark.parametrize("kind", thinned([*NUMERIC, *NOMINAL], [*NUMERIC, *NOMINAL][::2]))
def test_low_rank_hsic_at_the_sizes_that_use_it(kind, rng):
    """Oracle: dense float64 kernel matrices; the issue's bar is 1e-8."""
    n = 700
    draw = (NUMERIC | NOMINAL)[kind]
    columns = [draw(n, rng), rng.normal(size=n), draw(n, rng), rng.normal(size=n) ** 3]
    columns[3] += columns[1]
    X = pd.DataFrame(dict(zip("abcd", columns, strict=True)))
    X = pd.concat([X] * 8, axis=1)
    X.columns = [f"c{k}" for k in range(X.shape[1])]
    D = smrmr.redundancy(X, measure="hsic")
    for k in range(4):
        x = variables(X)[k]
        for m in range(k):
            y = variables(X)[m]
            kernels = [fast_dense(v) for v in (x, y)]
            expected = (kernels[0] * kernels[1]).sum()
            expected /= np.sqrt((kernels[0] ** 2).sum() * (kernels[1] ** 2).sum())
            assert_allclose(D[k, m], expected, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["heavy_tails", "outliers", "zero_inflated"])
def test_high_ranks_cost_little_more_than_dense(kind, rng, monkeypatch):
    """Trying for a low rank and failing must not cost more than half of the dense time."""
    from time import perf_counter

    n, p = 1000, 100
    X = np.column_stack([NUMERIC[kind](n, rng) for _ in range(p)])

    def best():
        times = []
        for _ in range(3):
            start = perf_counter()
            smrmr.redundancy(X, measure="hsic")
            times.append(perf_counter() - start)
        return min(times)

    mixed = best()
    monkeypatch.setattr(hsic, "rank_limit", lambda n, use: 0)
    dense = best()
    print(f"{kind}: {mixed:.2f} s, dense {dense:.2f} s")
    assert mixed < 1.5 * dense


def fast_dense(variable):
    """Centred kernel matrix, median width or delta, without loops."""
    if variable.dtype.kind in "OU":
        return oracles.centre(oracles.delta(variable))
    distances = np.abs(variable[:, None] - variable)
    pairs = distances[np.triu_indices(len(variable), 1)]
    width = np.median(pairs) or pairs[pairs > 0].mean()
    return oracles.centre(np.exp(-((distances / width) ** 2) / 2))


@pytest.mark.parametrize("n", [200, 599, 601, 1500])
def test_dcor_dense_and_sorted_sums_agree_with_brute_force(n, rng):
    """Oracle: centred distance matrices, on both sides of the change of algorithm."""
    X = np.column_stack([rng.normal(size=n), rng.standard_t(2, size=n), rng.poisson(40, n)])
    X[:, 1] += X[:, 0] ** 2
    matrices = [oracles.centre(np.abs(x[:, None] - x)) for x in X.T]
    expected = np.array([[(a * b).sum() for b in matrices] for a in matrices])
    expected /= np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert_allclose(smrmr.redundancy(X, measure="dcor"), expected, atol=1e-10)


# --- plain functions ------------------------------------------------------------------------


def test_projection_covariance_has_a_second_oracle(rng):
    """Oracle: S1 + S2 - 2 S3 with 1/n^3 in S1, for numbers, ties, classes and vectors."""
    n = 11
    pool = [
        rng.normal(size=n),
        rng.integers(0, 3, size=n).astype(float),
        rng.choice(["u", "v", "w"], size=n),
        rng.normal(size=(n, 2)),
    ]
    for x in pool:
        for y in pool:
            expected = oracles.pcov2_by_sums(x, y)
            assert_allclose(
                smrmr.association.projection_covariance_squared(x, y), expected, atol=1e-12
            )
            cosine = oracles.cosine(oracles.pcov2_by_sums, x, y)
            assert_allclose(
                smrmr.association.projection_correlation_squared(x, y), cosine, atol=1e-10
            )


def test_hsic_functions_equal_the_printed_sums(rng):
    """Oracle: eq. (hsic_v1) and enumeration of eq. (hsic_u)."""
    x, y = rng.normal(size=(2, 9))
    labels = rng.choice(["p", "q"], size=9)
    for a, b, k, m in [
        (x, y, oracles.gaussian(x), oracles.gaussian(y)),
        (x, labels, oracles.gaussian(x), oracles.delta(labels)),
    ]:
        assert_allclose(smrmr.association.hsic_v(a, b), oracles.hsic_v(k, m), atol=1e-14)
        assert_allclose(smrmr.association.hsic_u(a, b), oracles.hsic_u(k, m), atol=1e-14)
    k, m = oracles.laplacian(x, 0.3), oracles.laplacian(y, 0.3)
    found = smrmr.association.hsic_u(x, y, kernel="laplacian", width=0.3)
    assert_allclose(found, oracles.hsic_u(k, m), atol=1e-14)


def test_distance_kernel_turns_hsic_into_distance_covariance(rng):
    """Oracle: the identity of the two families; the kernel comes from the user."""

    def distance_kernel(a, b):
        lengths = np.linalg.norm(a, axis=1)[:, None] + np.linalg.norm(b, axis=1)
        return lengths - np.linalg.norm(a[:, None] - b, axis=2)

    n = 150
    X = rng.normal(size=(n, 4))
    X[:, 1] += X[:, 0] ** 2
    by_kernel = smrmr.redundancy(X, measure=HSIC(distance_kernel))
    assert_allclose(by_kernel, smrmr.redundancy(X, measure="dcor"), atol=1e-10)
    covariance = smrmr.association.hsic_v(X[:, 0], X[:, 1], kernel=distance_kernel)
    assert_allclose(
        covariance, smrmr.association.distance_covariance_squared(X[:, 0], X[:, 1]), atol=1e-12
    )


def test_distance_covariance_scales_with_its_variables(rng):
    x, y = rng.normal(size=(2, 40)) + 3
    base = oracles.dcov2(oracles.distances(x), oracles.distances(y))
    assert_allclose(smrmr.association.distance_covariance_squared(x, y), base, rtol=1e-10)
    assert_allclose(
        smrmr.association.distance_covariance_squared(1e6 * x, y), 1e6 * base, rtol=1e-10
    )
    labels = rng.choice(["s", "t", "u"], size=40)
    expected = oracles.dcov2(oracles.distances(x), 1 - oracles.delta(labels))
    assert_allclose(smrmr.association.distance_covariance_squared(x, labels), expected, rtol=1e-10)


@pytest.mark.slow
def test_dcor_package_agrees(rng):
    """Oracle: the dcor package."""
    import dcor

    for n in (50, 900):
        x = rng.normal(size=n)
        y = x**2 + rng.normal(size=n)
        expected = dcor.distance_correlation_sqr(x, y)
        assert_allclose(smrmr.association.distance_correlation_squared(x, y), expected, rtol=1e-10)
        expected = dcor.distance_covariance_sqr(x, y)
        assert_allclose(smrmr.association.distance_covariance_squared(x, y), expected, rtol=1e-10)


# --- laws -----------------------------------------------------------------------------------


@quiet
@pytest.mark.parametrize("measure", ALL, ids=str)
@pytest.mark.parametrize("n", [40, 400])
def test_redundancy_is_a_gram_matrix_of_unit_vectors(measure, n, rng):
    D = smrmr.redundancy(frame(n, rng, copies=4), measure=measure)
    assert_array_equal(D, D.T)
    assert_array_equal(np.diag(D), 1.0)
    assert D.min() >= 0
    assert D.max() <= 1
    assert np.linalg.eigvalsh(D).min() > -1e-7


@pytest.mark.parametrize("measure", ALL, ids=str)
def test_constant_column_is_zero(measure, rng):
    X = rng.normal(size=(30, 3))
    X[:, 1] = 0.1  # its mean does not come out as 0.1
    found = smrmr.associate(X, rng.normal(size=30), measure=measure)
    assert found.relevance[1] == 0
    assert_array_equal(found.redundancy[1], 0.0)
    assert found.redundancy[0, 0] == 1


@quiet
@pytest.mark.parametrize("measure", list(MEASURES))
def test_shift_and_common_scale_do_not_matter(measure, rng):
    X = frame(60, rng, copies=1).drop(columns=[f"{name}0" for name in NOMINAL])
    y = rng.normal(size=60)
    base = smrmr.associate(X, y, measure=measure)
    moved = smrmr.associate(X * 37.5 - 11.25, y / 1000 + 4, measure=measure)
    assert_allclose(moved.relevance, base.relevance, atol=1e-9)
    assert_allclose(moved.redundancy, base.redundancy, atol=1e-9)


@pytest.mark.parametrize(("n", "bias"), [(20, 0.046), (40, 0.022), (100, 0.008)])
def test_bias_of_independent_columns(n, bias, rng):
    """The README's numbers, by simulation: their standard errors are below 1%."""
    found = smrmr.redundancy(rng.normal(size=(n, 250)))
    assert_allclose(found[np.triu_indices(250, 1)].mean(), bias, rtol=0.06)


@given(st.integers(0, 2**32 - 1), st.integers(5, 40))
@settings(max_examples=30, deadline=None)
def test_pc_depends_on_ranks_only(seed, n):
    """Exact law: strictly monotone transforms, decreasing ones too, change not a bit."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=n), rng.integers(0, n, size=n), rng.normal(size=n)])
    y = rng.normal(size=n)
    transformed = np.column_stack([np.exp(X[:, 0]), X[:, 1] ** 3, -np.arctan(X[:, 2])])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("smrmr.data.suspicious.MIN_OTHER_VALUES", 1)
        a = smrmr.associate(X, y, target="continuous")
        b = smrmr.associate(transformed, 5 - y, target="continuous")
    assert_array_equal(a.relevance, b.relevance)
    assert_array_equal(a.redundancy, b.redundancy)


@quiet
@pytest.mark.parametrize("measure", ALL, ids=str)
def test_renaming_classes_changes_nothing(measure, rng):
    n = 60
    X = frame(n, rng, copies=1)
    y = rng.choice(["a", "b", "c"], size=n)
    names = {"a": "zeta", "b": "alpha", "c": "mu"}
    renamed = X.copy()
    renamed["five_classes0"] = X["five_classes0"].cat.rename_categories(
        dict(zip("ertwq", "cabde", strict=True))
    )
    base = smrmr.associate(X, y, measure=measure)
    other = smrmr.associate(renamed, [names[v] for v in y], measure=measure)
    numbered = smrmr.associate(
        X, [{"a": 7, "b": 9, "c": 1}[v] for v in y], measure=measure, target="classes"
    )
    for found in (other, numbered):
        assert_array_equal(found.relevance, base.relevance)
        assert_array_equal(found.redundancy, base.redundancy)


@quiet
@pytest.mark.parametrize("measure", ALL, ids=str)
def test_order_of_rows_and_columns_does_not_matter(measure, rng):
    X, y = frame(80, rng, copies=1), rng.normal(size=80)
    rows, order = rng.permutation(80), rng.permutation(X.shape[1])
    base = smrmr.associate(X, y, measure=measure)
    moved = smrmr.associate(X.iloc[rows, order], y[rows], measure=measure)
    assert_allclose(moved.relevance, base.relevance[order], atol=1e-9)
    assert_allclose(moved.redundancy, base.redundancy[np.ix_(order, order)], atol=1e-9)


@pytest.mark.parametrize("measure", list(MEASURES))
@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_huge_and_tiny_magnitudes(measure, scale, rng):
    X = rng.normal(size=(40, 3))
    y = rng.normal(size=(40, 2))
    base = smrmr.associate(X, y, measure=measure)
    found = smrmr.associate(X * scale, y * scale, measure=measure)
    assert_allclose(found.relevance, base.relevance, atol=1e-9)
    assert_allclose(found.redundancy, base.redundancy, atol=1e-9)
    extreme = np.array([1.7e308, -1.7e308, 0.0, 1.0] * 10)[:, None]
    assert np.isfinite(smrmr.relevance(extreme, X[:, 0], measure=measure)).all()


def test_unsigned_integers_do_not_wrap_round(rng):
    X = rng.integers(0, 256, size=(50, 4)).astype(np.uint8)
    y = rng.integers(0, 256, size=50).astype(np.uint8)
    for measure in MEASURES:
        base = smrmr.associate(X.astype(float), y.astype(float), measure=measure)
        found = smrmr.associate(X, y, measure=measure)
        assert_array_equal(found.relevance, base.relevance)
        assert_array_equal(found.redundancy, base.redundancy)


@pytest.mark.parametrize("dtype", [np.int8, np.bool_, np.int64, np.uint16, np.float32, ">f8"])
def test_dtypes_give_the_same_numbers(dtype, rng):
    X = rng.integers(0, 2, size=(60, 5)).astype(dtype)
    y = rng.normal(size=60)
    for measure in MEASURES:
        base = smrmr.associate(X.astype(float), y, measure=measure)
        found = smrmr.associate(X, y, measure=measure)
        assert_allclose(found.relevance, base.relevance, rtol=1e-14)
        assert_allclose(found.redundancy, base.redundancy, rtol=1e-14)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e7])
def test_user_kernels_do_not_mind_large_offsets(offset, rng):
    """Oracle: Pearson; the linear kernel's matrix is nearly constant, its centred one is not."""
    X = rng.normal(size=(60, 4))
    X[:, 3] = 0.3
    linear = HSIC(lambda a, b: a @ b.T)
    expected = smrmr.redundancy(X, measure="pearson")
    tolerance = 1e-10 * max(1.0, offset / 1e3) ** 2
    assert_allclose(smrmr.redundancy(X + offset, measure=linear), expected, atol=tolerance)
    for scale in (1e-90, 1e80):
        found = smrmr.redundancy(X * scale, measure=linear)
        assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("width", [1e-310, 1e-3, 30.0, 1e4])
def test_given_widths_far_from_the_data(width, rng):
    """Oracle: centred kernel matrices in extended precision, also for vectors."""

    def long_kernel(x):
        v = np.atleast_2d(x.T).astype(np.longdouble)
        squares = sum((c[:, None] - c) ** 2 for c in v)
        return oracles.centre(np.expm1(-squares / (2 * np.longdouble(width) ** 2)))

    X, y = rng.normal(size=(70, 3)), rng.normal(size=(70, 2))
    kernels = [long_kernel(v) for v in (*X.T, y)]
    expected = np.array([[(a * b).sum() for b in kernels] for a in kernels])
    expected = (expected / np.sqrt(np.outer(np.diag(expected), np.diag(expected)))).astype(float)
    measure = HSIC(width=width)
    assert_allclose(smrmr.redundancy(X, measure=measure), expected[:3, :3], atol=1e-8)
    assert_allclose(smrmr.relevance(X, y, measure=measure), expected[:3, 3], atol=1e-8)


@pytest.mark.parametrize("measure", list(MEASURES))
@pytest.mark.parametrize("far", [1e30, 1e170, 1.7e308])
def test_one_sample_beyond_all_others(measure, far, rng):
    """Ranks do not see how far; kernels and distances see only that sample, as at 1e30."""
    x, y = 0.1 * rng.normal(size=40), rng.normal(size=40)
    x[0] = y[0] = 1e30
    vectors = rng.normal(size=(40, 2))
    vectors[0] = 1e30
    expected = smrmr.relevance(x[:, None], y, measure=measure)
    expected_vectors = smrmr.relevance(y[:, None], vectors, measure=measure)
    x[0] = y[0] = vectors[0] = far
    assert_allclose(smrmr.relevance(x[:, None], y, measure=measure), expected, atol=1e-9)
    found = smrmr.relevance(y[:, None], vectors, measure=measure)
    assert_allclose(found, expected_vectors, atol=1e-9)
    assert np.isfinite(smrmr.association.hsic_v(x, y))


def test_constant_vectors_are_independent_of_everything(rng):
    x = rng.normal(size=20)
    assert smrmr.association.projection_correlation_squared(np.ones((20, 2)), x) == 0
    assert smrmr.association.distance_correlation_squared(np.ones((20, 2)), x) == 0


@pytest.mark.parametrize("measure", list(MEASURES))
def test_many_classes(measure, rng):
    """Oracle: `literal`; more classes than fit a byte or half of the samples."""
    n = 40
    X = pd.DataFrame({"few": pd.Categorical(rng.choice(list("ab"), size=n))})
    X["many"] = pd.Categorical(rng.integers(0, 30, size=n).astype(str))
    X["x"] = rng.normal(size=n)
    columns = variables(X)
    D = smrmr.redundancy(X, measure=measure)
    for k in range(3):
        for m in range(k):
            assert_allclose(D[k, m], literal(measure, columns[k], columns[m]), atol=1e-10)
    wide = pd.DataFrame(
        {"w": pd.Categorical(rng.integers(0, 600, size=900)), "x": rng.normal(size=900)}
    )
    assert 0 < smrmr.redundancy(wide, measure=measure)[0, 1] < 1


def test_few_small_whole_numbers_are_coded(rng):
    """Oracle: numpy's unique. Rows may begin anywhere; one of another kind changes none of them."""
    rows = rng.integers(0, 9, size=(6, 40)) + np.array([0, -7, 0.1, 1e6, 0.3, 2])[:, None]
    others = np.stack([rng.normal(size=40), rng.integers(0, 40, 40) * 1.0, rows[0] + 0.5 * rows[1]])
    bytes_ = rng.integers(-2, 3, size=(6, 40)).astype(np.int8)
    bytes_[::2] *= 2  # with numbers between that are no levels
    for table in (rows, others, np.concatenate([others, rows]), 2e306 * others, bytes_):
        codes, counts, levels = code_small_integers(table, 9)
        for row, code, count, level in zip(table, codes, counts, levels, strict=True):
            found, expected, sizes = np.unique(row, return_inverse=True, return_counts=True)
            few = len(found) <= 9 and (row == row.min() + np.trunc(row - row.min())).all()
            assert level == (len(found) if few else 0)
            if few:
                assert_array_equal(code, expected)
                assert_array_equal(count[:level], sizes)


def test_genotypes_are_counted_as_other_levels_are(rng, monkeypatch):
    """Oracle: contingency tables by matrix products; also of anchors alone, from 5,000 rows on."""
    for n, y in ((300, 2), (300, 4), (5000, 2)):
        X, y = rng.integers(0, 3, (n, 20)).astype(np.int8), rng.integers(0, y, n)
        found = []
        for many in (10**9, 0):
            monkeypatch.setattr(contingency, "MANY_VALUES", many)
            found.append(smrmr.relevance(X, y, target="classes"))
        assert_array_equal(*found)
        assert found[0].max() > 0


def test_bad_kernels_are_refused(rng):
    with pytest.raises(ValueError, match="gaussian"):
        HSIC("cosine")
    for width in (0, "median", np.inf):
        with pytest.raises(ValueError, match=r"width=.* must be a number above 0"):
            HSIC(width=width)
    with pytest.raises(ValueError, match="inside your kernel"):
        HSIC(lambda a, b: a @ b.T, width=1.0)
    with pytest.raises(ValueError, match="shape"):
        smrmr.redundancy(rng.normal(size=(10, 2)), measure=HSIC(lambda a, b: np.ones((2, 2))))
    for bad in (lambda a, b: 1j * (a @ b.T), lambda a, b: np.full((len(a), len(b)), np.nan)):
        with pytest.raises(ValueError, match="finite real"):
            smrmr.redundancy(rng.normal(size=(10, 2)), measure=HSIC(bad))
    with pytest.raises(ValueError, match="symmetric"):
        smrmr.redundancy(rng.normal(size=(10, 2)), measure=HSIC(lambda a, b: a - b.T))
    with pytest.raises(ValueError, match="kernel"):
        HSIC(kernel=["gaussian"])
    with pytest.raises(ValueError, match="'pc', 'hsic', 'dcor' or 'pearson'"):
        smrmr.redundancy(rng.normal(size=(10, 2)), measure="mutual information")
