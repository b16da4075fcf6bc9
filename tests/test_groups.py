"""Groups of look-alikes: how they are found, tested, decided on and told."""

from __future__ import annotations

import pickle
import warnings
from itertools import pairwise
from operator import mul

import numpy as np
import pandas as pd
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.ndimage import gaussian_filter1d
from scipy.stats import norm, rankdata, spearmanr
from typer.testing import CliRunner

import smrmr.features.alike as alike_module
import smrmr.features.near as near_module
import smrmr.features.rank_table as table_module
from smrmr import Recipe, Selection, SmRMR, select, simulate
from smrmr.cli.commands import app
from smrmr.conditional.calibration import calibrate
from smrmr.conditional.combine import combine
from smrmr.conditional.rules import BenjaminiHochberg, innermost
from smrmr.data import read_data
from smrmr.data.columns import Columns
from smrmr.data.feature_groups import groups_named
from smrmr.data.ranks import average_ranks
from smrmr.features.alike import find_alike
from smrmr.features.copies import find_copies
from smrmr.features.fingerprints import _digests, _weights
from smrmr.features.groups import find_groups
from smrmr.features.near import near_pairs
from smrmr.features.rank_table import RankTable
from smrmr.features.user_groups import read_feature_groups
from smrmr.report import render
from smrmr.report.words import say
from smrmr.runs.work import Work
from smrmr.selection.counts import count_features

CUTS = (0.9, 0.7, 0.5)


def correlated(rng, n=60, p=150, factors=25):
    shared = rng.standard_normal((n, factors))[:, rng.integers(0, factors, p)]
    return shared * rng.uniform(0.5, 3, p) + rng.standard_normal((n, p))


def same_group(labels):
    return labels[:, None] == labels


def in_blocks(rng, n=150, blocks=20, size=5, likeness=0.9):
    """Blocks of columns that share a factor, and a target made from three columns of three."""
    shared = rng.standard_normal((n, blocks)).repeat(size, axis=1)
    X = np.sqrt(likeness) * shared + np.sqrt(1 - likeness) * rng.standard_normal((n, blocks * size))
    y = X[:, 2] - X[:, size + 1] + 1.5 * np.abs(X[:, 3 * size]) + 0.5 * rng.standard_normal(n)
    return X, y


# -- ranks


@pytest.mark.parametrize("memory", [10**9, 100])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8])
def test_the_table_holds_doubled_ranks(dtype, memory, rng):
    """Oracle: scipy's ranks, whether the table keeps them, and for a span of its columns."""
    X = rng.integers(-5, 5, (30, 12)).astype(dtype)
    table = RankTable.of(Columns.bare(X), Work(max_memory=memory))
    which, expected = np.array([7, 3, 3, 11]), 2 * rankdata(X, axis=0).T
    for _ in range(2):
        np.testing.assert_array_equal(table.ranks(which), expected[which])
    np.testing.assert_array_equal(table.span(2, 9).ranks(np.array([1, 6])), expected[[3, 8]])
    assert (table.kept is None) == (memory == 100)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(table)).ranks(which), expected[which])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_columns_are_ranked_once(n_jobs, rng, monkeypatch):
    """Law: copies, clusters and likeness together rank every column of many values once."""
    ranked = []

    def counted(values, axis=-1):
        ranked.append(len(values))
        return average_ranks(values, axis)

    monkeypatch.setattr(table_module, "average_ranks", counted)
    table, work = RankTable.of(Columns.bare(correlated(rng))), Work(n_jobs=n_jobs)
    groups = find_groups(table, True, (1.0, 0.7), None, work)
    alike_module.likeness_to(table, groups.partitions[1])
    assert sum(ranked) == 150


# -- how groups are found


