"""Describes the figures of the method: importances, FDP, relevance, lambda, knockoffs."""

import numpy as np

from ...control.decision import false_discovery_bounds
from ...control.knockoffs.diagnose import SMALLEST_P
from ...selection import Selection
from ...types import Indices, Mask, Vector
from ..marks import Line, Mark, Plot, Points, Rule, Stems, Tick, short

MOST_BARS = 200
MOST_DOTS = 300


def figures(selection: Selection) -> dict[str, Plot]:
    """The figures of the page; captions.html has a caption for each."""
    return {
        "importance": importance_plot(selection),
        "fdp": fdp_plot(selection),
        "relevance": relevance_plot(selection),
        "lambda": lambda_plot(selection),
        "diagnosis": diagnosis_plot(selection),
    }


def most_false(selection: Selection) -> int:
    """Most false features among the selected, with 95% confidence."""
    n, bounds = len(selection.decision.selected), false_discovery_bounds(selection.W)
    return int(bounds[n - 1]) if 0 < n <= len(bounds) else n


def importance_plot(selection: Selection) -> Plot:
    """W by size, with the threshold and its mirror image below zero."""
    title = "Features against their knockoffs"
    W = selection.W
    ranked = np.argsort(-np.abs(W), kind="stable")[: np.count_nonzero(W)]
    if not ranked.size:
        return Plot(title, nothing="Every W is 0: neither features nor knockoffs got any weight.")
    drawn = ranked[:MOST_BARS]
    chosen = np.isin(drawn, selection.decision.selected)
    roles = {
        "selected": chosen,
        "kept": ~chosen & (W[drawn] > 0),
        "negative": ~chosen & (W[drawn] < 0),
    }
    marks: list[Mark] = [
        Stems(
            1.0 + np.flatnonzero(mask).astype(np.float64),
            W[drawn[mask]],
            role,
            tuple(_about(selection, k) for k in drawn[mask]),
        )
        for role, mask in roles.items()
        if mask.any()
    ]
    threshold = selection.decision.threshold if len(selection.evidence.draws) == 1 else np.inf
    if threshold < np.inf:
        marks += [
            Rule(threshold, f"threshold {threshold:.3g}"),
            Rule(-threshold, "its mirror image", "mirror"),
        ]
    size = np.abs(W[drawn[0]]) * 1.08
    low = -size if threshold < np.inf or (W < 0).any() else 0.0
    return Plot(
        title,
        f"rank by size of W{_first(drawn, ranked)}",
        "W" if len(selection.evidence.draws) == 1 else "mean W",
        tuple(marks),
        x_limits=(0.0, len(drawn) + 1.0),
        y_limits=(low, size),
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
    tips = tuple(
        f"first {size:.0f}: estimated share of false features {estimate:.2f}; "
        f"with 95% confidence at most {bound} false"
        for size, estimate, bound in zip(sizes, estimates, false, strict=True)
    )
    marks: list[Mark] = [
        Line(sizes, false / sizes, "bound", "95% bound"),
        Line(sizes, estimates, "main", "estimate"),
        Rule(selection.decision.level, f"level {selection.decision.level:g}"),
    ]
    chosen = sizes == len(selection.decision.selected)
    marks += _dots(sizes, estimates, tips, chosen)
    return Plot(
        title,
        "number selected, largest W first",
        "share of false features",
        tuple(marks),
        x_limits=(0.0, float(sizes[-1]) + 1),
        y_limits=(0.0, 1.05),
    )


def _levels_plot(selection: Selection) -> Plot:
    """Over several draws: the level that each number of features takes."""
    title = "Level needed to select k features"
    levels = np.sort(selection.q_values[selection.evidence.kept])
    levels = levels[levels < 1]
    if not levels.size:
        return Plot(title, nothing="No draw selected a feature at its own level: no curve to draw.")
    sizes = 1.0 + np.arange(len(levels), dtype=np.float64)
    tips = tuple(
        f"first {size:.0f}: level {level:.3g}" for size, level in zip(sizes, levels, strict=True)
    )
    marks: list[Mark] = [
        Line(sizes, levels, "main", "level needed"),
        Rule(selection.fdr, f"level {selection.fdr:g}"),
        *_dots(sizes, levels, tips, sizes == len(selection.decision.selected)),
    ]
    return Plot(
        title,
        "number selected, largest e-value first",
        "FDR level",
        tuple(marks),
        x_limits=(0.0, len(levels) + 1.0),
        y_limits=(0.0, 1.05),
    )


def relevance_plot(selection: Selection) -> Plot:
    """Relevance of every feature by rank; those that passed the screen and the selected marked."""
    relevance = selection.relevance
    order = np.argsort(-relevance, kind="stable")
    rank = np.empty(len(order))
    rank[order] = np.arange(1, len(order) + 1)
    some = np.unique(np.geomspace(1, len(order), 300).round()).astype(np.intp) - 1
    marks: list[Mark] = [
        Line(1.0 + some.astype(np.float64), relevance[order[some]], "other", "all features")
    ]
    kept = np.setdiff1d(selection.evidence.kept, selection.selected)
    kept = kept[np.argsort(-relevance[kept], kind="stable")][:MOST_DOTS]
    for features, role in ((kept, "kept"), (selection.selected[:MOST_DOTS], "selected")):
        if features.size:
            tips = tuple(_about(selection, k) for k in features)
            marks.append(Points(rank[features], relevance[features], role, tips))
    return Plot(
        "Relevance of every feature",
        "rank",
        "association with the target",
        tuple(marks),
        x_log=True,
        x_limits=(0.8, max(2.0, 1.25 * len(order))),
        y_limits=(0.0, float(relevance.max()) * 1.08 or 1.0),
    )


def lambda_plot(selection: Selection) -> Plot:
    """Held-out loss along the path of lambda, with the lambda that was chosen."""
    title = "Choice of lambda"
    marks: list[Mark] = []
    for draw in selection.evidence.draws:
        usable = np.isfinite(draw.losses) & (draw.lams > 0)
        if not usable.any():
            continue
        lams, losses = draw.lams[usable], draw.losses[usable]
        nearest = np.argmin(np.abs(lams - draw.lam))
        marks += [
            Line(lams, losses, "main", "held-out loss" * (not marks)),
            Points(
                lams[[nearest]],
                losses[[nearest]],
                "selected",
                (f"lambda {draw.lam:.3g} chosen: held-out loss {losses[nearest]:.4g}",),
            ),
        ]
    if not marks:
        given = sorted({draw.lam for draw in selection.evidence.draws})
        values = ", ".join(f"{lam:g}" for lam in given)
        return Plot(title, nothing=f"Lambda was given ({values}), so there is no curve.")
    if len(selection.evidence.draws) == 1:
        marks.append(Rule(draw.lam, f"chosen: {draw.lam:.3g}", vertical=True))
    return Plot(title, "lambda", "held-out loss", tuple(marks), x_log=True)


def diagnosis_plot(selection: Selection) -> Plot:
    """P-values of the tests of exchangeability, one dot per draw."""
    found = [draw.diagnosis for draw in selection.evidence.draws]
    tests = [("classifier", "accuracy"), ("squared ranks", "curve"), ("second moments", "moment")]
    marks: list[Mark] = []
    for at, (name, test) in enumerate(tests):
        p = np.array([getattr(one, f"{test}_p") for one in found])
        tips = tuple(f"{name}: p = {value:.3g}" for value in p)
        for role, bad in (("negative", p <= SMALLEST_P), ("selected", p > SMALLEST_P)):
            here = np.flatnonzero(bad)
            if here.size:
                dots = np.maximum(p[here], 1e-3)
                marks.append(Points(dots, np.full(here.size, float(at)), role, _pick(tips, here)))
    marks.append(Rule(SMALLEST_P, f"fails below {SMALLEST_P:.2g}", vertical=True))
    return Plot(
        "Can knockoffs be told from features?",
        "p-value of the test",
        marks=tuple(marks),
        x_log=True,
        y_ticks=tuple(Tick(float(at), name) for at, (name, _) in enumerate(tests)),
        x_limits=(8e-4, 1.3),
        y_limits=(-0.6, 2.6),
    )


def _dots(x: Vector, y: Vector, tips: tuple[str, ...], chosen: Mask) -> list[Points]:
    """Dots on a curve, the chosen one apart; a long curve has them at its beginning only."""
    plain = np.flatnonzero(~chosen)[:MOST_DOTS]
    groups = ((plain, "kept"), (np.flatnonzero(chosen), "selected"))
    return [Points(x[i], y[i], role, _pick(tips, i)) for i, role in groups if i.size]


def _about(selection: Selection, k: int) -> str:
    name = short(selection.names[k])
    return (
        f"{name}: {selection.outcome(k)}, W {selection.W[k]:.3g}, q-value "
        f"{selection.q_values[k]:.3g}, relevance {selection.relevance[k]:.3g}"
    )


def _pick(tips: tuple[str, ...], which: Indices) -> tuple[str, ...]:
    return tuple(tips[i] for i in which)


def _first(drawn: Indices, ranked: Indices) -> str:
    return "" if len(drawn) == len(ranked) else f" (first {len(drawn)} of {len(ranked)})"
