"""What a report tells first, and how: names, figures, near misses, groups, words."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from report_cases import CELL_TYPES, case, genes
from smrmr import Recipe, Selection, SmRMR, select
from smrmr.cli.display import legend
from smrmr.report import plot, render
from smrmr.report.findings import listing
from smrmr.report.marks import Boxes, Points
from smrmr.report.scales import Scale, symlog_ticks
from smrmr.report.shapes import shape_plot, symlog_unit
from smrmr.report.svg import draw_svg
from smrmr.selection import Shape
from test_report import Page

pytestmark = pytest.mark.filterwarnings("ignore:Knockoffs. NOT exchangeable")


def classes(tags, page):
    return [attributes for tag, attributes in page.elements if tag in tags]


def test_the_title_names_file_and_target():
    """Oracle: the file and the column that the selection names."""
    text = render(case("two_classes"))
    n = len(case("two_classes").selected)
    assert f"<title>diagnosis in cohort.csv: {n} features found by smrmr</title>" in text
    text = render(case("groups"))
    assert "<title>height in chr7.bed: 3 groups of look-alikes found by smrmr</title>" in text
    text = render(case("empty"))
    assert "<title>diagnosis in cohort.csv: 0 features found by smrmr</title>" in text


def test_a_column_of_a_table_gives_the_target_its_name():
    X, rng = genes(60, 8)
    y = pd.Series(X["GENE1"] + rng.normal(size=60), name="weight")
    for found in (select(X, y), SmRMR().fit(X, y).selection_):
        assert found.source == {"target column": "weight"}
        assert "<title>weight: " in render(found)
        assert shape_plot(found, "GENE1").y_label == "weight"
    assert select(X, y.to_numpy()).source == {}
    assert shape_plot(select(X, y.to_numpy()), "GENE1").y_label == "target"


def test_findings_come_before_checks_and_twelve_are_named_first():
    found = case("knockoffs")
    page = Page(render(found))
    order = [a["id"] for tag, a in page.elements if tag == "section"]
    assert order.index("shapes") < order.index("checks") < order.index("table")
    n = len(found.selected)
    assert n > 12
    chips = re.findall(r"<bdi title", render(found).split("</ol>")[0])
    assert len(chips) == 12
    assert f"and {n - 12} more" in page.text["answer"]
    listed = [row[0] for row in listing(found).rows]
    assert listed == found.selected_names
    few = Page(render(case("two_classes")))
    assert " more" not in few.text["answer"]


def test_axes_and_summaries_tell_names_and_medians():
    """Oracle: the medians in the picture, each written in the text for screen readers."""
    for name in ("two_classes", "covariates", "groups"):
        found = case(name)
        labels = [a["aria-label"] for a in classes(["svg"], Page(render(found)))]
        for k in found.selected:
            plot = shape_plot(found, int(k))
            target = found.source["target column"]
            assert {plot.x_label, plot.y_label} == {found.names[k], target}
            shape = found.plot_data.shapes[list(found.plot_data.features).index(k)]
            (told,) = (label for label in labels if label.startswith(f"{found.names[k]} against"))
            for median in shape.quantiles[:, 2]:
                assert f"{median:.3g} (" in told


def with_classes(labels, quantiles=None, shares=None):
    """A selection whose first picture is of these classes."""
    found = case("two_classes")
    n, rng = len(labels), np.random.default_rng(0)
    quantiles = np.sort(rng.normal(size=(n, 5))) if quantiles is None else quantiles
    shape = Shape("classes", np.arange(n) * 1.0, labels, np.full(n, 20), quantiles)
    if shares is not None:
        shape = replace(shape, shares=shares, means=3 * shares)
    shapes = (shape, *found.plot_data.shapes[1:])
    found = replace(found, plot_data=replace(found.plot_data, shapes=shapes))
    return found, int(found.plot_data.features[0])


@pytest.mark.parametrize("shares", [None, np.linspace(0.1, 0.9, 10)])
def test_names_of_classes_are_never_cut(shares):
    """Law: every label stands whole in the figure, and in matplotlib's."""
    labels = (*CELL_TYPES[:9], "a label of as many as fifty-nine letters, which is very long")
    found, k = with_classes(labels, shares=shares)
    drawn = str(draw_svg(shape_plot(found, k), width=280, height=210))
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", drawn)
    for label in labels:
        assert any(text.startswith(label) for text in texts)
    ticks = [text.get_text() for text in plot(found, "shape", feature=k).get_yticklabels()]
    assert [tick.split(", mean")[0] for tick in ticks] == list(labels)


def test_few_short_names_stand_side_by_side():
    found, k = with_classes(("ill", "well"))
    plot = shape_plot(found, k)
    (boxes,) = (mark for mark in plot.marks if isinstance(mark, Boxes))
    assert not boxes.lying
    assert [tick.label for tick in plot.x_ticks] == ["ill", "well"]


