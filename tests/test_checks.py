"""Verdicts of the report's checks: each said of numbers made so that the answer is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from recipes import recipe
from smrmr import Recipe, select
from smrmr.report import render, statement
from smrmr.report.checks import checked
from smrmr.report.conditional.checks import histogram_verdict, own_verdict
from smrmr.report.figures import REPORT_PARTS
from smrmr.rows.checks import RowChecks
from smrmr.rows.repeats import Repeats
from test_report import Page, reweighted

pytestmark = pytest.mark.filterwarnings("ignore:Knockoffs. NOT exchangeable")
WORDS = {"fine", "look at this", "not tested"}


@pytest.fixture(scope="module")
def tested():
    """100 features of which the first two tell about y, single ones asked about."""
    X = np.random.default_rng(0).normal(size=(80, 100))
    return select(X, X[:, 0] - X[:, 1], Recipe(fdr=0.1, alike=None))


@pytest.fixture(scope="module")
def filtered():
    X = np.random.default_rng(0).normal(size=(120, 20))
    return select(X, X[:, :8].sum(axis=1), recipe(fdr=0.3, lam="cv"), rng=0)


def verdict(selection, name):
    checks = REPORT_PARTS[selection.evidence.kind].CHECKS
    found = {known: said for known, _, said in checked(selection, checks)}
    return found[name]


def changed(selection, **evidence):
    return replace(selection, evidence=replace(selection.evidence, **evidence)).at(selection.fdr)


EVEN = (np.arange(100) + 0.5) / 100


@pytest.mark.parametrize(
    ("p", "word", "told"),
    [
        (EVEN, "fine", "about as many"),
        (EVEN**0.3, "look at this", "p-values are too large"),
        (0.55 * EVEN, "look at this", "very many features have weak effects"),
        (np.where(EVEN < 0.3, EVEN, 1.0), "not tested", "too few"),
    ],
)
def test_p_values_should_be_even(tested, p, word, told):
    """Oracle: p-values that are even by construction, too large, too small, or few."""
    said = verdict(changed(tested, p_of_hypotheses=p), "histogram")
    assert said.word == word
    assert told in said.text
    low, high = np.sum((p > 0.1) & (p <= 0.5)), np.sum((p > 0.5) & (p <= 0.9))
    assert word == "not tested" or f"{low} p-values lie between 0.1 and 0.5, {high}" in said.text


@pytest.mark.parametrize(("p", "doubted"), [(EVEN**0.3, False), (0.55 * EVEN, True)])
def test_only_p_values_that_are_too_small_come_first(tested, p, doubted):
    """Law: p-values that are too large cost power, and not the level that a headline doubts."""
    uneven = changed(tested, p_of_hypotheses=p)
    assert verdict(uneven, "histogram").word == "look at this"
    assert ("p-values lie between" in statement(uneven)) == doubted


def test_even_p_values_raise_no_alarm(tested, rng):
    """Law: of uniform p-values, nearly none may be called uneven."""
    words = [
        histogram_verdict(changed(tested, p_of_hypotheses=rng.random(100))).word for _ in range(300)
    ]
    assert words.count("look at this") <= 3


def test_checks_of_residuals_are_reported(tested):
    assert verdict(changed(tested, raised=np.array([], int)), "residuals").word == "fine"
    raised = verdict(changed(tested, raised=np.array([3, 4])), "residuals")
    assert raised.word == "look at this"
    assert "2 features depend" in raised.text
    off = {**tested.evidence.settings, "check_residuals": False}
    assert verdict(changed(tested, settings=off), "residuals").word == "not tested"


def test_features_that_others_predict_are_named(rng):
    """Oracle: how they were made: one is the sum of ten others and a little noise."""
    X = rng.standard_normal((150, 12))
    X[:, 11] = X[:, :10].sum(axis=1) + 0.1 * rng.standard_normal(150)
    found = select(X, rng.standard_normal(150), Recipe(alike="none"))
    said = own_verdict(found)
    assert said.word == "look at this"
    assert "x11" in said.text
    assert "0 of 1 were tested with their group" in said.text
    assert own_verdict(select(X[:, :10], X[:, 0] ** 3, Recipe())).word == "fine"


def test_fits_that_explain_nothing_are_to_be_looked_at(tested):
    (fit,) = tested.evidence.fits
    for share, word in ((0.62, "fine"), (0.01, "look at this"), (-0.3, "look at this")):
        fit = replace(fit, explained={"LASSO": share}, errors={"LASSO": 0.05}, taken="LASSO")
        said = verdict(changed(tested, fits=(fit,)), "fits")
        assert said.word == word
        assert ("62%" in said.text) == (share == 0.62)


def test_near_misses_are_counted(tested):
    """Oracle: Benjamini and Hochberg's q-values of three small p-values among 100, by hand."""
    p = np.full(100, 0.9)
    p[:2] = 1e-6
    p[2] = 0.0042  # q-value 0.14
    said = verdict(changed(tested, p_of_hypotheses=p), "best")
    assert said.word == "look at this"
    assert "1 more feature comes close: q-values up to 0.14 at level 0.1" in said.text
    p[2] = 0.0048  # 0.16
    said = verdict(changed(tested, p_of_hypotheses=p), "best")
    assert said.word == "fine"
    assert "q-value of 0.16" in said.text


