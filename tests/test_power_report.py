"""What reports, sentences and figures say of a check or a plan, held against numbers by hand."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose
from scipy.stats import beta

from recipes import recipe
from smrmr import select, simulate
from smrmr.anndata import _account
from smrmr.power.account import SamplePlan, TableCheck
from smrmr.power.words import words_of_check, words_of_plan
from smrmr.report import render, statement
from smrmr.report.marks import Band, Intervals, Line, Points, Rule
from smrmr.report.power_plots import APART, check_plot, plan_plot
from smrmr.report.words import say
from test_report import HOSTILE, Page, marks_of
from thinned import thinned
from trials_by_hand import ALARM, CLEAN, ROWS, STRONG, WEAK, made

ONE_ALARM = [CLEAN] * 9 + [ALARM]
LINES = [("line", 0.1, 5, ROWS, WEAK), ("line", 0.4, 1, ROWS, STRONG)]
GOOD = made(TableCheck, LINES, ONE_ALARM)
CROSSES = 0.1 * 4**0.6, 0.1 * 4**0.9  # where 50% at 0.1 and 100% at 0.4 reach 80% and 95%
BY_CHANCE = made(TableCheck, LINES, [ALARM] * 12)
PLANTED = made(TableCheck, [("line", 0.4, 1, ROWS, [(1, 1, 4, 3)] * 20)], [CLEAN] * 10)
UNSURE = made(TableCheck, LINES, [CLEAN] * 8 + [ALARM] * 4)
THREE = made(
    TableCheck,
    [*LINES, ("bend", 0.1, 5, ROWS, WEAK), ("pair", 0.4, 1, ROWS, STRONG[:2])],
    ONE_ALARM,
)
ODDS = made(TableCheck, LINES, ONE_ALARM, target="classes")
NO_TIME = made(TableCheck, [("line", 0.1, 5, ROWS, [])], [CLEAN], stopped="time")
NO_FIT = made(TableCheck, [("line", 0.1, 5, ROWS, [])], stopped="time")


def interval(hits, n):
    """Jeffreys' interval of a share, as it is written."""
    low, high = beta.ppf([0.025, 0.975], hits + 0.5, n - hits + 0.5)
    low, high = low if hits else 0.0, high if hits < n else 1.0
    return " to ".join(
        f"{100 * end:.{int(end < 0.0995)}f}".removesuffix(".0") for end in (low, high)
    )


@pytest.fixture(scope="module")
def found():
    """A selection with two signals."""
    data = simulate("1.a", n=80, p=12, random_state=2)
    return select(data.X, data.y)


@pytest.fixture(scope="module")
def noise():
    """Features and a target that have nothing to do with each other."""
    rng = np.random.default_rng(1)
    return rng.standard_normal((40, 8)), rng.standard_normal(40)


@pytest.fixture(scope="module")
def empty(noise):
    return select(*noise)


class PageWithCells(Page):
    """A page with the cells of the tables of the section on power."""

    def __init__(self, text):
        self.cells = []
        super().__init__(text)

    def handle_starttag(self, tag, attrs):
        super().handle_starttag(tag, attrs)
        if tag == "td" and ("section", "power") in self.open:
            self.cells.append("")

    def handle_data(self, data):
        super().handle_data(data)
        if any(tag == "td" for tag, _ in self.open) and ("section", "power") in self.open:
            self.cells[-1] += data


def page_of(selection, check):
    return PageWithCells(render(replace(selection, table_check=check)))


def plain(text):
    return " ".join(text.split())


