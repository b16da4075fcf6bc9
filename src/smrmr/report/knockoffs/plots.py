"""Describes the figures of the knockoff filter: W, FDP, relevance, lambda, exchangeability."""

import numpy as np

from ...paper.diagnose import SMALLEST_P
from ...paper.threshold import false_discovery_bounds
from ...selection import Selection
from ...selection.knockoffs import evidence_of
from ..features import EVERY, MOST_DOTS, Figures, about, by_role, relevance_by_rank
from ..layer_plots import OF_LAYERS
from ..marks import Line, Mark, Plot, Points, Rule, Stems, Tick

MOST_BARS = 200


def most_false(selection: Selection) -> int:
    """Most false features among the selected, with 95% confidence."""
    n = len(selection.decision.selected)
    bounds = false_discovery_bounds(selection.W[evidence_of(selection).representatives])
    return int(bounds[n - 1]) if 0 < n <= len(bounds) else n


def importance_plot(selection: Selection) -> Plot:
    """W by size, with the threshold and its mirror image below zero."""
    title = "Features against their knockoffs"
    W = selection.W
    ranked = np.argsort(-np.abs(W), kind="stable")[: np.count_nonzero(W)]
    if not ranked.size:
        return Plot(title, nothing="Every W is 0: neither features nor knockoffs got any weight.")
    drawn = ranked[:MOST_BARS]
    chosen = np.isin(drawn, selection.selected)
    roles = {
        "selected": chosen,
        "kept": ~chosen & (W[drawn] > 0),
        "negative": ~chosen & (W[drawn] < 0),
    }
    tips = [about(selection, k) for k in drawn]
    ranks = np.arange(1, len(drawn) + 1, dtype=np.float64)
    marks = by_role(Stems, ranks, W[drawn], tips, roles)
    threshold = selection.decision.threshold if len(evidence_of(selection).draws) == 1 else np.inf
    if threshold < np.inf:
        marks += [
            Rule(threshold, f"threshold {threshold:.3g}"),
            Rule(-threshold, "its mirror image", "mirror"),
        ]
    n, deepest = len(ranked), max(0.0, -W.min(), threshold if threshold < np.inf else 0.0)
    left_out = f" (first {MOST_BARS} of {n})" if n > MOST_BARS else ""
    return Plot(
        title,
        f"rank by size of W{left_out}",
        "W" if len(evidence_of(selection).draws) == 1 else "mean W",
        tuple(marks),
        x_limits=(0.0, len(drawn) + 1.0),
        y_limits=(-1.08 * deepest, 1.08 * max(float(W.max()), deepest * (W.max() <= 0))),
    )


def fdp_plot(selection: Selection) -> Plot:
    """Estimated share of false features against how many are selected, with its upper bound."""
    title = "False features among the first k"
    if selection.decision.rule == "e-values":
        return _levels_plot(selection)
    W = selection.W
    ranked = np.sort(W[W > 0])[::-1]
    if not ranked.size:
        return Plot(title, nothing="No feature beat its knockoff, so nothing could be selected.")
    # features of equal W are selected together, so a curve has one point for each distinct W
    ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
    sizes = 1.0 + ends.astype(np.float64)
    beaten = np.searchsorted(np.sort(W), -ranked[ends], side="right")  # W at or below -cut
    estimates = np.minimum((1 + beaten) / sizes, 1.0)
    false = false_discovery_bounds(W)[ends]
    tips = [
        f"first {size:.0f}: estimated share of false features {estimate:.2f}; "
        f"with 95% confidence at most {bound} false"
        for size, estimate, bound in zip(sizes, estimates, false, strict=True)
    ]
    labels = "number selected, largest W first", "share of false features"
    lines = (
        Line(sizes, false / sizes, "bound", "95% bound"),
        Line(sizes, estimates, "main", "estimate"),
    )
    return _plot_of_lists(selection, (title, *labels), lines, tips)


