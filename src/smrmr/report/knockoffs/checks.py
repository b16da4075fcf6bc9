"""Says of every diagnostic of the knockoff filter whether all is fine."""

import numpy as np

from ...selection import Selection
from ..checks import EVERY, Check, Checks, Verdict, fine, look, not_tested
from .plots import (
    diagnosis_plot,
    fdp_plot,
    importance_plot,
    lambda_plot,
    most_false,
    relevance_plot,
)


def diagnosis_verdict(selection: Selection) -> Verdict:
    """Whether knockoffs can be told from features."""
    draws = selection.evidence.draws
    bad = sum(not draw.diagnosis.passed for draw in draws)
    of = f" in {bad} of {len(draws)} draws" if len(draws) > 1 else ""
    if selection.evidence.failed:
        return look(f"Knockoffs can be told from features{of}: the level cannot be relied on.")
    if bad:
        return fine(f"Knockoffs could be told from features{of}, no more than chance allows.")
    return fine("Three tests cannot tell knockoffs from features. That is no proof.")


def screen_verdict(selection: Selection) -> Verdict:
    """Whether the screen may have lost features that matter, which nobody can see."""
    draw, p = selection.evidence.draws[0], selection.n_features
    if not draw.n_screen:
        return fine("There was no screen: all features competed with their knockoffs.")
    return not_tested(
        f"{len(draw.kept):,} of {p:,} features passed the screen{_each(selection)}. Whether it "
        "lost one that matters cannot be seen."
    )


def importance_verdict(selection: Selection) -> Verdict:
    """Whether knockoffs beat features by as much as the findings beat their knockoffs."""
    W, n = selection.W, len(selection.selected)
    if not (W > 0).any():
        return look("No feature did better than its knockoff.")
    if not n:
        told = f"{np.sum(W > 0):,} features do better than their knockoff, {np.sum(W < 0):,} worse"
        return look(f"{told}: not enough for any list.")
    least = W[selection.selected].min()
    lost = -W
    mirrored = int(np.count_nonzero(lost >= least))
    told = f"{n:,} findings beat their knockoffs; {mirrored:,} knockoffs beat a feature by as much"
    return (fine if mirrored <= selection.decision.level * n else look)(f"{told}.")


def fdp_verdict(selection: Selection) -> Verdict:
    """How many of the findings may be false."""
    n = len(selection.decision.selected)
    if not n:
        return not_tested("Nothing was selected.")
    if len(selection.evidence.draws) > 1:
        return not_tested("Bounds are for single draws; here the level itself is what is known.")
    bound = most_false(selection)
    if bound < n:
        return fine(f"With 95% confidence at most {bound} of the {n} are false.")
    return look(f"With 95% confidence it cannot be ruled out that all {n} are false.")


def lambda_verdict(selection: Selection) -> Verdict:
    """Whether the strength of the penalty was chosen within the values tried."""
    draws = selection.evidence.draws
    low = sum(draw.at_floor for draw in draws)
    if not any(np.isfinite(draw.losses).any() for draw in draws):
        return not_tested("No rows were held out to choose it.")
    if low:
        return look(f"The smallest value that was tried won{_how_often(low, len(draws))}.")
    return fine("The best value lies within those that were tried.")


def _each(selection: Selection) -> str:
    return " in the first draw" if len(selection.evidence.draws) > 1 else ""


def _how_often(n: int, n_draws: int) -> str:
    return f" in {n} of {n_draws} draws" if n_draws > 1 else ""


CHECKS: Checks = {
    "diagnosis": Check("Are knockoffs like the features?", diagnosis_verdict, diagnosis_plot),
    "relevance": Check("Did the screen keep what matters?", screen_verdict, relevance_plot),
    "importance": Check("Do features beat their knockoffs?", importance_verdict, importance_plot),
    "fdp": Check("How many findings may be false?", fdp_verdict, fdp_plot),
    "lambda": Check("Was the penalty well chosen?", lambda_verdict, lambda_plot),
    **EVERY,
}