def test_boxes_that_lie_hold_the_same_numbers():
    """Oracle: the quantiles, read back from the paths of the figure."""
    quantiles = np.array([[0.0, 1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0, 5.0]])
    found, k = with_classes(CELL_TYPES[:2], quantiles)
    drawn = str(draw_svg(shape_plot(found, k), width=280, height=210))
    medians = re.findall(r'class="median" d="M([\d.]+) [\d.]+L([\d.]+) ', drawn)
    boxes = re.findall(r'class="box"><path d="M([\d.]+) [\d.]+L[\d.]+ [\d.]+L([\d.]+) ', drawn)
    (first, again), (second, _) = ([float(v) for v in pair] for pair in medians)
    assert first == again
    (low, high), (low_2, high_2) = ([float(v) for v in pair] for pair in boxes)
    step = second - first
    assert step > 10
    np.testing.assert_allclose([first - low, high - first], step, atol=0.2)
    np.testing.assert_allclose([second - low_2, high_2 - second], step, atol=0.2)


def test_mostly_zero_features_show_shares_and_means():
    shares = np.array([0.25, 0.75])
    found, k = with_classes(("B", "T"), shares=shares)
    plot = shape_plot(found, k)
    (dots,) = (mark for mark in plot.marks if isinstance(mark, Points))
    np.testing.assert_array_equal(dots.x, shares)
    assert [tick.label for tick in plot.y_ticks] == ["B, mean 0.75", "T, mean 2.2"]
    assert "B: 25% of 20 rows above 0, mean 0.75" in plot.summary
    assert plot.x_label == f"rows with {found.names[k]} above 0"


def test_extreme_values_get_a_symlog_axis(rng):
    """Law: symlog for log-normal values and counts with large ones; plain for others and scaled."""
    assert symlog_unit(rng.normal(size=200)) == 0
    assert symlog_unit(rng.uniform(size=200) * 1e6) == 0
    assert symlog_unit(np.arange(6.0)) == 0
    assert 0 < symlog_unit(np.exp(4 * rng.normal(size=200))) < 1
    assert symlog_unit(np.array([0, 0, 1, 2, 1, 0, 3, 2, 1, 500.0])) == 1
    assert symlog_unit(np.zeros(5)) == 0
    counts = np.exp(4 * rng.normal(size=200))
    assert symlog_unit((counts - counts.mean()) / counts.std()) == 0  # scaled: ratios mean nothing
    assert symlog_unit(-counts) > 0
    found, k = with_classes(("ill", "well"), np.array([[0, 1, 1, 2, 900], [0, 1, 2, 3, 5.0]]))
    assert shape_plot(found, k).y_label.endswith("(log scale)")
    assert plot(found, "shape", feature=k).get_yscale() == "symlog"


def test_a_bent_axis_is_in_order_and_straight_in_the_middle():
    """Law: places rise with values, equal steps of powers of ten far out, values near 0 apart."""
    scale = Scale(-1e4, 1e4, 0.0, 100.0, symlog=1.0)
    places = scale(np.array([-1e4, -100, -1, 0, 1, 100, 1e4]))
    assert (np.diff(places) > 3).all()
    assert places[3] == 50
    np.testing.assert_allclose(np.diff(scale(np.array([10.0, 100, 1000, 10000]))), 11.6, atol=0.1)
    assert [tick.label for tick in symlog_ticks(-0.5, 3000, 6, 1.0)] == [
        "0",
        "1",
        "10",
        "100",
        "1000",
    ]


def test_an_empty_answer_draws_its_near_misses_and_says_that_they_are_no_findings():
    """Oracle: the ranking, and the words on the page."""
    found = case("empty")
    page = Page(render(found))
    alone = found.layer("associated").q_values[found.evidence.ranking] <= found.fdr
    ranked = found.evidence.ranking[np.argsort(~alone, kind="stable")]
    best = [found.names[k] for k in ranked[:10]]
    said = " ".join(page.text["shapes"].split())
    assert said.startswith("Near misses against the target: not findings")
    assert re.findall(r"near miss (GENE\d+)", said) == best
    assert [row[0] for row in listing(found).rows] == best
    drawn = [a["aria-label"] for a in classes(["svg"], page)]
    drawn = [label.split(" against")[0] for label in drawn if " against" in label]
    assert drawn[:10] == best
    assert "chips" not in {a.get("class") for a in classes(["ol"], page)}


def test_a_list_without_a_guarantee_is_one_of_near_misses():
    """Law: what a level raised afterwards selects is never called a finding."""
    found = case("empty").at(0.3, on_empty="relax")
    assert found.selected.size
    said = " ".join(Page(render(found)).text["shapes"].split())
    assert said.startswith("Near misses against the target: not findings No level holds")
    assert re.findall(r"near miss (GENE\d+)", said) == found.selected_names


