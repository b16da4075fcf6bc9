"""Projection correlation around some samples, and its sums for very many samples."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import oracles
import smrmr
from columns import frame, variables
from smrmr.data.ranks import begins_run
from smrmr.measures import ProjectionCorrelation, as_measure, projection, projection_parts
from smrmr.measures import projection_loops as loops
from smrmr.measures.projection_parts import Ranked, spread_anchors
from smrmr.settings import write_setting

quiet = pytest.mark.filterwarnings("ignore:columns .* have fewer than 5")


def literal(x, y, anchors):
    """The paper's sums over i and l, and over the slices at the anchors alone."""
    if any(v.ndim == 1 and len(set(v)) == 1 for v in (x, y)):
        return 0.0
    a, b = (oracles.centre(oracles.remembered_tensor(v))[:, :, anchors] for v in (x, y))
    return (a * b).sum() / np.sqrt((a**2).sum() * (b**2).sum())


@quiet
@pytest.mark.parametrize("path", ["bit sets", "sweep", "sweep of few levels", "matrices"])
def test_some_anchors_equal_slices_of_the_tensor(path, rng, monkeypatch):
    """Oracle: the literal tensor, on every pair of kinds of columns, and for vectors."""
    monkeypatch.setattr(projection, "BIT_SET_PARTNERS", 1 if path == "bit sets" else 10**6)
    monkeypatch.setattr(projection, "BIT_SET_ROWS", 0)
    if path != "matrices":
        monkeypatch.setattr(projection_parts, "FEW_SIGNS", 0)
    if path == "sweep of few levels":
        monkeypatch.setattr(projection, "TABLE_LEVELS", 1)
    X = frame(19, rng, copies=1)
    columns, anchors = variables(X), spread_anchors(19, 7)
    D = smrmr.redundancy(X, measure="pc(anchors=7)")
    for k, x in enumerate(columns):
        for m, y in enumerate(columns[:k]):
            assert_allclose(D[k, m], literal(x, y, anchors), atol=1e-10)
    for y in (rng.normal(size=(19, 2)), columns[0] ** 3):
        found = smrmr.relevance(X, y, measure="pc(anchors=7)", target="auto")
        assert_allclose(found, [literal(x, y, anchors) for x in columns], atol=1e-10)


@quiet
@pytest.mark.parametrize(("n", "n_anchors"), [(300, 70), (300, 32), (1500, 40)])
def test_bit_sets_and_sweep_agree_on_some_anchors(n, n_anchors, rng, monkeypatch):
    """Each is the other's oracle, at sizes with several words of bits."""
    X = frame(n, rng, copies=1)
    found = []
    for most in (0, 10**6):
        monkeypatch.setattr(projection, "BIT_SET_PARTNERS", 1)
        monkeypatch.setattr(projection, "BIT_SET_ANCHORS", most)
        found.append(smrmr.redundancy(X, measure=ProjectionCorrelation(n_anchors)))
    assert_array_equal(found[0], found[1])
    assert not np.array_equal(found[0], smrmr.redundancy(X))


@quiet
def test_as_many_anchors_as_samples_are_all(rng):
    X, y = frame(80, rng), rng.normal(size=80)
    for measure in ("pc", "pc(anchors=80)", ProjectionCorrelation(1000)):
        found, paper = (smrmr.associate(X, y, measure=m) for m in (measure, "pc(anchors=all)"))
        assert_array_equal(found.redundancy, paper.redundancy)
        assert_array_equal(found.relevance, paper.relevance)


@quiet
def test_some_anchors_still_make_a_gram_matrix(rng):
    """Law: positive semi-definite with ones on the diagonal, the same bits for any n_jobs."""
    X = frame(150, rng, copies=6)
    D = smrmr.redundancy(X, measure="pc(anchors=20)")
    assert_array_equal(np.diag(D), 1.0)
    assert np.linalg.eigvalsh(D).min() > -1e-12
    assert_array_equal(smrmr.redundancy(X, measure="pc(anchors=20)", n_jobs=2), D)