def test_findings_that_are_not_seen_alone_are_named(tested):
    p = np.full(100, 1e-4)
    seen = replace(tested, alone=replace(tested.alone, p=p))
    assert verdict(seen, "alone").word == "fine"
    p[1] = 0.5
    said = verdict(seen, "alone")
    assert said.word == "look at this"
    assert said.text.startswith(
        f"1 of {len(tested.selected)} findings is associated with the target"
    )
    assert said.text.endswith("only when adjusted for others: x1.")
    nothing = changed(tested, p_of_hypotheses=np.full(100, 0.9))
    assert verdict(nothing, "alone").word == "not tested"


def test_findings_that_repeat_each_other_are_named(tested):
    n = len(tested.plot_data.features)
    for value, word in ((0.1, "fine"), (0.6, "look at this")):
        matrix = np.where(np.eye(n) > 0, 1.0, 0.01)
        at = [int(np.flatnonzero(tested.plot_data.features == k)[0]) for k in (0, 1)]
        matrix[np.ix_(at, at)] = np.array([[1.0, value], [value, 1.0]])
        picture = replace(tested.plot_data, redundancy=matrix)
        said = verdict(replace(tested, plot_data=picture), "redundancy")
        assert said.word == word
        assert f"an association of {value:.2f}" in said.text
        assert {"x0", "x1"} <= set(said.text.replace(":", "").split())


def test_what_adjusting_took_away_is_named(tested):
    """Oracle: the ten most relevant features before, of which one loses more than half."""
    before = tested.relevance.copy()
    top = int(np.argmax(before))
    raw = before.copy()
    raw[top] *= 3
    said = verdict(replace(tested, unadjusted=raw), "adjusting")
    assert said.word == "look at this"
    assert said.text.endswith(f"when adjusted for the covariates: x{top}.")
    assert verdict(replace(tested, unadjusted=before), "adjusting").word == "fine"
    with pytest.raises(KeyError):
        verdict(tested, "adjusting")  # nothing was adjusted for


def test_independence_of_rows_is_stated(tested, filtered):
    for found in (tested, filtered):
        said = verdict(found, "rows")
        assert said.word == "fine"
        assert "That is no proof. Rows are independent of each other" in said.text
        unasked = verdict(replace(found, row_checks=RowChecks()), "rows")
        assert unasked.word == "not tested"
        assert "no sample was measured twice" in unasked.text
    repeated = RowChecks(Repeats(n_rows=80, n_equal=80, inflation=2.0))
    said = verdict(replace(tested, row_checks=repeated), "rows")
    assert said.word == "look at this"
    assert said.text.startswith("80 of 80 rows are equal to another row.")
    grouped = replace(tested, row_comparison="means", n_groups_of_rows=20)
    assert "Groups are independent of each other" in verdict(grouped, "rows").text


def test_knockoffs_are_judged(filtered):
    """Oracle: each number that a verdict goes by, set to both sides of its limit."""
    (draw,) = filtered.evidence.draws

    def said(name, **changes):
        return verdict(changed(filtered, draws=(replace(draw, **changes),)), name)

    good = replace(draw.diagnosis, moment_p=0.5, curve_p=0.5, accuracy_p=0.5)
    assert said("diagnosis", diagnosis=good).word == "fine"
    bad = said("diagnosis", diagnosis=replace(good, moment_p=0.001))
    assert (bad.word, "cannot be relied on" in bad.text) == ("look at this", True)
    assert said("lambda", at_floor=False).word == "fine"
    assert said("lambda", at_floor=True).word == "look at this"
    assert said("lambda", losses=np.full(len(draw.losses), np.nan)).word == "not tested"
    assert said("relevance", n_screen=0).word == "fine"
    assert said("relevance", n_screen=50).word == "not tested"
    assert verdict(filtered, "fdp").word == "fine"
    assert "at most" in verdict(filtered, "fdp").text
    assert verdict(filtered.at(0.01), "fdp").word == "not tested"
    assert verdict(filtered, "importance").word == "fine"
    lost = reweighted(filtered, lambda W: -np.abs(W))
    assert verdict(lost, "importance").text == "No feature did better than its knockoff."
    assert verdict(filtered.at(0.01), "importance").word == "look at this"


def test_every_check_is_folded_and_begins_with_its_verdict(tested, filtered):
    """Law: one folded element per check whose first words are the verdict's."""
    for found in (tested, filtered):
        page = Page(render(found))
        answers = checked(found, REPORT_PARTS[found.evidence.kind].CHECKS)
        assert {said.word for _, _, said in answers} <= WORDS
        for name, check, said in answers:
            text = " ".join(page.text[f"check-{name}"].split())
            assert text.startswith(f"{said.word.capitalize()} {check.question} {said.text}")
        folded = [attributes for tag, attributes in page.elements if tag == "details"]
        assert all("open" not in attributes for attributes in folded)
        assert {f"check-{name}" for name, _, _ in answers} <= {a.get("id") for a in folded}