def test_groups_are_told_to_be_groups():
    """Law: wherever the representative of a group is named, the size of its group is too."""
    found = case("groups")
    assert found.n_groups == len(found.selected) == 3
    said = " ".join(Page(render(found)).text["shapes"].split())
    for k, group in zip(found.selected, found.look_alikes, strict=True):
        assert f"group of {len(group) + 1} represented by {found.names[k]}" in said
    assert said.count("If one member carries the association of the group") == 3
    assert {"size", "least alike"} <= set(listing(found).heads)
    assert "size" not in listing(case("two_classes")).heads


def test_adjusted_and_unadjusted_relevance_stand_side_by_side():
    """Oracle: both vectors of the selection, and that age takes the relevance of GENE1 away."""
    found = case("covariates")
    table = listing(found)
    at = table.heads.index("relevance")
    assert table.heads[at + 1] == "unadjusted relevance"
    k = int(found.selected[0])
    shown = [f"{found.relevance[k]:.3g}", f"{found.unadjusted[k]:.3g}"]
    assert table.rows[0][at : at + 2] == shown
    page = Page(render(found))
    both = f"{found.relevance[k]:.2g} adjusted, {found.unadjusted[k]:.2g} unadjusted"
    assert both in page.text["answer"]
    assert "GENE1" in page.text["check-adjusting"]
    assert "check-adjusting" not in Page(render(case("two_classes"))).ids


NEEDS_WORDS = re.compile(r"\b(direction|effect|shape)\b")  # heads that say too little


@pytest.mark.parametrize("name", ["numbers", "ten_classes", "groups", "empty", "draws"])
def test_direction_effect_and_shape_are_explained_at_their_heads(name):
    """Oracle: the heads of all tables on the page, and of the one that its script writes."""
    text = render(case(name))
    heads = re.findall(r"<th scope=\"col\"[^>]*>(.*?)</th>", text)
    bare = [head for head in heads if "<" not in head]
    assert not any(NEEDS_WORDS.search(head) for head in bare)
    told = dict(re.findall(r"data-tip=\"([^\"]+)\">([^<]+)</span>", " ".join(heads)))
    assert all(NEEDS_WORDS.search(head) or head == "share explained" for head in told.values())
    assert all(len(meaning.split()) > 6 for meaning in told)
    table = Page(text).data
    wanted = {name for name, head in table["labels"].items() if NEEDS_WORDS.search(head)}
    assert set(table["about"]) == wanted
    assert told or wanted


@pytest.mark.parametrize("name", ["numbers", "two_classes", "ten_classes", "draws"])
def test_the_terminal_explains_direction_effect_and_shape(name):
    """Oracle: the columns of the table that it shows."""
    found = case(name)
    shown = found.findings()[["feature", *found.presentation.shown(found)]]
    told = [line.split(":")[0] for line in legend(found, [shown])]
    wanted = {"direction": "direction", "shape": "shape alone"}
    assert told == [head for column, head in wanted.items() if column in shown]


def test_the_glossary_holds_the_words_of_the_page_and_no_others():
    """Law: every word that is explained stands on the page; words of the other method do not."""
    words = {}
    for name in ("two_classes", "knockoffs", "groups"):
        text = render(case(name))
        page = Page(text)
        body = " ".join(said for key, said in page.text.items() if key != "glossary")
        terms = re.findall(r"<dt>([^<]+)</dt>", text.split('id="glossary"')[1])
        assert terms == sorted(terms, key=str.casefold)
        assert [term for term in terms if not re.search(rf"\b{term}", body, re.I)] == []
        words[name] = set(terms)
    assert {"p-value", "q-value", "level", "feature"} <= words["two_classes"]
    assert {"knockoff", "W", "q-value"} <= words["knockoffs"]
    assert "look-alike" in words["groups"]
    assert {"knockoff", "W", "carrier", "covariate"}.isdisjoint(words["two_classes"])
    assert {"marginal p-value", "LASSO"}.isdisjoint(words["knockoffs"])


def test_new_columns_of_findings_are_shown(monkeypatch):
    """Law: whatever columns a selection gives its findings stand in the list."""
    known = Selection.findings
    more = {"bow": "wide", "share_up": 2.5}
    monkeypatch.setattr(
        Selection, "findings", lambda self, layer="signals": known(self, layer).assign(**more)
    )
    table = listing(case("two_classes"))
    assert table.heads[-2:] == ["bow", "share up"]
    assert table.rows[0][-2:] == ["wide", "2.5"]
    assert table.wordy[-2:] == [True, False]


def test_classes_stand_in_the_order_of_their_categories():
    """Oracle: the order of the user's categories; without one, numbers and the alphabet."""
    X, rng = genes(60, 5)
    stage = np.array(["stage 10", "stage 2", "stage 1"])[rng.integers(0, 3, size=60)]
    asked = Recipe(alike=None)
    assert select(X, stage, asked).plot_data.shapes[0].names == ("stage 1", "stage 2", "stage 10")
    order = ["stage 2", "stage 10", "stage 1"]
    given = pd.Series(pd.Categorical(stage, categories=order))
    assert list(select(X, given, asked).plot_data.shapes[0].names) == order