def test_groups_are_those_of_average_linkage(rng):
    """Oracle: scipy's linkage of all columns at once; groups at a lower cut hold those above."""
    X = correlated(rng)
    ranks = rankdata(X, axis=0)
    distance = 1 - np.abs(np.corrcoef(ranks.T))
    tree = linkage(distance[np.triu_indices(150, 1)], "average")
    told = []
    work = Work(progress=lambda stage, done, total: told.append((stage, done / total)))
    found = find_alike(RankTable.of(Columns.bare(X)), np.arange(150), CUTS, work)
    assert told[-1] == ("look-alikes", 1.0)
    for cut, labels in zip(CUTS, found, strict=True):
        expected = fcluster(tree, 1 - cut, "distance")
        np.testing.assert_array_equal(same_group(labels), same_group(expected))
        assert (labels == np.array([np.flatnonzero(labels == k)[0] for k in labels])).all()
    for fine, coarse in pairwise(found):
        assert (same_group(coarse) | ~same_group(fine)).all()


def test_groups_do_not_depend_on_order_or_sign(rng):
    """Law: columns in another order, turned or bent, are grouped the same way, ties too."""
    X = rng.integers(0, 3, (40, 15)).repeat(6, axis=1) + (rng.random((40, 90)) < 0.15)
    columns, rows = rng.permutation(90), rng.permutation(40)
    (labels,) = find_alike(RankTable.of(Columns.bare(X)), np.arange(90), (0.6,), Work())
    changed = np.exp(-1.0 * X)[rows][:, columns]
    (again,) = find_alike(RankTable.of(Columns.bare(changed)), np.arange(90), (0.6,), Work())
    np.testing.assert_array_equal(same_group(again), same_group(labels)[np.ix_(columns, columns)])
    assert 10 < len(np.unique(labels)) < 80


def test_too_many_columns_in_one_chain_are_split_by_a_higher_cut(rng, monkeypatch):
    """Oracle: no set is larger than what can be linked, unless even the highest cut keeps it."""
    monkeypatch.setattr(alike_module, "MOST_LINKED", 40)
    monkeypatch.setattr(alike_module, "LARGE", 1.0)  # which has a warning of its own
    X = correlated(rng, p=200, factors=3)
    ranks = alike_module._unit_ranks(RankTable.of(Columns.bare(X)), np.arange(200), Work())
    parts = [members for members, _ in alike_module._connected(ranks, 0.3)]
    assert max(map(len, parts)) <= 40
    assert len(np.unique(np.concatenate(parts))) == sum(map(len, parts))
    ((nearly, _),) = alike_module._connected(np.repeat(ranks[:1], 60, axis=0), 0.7)
    assert len(nearly) == 60
    with pytest.warns(
        UserWarning, match=r"form one cluster at a correlation of 0.3, more than the 40"
    ):
        find_alike(RankTable.of(Columns.bare(X)), np.arange(200), (0.3,), Work())


def test_far_columns_are_compared_only_in_small_tables(rng, monkeypatch):
    """Oracle: a copy of a column far from it; beyond so many columns only windows are compared."""
    monkeypatch.setattr(alike_module, "TILE", 16)
    monkeypatch.setattr(alike_module, "WINDOW", 16)
    X = rng.standard_normal((50, 120))
    X[:, 110], X[:, 3] = X[:, 0] + 0.1 * X[:, 110], X[:, 1] + 0.1 * X[:, 3]
    for all_pairs, far in ((1000, True), (100, False)):
        monkeypatch.setattr(alike_module, "ALL_PAIRS", all_pairs)
        (labels,) = find_alike(RankTable.of(Columns.bare(X)), np.arange(120), (0.8,), Work())
        assert labels[3] == 1
        assert (labels[110] == 0) == far


def test_a_group_of_half_the_table_is_warned_of(rng):
    X = np.column_stack([correlated(rng, p=60, factors=1), rng.standard_normal((60, 60))])
    with pytest.warns(
        UserWarning, match=r"correlation of 0.2, \d+ of 120 columns form one cluster.* alike=0"
    ):
        find_alike(RankTable.of(Columns.bare(X)), np.arange(120), (0.2,), Work())


def test_several_large_groups_are_warned_of_at_once(rng):
    """Oracle: two factors of 40 columns each, without correlation between them."""
    base = rng.standard_normal((200, 2)).repeat(40, axis=1)
    X = np.column_stack(
        [base + 0.3 * rng.standard_normal((200, 80)), rng.standard_normal((200, 20))]
    )
    with pytest.warns(UserWarning, match="clusters") as warned:
        find_alike(RankTable.of(Columns.bare(X)), np.arange(100), (0.7,), Work())
    (said,) = (str(one.message) for one in warned)
    assert "2 clusters hold 80 of 100 columns, the largest 40" in said