def test_few_anchors_are_one_per_stratum():
    """Law: sorted, one in each of as many strata, at unequal steps; the same for the same n."""
    chosen, edges = spread_anchors(5000, 512), np.arange(513) * 5000 // 512
    assert_array_equal(np.searchsorted(edges, chosen, "right"), range(1, 513))
    assert len(set(np.diff(chosen))) > 5
    spread_anchors.cache_clear()
    assert_array_equal(spread_anchors(5000, 512), chosen)


def test_auto_takes_few_anchors_of_many_rows(rng):
    """Oracle: signs summed around the anchors one by one."""
    x = rng.normal(size=4097)
    y = np.round(x**2 + rng.normal(size=4097), 1)
    sums = np.zeros((2, 2))
    for r in spread_anchors(4097, 512):
        signs = np.sign([x - x[r], y - y[r]])
        totals = signs.sum(axis=1)
        slices = signs @ signs.T - np.outer(totals, totals) / 4097
        means = (totals / 4097) ** 2
        sums += slices**2 - means - means[:, None] + (1 - 1 / 4097) ** 2
    expected = sums[0, 1] / np.sqrt(sums[0, 0] * sums[1, 1])
    assert_allclose(smrmr.relevance(x[:, None], y)[0], expected, rtol=1e-12)
    exact = smrmr.association.projection_correlation_squared(x, y)
    assert_allclose(smrmr.relevance(x[:, None], y, measure="pc(anchors=all)")[0], exact, rtol=0)
    assert exact != expected


def test_anchors_are_a_setting_like_others():
    measure = as_measure("pc(anchors=all)")
    assert measure == ProjectionCorrelation("all")
    assert write_setting(measure) == "pc(anchors=all)"
    assert write_setting(ProjectionCorrelation(64)) == "pc(anchors=64)"
    assert write_setting(smrmr.SmRMR.paper().control.measure) == "pc(anchors=all)"
    assert write_setting(smrmr.paper.KnockoffFilter.paper().measure) == "pc(anchors=all)"
    for wrong in ("some", 0, -3, 2.5, True):
        with pytest.raises(ValueError, match="anchors="):
            ProjectionCorrelation(wrong)


