"""Says of every diagnostic of the knockoff filter whether all is fine."""

import numpy as np

from ...selection import Selection
from ...selection.knockoffs import evidence_of
from ..checks import EVERY, Check, Checks, Verdict, doubtful, fine, not_tested
from .plots import most_false


def diagnosis_verdict(selection: Selection) -> Verdict:
    """Whether knockoffs are exchangeable with features, as far as tests can see."""
    evidence = evidence_of(selection)
    bad = sum(not draw.diagnosis.passed for draw in evidence.draws)
    share = _in_draws(bad, len(evidence.draws))
    if evidence.failed:
        return doubtful(f"A test rejected exchangeability{share}: the level cannot be relied on.")
    if bad:
        return fine(f"A test rejected exchangeability{share}, no more than chance allows.")
    return fine("Three tests found no sign against exchangeability. That is no proof.")


def screen_verdict(selection: Selection) -> Verdict:
    """Whether the screen may have lost features that matter, which the data cannot show."""
    draws, p = evidence_of(selection).draws, selection.n_features
    draw, where = draws[0], " in the first draw" if len(draws) > 1 else ""
    if not draw.n_screen:
        return fine("There was no screen: all features competed with their knockoffs.")
    return not_tested(
        f"{len(draw.kept):,} of {p:,} features passed the screen{where}. Whether it lost "
        "one that matters cannot be tested."
    )


def importance_verdict(selection: Selection) -> Verdict:
    """Whether knockoffs beat features by as much as the findings beat their knockoffs."""
    W, n = selection.W, len(selection.selected)
    if not (W > 0).any():
        return doubtful("No feature did better than its knockoff.")
    if not n:
        counts = (
            f"{np.sum(W > 0):,} features do better than their knockoff, {np.sum(W < 0):,} worse"
        )
        return doubtful(f"{counts}: not enough to select any.")
    mirrored = int(np.count_nonzero(W[selection.selected].min() <= -W))
    counts = (
        f"{n:,} findings beat their knockoffs; {mirrored:,} knockoffs beat a feature by as much"
    )
    return (fine if mirrored <= selection.decision.level * n else doubtful)(f"{counts}.")


def fdp_verdict(selection: Selection) -> Verdict:
    """How many of the findings may be false."""
    n = len(selection.decision.selected)
    if not n:
        return not_tested("Nothing was selected.")
    if len(evidence_of(selection).draws) > 1:
        return not_tested(
            "The bound is for single draws; over several draws only the level is known."
        )
    bound = most_false(selection)
    if bound < n:
        return fine(f"With 95% confidence at most {bound} of the {n} are false.")
    return doubtful(f"With 95% confidence it cannot be ruled out that all {n} are false.")


def lambda_verdict(selection: Selection) -> Verdict:
    """Whether the strength of the penalty was chosen within the values tried."""
    draws = evidence_of(selection).draws
    low = sum(draw.at_floor for draw in draws)
    if not any(np.isfinite(draw.losses).any() for draw in draws):
        return not_tested("No rows were held out to choose it.")
    if low:
        return doubtful(f"The smallest lambda tried was chosen{_in_draws(low, len(draws))}.")
    return fine("The lambda chosen lies within the range tried.")


def _in_draws(n: int, n_draws: int) -> str:
    return f" in {n} of {n_draws} draws" if n_draws > 1 else ""


CHECKS: Checks = {
    "diagnosis": Check("Are knockoffs exchangeable with features?", diagnosis_verdict),
    "relevance": Check("Did the screen keep what matters?", screen_verdict),
    "importance": Check("Do features beat their knockoffs?", importance_verdict),
    "fdp": Check("How many findings may be false?", fdp_verdict),
    "lambda": Check("Was the penalty well chosen?", lambda_verdict),
    **EVERY,
}