def test_copies_stay_together_and_shared_groups_are_one_hypothesis(rng):
    """Oracle: worked by hand. Columns 0, 1 are alike, 2 copies 0, 3 is alone, 4 is constant."""
    X = rng.standard_normal((200, 5))
    X[:, 1] = X[:, 0] + 0.4 * X[:, 1]
    X[:, 2], X[:, 4] = -2 * X[:, 0], 7.0
    groups = find_groups(RankTable.of(Columns.bare(X)), True, (1.0, 0.7, 0.6))
    assert [labels.tolist() for labels in groups.partitions] == [
        [0, 1, 0, 3, 4],
        [0, 0, 0, 3, 4],
        [0, 0, 0, 3, 4],
    ]
    assert [numbers.tolist() for numbers in groups.hypotheses] == [
        [0, 1, 0, 2, -1],
        [3, 3, 3, 2, -1],
        [3, 3, 3, 2, -1],
    ]


@pytest.mark.parametrize("most", [3, 2**18])
@pytest.mark.parametrize(("digits", "reach"), [(12, 0.05), (1, 0.25), (1, 3.0)])
def test_near_points_are_those_of_all_pairs(digits, reach, most, rng, monkeypatch):
    """Oracle: the distances of all pairs, however many are compared at a time."""
    monkeypatch.setattr(near_module, "MOST", most)
    points = np.round(rng.normal(size=(300, 4)) * [0.2, 0.2, 1, 1], digits)
    first, second = near_pairs(points, reach)
    found = np.sort(np.column_stack([first, second]), axis=1)
    apart = np.abs(points[:, None] - points).max(axis=2)
    expected = np.argwhere(np.triu(apart <= reach, 1))
    assert len(expected) > 0
    np.testing.assert_array_equal(found[np.lexsort(found.T[::-1])], expected)


def test_digests_are_sums_that_a_change_of_sign_leaves(rng):
    """Oracle: Python's whole numbers, which never overflow."""
    rows = rng.integers(-(10**10), 10**10, size=(6, 30))
    rows[3:] = -rows[:3]
    found = _digests(rows.astype(np.float64))
    for row, digest in zip(rows.tolist(), found.tolist(), strict=True):
        sums = [sum(map(mul, row, side)) for side in _weights(30).T.tolist()]
        assert digest in ([total % 2**64 for total in sums], [-total % 2**64 for total in sums])
    np.testing.assert_array_equal(found[:3], found[3:])
    assert len(np.unique(found)) == 6


def test_few_levels_are_copies_whatever_their_values(rng):
    """Oracle: worked by hand. Levels in the same or the opposite order are one column."""
    codes = rng.integers(3, size=(50, 2))
    X = np.column_stack([codes, 2 - codes[:, 0], np.exp(codes[:, 1]), codes[:, 0] == 1])
    assert find_copies(Columns.bare(X), by_rank=False).leaders.tolist() == [0, 1, 0, 1, 4]


def test_copies_by_rank_are_those_of_all_pairs(rng):
    """Oracle: Spearman correlations of all pairs; scales that overflow, ties, other directions."""
    steps = 10.0 ** rng.integers(1, 9, size=90)
    X = np.round(rng.normal(size=(40, 90)) * steps) / steps
    changes = (np.exp, lambda x: -np.exp(x), lambda x: 1e250 * x, lambda x: -1e-300 * x)
    for k in range(60, 90):
        X[:, k] = changes[k % 4](X[:, rng.integers(60)])
    found = find_copies(Columns.bare(X), by_rank=True)
    alike = np.abs(np.corrcoef(rankdata(X, axis=0).T)) > 1 - 1e-8
    np.testing.assert_array_equal(found.leaders, alike.argmax(axis=1))
    assert not found.constant.any()