@pytest.mark.parametrize("n", [20_000, 40_000, pytest.param(70_000, marks=pytest.mark.slow)])
def test_sums_of_very_many_rows_lose_nothing(n, rng):
    """Oracle: Python's integers. Around a sample of rank t, a column with itself has a closed form.

    With three anchors of a column with ties and of one without, brute force counts.
    """
    order, out = rng.permutation(n).astype(np.int32)[None], np.zeros((1, 1))
    ranks = (order, *loops.rank_rows(np.ones((1, n), bool), order)[:2])
    loops.sweep(ranks, ranks, False, True, out)
    whole = sum((n * (4 * t + 1) - (2 * t + 1) ** 2) ** 2 for t in range(n))
    assert out[0, 0] == float(whole)

    x, y = rng.normal(size=n), rng.integers(0, 300, size=n).astype(float)
    anchors = np.array([5, n // 2, n - 1])
    orders = [np.argsort(v, kind="stable").astype(np.int32)[None] for v in (x, y)]
    starts = [begins_run(v[o]) for v, o in zip((x, y), orders, strict=True)]
    sides = [(o, *loops.rank_rows(s, o)[:2]) for s, o in zip(starts, orders, strict=True)]
    visits = anchors[np.argsort(y[anchors], kind="stable")].astype(np.int32)[None]
    bins = loops.anchor_bins(sides[0][1], anchors)
    loops.sweep_anchors(sides[1], visits, sides[0], bins, False, out)
    expected = 0
    for r in anchors:
        s, t = np.sign(x - x[r]).astype(int), np.sign(y - y[r]).astype(int)
        expected += int(n * (s @ t) - s.sum() * t.sum()) ** 2
    assert out[0, 0] == float(expected)


@quiet
@pytest.mark.parametrize("anchors", ["all", 33])
def test_bytes_count_as_other_numbers_do(anchors, rng, monkeypatch):
    """Oracle: the sweep, which knows nothing of levels, on genotypes, gaps and constants."""
    n, measure = 150, ProjectionCorrelation(anchors)
    draws = [
        rng.binomial(2, 0.3, size=n),
        rng.choice([0, 2], size=n),
        rng.choice([-3, -1, 0, 4], size=n),
        rng.integers(0, 12, size=n),
        rng.integers(0, 2, size=n) + 100,
        np.full(n, 7),
        rng.integers(-60, 60, size=n),
    ]
    X = np.column_stack(draws).astype(np.int8)
    targets = [rng.normal(size=n), np.round(rng.normal(size=n), 1), rng.choice(["a", "b"], size=n)]
    found = [smrmr.relevance(X, y, measure=measure) for y in targets]
    pairs = smrmr.redundancy(X, measure=measure)
    monkeypatch.setattr(projection, "TABLE_LEVELS", 1)
    for values, y in zip(found, targets, strict=True):
        assert_allclose(values, smrmr.relevance(X.astype(float), y, measure=measure), rtol=1e-12)
    assert_allclose(pairs, smrmr.redundancy(X.astype(float), measure=measure), rtol=1e-12)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("n", [64, 130, 2000])
def test_bit_sets_are_those_of_comparisons(n, tied, monkeypatch, rng):
    """Oracle: comparisons of values with those of anchors, packed by numpy; also in parts."""
    x = rng.integers(0, n // 3, (2, n)) if tied else rng.standard_normal((2, n))
    order = np.argsort(x, axis=1)
    through = np.stack([np.searchsorted(np.sort(row), row, side="right") for row in x])
    anchors = np.sort(rng.permutation(n)[:20])
    monkeypatch.setattr(loops, "MAX_SEEN", 160)  # 8 words of 64 samples
    found = loops.bit_planes(order.astype(np.int32), through.astype(np.int32), anchors, tied)
    for k, row in enumerate(x):
        at = row[anchors, None]
        for side, bits in enumerate([row < at, row != at][: 1 + tied]):
            padded = np.pad(bits, ((0, 0), (0, -n % 64)))
            words = np.packbits(padded, axis=1, bitorder="little").view("<u8")
            assert_array_equal(found[side, k, : len(words.T), : len(anchors)], words.T)
            assert not found[side, k, len(words.T) :, : len(anchors)].any()
    assert found.ctypes.data % 64 == found.strides[2] % 64 == 0  # lines of the cache


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("n", [40, 64, 65, 128, 129, 300, 700])
def test_bit_sets_count_what_the_sweep_counts(n, tied, monkeypatch, rng):
    """Oracle: the sweep; also with fewer anchors than samples, and of a part with itself."""
    monkeypatch.setattr(projection_parts, "FEW_ROWS", 0)
    x = rng.integers(0, n // 3, (7, n)) if tied else rng.standard_normal((7, n))
    below, through = (
        np.stack([np.searchsorted(np.sort(row), row, side) for row in x])
        for side in ("left", "right")
    )
    ranks = [each.astype(np.int32) for each in (np.argsort(x, axis=1), below, through)]
    for anchors in (np.arange(n), np.sort(rng.permutation(n)[: n // 2])):
        found = []
        for bit_sets in (False, True):
            every, few = (
                Ranked(np.arange(k), tuple(each[:k] for each in ranks), tied, anchors, bit_sets)
                for k in (7, 3)
            )
            out = np.zeros((7, 3)), np.zeros((7, 7))
            every.cross(few, out[0])
            every.cross(every, out[1])
            found.append([out[0], np.triu(out[1])])
        assert_array_equal(found[0][0], found[1][0])
        assert_array_equal(found[0][1], found[1][1])


@pytest.mark.parametrize(("p", "expected"), [(64, {64}), (65, set())])
def test_matrices_are_for_few_columns_alone(p, expected, monkeypatch, rng):
    """Oracle: how many columns are multiplied as matrices where all fit a tile, and where not."""
    multiplied, signs_around = [], Ranked.signs_around.func

    def record(part):
        multiplied.append(len(part.columns))
        return signs_around(part)

    monkeypatch.setattr(Ranked, "signs_around", property(record))
    smrmr.redundancy(rng.standard_normal((60, p)))
    assert set(multiplied) == expected