def test_the_section_says_the_numbers_of_the_check(found):
    """Oracle: numbers by hand, see WEAK and STRONG; intervals of yes or no by scipy's beta."""
    page = page_of(found, GOOD)
    said = plain(page.text["power"])
    shuffled = interval(1, 10)
    assert "fitted 18 times" in said
    assert "In 10 fits they were shuffled" in said
    assert "5 effects of 10%, or 1 effect of 40% of the variance of the target each" in said
    assert "agree with the level 0.1. Where effects were planted, 6.2% (95% interval" in said
    low, high = shuffled.split(" to ")
    assert f"10% (95% interval {low}% to {high}%) of 10 fits had one. Both should be at" in said
    assert "detected with 80% power if it explains 23% (95% interval" in said
    assert "that explains 35% or more of the variance (95% interval" in said
    assert "with the 80 rows of this table" in said
    cells = page.cells
    assert cells[:3] == ["associated", "not known", f"10% ({shuffled}%)"]
    assert cells[4].startswith("6.2% (")
    rows = cells[-2 * 6 :]
    assert [row[:3] for row in (rows[:6], rows[6:])] == [
        ["linear", "10%", "4"],
        ["linear", "40%", "4"],
    ]
    assert [cell.split(" (")[0] for cell in rows[3:6] + rows[9:]] == ["50%"] * 3 + ["100%"] * 3


def test_the_figure_draws_the_numbers_of_the_check():
    """Oracle: powers by hand; 80% lies on the straight line between them on a log scale."""
    plot = check_plot(GOOD)
    (dots,), (line,), (band,) = (marks_of(plot, kind) for kind in (Points, Line, Band))
    assert_allclose(dots.x, [0.1, 0.4])
    assert_allclose([dots.y, line.y], [[0.5, 1.0]] * 2)
    assert_allclose(band.y, np.array([[r.low, r.high] for r in (GOOD.power(1), GOOD.power(2))]).T)
    assert (band.y[0] <= line.y).all()
    assert (line.y <= band.y[1]).all()
    level, smallest = marks_of(plot, Rule)
    assert (level.at, level.vertical) == (0.8, False)
    assert smallest.at == pytest.approx(CROSSES[0], rel=1e-9)
    assert (smallest.label, smallest.vertical) == ("80% at 23%", True)
    assert plot.title == "Power with 80 rows"
    assert "power 50% (95% interval" in dots.tips[0]
    assert [tick.label for tick in plot.x_ticks] == ["10%", "40%"]
    assert marks_of(check_plot(made(TableCheck, LINES[:1], ONE_ALARM)), Rule) == [level]


def test_several_curves_stand_apart_and_show_their_intervals():
    """Oracle: the powers of each form by hand, and the order of the forms."""
    plot = check_plot(THREE)
    assert [line.label for line in marks_of(plot, Line)] == ["linear", "U-shaped", "interaction"]
    assert not marks_of(plot, Band)
    assert len(marks_of(plot, Rule)) == 1
    places = [([0.1, 0.4], [0.5, 1.0]), ([0.1], [0.5]), ([0.4], [1.0])]
    for i, (dots, (x, y)) in enumerate(zip(marks_of(plot, Points), places, strict=True)):
        assert_allclose(dots.x, np.array(x) * APART ** (i - 1))
        assert_allclose(dots.y, y)
    for dots, lines in zip(marks_of(plot, Points), marks_of(plot, Intervals), strict=True):
        assert_allclose(lines.x, dots.x)
        assert ((lines.y[0] <= dots.y) & (dots.y <= lines.y[1])).all()
    (pairs,) = marks_of(check_plot(THREE, "pairs"), Line)
    assert pairs.label == "interaction"
    assert "No effects were planted in the layer pairs" in check_plot(GOOD, "pairs").nothing
    with pytest.raises(ValueError, match="layer"):
        check_plot(GOOD, "all")


def test_the_page_holds_the_figure(found):
    """Oracle: dots and intervals of the figure, counted."""
    one, three = (render(replace(found, table_check=check)) for check in (GOOD, THREE))
    drawn = re.search(r'<figure id="figure-power".*?</figure>', one, re.S)[0]
    assert len(re.findall("<circle", drawn)) == 2
    assert "The dashed upright line marks" in drawn
    drawn = re.search(r'<figure id="figure-power".*?</figure>', three, re.S)[0]
    assert len(re.findall("<circle", drawn)) == 4
    upright = re.findall(r'class="interval \w+" d="([^"]+)"', drawn)
    assert [each.count("V") for each in upright] == [2, 1, 1]
    assert "The dashed upright line" not in drawn
    assert "of interactions among the pairs" in drawn