def _levels_plot(selection: Selection) -> Plot:
    """Over several draws: the level that each number of features takes."""
    title = "Level needed to select k features"
    levels = np.sort(selection.decision.q_values)
    levels = levels[levels < 1]
    if not levels.size:
        return Plot(title, nothing="No draw selected a feature at its own level: no curve to draw.")
    tips = [f"first {k}: level {level:.3g}" for k, level in enumerate(levels, 1)]
    sizes = np.arange(1, len(levels) + 1, dtype=np.float64)
    line = Line(sizes, levels, "main", "level needed")
    labels = "number selected, largest e-value first", "FDR level"
    return _plot_of_lists(selection, (title, *labels), (line,), tips)


def _plot_of_lists(
    selection: Selection, labels: tuple[str, str, str], lines: tuple[Line, ...], tips: list[str]
) -> Plot:
    """Lines over the number selected, the last of them with dots, the chosen one apart."""
    x, y, level = lines[-1].x, lines[-1].y, selection.decision.level
    chosen = x == len(selection.decision.selected)
    plain = ~chosen & (np.cumsum(~chosen) <= MOST_DOTS)  # a long curve: at its beginning only
    dots = by_role(Points, x, y, tips, {"kept": plain, "selected": chosen})
    marks = (*lines, Rule(level, f"level {level:g}"), *dots)
    return Plot(*labels, marks, x_limits=(0.0, float(x[-1]) + 1), y_limits=(0.0, 1.05))


def relevance_plot(selection: Selection) -> Plot:
    """Relevance of every feature by rank; those that passed the screen and the selected marked."""
    return relevance_by_rank(selection, evidence_of(selection).kept)


def lambda_plot(selection: Selection) -> Plot:
    """Held-out loss along the path of lambda, with the lambda that was chosen."""
    title = "Choice of lambda"
    marks: list[Mark] = []
    draws = evidence_of(selection).draws
    for draw in draws:
        usable = np.isfinite(draw.losses) & (draw.lams > 0)
        if not usable.any():
            continue
        lams, losses = draw.lams[usable], draw.losses[usable]
        nearest = [np.argmin(np.abs(lams - draw.lam))]
        tip = f"lambda {draw.lam:.3g} chosen: held-out loss {losses[nearest][0]:.4g}"
        marks.append(Line(lams, losses, "main", "held-out loss" * (not marks)))
        marks.append(Points(lams[nearest], losses[nearest], "selected", (tip,)))
    if not marks:
        values = ", ".join(f"{lam:g}" for lam in sorted({draw.lam for draw in draws}))
        return Plot(title, nothing=f"No rows were held out to choose lambda ({values}).")
    if len(draws) == 1:
        marks.append(Rule(draw.lam, f"chosen: {draw.lam:.3g}", vertical=True))
    return Plot(title, "lambda", "held-out loss", tuple(marks), x_log=True)


def diagnosis_plot(selection: Selection) -> Plot:
    """P-values of the tests of exchangeability, one dot per draw."""
    found = [draw.diagnosis for draw in evidence_of(selection).draws]
    tests = [("classifier", "accuracy"), ("squared ranks", "curve"), ("second moments", "moment")]
    marks: list[Mark] = []
    for at, (name, test) in enumerate(tests):
        p = np.array([getattr(one, f"{test}_p") for one in found])
        tips = [f"{name}: p = {value:.3g}" for value in p]
        roles = {"negative": p <= SMALLEST_P, "selected": p > SMALLEST_P}
        marks += by_role(Points, np.maximum(p, 1e-3), np.full(len(p), float(at)), tips, roles)
    marks.append(Rule(SMALLEST_P, f"fails below {SMALLEST_P:.2g}", vertical=True))
    return Plot(
        "Are knockoffs exchangeable with features?",
        "p-value of the test",
        marks=tuple(marks),
        x_log=True,
        y_ticks=tuple(Tick(float(at), name) for at, (name, _) in enumerate(tests)),
        x_limits=(8e-4, 1.3),
        y_limits=(-0.6, 2.6),
    )


FIGURES: Figures = {
    "importance": importance_plot,
    "fdp": fdp_plot,
    "relevance": relevance_plot,
    "lambda": lambda_plot,
    "diagnosis": diagnosis_plot,
    **EVERY,
    **OF_LAYERS,
}
