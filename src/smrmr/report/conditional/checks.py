"""Says of every diagnostic of the tests whether all is fine."""

import numpy as np

from ...selection import Selection
from ..checks import EVERY, Check, Checks, Verdict, fine, look, not_tested
from ..words import say
from .plots import alone_plot, best_plot, fits_plot, histogram_plot

FEWEST = 40  # p-values between 0.1 and 0.9 that show whether they lean
NEARLY = 1.5  # times the level: q-values of features that nearly made it
UNSEEN = 0.05  # p-value alone above which a finding is not seen alone
HARDLY = 0.05  # share of the target that is as good as nothing


def histogram_verdict(selection: Selection) -> Verdict:
    """Whether p-values that do not matter spread evenly: as many above 0.5 as below."""
    p = selection.p_values[selection.evidence.tested]
    low, high = np.sum((p > 0.1) & (p <= 0.5)), np.sum((p > 0.5) & (p <= 0.9))
    n = int(low + high)
    if n < FEWEST:
        return not_tested(f"Only {n} p-values lie between 0.1 and 0.9, too few to see a pattern.")
    told = f"{low} p-values lie between 0.1 and 0.5, {high} between 0.5 and 0.9"
    far = abs(high - low) > 3 * np.sqrt(n) and max(low, high) > 1.5 * min(low, high)
    if far and high > low:
        return look(f"{told}: p-values lean towards 1, so the tests are overcautious here.")
    if far:
        return look(
            f"{told}: either very many features matter a little, or p-values are too small."
        )
    return fine(f"{told}: about as many, as it should be.")


def guard_verdict(selection: Selection) -> Verdict:
    """Whether what is left of features depended on others, so that a second test was needed."""
    raised = len(selection.evidence.guarded)
    if not selection.evidence.settings["guard"]:
        return not_tested("The second test was switched off (guard=False).")
    if raised:
        n = f"{raised:,} feature{'s depend' if raised > 1 else ' depends'}"
        return look(f"{n} on others in more than straight lines; a more cautious test was used.")
    return fine("No sign that features depend on each other in ways that would mislead the tests.")


def fits_verdict(selection: Selection) -> Verdict:
    """How much of the target features explain together."""
    best = [max(fit.explained.values()) for fit in selection.evidence.fits]
    share = max(best)
    if share < HARDLY:
        return look(
            "Together the features explain hardly anything of the target on rows left out: only "
            "strong effects can be seen."
        )
    of = "" if len(best) == 1 else " of the class or output that is explained best"
    return fine(f"Together the features explain {100 * share:.0f}%{of} on rows left out.")


def best_verdict(selection: Selection) -> Verdict:
    """Whether other features nearly made it, going by their q-values."""
    level, ranking = selection.decision.level, selection.evidence.ranking
    q = selection.q_values[ranking[selection.found_with[ranking] < 0]]
    if not q.size:
        return fine("All that was tested was found.")
    nearly = q[q <= NEARLY * level]
    if nearly.size:
        n = f"{len(nearly)} more feature{'s' * (len(nearly) > 1)}"
        return look(f"{n} nearly made it: q-values up to {nearly.max():.2g} at level {level:g}.")
    which = "next" if selection.selected.size else "best"
    return fine(f"The {which} feature has a q-value of {q.min():.2g}, far from level {level:g}.")


def alone_verdict(selection: Selection) -> Verdict:
    """Whether findings are associated with the target if other features are left aside."""
    hidden = selection.selected[selection.evidence.marginal[selection.selected] > UNSEEN]
    n = len(selection.selected)
    if not n:
        return not_tested("Nothing was found.")
    if hidden.size:
        names = say(selection, "listed_names", features=hidden)
        are = "is" if len(hidden) == 1 else "are"
        many = f"{len(hidden)} of {n} findings {are}"
        return look(f"{many} seen only once other features are accounted for: {names}.")
    return fine("Every finding goes with the target also if the other features are left aside.")


CHECKS: Checks = {
    "histogram": Check("Do the p-values look as they should?", histogram_verdict, histogram_plot),
    "guard": Check("Could features mislead the tests?", guard_verdict),
    "best": Check("Do the findings stand apart?", best_verdict, best_plot),
    "alone": Check("Are the findings also seen alone?", alone_verdict, alone_plot),
    "fits": Check("How much of the target is explained?", fits_verdict, fits_plot),
    **EVERY,
}