@pytest.mark.parametrize(
    ("check", "measured"),
    [
        (BY_CHANCE, "with a shuffled target, 100% (95% interval 81% to 100%) of fits found"),
        (PLANTED, "where effects were planted, 75% (95% interval"),
    ],
)
def test_a_level_that_does_not_hold_is_said_first_everywhere(found, check, measured):
    """Oracle: rates by hand, far above the level; the layers that share them."""
    failed = replace(found, table_check=check)
    layers = "associated features, signals" if check is BY_CHANCE else "signals"
    said = f"On this table the level 0.1 does not hold for {layers} and own contributions: "
    assert check.broken
    assert next(words_of_check(check)).startswith(said + measured)
    first = f"Look at this first: {said}{measured}"
    for headline in (
        str(failed),
        statement(failed),
        json.loads(failed.to_json())["statement"],
        _account(failed)["statement"],
    ):
        assert headline.startswith(first)
    assert said in say(failed, "methods")
    page = page_of(found, check)
    assert plain(page.text["found"]).startswith(first)
    assert said in plain(page.text["power"])
    assert "agree" not in page.text["power"]
    assert plain(page.text["check-attained"]).startswith("Look at this Does the level hold")
    assert said in plain(page.text["promise"])
    assert "That the level holds is empirical" in statement(found)
    assert "That the level holds is empirical" not in statement(failed)
    level = found.fdr / 2
    assert not str(failed.at(level)).startswith("Look")  # at another level nothing was measured


def test_rates_that_agree_are_no_headline_and_rates_in_question_are_looked_at(found):
    """Oracle: one alarm of ten and four of twelve at level 0.1, whose intervals are by scipy."""
    assert beta.ppf(0.025, 1.5, 9.5) < 0.1 < beta.ppf(0.025, 4.5, 8.5)
    for check, word in ((GOOD, "Fine"), (UNSURE, "Look at this")):
        assert check.broken == ()
        page = page_of(found, check)
        assert plain(page.text["found"]) == plain(Page(render(found)).text["found"])
        assert plain(page.text["check-attained"]).startswith(word)
        sentence = "agree with the level 0.1" if word == "Fine" else "put the level 0.1 in question"
        for text in (
            page.text["power"],
            str(check),
            say(replace(found, table_check=check), "methods"),
        ):
            assert f"These fits {sentence}" in text


def test_methods_and_statement_tell_what_was_measured(found):
    """Oracle: numbers by hand; without a check nothing of the kind is said."""
    with_check = replace(found, table_check=GOOD)
    told = "Level and power were measured on the same table, in 18 fits"
    assert told in say(with_check, "methods")
    assert "if it explains 23% (95% interval" in say(with_check, "methods")
    assert statement(with_check) == statement(found)  # which the check does not put in doubt
    assert told not in say(found, "methods")
    assert "18 times" in str(GOOD)
    assert "(12 s, until the number of fits was reached)" in str(GOOD)


def test_a_report_without_a_check_has_no_such_section(found):
    """Law: nothing on the page, in its list of sections or terms is about power."""
    page = Page(render(found))
    assert "power" not in page.ids
    assert "figure-power" not in page.ids
    assert not any(attrs.get("href") == "#power" for _, attrs in page.elements)
    assert "What this table can tell" not in plain(page.text.get("answer", ""))
    assert "Not tested" in page.text["check-attained"]
    assert "smrmr check" in page.text["check-attained"]
    assert "planted effect" not in page.text["glossary"]
    terms = page_of(found, GOOD).text["glossary"]
    assert all(f"{term}" in terms for term in ("planted effect", "shuffled target", "attained FDR"))


