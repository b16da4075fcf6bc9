"""Describes the figures of conditional tests: p-values, and fits of the target."""

import numpy as np

from ...selection import Selection
from ...selection.conditional import evidence_of, in_shown_order
from ..features import EVERY, MOST_DOTS, Figures, about, by_role, relevance_by_rank
from ..layer_plots import OF_LAYERS
from ..marks import Line, Mark, Plot, Points, Rule, Stems, Tick, short
from ..pair_plots import pair_plot
from ..words import say

MOST_BARS = 40
N_BINS = 20
FIRST_BAR = 1 / N_BINS  # p-value up to which a feature is worth a look
MOST_FITS = 20  # classes or outputs whose fits are drawn
FIT_ROLES = ("selected", "kept", "negative")


def best_plot(selection: Selection) -> Plot:
    """p-values of the best features with the cut-off; bars go down where the effect is negative."""
    evidence = evidence_of(selection)
    drawn, effects = evidence.ranking[:MOST_BARS], evidence.effects[0]
    down = effects[0, drawn] < 0 if len(effects) == 1 else np.zeros(len(drawn), dtype=np.bool_)
    chosen = np.isin(drawn, selection.selected)
    heights = np.where(down, -1.0, 1.0) * evidence.scores[drawn]
    ranks = np.arange(1, len(drawn) + 1, dtype=np.float64)
    tips = [about(selection, k) for k in drawn]
    marks = by_role(Stems, ranks, heights, tips, {"selected": chosen, "kept": ~chosen})
    cut, said = _cut_off(selection)
    marks.append(Rule(cut, ""))
    if down.any():
        marks.append(Rule(-cut, "", "mirror"))
    return Plot(
        "The smallest p-values",
        f"rank by p-value ({said})",
        "-log10 p, down for negative effects" if down.any() else "-log10 p",
        tuple(marks),
        x_limits=(0.0, len(drawn) + 1.0),
        y_limits=(
            1.08 * min(-cut, float(heights.min())) if down.any() else 0.0,
            1.08 * max(cut, float(heights.max())),
        ),
    )


def histogram_plot(selection: Selection) -> Plot:
    """Histogram of all p-values; if no feature mattered, all bars would be about as high."""
    p = selection.p_values[evidence_of(selection).tested]
    counts = np.histogram(p, N_BINS, (0.0, 1.0))[0]
    tips = [
        f"{count} p-values between {i / N_BINS:g} and {(i + 1) / N_BINS:g}"
        for i, count in enumerate(counts)
    ]
    first = np.arange(N_BINS) == 0
    at = np.arange(0.5, N_BINS)
    marks = by_role(Stems, at, counts * 1.0, tips, {"selected": first, "kept": ~first})
    even = len(p) / N_BINS
    return Plot(
        "All p-values",
        f"p-value given all others (line: {even:.3g} if uniform)",
        "features",
        (*marks, Rule(even, "")),
        x_ticks=tuple(Tick(float(i), f"{i / N_BINS:g}") for i in range(0, N_BINS + 1, 4)),
        x_limits=(0.0, float(N_BINS)),
        y_limits=(0.0, 1.1 * max(float(counts.max()), even)),
    )


def alone_plot(selection: Selection) -> Plot:
    """Marginal p-value of every feature against that given all others."""
    evidence = evidence_of(selection)
    alone = -np.log10(selection.alone.p) + 0.0
    order = evidence.tested[np.argsort(-np.maximum(alone, evidence.scores)[evidence.tested])]
    drawn = order[:MOST_DOTS]
    chosen = np.isin(drawn, selection.selected)
    explained = selection.outcomes[drawn] == "explained by others"
    roles = {"kept": ~chosen & ~explained, "negative": explained, "selected": chosen}
    tips = [f"{about(selection, k)}, marginal p {selection.alone.p[k]:.3g}" for k in drawn]
    cut, said = _cut_off(selection)
    across, up = 1.05 * float(alone.max()), 1.05 * max(float(evidence.scores.max()), cut)
    ends = np.array([0.0, min(across, up)])
    return Plot(
        "Marginal and conditional p-values",
        "-log10 of the marginal p-value",
        "-log10 of the p-value given all others",
        (
            Line(ends, ends, "other"),
            Rule(cut, said),
            *by_role(Points, alone[drawn], evidence.scores[drawn], tips, roles),
        ),
        x_limits=(-0.03 * across, across),
        y_limits=(-0.03 * up, up),
    )


def fits_plot(selection: Selection) -> Plot:
    """Share of the target's variance that each fit explains on rows left out."""
    title = "Variance of the target explained"
    every = evidence_of(selection).fits
    order = in_shown_order(selection, [fit.target for fit in every])
    fits = [every[c] for c in order[:MOST_FITS]]
    if all(share <= 0 for fit in fits for share in fit.explained.values()):
        return Plot(title, nothing="No fit explains any variance of the target on rows left out.")
    kinds = {kind: say(selection, "fit_name", name=kind) for kind in every[0].explained}
    marks: list[Mark] = []
    for i, (kind, name) in enumerate(kinds.items()):
        shares = np.maximum([fit.explained[kind] for fit in fits], 0.0)
        tips = [
            f"{short(fit.target)}, {name}: {100 * share:.0f}% explained"
            for fit, share in zip(fits, shares, strict=True)
        ]
        rows = np.arange(len(fits), dtype=np.float64) if len(fits) > 1 else np.array([float(i)])
        marks.append(Points(shares, rows, FIT_ROLES[i % len(FIT_ROLES)], tuple(tips)))
    names = [short(fit.target, 60) for fit in fits] if len(fits) > 1 else [*kinds.values()]
    hidden = len(every) - len(fits)
    return Plot(
        title,
        "share of variance explained on rows left out",
        f"{hidden} more not drawn" if hidden else "",
        tuple(marks),
        x_limits=(0.0, 1.05),
        y_ticks=tuple(Tick(float(i), name) for i, name in enumerate(names)),
        y_limits=(len(names) - 0.4, -0.6),
    )


def relevance_plot(selection: Selection) -> Plot:
    """Relevance of every feature by rank; those of small p-value and the selected marked."""
    p = evidence_of(selection).p_of_representatives
    return relevance_by_rank(selection, np.flatnonzero(p <= FIRST_BAR))


def _cut_off(selection: Selection) -> tuple[float, str]:
    """The score from which on features are selected, or that a single one would have needed."""
    decision, evidence = selection.decision, evidence_of(selection)
    if decision.selected.size:
        return decision.threshold, f"selected up to p = {10**-decision.threshold:.2g}"
    needed = evidence.rule.largest_alone(len(evidence.p_of_hypotheses), decision.fdr)
    return float(-np.log10(needed)), f"needed by a single feature: p = {needed:.2g}"


FIGURES: Figures = {
    "best": best_plot,
    "histogram": histogram_plot,
    "alone": alone_plot,
    "fits": fits_plot,
    "relevance": relevance_plot,
    **EVERY,
    **OF_LAYERS,
    "pair": pair_plot,
}
