"""Puts trials into sentences: whether the level holds, what is found, how many rows it takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from .rates import Crossing, Rate

if TYPE_CHECKING:
    from .account import SamplePlan, TableCheck

FORMS = {  # in words: one effect, and that of which it is
    "line": "a linear effect",
    "bend": "a U-shaped effect",
    "pair": "an interaction of two features",
}
STOPPED = {
    "precision": "all rates were known well enough",
    "fits": "the number of fits was reached",
    "time": "the time was up",
}


def words_of_check(check: TableCheck) -> Iterator[str]:
    """What a check of a table found, sentence by sentence; what puts the level in doubt first."""
    yield from doubts_of_check(check)
    yield (
        f"{check.n_fits} fits of this table with planted effects "
        f"({check.seconds:.0f} s; {STOPPED[check.stopped]})."
    )
    yield level_attained(check)
    for form in check.forms:
        yield smallest_effect(check, form)
        yield ruled_out(check, form)


def doubts_of_check(check: TableCheck) -> list[str]:
    """The layers whose level does not hold on this table, in a sentence; none if all is well."""
    if not check.broken:
        return []
    rates = []
    for layer in check.broken:
        shuffled, attained = check.any_false(layer), check.attained_fdr(layer)
        said = f"something false in {written(shuffled)} of shuffled targets"
        if attained.n:
            said += f", FDR {written(attained)} with planted effects"
        rates.append(f"{layer}: {said}")
    return [
        f"On this table the level {check.level:g} does not hold ({'; '.join(rates)}): more "
        "findings than that are false. Look for repeated rows, samples of another scale and groups "
        "of rows."
    ]


def level_attained(check: TableCheck) -> str:
    """Rates of false findings among the signals."""
    attained, shuffled = check.attained_fdr(), check.any_false()
    said = []
    if attained.n:
        said.append(f"{written(attained)} of the signals were false where effects were planted")
    if shuffled.n:
        said.append(f"something was found in {written(shuffled)} of {shuffled.n} shuffled targets")
    return f"Level {check.level:g}: {', and '.join(said)}." if said else ""


def smallest_effect(check: TableCheck, form: str) -> str:
    """The smallest effect of a form that is found with a chance of 80%."""
    from .account import CHANCE

    found = check.smallest(form)
    what = FORMS[form]
    if np.isinf(found.at):
        largest = max(cell.share for cell in check.cells if cell.form == form)
        return (
            f"{_capital(what)} is not found with a chance of {CHANCE:.0%}, even if it explains "
            f"{percent(largest)} of {_variance(check)}."
        )
    within = "" if found.first else f" (95% interval {_interval(found)})"
    least = " or less" if found.first else ""
    share = f"{percent(found.at)}{least}{within} of {_variance(check)}"
    return (
        f"{_capital(what)} is found with a chance of {CHANCE:.0%} if it explains {share}"
        f"{_as_ratio(check, found.at, form)}."
    )


def ruled_out(check: TableCheck, form: str) -> str:
    """Which effects an empty answer speaks against."""
    from .account import SURELY

    found = check.smallest(form, SURELY)
    if np.isinf(found.at):
        return "Finding nothing rules out no such effect that was tried."
    return (
        f"Finding nothing speaks against such effects of {percent(found.at)} and more: they are "
        f"missed in less than {1 - SURELY:.0%} of cases."
    )


def words_of_plan(plan: SamplePlan) -> Iterator[str]:
    """How many rows it takes, effect by effect."""
    from .account import CHANCE

    for form, share, n_effects in plan.effects():
        found = plan.rows_needed(form, share)
        effects = f"effects that explain {percent(share)} of {_variance(plan)}"
        if form != "line":
            effects = f"{'U-shaped' if form == 'bend' else 'interaction'} {effects}"
        effects += _as_ratio(plan, share, form, n_effects)
        if np.isinf(found.at):
            most = max(cell.n_rows for cell in plan.cells)
            yield f"{most:,} rows find less than {CHANCE:.0%} of {effects}."
        else:
            least = " or fewer" if found.first else f" (95% interval {_rows(found)})"
            yield f"{found.at:,.0f} rows{least} find {CHANCE:.0%} of {effects}."
    if plan.n_pilot and max(cell.n_rows for cell in plan.cells) > plan.n_pilot:
        yield (
            f"Beyond the {plan.n_pilot:,} rows of the pilot, rows were simulated with its "
            "correlations, shrunk."
        )
    yield f"{plan.n_fits} fits, {plan.seconds:.0f} s; {STOPPED[plan.stopped]}."


def written(rate: Rate) -> str:
    """A rate with its interval.

    >>> written(Rate(0.08, 0.05, 0.125, 40))
    '8% (95% interval 5% to 12%)'
    """
    return f"{percent(rate.mean)} (95% interval {percent(rate.low)} to {percent(rate.high)})"


def percent(share: float) -> str:
    """A share as a percentage, of two digits where it is small."""
    return f"{100 * share:.2g}%" if 0 < share < 0.095 else f"{100 * share:.0f}%"


def _interval(found: Crossing) -> str:
    high = "beyond" if np.isinf(found.high) else percent(found.high)
    return f"{percent(found.low)} to {high}"


def _rows(found: Crossing) -> str:
    high = "more than were tried" if np.isinf(found.high) else f"{found.high:,.0f}"
    return f"{found.low:,.0f} to {high}"


def _variance(trials: TableCheck | SamplePlan) -> str:
    return "the variance" if not trials.ratio else "the variance of the latent score"


def _as_ratio(trials: TableCheck | SamplePlan, share: float, form: str, n: int = 0) -> str:
    """The odds or hazard ratio of an effect, if the target has one."""
    from .account import ratio_of

    if not trials.ratio:
        return ""
    same = [cell for cell in trials.cells if cell.form == form]
    nearest = min(same, key=lambda cell: abs(cell.share - share))
    ratio = ratio_of(trials.target, share, n or nearest.n_effects)
    return f" ({trials.ratio} {ratio:.1f} per standard deviation)"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
