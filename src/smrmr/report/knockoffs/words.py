"""Says what became of a feature that competed with its knockoff, and what the level rests on."""

from __future__ import annotations

import numpy as np

from ...control.knockoffs import Draw
from ...selection import Selection


def conditions(selection: Selection) -> list[str]:
    """What the statement of the result must add: several draws, the screen, a failed diagnosis."""
    evidence = selection.evidence
    first, said = evidence.draws[0], []
    if len(evidence.draws) > 1:
        said.append(f"The evidence of {len(evidence.draws)} draws was combined.")
    if first.n_screen and selection.decision.guaranteed:
        said.append(
            f"The level holds if the screen kept every true feature: {len(first.kept)} of "
            f"{selection.n_features:,} features passed it."
        )
    if evidence.failed:
        said.append(
            "The knockoffs failed their diagnosis, so the level cannot be relied on: "
            f"{evidence.failed[0]}"
        )
    return said


def assumptions(selection: Selection) -> list[str]:
    """What the promise rests on."""
    draws = selection.evidence.draws
    held = ["Rows are independent of each other: no sample was measured twice."]
    if draws[0].n_screen:
        held.append(
            f"The screen kept every true feature: {draws[0].n_screen} rows were used to reduce "
            f"{selection.n_features:,} features to {len(draws[0].kept)}."
        )
    bad = sum(not draw.diagnosis.passed for draw in draws)
    where = f" in {bad} of {len(draws)} draws" if len(draws) > 1 else ""
    verdict = (
        f"this was put in doubt by a test{where}" if bad else "three tests found no sign against"
    )
    held.append(
        "Knockoffs, the made-up features that the features compete with, are exchangeable with "
        f"them: {verdict}."
    )
    return held


def facts(selection: Selection) -> dict[str, str]:
    """Numbers for the head of the page."""
    return {"passed the screen": f"{len(selection.evidence.kept):,}"}


def needed(selection: Selection) -> str:
    """What an empty selection lacked, without a full stop."""
    n, draws = selection.decision.n_needed, len(selection.evidence.draws)
    if draws > 1:
        return (
            f"Evidence was averaged over {draws} draws and did not suffice: at least {n} features "
            "must beat their knockoffs together in a draw for it to count"
        )
    return (
        f"At this level at least {n} features must beat their knockoffs together, each by more "
        "than knockoffs beat features elsewhere"
    )


def explain(selection: Selection, k: int) -> str:
    """What became of a feature that stands for itself, and why."""
    evidence, decision, name = selection.evidence, selection.decision, selection.names[k]
    if len(evidence.draws) == 1:
        return _explain_draw(selection, k, evidence.draws[0])
    kept = sum(k in draw.kept for draw in evidence.draws)
    verdict = "selected" if k in decision.selected else "not selected"
    return (
        f"{name} is {verdict} at FDR {selection.fdr:g}: it passed the screen in {kept} of "
        f"{len(evidence.draws)} draws and the threshold in {decision.frequency[k]:.0%} of them "
        f"(e-value {decision.scores[k]:.3g})."
    )


def _explain_draw(selection: Selection, k: int, draw: Draw) -> str:
    name, relevance = selection.names[k], selection.relevance
    rank = int(np.sum(relevance > relevance[k])) + 1
    place = f"relevance {relevance[k]:.3f}, rank {rank} of {selection.n_features}"
    if k not in draw.shortlisted:
        return (
            f"{name} was screened out by relevance ({place}): the {len(draw.shortlisted)} most "
            f"relevant features on the {draw.n_screen} screening rows went on."
        )
    if k not in draw.kept:
        return (
            f"{name} was screened out by mRMR ({place}): with the others in the model on the "
            f"{draw.n_screen} screening rows its coefficient was not among the "
            f"{len(draw.kept)} largest."
        )
    i = int(np.flatnonzero(draw.kept == k)[0])
    W, theta = draw.W[i], draw.theta[i]
    weights = f"coefficient {theta:.4f}, its knockoff's {draw.theta_knockoff[i]:.4f}"
    q = selection.q_values[k]
    if k in selection.decision.selected:
        return f"{name} is selected ({place}; {weights}; q-value {q:.3g})."
    if W == 0 and theta > 0:
        return (
            f"{name} got no weight: on the {draw.n_select} selecting rows it equals its "
            "knockoff or another feature, so nothing can tell them apart."
        )
    if W == 0:
        return f"{name} got no weight ({place}).{_stand_in(selection, draw, i)}"
    if W < 0:
        return f"{name} was beaten by its knockoff ({weights}).{_stand_in(selection, draw, i)}"
    threshold = selection.decision.threshold
    reason = f"the threshold {threshold:.4f}" if threshold < np.inf else "any threshold"
    return (
        f"{name} beat its knockoff ({weights}), but W = {W:.4f} is below {reason} at FDR "
        f"{selection.fdr:g}; it would be selected at {q:.3g}."
    )


def _stand_in(selection: Selection, draw: Draw, i: int) -> str:
    """Name the most associated neighbour with more weight, which may have taken its place."""
    weight = dict(zip(draw.kept.tolist(), draw.theta.tolist(), strict=True))
    heavier = [
        (association, other)
        for other, association in zip(draw.neighbours[i], draw.association[i], strict=True)
        if weight[int(other)] > draw.theta[i]
    ]
    if not heavier:
        return ""
    association, other = max(heavier)
    return (
        f" Its nearest neighbour with more weight is {selection.names[other]} "
        f"(D = {association:.3f})."
    )