def test_an_empty_answer_names_the_check_and_then_what_it_speaks_against(noise, empty):
    """Oracle: the same data checked by the advice as it is typed; the strengths that were tried."""
    assert not empty.selected.size
    assert ".check(X, y) plants known effects" in str(empty)
    assert "smrmr.plan(X, y)" in str(empty)
    said = plain(Page(render(empty)).text["could-have-shown"])
    assert "smrmr check, or selection.check(X, y) in Python, plants known effects" in said
    assert "smrmr plan" in said
    checked = empty.check(*noise, n_fits=4, strengths=(0.2, 0.7), n_effects=1)
    assert checked.table_check.n_fits == 4
    assert ".table_check.to_frame()" in str(checked)
    assert ".check(X, y) plants" not in str(checked)
    against = "A linear effect that explains 35% or more of the variance (95% interval"
    known = replace(empty, table_check=GOOD)
    for text in (str(known), statement(known), json.loads(known.to_json())["statement"]):
        assert against in text
    page = page_of(empty, GOOD)
    assert plain(page.text["could-have-shown"]).startswith(against)
    assert "an empty answer speaks against it" in plain(page.text["could-have-shown"])
    assert "could-have-shown" not in page_of(select(*_told(noise)), GOOD).ids


def _told(noise):
    X, y = noise
    return X, X[:, 0] + 0.1 * y


def test_repeated_rows_are_said_beside_the_level(noise):
    """Oracle: every row twice, which handing out targets row by row hides."""
    X, y = (np.concatenate([part, part]) for part in noise)
    with pytest.warns(UserWarning, match="equal to another row"):
        twice = select(X, y)
    page = page_of(twice, GOOD)
    for section in ("power", "check-attained"):
        assert "do not see what the check of rows found" in plain(page.text[section])
    assert plain(page.text["check-attained"]).startswith("Look at this")


@pytest.mark.parametrize("name", thinned(HOSTILE, [HOSTILE[0], HOSTILE[6], HOSTILE[12]]))
def test_hostile_names_of_planted_features_stay_names(found, name):
    """Law: the page is well-formed, with no element or script but those of any page."""
    check = replace(GOOD, planted_on=", ".join([name] * 3))
    text = render(replace(found, table_check=check))
    page, usual = Page(text), page_of(found, GOOD)
    assert [tag for tag, _ in page.elements] == [tag for tag, _ in usual.elements]
    assert text.count("</script") == 2
    assert len(page.text["power"]) < len(usual.text["power"]) + 300
    assert not re.search("[\x00\u202e\ud800]", page.text["power"])


@pytest.mark.filterwarnings("ignore:Knockoffs. NOT exchangeable")
@pytest.mark.parametrize("check", thinned([THREE, ODDS, NO_TIME, NO_FIT], [THREE, NO_FIT]))
def test_any_check_makes_a_page_of_any_selection(found, empty, check):
    """Law: pages are well-formed, with no number that is none, for every controller and answer."""
    data = simulate("1.a", 80, 12, random_state=2)
    filtered = select(data.X, data.y, recipe(lam=0.05), rng=0)
    for selection in (found, empty, filtered):
        said = plain(page_of(selection, check).text["power"])
        assert not re.search(r"\b(nan|inf|None)\b", said)
        assert said.count("What this table can tell") == 1


def test_nothing_is_claimed_of_effects_that_no_fit_had():
    """Oracle: sentences by hand, where time was up before effects were planted."""
    assert "detected" not in str(NO_TIME) + str(NO_FIT)
    assert "There was no time for a fit that tells whether the level holds." in str(NO_FIT)
    assert "until the time was up" in str(NO_TIME)
    assert check_plot(NO_FIT).nothing
    plan = made(
        SamplePlan,
        [("line", 0.1, 5, 40, WEAK[:1]), ("line", 0.1, 5, 80, []), ("line", 0.3, 1, 40, [])],
        stopped="time",
    )
    one, other, _ = words_of_plan(plan)
    assert one.startswith("40 rows are not enough to detect 80% of effects that explain 10%")
    assert other.startswith("There was no time to look for effects that explain 30%")


