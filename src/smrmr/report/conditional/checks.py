"""Says of every diagnostic of conditional tests whether all is fine."""

import numpy as np

from ...conditional.residual_checks import MANY_WIDE
from ...selection import Selection
from ...selection.conditional import evidence_of
from ...selection.pairs import partners_of
from ..checks import EVERY, Check, Checks, Verdict, doubtful, fine, not_tested
from ..marks import short
from ..words import say

FEWEST = 40  # p-values between 0.1 and 0.9 needed to see whether they are uniform
NEARLY = 1.5  # times the level: q-values of near misses
UNASSOCIATED = 0.05  # marginal p-value above which a finding is not associated on its own
DOUBTED = 1.64  # standard deviations by which residuals go together across rows: a level of 0.05
HARDLY = 0.05  # share of explained variance that is as good as nothing


def histogram_verdict(selection: Selection) -> Verdict:
    """Whether null p-values look uniform: as many above 0.5 as below."""
    p = selection.p_values[evidence_of(selection).tested]
    low, high = (int(np.sum((p > a) & (p <= a + 0.4))) for a in (0.1, 0.5))
    n = low + high
    if n < FEWEST:
        return not_tested(f"Only {n} p-values lie between 0.1 and 0.9, too few to see a pattern.")
    counts = f"{low} p-values lie between 0.1 and 0.5, {high} between 0.5 and 0.9"
    far = abs(high - low) > 3 * np.sqrt(n) and max(low, high) > 1.5 * min(low, high)
    if far and high > low:
        cautious = "p-values are too large, so the tests are conservative here"
        return doubtful(f"{counts}: {cautious}, and weak effects are missed.", level_holds=True)
    if far:
        return doubtful(
            f"{counts}: either very many features have weak effects, or p-values are too small."
        )
    return fine(f"{counts}: about as many, as for uniform p-values.")


def residuals_verdict(selection: Selection) -> Verdict:
    """Whether residuals of features depended on other features, so that p-values were raised."""
    evidence = evidence_of(selection)
    raised = len(evidence.raised)
    if not evidence.settings["check_residuals"]:
        return not_tested("The check of residuals was switched off (check_residuals=False).")
    if raised:
        n = f"{raised:,} feature{'s depend' if raised > 1 else ' depends'}"
        return doubtful(
            f"{n} on others beyond linear regression; a more conservative test decided."
        )
    return fine("No residual of a feature was seen to depend on other features.")


def scale_verdict(selection: Selection) -> Verdict:
    """Whether the spread of residuals goes with that of their row, as where samples are scaled."""
    evidence = evidence_of(selection)
    share = evidence.spread_share
    if share <= MANY_WIDE:
        return fine("Residuals are hardly wider in samples that are wide in the other features.")
    decided = ", so a more conservative test decided" * evidence.settings["check_residuals"]
    return doubtful(
        f"The samples differ in scale: {100 * share:.0f}% of residuals are wider in samples that "
        f"are wide in the other features{decided}. Normalise the samples, or give their total or "
        "their quality as a covariate."
    )


def covariates_verdict(selection: Selection) -> Verdict:
    """Whether findings come from covariates that act in a form that was not adjusted for."""
    if not selection.covariates:
        return not_tested("There were no covariates.")
    if len(selection.covariates) == len(selection.covariate_categories) == 1:
        name = short(selection.covariates[0])
        return fine(f"Every level of {name} was adjusted for, so that nothing of it is left.")
    excess = evidence_of(selection).excess[selection.selected]
    excess = excess[excess != 0]  # of groups alone it was not asked
    if not excess.size:
        return not_tested("No single feature was selected.")
    form = f"they were adjusted for by {selection.covariate_form}"
    if excess.sum() > DOUBTED * np.sqrt(len(excess)):
        return doubtful(
            f"The residuals still depend on the covariates in findings and target ({form}), so "
            "findings may be theirs. Give them in the form in which they act, or more rows."
        )
    return fine(f"Residuals of findings and target do not go with the covariates: {form}.")


def own_verdict(selection: Selection) -> Verdict:
    """Whether every feature could be tested on its own: those that others predict could not."""
    evidence = evidence_of(selection)
    gone = evidence.tested[evidence.p_of_members[0][evidence.tested] == 1]
    if not gone.size:
        return fine("Every feature could be tested on its own.")
    names = say(selection, "listed_names", features=gone)
    last = evidence.hypotheses[-1]
    in_groups = int(np.sum(evidence.p_of_hypotheses[last[gone]] < 1))
    many = f"{len(gone):,} feature{'s' if len(gone) > 1 else ''}"
    return doubtful(
        f"Others predict {many} almost completely, so that no test on its own is possible: "
        f"{names}. Of these {in_groups:,} of {len(gone):,} were tested with their group."
    )


def fits_verdict(selection: Selection) -> Verdict:
    """How much of the target's variance the features explain together."""
    fits = evidence_of(selection).fits
    best = max(fits, key=lambda fit: fit.share)
    if best.share < HARDLY:
        return doubtful(
            "Together the features explain hardly any variance of the target on rows left out: "
            "only strong effects can be detected."
        )
    of = "its variance" if len(fits) == 1 else "the variance of the class or output predicted best"
    share = f"{100 * best.share:.0f}% (standard error {100 * best.share_error:.0f}%)"
    return fine(f"Together the features explain {share} of {of} on rows left out.")


def best_verdict(selection: Selection) -> Verdict:
    """Whether there are near misses, going by q-values."""
    level, ranking = selection.decision.level, evidence_of(selection).ranking
    q = selection.q_values[ranking[selection.found_with[ranking] < 0]]
    if not q.size:
        return fine("All that was tested was selected.")
    nearly = q[q <= NEARLY * level]
    if nearly.size:
        n = f"{len(nearly)} more feature{'s come' if len(nearly) > 1 else ' comes'} close"
        return doubtful(f"{n}: q-values up to {nearly.max():.2g} at level {level:g}.")
    which = "next" if selection.selected.size else "best"
    return fine(f"The {which} feature has a q-value of {q.min():.2g}, far from level {level:g}.")


def alone_verdict(selection: Selection) -> Verdict:
    """Whether findings are also marginally associated; those of a pair need not be."""
    unassociated = selection.alone.p[selection.selected] > UNASSOCIATED
    together = partners_of(selection, selection.members) != ""
    hidden = selection.selected[unassociated & ~together]
    n = len(selection.selected)
    if not n:
        return not_tested("Nothing was selected.")
    if hidden.size:
        names = say(selection, "listed_names", features=hidden)
        are = "is" if len(hidden) == 1 else "are"
        many = f"{len(hidden)} of {n} findings {are}"
        return doubtful(
            f"{many} associated with the target only when adjusted for others: {names}."
        )
    rest = ", or acts together with a partner" if unassociated.any() else ""
    return fine(f"Every finding is also associated with the target on its own, unadjusted{rest}.")


CHECKS: Checks = {
    "histogram": Check("Are null p-values uniform?", histogram_verdict, of_level=True),
    "residuals": Check("Do residuals depend on other features?", residuals_verdict),
    "own": Check("Could every feature be tested on its own?", own_verdict),
    "scale": Check("Do samples differ in scale?", scale_verdict, of_level=True),
    "covariates": Check(
        "Do residuals still depend on the covariates?",
        covariates_verdict,
        adjusted=True,
        of_level=True,
    ),
    "best": Check("Are the findings clear?", best_verdict),
    "alone": Check("Do the findings have marginal associations?", alone_verdict),
    "fits": Check("How much of the target is explained?", fits_verdict),
    **EVERY,
}