def test_groups_can_be_given(rng):
    """Oracle: worked by hand; names, numbers, gaps, and a mapping by name."""
    frame = pd.DataFrame(rng.standard_normal((20, 4)), columns=list("abcd"))
    columns = Columns(frame.to_numpy(), tuple("abcd"), np.zeros(4, bool))
    copies = find_copies(columns, True)
    for given in (
        ["x", None, "x", ""],
        np.array([7.0, np.nan, 7.0, 3.0]),
        {"a": "x", "c": "x"},
        pd.Series(["x", "x"], index=["c", "a"]),
        pd.Series(["x", None, "x", "y"]),
    ):
        assert read_feature_groups(given, columns, copies).tolist() == [0, 1, 0, 3]
    with pytest.raises(ValueError, match=r"shape \(3,\). One group per feature"):
        read_feature_groups([1, 2, 3], columns, copies)
    with pytest.raises(ValueError, match=r"'e', which is no feature"):
        read_feature_groups({"e": 1}, columns, copies)


def test_given_groups_that_share_a_copy_become_one(rng):
    X = rng.standard_normal((20, 4))
    X[:, 3] = X[:, 0]
    columns = Columns.bare(X)
    with pytest.warns(UserWarning, match="x0 and x3"):
        labels = read_feature_groups([0, 0, 1, 1], columns, find_copies(columns, True))
    assert labels.tolist() == [0, 0, 0, 0]


# -- how they are decided on


def innermost_by_hand(chosen, parents):
    """Those of the chosen that are no ancestor of another."""
    above = set()
    for k in chosen:
        while (k := parents[k]) >= 0:
            above.add(k)
    return set(chosen) - above


def test_q_values_of_nested_groups(rng):
    """Oracle: focused BH by its definition, threshold by threshold."""
    for _ in range(20):
        m = int(rng.integers(3, 40))
        parents = np.array([int(rng.integers(k + 1, m)) for k in range(m - 1)] + [-1])
        parents[rng.random(m) < 0.4] = -1
        p = np.round(rng.random(m) ** 3, 2) + 1e-3
        estimates = {t: m * t / len(innermost_by_hand(np.flatnonzero(p <= t), parents)) for t in p}
        expected = [min(1.0, *(e for t, e in estimates.items() if t >= own)) for own in p]
        np.testing.assert_allclose(BenjaminiHochberg().adjust(p, parents), expected)
        chosen = p <= 0.2
        kept = set(np.flatnonzero(innermost(chosen, parents)).tolist())
        assert kept == innermost_by_hand(np.flatnonzero(chosen), parents)


# -- what is found


@pytest.fixture(scope="module")
def blocks():
    return in_blocks(np.random.default_rng(5))


@pytest.fixture(scope="module")
def grouped(blocks):
    return select(*blocks, Recipe(fdr=0.02, alike=0.7))


@pytest.fixture(scope="module")
def nested(blocks):
    """Single features and groups of them."""
    return select(*blocks, Recipe(fdr=0.02, alike=(1, 0.7)))