@pytest.mark.parametrize(
    ("n_fits", "interval"), [(4, " (95% interval up to more than was tried)"), (400, "")]
)
def test_the_weakest_effect_that_was_tried_has_an_interval_too(n_fits, interval):
    """Oracle: all of few fits found theirs, or all of so many that no doubt is left."""
    check = made(TableCheck, [("line", 0.1, 1, ROWS, STRONG[:1] * n_fits)], ONE_ALARM)
    said = str(check)
    least = f"10%{interval} or less, the weakest that was tried, of the variance"
    assert f"detected with 80% power if it explains {least}" in said
    assert f"explains 10% or more of the variance{interval} would be missed" in said


def test_odds_ratios_stand_beside_shares(found):
    """Oracle: exp(pi / sqrt(3) * sqrt(share / rest)), the slope over logistic noise."""

    def ratio(share, n):
        return np.exp(np.pi / np.sqrt(3) * np.sqrt(share / (1 - n * share)))

    page = page_of(found, ODDS)
    said = plain(page.text["power"])
    assert "odds ratio" in said
    assert [f"{ratio(0.1, 5):.2f}", f"{ratio(0.4, 1):.2f}"] == page.cells[-14:][2::7]
    labels = [tick.label for tick in check_plot(ODDS).x_ticks]
    assert labels == [f"10% ({ratio(0.1, 5):.1f})", f"40% ({ratio(0.4, 1):.1f})"]
    assert "latent score" in plain(page.text["glossary"])


PLAN = made(SamplePlan, [("line", 0.1, 5, 40, WEAK), ("line", 0.1, 5, 160, STRONG)], n_pilot=60)


def test_a_plan_marks_the_pilot_and_says_how_many_rows():
    """Oracle: 80% lies at 40 * 4 ** 0.6 rows, between 50% at 40 and 100% at 160."""
    needed = 40 * 4**0.6
    assert next(words_of_plan(PLAN)).startswith(f"{needed:.0f} rows (95% interval")
    plot = plan_plot(PLAN)
    _, pilot = marks_of(plot, Rule)
    assert (pilot.at, pilot.vertical, pilot.label) == (60, True, "pilot: 60 rows")
    (line,), (dots,) = marks_of(plot, Line), marks_of(plot, Points)
    assert line.label == f"linear, 10% of the variance: 80% with {needed:.0f} rows"
    assert_allclose([dots.x, dots.y], [[40, 160], [0.5, 1.0]])
    assert {tick.at for tick in plot.x_ticks} == {40, 60, 160}
    without = plan_plot(replace(PLAN, n_pilot=0))
    assert len(marks_of(without, Rule)) == 1


def test_figures_of_checks_and_plans_draw_on_axes(tmp_path):
    """Oracle: marks of the figures; names of upright lines stand at them and not in the legend."""
    figure = Figure(figsize=(12, 4))
    axes = figure.subplots(1, 3)
    for one, ax in zip((GOOD, THREE, PLAN), axes, strict=True):
        assert one.plot(ax) is ax
        assert ax.has_data()
    assert [text.get_text() for ax in axes for text in ax.texts] == ["80% at 23%", "pilot: 60 rows"]
    legends = [[text.get_text() for text in ax.get_legend().get_texts()] for ax in axes]
    assert legends[:2] == [["80%", "linear"], ["80%", "linear", "U-shaped", "interaction"]]
    figure.savefig(tmp_path / "figure.png", dpi=30)
    assert GOOD.plot().get_title() == "Power with 80 rows"
    assert GOOD.plot(layer="pairs").texts[0].get_text().startswith("No effects were planted")
