"""The target over two features that act together: its summary, its privacy and its figure."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

from smrmr import Recipe, Selection, select, simulate
from smrmr.data.study import read_study
from smrmr.report import plot, render
from smrmr.report.marks import Tiles
from smrmr.report.pair_plots import averaged, grid_plot, pair_figures, pair_plot
from smrmr.report.svg import draw_svg
from smrmr.runs.json_values import from_json_value, to_json_value
from smrmr.selection import PairGrid
from smrmr.selection.pair_grids import grid_of_pair

HOSTILE = "</title><script>alert(1)</script>"


def grid(X, y, pair=(0, 1), **given):
    return grid_of_pair(read_study(X, y, **given), np.array(pair))


def table(first, second, values):
    """Means and counts by pandas, of two columns of groups; 0 rows where there is no cell."""
    groups = pd.DataFrame({"a": first, "b": second, "y": values}).groupby(["a", "b"])["y"]
    return groups.mean().unstack().to_numpy(), groups.size().unstack(fill_value=0).to_numpy()


def cut(x, n_bins):
    """Bins by pandas; equal values never lie on both sides of an edge here."""
    return pd.qcut(x, n_bins, labels=False)


def agrees(found, means, counts):
    """Whether a grid shows these means and counts, but for cells of fewer than five rows."""
    large = counts >= 5
    np.testing.assert_array_equal(found.counts, np.where(large, counts, 0))
    assert (found.known <= large).all()
    np.testing.assert_allclose(found.means[found.known], means[found.known], rtol=1e-3, atol=1e-9)
    assert (found.means[~found.known] == 0).all()


@pytest.mark.parametrize(("n", "n_bins"), [(30, 2), (90, 3), (200, 4), (400, 5), (2000, 5)])
def test_means_and_counts_are_those_of_pandas(rng, n, n_bins):
    """Oracle: qcut and groupby; the number of bins is sqrt(n / 10), within 2 and 5."""
    X = rng.normal(size=(n, 3))
    y = 100 * X[:, 0] * X[:, 2] + rng.normal(size=n)
    found = grid(X, y, (2, 0))
    assert found.means.shape == (n_bins, n_bins)
    agrees(found, *table(cut(X[:, 2], n_bins), cut(X[:, 0], n_bins), y))
    for side, column in zip(found.sides, (X[:, 2], X[:, 0]), strict=True):
        inner = np.quantile(column, np.linspace(0, 1, n_bins + 1)[1:-1])
        np.testing.assert_allclose(side.edges, inner, rtol=1e-3)
        assert len(side.names) == n_bins
    assert (found.target, found.is_share) == ("target", False)


def test_few_values_are_groups_of_their_own_and_ties_stay_together(rng):
    """Oracle: groupby by the values themselves; by whether they are 0 where most are."""
    dose, mostly_zero = rng.integers(0, 3, size=300), rng.exponential(size=300)
    mostly_zero[rng.random(300) < 0.85] = 0.0
    y = dose * mostly_zero + rng.normal(size=300)
    found = grid(np.column_stack([dose, mostly_zero]).astype(float), y)
    assert found.sides[0].names == ("0", "1", "2")
    assert not found.sides[0].edges.size
    assert len(found.sides[1].names) == 2
    agrees(found, *table(dose, mostly_zero > 0, y))
    dose[:4] = 7
    rare = grid(np.column_stack([dose, mostly_zero]).astype(float), y)
    assert rare.sides[0].names == ("0", "1", "2", "others")
    assert not rare.counts[3].any()


def test_rare_levels_of_categories_are_taken_together(rng):
    """Oracle: groupby, with the levels beyond the six most frequent, or of few rows, as one."""
    site = rng.permutation(np.repeat([*"abcdefgh"], [61, 50, 40, 30, 30, 20, 12, 3]))
    x, y = rng.normal(size=246), rng.normal(size=246)
    table_of_sites = pd.DataFrame({"site": pd.Categorical(site), "x": x})
    found = grid(table_of_sites, y)
    order = pd.unique(site)
    own = [name for name in order if name in "abcdef"]
    places = [f"level {list(order).index(name)}" for name in own]
    assert found.sides[0].names == (*places, "others")
    merged = [own.index(name) if name in own else 6 for name in site]
    agrees(found, *table(merged, cut(x, 4), y))


def test_of_two_classes_the_share_of_the_second_by_name_is_shown(rng):
    """Oracle: groupby of the class itself, whichever class comes first."""
    X = rng.normal(size=(200, 2))
    ill = X[:, 0] * X[:, 1] > 0
    for rows in (np.arange(200), np.argsort(ill), np.argsort(~ill)):
        labels = np.where(ill, "ill", "well")[rows]
        found = grid(X[rows], labels)
        assert (found.target, found.is_share) == ("well", True)
        agrees(found, *table(*(cut(x, 4) for x in X[rows].T), ~ill[rows]))


def test_of_several_classes_or_outputs_the_one_that_differs_most_is_shown(rng):
    """Oracle: of three classes "c" goes by the product, and of two outputs the second."""
    X = rng.normal(size=(300, 2))
    both = X[:, 0] * X[:, 1]
    labels = np.where(both > 0.3, "c", rng.choice(["a", "b"], size=300))
    found = grid(X, labels)
    assert (found.target, found.is_share) == ("c", True)
    bins = [cut(x, 5) for x in X.T]
    agrees(found, *table(*bins, labels == "c"))
    outputs = np.column_stack([1e9 * rng.choice([-1.0, 1.0], size=300), both])
    outputs[0, 1] += 30  # whatever the units and tails
    found = grid(X, outputs)
    assert (found.target, found.is_share) == ("output 2", False)
    agrees(found, *table(*bins, outputs[:, 1]))


def test_covariates_are_shown_by_their_levels_or_by_shares_of_the_rows(rng):
    """Oracle: groupby by the column of the covariate itself."""
    X, age = rng.normal(size=(240, 3)), rng.uniform(20, 80, size=240)
    arm, dose = rng.choice(["treated", "placebo"], size=240), rng.integers(0, 3, size=240)
    y = X[:, 1] * (arm == "treated") + rng.normal(size=240)
    given = {"age": age, "arm": arm, "dose": dose}
    bins = cut(X[:, 1], 4)
    by_age, by_arm, by_dose = (grid(X, y, (1, k), covariates=given) for k in (3, 4, 5))
    assert by_age.sides[1].names == ("lowest 25%", "25 to 50%", "50 to 75%", "highest 25%")
    agrees(by_age, *table(bins, cut(age, 4), y))
    order = list(pd.unique(arm))
    assert by_arm.sides[1].names == tuple(order)
    agrees(by_arm, *table(bins, [order.index(one) for one in arm], y))
    assert by_dose.sides[1].names == ("0", "1", "2")
    agrees(by_dose, *table(bins, dose, y))


def test_nothing_overflows(rng):
    """Law: a target in other units has the same means in these."""
    X, y = rng.normal(size=(200, 2)), rng.normal(size=200)
    small, large = grid(X, y), grid(X, 1e306 * y)
    np.testing.assert_allclose(large.means / 1e306, small.means, rtol=2e-3)


def small_cells(rng, n_small):
    """Two features of two levels; the last cell has few rows, with a target of its own."""
    sizes = {(0, 0): 30, (0, 1): 20, (1, 0): 12, (1, 1): n_small}
    X = np.array([cell for cell, n in sizes.items() for _ in range(n)], dtype=float)
    y = rng.normal(size=len(X))
    y[X.sum(axis=1) == 2] = 777.25
    return X, y


@pytest.mark.parametrize("n_small", [1, 3, 4])
def test_cells_of_few_rows_show_and_store_nothing(rng, n_small):
    """Law: neither their count nor their mean is in the JSON, nor can the mean be worked out."""
    X, y = small_cells(rng, n_small)
    found = grid(X, y)
    text = json.dumps(found, default=to_json_value, allow_nan=False)
    assert "777" not in text
    assert found.counts.tolist() == [[30, 20], [12, 0]]
    assert found.known.tolist() == [[True, True], [False, False]]  # the smallest of the others too
    assert found.means[1].tolist() == [0.0, 0.0]
    enough = grid(*small_cells(rng, 5))
    assert enough.known.all()
    assert (enough.counts[1, 1], enough.means[1, 1]) == (5, 777.2)


def test_no_grid_gives_small_cells_away():
    """Law: means are of five rows or more, and so are all cells without a mean together."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(12, 120))
        X = np.round(rng.normal(size=(n, 2)), int(rng.integers(0, 3)))
        X[:, 1] += seed % 2 * X[:, 0]
        if (np.ptp(X, axis=0) == 0).any():
            continue
        found = grid(X, rng.normal(size=n))
        assert (found.counts[found.known] >= 5).all()
        assert not ((found.counts > 0) & (found.counts < 5)).any()
        hidden = n - found.counts[found.known].sum()
        assert hidden == 0 or hidden >= 5