def test_groups_are_found_where_single_features_are_not(blocks, grouped):
    """Oracle: how y was made, from columns of blocks 0, 1 and 3."""
    assert sorted(int(group.min() // 5) for group in grouped.members) == [0, 1, 3]
    assert [len(group) for group in grouped.members] == [5, 5, 5]
    assert (grouped.selected == [group[0] for group in grouped.members]).all()
    alone = select(*blocks, Recipe(fdr=0.02, alike=None))
    assert all(len(group) == 1 for group in alone.members)


@pytest.mark.parametrize(("size", "likeness"), [(2, 0.7), (10, 0.7), (100, 0.5)])
def test_p_values_of_groups_are_fair(rng, size, likeness):
    """Oracle: targets without effect; Cauchy's rule alone fails for large groups."""
    n, n_targets = 100, 10_000
    shared = rng.standard_normal((1, n))
    left = np.sqrt(likeness) * shared + np.sqrt(1 - likeness) * rng.standard_normal((size, n))
    left -= left.mean(axis=1, keepdims=True)
    unit = left / np.linalg.norm(left, axis=1, keepdims=True)
    z = unit @ rng.standard_normal((n, n_targets))
    p = combine(2 * norm.sf(np.abs(z)))
    for level in (0.05, 0.01):
        assert np.mean(calibrate(p, left) <= level) == pytest.approx(level, rel=0.25)
    assert size < 100 or np.mean(p <= 0.05) > 1.25 * 0.05


def test_every_finding_is_told_for_the_smallest_group(nested):
    """Law: with several cuts nothing that is found holds another finding."""
    everything = np.concatenate(nested.members)
    assert len(np.unique(everything)) == len(everything)
    assert {len(group) for group in nested.members} <= {1, 5}
    assert {int(group.min() // 5) for group in nested.members} >= {0, 1, 3}


def test_a_hypothesis_is_blind_to_its_group(blocks, grouped):
    """Law: p-values of a group given outside do not change with columns that repeat its own."""
    X, y = blocks
    doubled = np.column_stack(
        [X, X[:, :5] + 1e-3 * np.random.default_rng(0).standard_normal((150, 5))]
    )
    two = select(doubled, y, Recipe(alike=0.7))
    assert len(two.members[[0 in group for group in two.members].index(True)]) == 10
    p = grouped.p_values[0]
    assert np.abs(np.log10(two.p_values[0] / p)) < 0.05 * -np.log10(p)


def test_nothing_changes_where_nothing_is_alike():
    data = simulate("1.c", 100, 40, random_state=3)
    plain = select(data.X, data.y, Recipe(alike=None))
    for cuts in (0.9, (1, 0.9), "none"):
        found = select(data.X, data.y, Recipe(alike=cuts))
        np.testing.assert_array_equal(found.p_values, plain.p_values)
        np.testing.assert_array_equal(found.selected, plain.selected)


def test_levels_of_a_category_given_as_columns_are_one_group(rng):
    """Oracle: a category of four levels, of which y knows; its columns are found as one."""
    levels = rng.integers(0, 4, 200)
    X = np.column_stack([(levels[:, None] == np.arange(4)) * 1.0, rng.standard_normal((200, 40))])
    y = np.array([0.0, 0.0, 1.5, -1.5])[levels] + rng.standard_normal(200)
    found = select(X, y, Recipe(fdr=0.1, feature_groups=["level"] * 4 + [None] * 40))
    assert set(found.members[0].tolist()) == {0, 1, 2, 3}


def test_order_does_not_matter_to_groups(blocks, grouped, nested, rng):
    """Law: rows or columns in another order permute the p-values of groups, but for rounding."""
    X, y = blocks
    columns, rows = rng.permutation(100), rng.permutation(150)
    for one in (grouped, nested):
        recipe = Recipe(fdr=0.02, alike=0.7 if one is grouped else (1, 0.7))
        two = select(X[rows][:, columns], y[rows], recipe)
        np.testing.assert_allclose(two.p_values, one.p_values[columns], rtol=1e-10)
        assert {tuple(np.sort(columns[g])) for g in two.members} == {
            tuple(np.sort(g)) for g in one.members
        }


def test_threads_do_not_matter_to_groups(blocks, grouped):
    """Law: the same answer for every number of threads."""
    for control in ("tests", "knockoffs"):
        one, two = (
            select(*blocks, Recipe(0.02, control, alike=0.7, n_jobs=n_jobs), rng=0)
            for n_jobs in (1, 2)
        )
        np.testing.assert_allclose(two.evidence.scores, one.evidence.scores, rtol=1e-12)
        np.testing.assert_array_equal(two.selected, one.selected)


def test_groups_may_be_a_column_of_the_data(rng, tmp_path):
    """Oracle: the pathways that were written into .var of the file."""
    anndata = pytest.importorskip("anndata")
    X, y = in_blocks(rng)
    genes = pd.DataFrame(
        {"pathway": [f"p{k // 5}" for k in range(100)]}, [f"g{k}" for k in range(100)]
    )
    people = pd.DataFrame({"y": y}, [f"s{i}" for i in range(150)])
    anndata.AnnData(X, obs=people, var=genes).write_h5ad(tmp_path / "cells.h5ad")
    data = read_data(tmp_path / "cells.h5ad", "y")
    groups, note = groups_named(data, "pathway")
    assert groups == dict(genes["pathway"])
    assert note == "100 of 100 features are in 20 groups of pathway"
    with pytest.raises(ValueError, match=r"neither a file nor a column. Did you mean 'pathway'"):
        groups_named(data, "pathwy")
    bad = tmp_path / "bad.csv"
    bad.write_text("feature,group,more\ng0,a,1\n")
    with pytest.raises(ValueError, match=r"has 3 columns. Two are needed"):
        groups_named(data, str(bad))
    bad.write_text("feature,group\nGENE1,a\n")
    with pytest.raises(ValueError, match=r"none of its names .such as 'GENE1'. is a feature"):
        groups_named(data, str(bad))


def test_what_may_carry_a_group(grouped):
    """Oracle: how y was made: column 2 carries block 0, column 6 block 1, column 15 block 3."""
    for true in (2, 6, 15):
        (i,) = (i for i, group in enumerate(grouped.members) if true in group)
        carriers = grouped.carriers[i]
        assert len(carriers.sets) == 1
        assert true in carriers.sets[0]
        assert sorted(carriers.members.tolist()) == sorted(grouped.members[i].tolist())
        assert (np.diff(carriers.probabilities) <= 0).all()
        np.testing.assert_allclose(carriers.probabilities.sum(), 1)
        inside = np.isin(carriers.members, carriers.sets[0])
        assert carriers.probabilities[inside].sum() >= 0.95 - 1e-6
        assert carriers.probabilities[inside][:-1].sum() < 0.95
    assert min(len(carriers.sets[0]) for carriers in grouped.carriers) < 5


def test_groups_are_told_as_groups(grouped):
    """Oracle: the numbers of the evidence."""
    lead = int(grouped.selected[0])
    other = int(grouped.members[0][1])
    assert "Given all others 3 groups of look-alikes are selected at FDR 0.02." in str(grouped)
    said = grouped.explain(lead)
    assert "It represents a group of 5 features, with " in said
    assert "Adjusted for all features outside its group, as it rises" in said
    best = grouped.carriers[0]
    name, probability = grouped.names[best.members[0]], best.probabilities[0]
    assert f"with probability 95%, {name} ({probability:.2f})." in said
    assert f"its group has p-value {grouped.p_values[lead]:.2g} given all features outside" in said
    assert grouped.explain(other).startswith(
        f"x{other} is in a selected group of 5 features, represented by x{lead}."
    )
    assert grouped.outcome(lead) == "selected"
    assert grouped.outcome(other) == "in a selected group"
    assert Selection.from_json(grouped.to_json()).explain(other) == grouped.explain(other)
    table = grouped.findings()
    assert table["feature"].tolist() == grouped.selected_names
    assert table["size"].tolist() == [5, 5, 5]
    assert table["members"][0].split() == [f"x{k}" for k in grouped.members[0]]
    every = grouped.groups()
    assert len(every) == 20
    assert every["selected"].sum() == 3
    assert (np.diff(every["q_value"]) >= 0).all()


def test_members_are_told_with_their_likeness(blocks, nested):
    """Oracle: scipy's Spearman correlation of each member with the lead of the group found."""
    X, found = blocks[0], nested
    assert found.n_groups
    expected = [
        [spearmanr(X[:, k], X[:, lead])[0] for k in group]
        for lead, group in zip(found.selected, found.members, strict=True)
    ]
    for told, known in zip(found.alike, expected, strict=True):
        np.testing.assert_allclose(told, known, atol=1e-4)
    least = [min(known) for known in expected]
    np.testing.assert_allclose(found.findings()["least_alike"], least, atol=1e-4)


def test_transform_keeps_leads_or_all(blocks):
    X, y = blocks
    lead, everything = (
        SmRMR(0.02, alike=0.7, keep=keep).fit(X, y) for keep in ("representative", "all")
    )
    assert lead.transform(X).shape == (150, 3)
    assert everything.transform(X).shape == (150, 15)
    with pytest.raises(ValueError, match="keep='some'"):
        SmRMR(keep="some").fit(X, y)


def test_cuts_that_make_no_sense_are_refused():
    for cuts in (0, 1.2, "much", (0.5, -1), []):
        with pytest.raises(ValueError, match="is not a cut on correlations"):
            Recipe(alike=cuts)
    with pytest.raises(ValueError, match="Leave out one"):
        Recipe(alike=0.7, feature_groups=[1, 1])
    with pytest.raises(ValueError, match="groups of 2 kinds"):
        Recipe(control="knockoffs", alike=(1, 0.7))
    with pytest.raises(ValueError, match="groups of 2 kinds"):
        Recipe(control="knockoffs", alike=1, feature_groups=[1, 1])


# -- statistics over many data sets


def smooth_curves(rng, n=200, p=120):
    """Curves at so many bands, and a target made from four of them."""
    X = gaussian_filter1d(rng.standard_normal((n, p)), sigma=3, axis=1)
    X = X / X.std() + 0.1 * rng.standard_normal((n, p))
    true = rng.choice(p, 4, replace=False)
    return X, X[:, true] @ rng.choice([-1.0, 1.0], 4) + 0.5 * rng.standard_normal(n), true


def medoids(X, groups):
    """Of every group the member most like the others."""
    likeness = np.abs(np.corrcoef(X.T)) * same_group(groups)
    best = np.lexsort((-likeness.sum(axis=1), groups))
    return best[np.unique(groups[best], return_index=True)[1]]


@pytest.mark.slow
def test_the_level_holds_for_groups_and_not_for_medoids():
    """Law: the level; members that stand for their groups break it, since they do not."""
    level, false, false_medoids = 0.2, [], []
    for seed in range(10):
        X, y, true = smooth_curves(np.random.default_rng(seed))
        found = select(X, y, Recipe(alike=0.7, fdr=level))
        groups = found.evidence.hypotheses[0]
        middle = medoids(X, groups)
        alone = middle[select(X[:, middle], y, Recipe(fdr=level)).selected]
        for share, chosen in ((false, found.selected), (false_medoids, alone)):
            wrong = ~np.isin(groups[chosen], groups[true])
            share.append(np.count_nonzero(wrong) / max(len(wrong), 1))
    assert np.mean(false) < level + 2 * np.std(false) / np.sqrt(10)
    assert np.mean(false_medoids) > level + 4 * np.std(false_medoids) / np.sqrt(10)


@pytest.mark.slow
def test_the_carrier_is_among_those_named():
    """Law: the set of members holds the true one in 95 of 100 groups found, and is no whole group.

    Three blocks of `in_blocks` have a true column each.
    """
    named, sizes = [], []
    for seed in range(30):
        X, y = in_blocks(np.random.default_rng(seed))
        found = select(X, y, Recipe(alike=0.7, fdr=0.1))
        for lead, carriers in zip(found.selected, found.carriers, strict=True):
            if lead // 5 in (0, 1, 3):
                named.append(np.isin(carriers.sets[0], [2, 6, 15]).any())
                sizes.append(len(carriers.sets[0]))
    assert len(named) > 60
    assert np.mean(named) > 0.95 - 2 * np.sqrt(0.95 * 0.05 / len(named))
    assert np.mean(sizes) < 4


# -- group knockoffs


def test_group_knockoffs_find_groups(rng):
    """Oracle: how y was made; W of a group is the sum over its features."""
    X, y = in_blocks(rng, n=300, blocks=30)
    y = X[:, ::15].sum(axis=1) + 0.5 * rng.standard_normal(300)  # ten blocks of thirty
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # knockoffs may fail their diagnosis
        found = select(X, y, Recipe(control="knockoffs", alike=0.7, fdr=0.3), rng=0)
    draw = found.evidence.draws[0]
    for group in range(30):
        inside = np.isin(draw.kept, np.arange(5 * group, 5 * group + 5))
        np.testing.assert_allclose(found.W[5 * group : 5 * group + 5], draw.W[inside].sum())
    blocks_found = {int(group.min() // 5) for group in found.members}
    assert len(blocks_found & set(range(0, 30, 3))) >= 5


def test_the_report_and_the_terminal_tell_groups(blocks, nested, tmp_path):
    """Oracle: the findings; with several cuts those of the group found, not of its lead alone."""
    (X, y), found = blocks, nested
    page = render(found)
    table = found.findings()
    for feature, p, size in zip(table["feature"], table["p_value"], table["size"], strict=True):
        assert f'<bdi title="{feature}">{feature}</bdi> <small>p {p:.2g}, q-value' in page
        assert ("It represents a group" in found.explain(feature)) == (size > 1)
    assert "If one member carries the association of the group" in page
    frame = pd.DataFrame(X).add_prefix("x").assign(y=y)
    frame.to_csv(tmp_path / "table.csv", index=False)
    groups = pd.DataFrame({"feature": frame.columns[:100], "group": np.arange(100) // 5})
    groups.to_csv(tmp_path / "groups.csv", index=False)
    asked = ["select", str(tmp_path / "table.csv"), "--target", "y", "--fdr", "0.02"]
    asked += ["--feature-groups", str(tmp_path / "groups.csv"), "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0, done.output
    assert "100 of 100 features are in 20 groups" in done.output
    assert "credible set" in " ".join(done.output.split())
    written = pd.read_csv(tmp_path / "out" / "selected.csv")
    assert written["size"].tolist() == [5, 5, 5]
    assert len(pd.read_csv(tmp_path / "out" / "groups.csv")) == 20
    again = [*asked[:-3], str(tmp_path / "none.csv"), *asked[-2:], "--overwrite"]
    wrong = CliRunner().invoke(app, again)
    assert wrong.exit_code == 2
    assert "neither a file nor a column" in wrong.output


# --- counts -----------------------------------------------------------------------------------


def crowded(rng, n=60):
    """Fifteen look-alikes, copies of five of them on two scales, constants, and others."""
    base = rng.normal(size=(n, 1))
    X = rng.normal(size=(n, 80))
    X[:, :15] = base + 0.3 * rng.normal(size=(n, 15))
    X = np.hstack([X, X[:, :5] * 2, X[:, :5] ** 3, np.ones((n, 2))])
    return X, base[:, 0] + rng.normal(size=n)


@pytest.mark.filterwarnings("ignore:the first principal component")
def test_a_large_group_has_the_size_that_the_warning_says(rng):
    """Oracle: the members of the group in the answer, copies among them."""
    X, y = crowded(rng)
    with pytest.warns(UserWarning, match="form one cluster") as warned:
        found = select(X, y)
    sizes = [len(members) for members in found.members]
    told = [str(one.message) for one in warned if "form one cluster" in str(one.message)]
    assert max(sizes) == 25
    assert "25 of 92 columns form one cluster" in told[0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("how", "gone"),
    [
        ({}, "Of 92 features 2 are constant and 10 are copies of others; the other 80 are"),
        ({"alike": None}, "Of 92 features 2 are constant and 10 are copies of others; the"),
        ({"alike": 0.7}, "Of 92 features 2 are constant and 10 are copies of others; the other"),
        ({"only": [0, 1, 90]}, "Of 92 features 2 are constant, 84 are only adjusted for and"),
        ({"always_keep": [3]}, "Of 92 features 1 is always kept, 2 are constant and 10 are"),
    ],
)
def test_counts_of_features_and_hypotheses_agree(how, gone, rng):
    """Oracle: p-values, one for each hypothesis; groups and features counted one by one."""
    X, y = crowded(rng)
    found = select(X, y, Recipe(**how))
    counts = count_features(found)
    evidence = found.evidence
    assert counts.hypotheses == len(evidence.p_of_hypotheses)
    parts = (counts.always_kept, counts.constant, counts.adjusted_for, counts.copies)
    assert sum(parts) + counts.distinct == counts.all == 92
    members = [evidence.members_of(h) for h in range(counts.hypotheses)]
    several = [len(set(found.leaders[some].tolist())) > 1 for some in members]
    assert (counts.single, counts.groups) == (several.count(False), several.count(True))
    assert counts.distinct == len(found.layer("associated").tested)
    said = say(found, "question")
    assert gone in said
    assert f"are tested by {counts.hypotheses} hypotheses" in said


def test_features_that_are_all_hypotheses_are_not_counted_twice(rng):
    """Oracle: noise, where every feature is a hypothesis: the question has one number."""
    found = select(rng.normal(size=(50, 8)), rng.normal(size=50), Recipe(alike=None))
    assert count_features(found).plain
    assert "hypothes" not in say(found, "question")