def test_a_grid_survives_json(rng):
    """Oracle: the grid before it was written."""
    X, y = rng.normal(size=(60, 3)), rng.choice([HOSTILE, "b", "c"], size=60)
    for found in (grid(X, y), grid(np.round(X), X[:, 2])):
        text = json.dumps(found, default=to_json_value, allow_nan=False)
        again = from_json_value(PairGrid, json.loads(text))
        assert json.dumps(again, default=to_json_value) == text
        for name in ("features", "counts", "means", "known"):
            one, two = getattr(found, name), getattr(again, name)
            np.testing.assert_array_equal(one, two)
            assert one.dtype == two.dtype


@pytest.fixture(scope="module")
def classes():
    data = simulate("xor classes", 200, 40, random_state=1)
    X = pd.DataFrame(data.X, columns=[f"gene{k:03d}" for k in range(40)])
    return X, np.where(data.y, "yes", "no"), select(X, np.where(data.y, "yes", "no"), Recipe(0.1))


@pytest.fixture(scope="module")
def treated():
    """A gene whose effect depends on the treatment, with names that are attacks."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 20)), columns=[f"x{k}{HOSTILE}" for k in range(20)])
    arm = rng.choice([f"yes {HOSTILE}", "no"], size=200)
    y = 2 * X.to_numpy()[:, 3] * (arm == "no") + rng.normal(size=200)
    return select(X, y, covariates={f"arm{HOSTILE}": arm})


def test_selected_pairs_have_grids_of_their_data(classes):
    """Oracle: the pairs of the evidence, and the grid of the data themselves."""
    X, y, found = classes
    pairs = found.evidence.pairs
    assert set(pairs.features[0].tolist()) == {0, 10}
    n = int(np.sum(pairs.q_values(found.evidence.rule) <= 0.5))
    assert [one.features.tolist() for one in found.plot_data.pairs] == pairs.features[:n].tolist()
    alone = grid(X, y, pairs.features[0])
    np.testing.assert_array_equal(found.plot_data.pairs[0].means, alone.means)
    again = Selection.from_json(found.to_json())
    assert render(again) == render(found)


def test_fits_without_pairs_show_none(rng):
    found = select(rng.normal(size=(60, 8)), rng.normal(size=60), Recipe(0.1, partners="none"))
    assert found.plot_data.pairs == ()
    page = render(found)
    assert 'id="pairs"' not in page
    assert 'class="tiles"' not in page
    assert "No pair stands out" in pair_plot(found).nothing
    assert Selection.from_json(found.to_json()).plot_data.pairs == ()


def test_near_misses_are_named_so(classes):
    """Oracle: q-values of pairs on either side of the level."""
    _, _, found = classes
    (first, *_) = pair_figures(found)
    q = found.evidence.pairs.q_values(found.evidence.rule)[0]
    assert first.note == ""
    assert f"q-value {q:.2g}" in first.numbers
    (near, *_) = pair_figures(found.at(q / 2))
    assert near.note == "near miss"
    assert '<b class="tag">near miss</b>' in render(found.at(q / 2)).split('id="figure-pair"')[1]


def test_the_figure_has_a_tile_per_cell(classes):
    """Oracle: the grid: shares as percents, counts, edges between tiles; row 0 at the bottom."""
    X, y, found = classes
    one = grid(X, y, (10, 3))
    drawn = grid_plot(found, one)
    (tiles,) = drawn.marks
    assert isinstance(tiles, Tiles)
    assert drawn.title == "gene010 x gene003: share of class yes"
    assert (drawn.x_label, drawn.y_label) == ("gene010", "gene003")
    assert [tick.at for tick in drawn.x_ticks] == [0.5, 1.5, 2.5]
    middle = np.average(one.means[one.known], weights=one.counts[one.known])
    for i, j in np.ndindex(one.means.shape):
        known, n = one.known[i, j], one.counts[i, j]
        assert tiles.texts[j][i] == (f"{100 * one.means[i, j]:.0f}%" if known else "")
        assert tiles.notes[j][i] == (f"n = {n}" if n else "n < 5")
        assert one.sides[0].names[i] in tiles.tips[j][i]
        assert one.sides[1].names[j] in tiles.tips[j][i]
        assert np.sign(tiles.shades[j, i]) == np.sign(one.means[i, j] - middle) * known
    assert np.abs(tiles.shades).max() == 1
    text = draw_svg(drawn)
    assert text.count("<rect") == one.means.size
    places = np.array(re.findall(r'<rect x="([\d.]+)" y="([\d.]+)"', text), dtype=float)
    x, y = places.reshape(*one.means.T.shape, 2).transpose(2, 0, 1)
    assert (np.diff(x, axis=1) > 0).all()
    assert (np.diff(y, axis=0) < 0).all()
    said = re.search('aria-label="([^"]*)"', text)[1]
    assert said.startswith(drawn.title)
    assert all(share in said for share in tiles.texts[0])


def test_names_and_levels_are_text_in_figures(treated):
    """Law: no name becomes an element, and every level is there as text."""
    (one, *_) = treated.plot_data.pairs
    assert one.features.tolist() == [3, 20]
    text = draw_svg(grid_plot(treated, one))
    page = render(treated)
    assert "<script>alert" not in text + page.split('id="figure-pair"')[1].split("</section>")[0]
    assert "&lt;script&gt;" in text
    assert averaged(treated, one) == "mean of target"


def test_pairs_are_drawn_by_the_names_of_either_feature(treated, tmp_path):
    """Oracle: the best pair, whichever of its two is named; a text where there is none."""
    gene, arm = treated.names[3], treated.covariates[0]
    title = pair_plot(treated).title
    assert "\\u2068" in repr(pair_plot(treated))  # a level is isolated in pages
    for named in (None, 3, gene, arm, (gene, arm), (arm, 3)):
        ax = treated.plot("pair", feature=named)
        assert ax.get_title() == title
        assert ax.has_data()
        ticks = [*ax.get_xticklabels(), *ax.get_yticklabels()]
        assert "\u2068" not in "".join(tick.get_text() for tick in ticks)
    ax.figure.savefig(tmp_path / "pair.png", dpi=40)
    assert "No pair of these stands out" in pair_plot(treated, (5, 6)).nothing
    with pytest.raises(ValueError, match="nobody"):
        plot(treated, "pair", feature="nobody")
    with pytest.raises(ValueError, match="one feature"):
        plot(treated, "shape", feature=(gene, arm))
