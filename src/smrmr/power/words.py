"""Puts trials into sentences: whether the level holds, what is found, how many rows it takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from .rates import Crossing, Rate

if TYPE_CHECKING:
    from .account import SamplePlan, TableCheck, Trials

FORMS = {  # in words: what an effect is called
    "line": "linear effect",
    "bend": "U-shaped effect",
    "pair": "interaction of two features",
}
LAYER = {  # what a layer names
    "associated": "associated features",
    "signals": "signals",
    "own": "own contributions",
    "pairs": "pairs",
}
STOPPED = {
    "precision": "until all rates were known well enough",
    "fits": "until the number of fits was reached",
    "time": "until the time was up",
}
PLANTED_ON = {"all": "all features", "clusters": "features with look-alikes"}


def words_of_check(check: TableCheck) -> Iterator[str]:
    """What a check of a table found, sentence by sentence; what puts the level in doubt first."""
    yield from doubts_of_check(check)
    yield (
        f"This table was fitted {_counted(check.n_fits, 'time')}, with planted effects or with a "
        f"shuffled target ({check.seconds:.0f} s, {STOPPED[check.stopped]})."
    )
    yield level_attained(check)
    yield from words_of_power(check)


def words_of_power(check: TableCheck) -> Iterator[str]:
    """For each form which effects are detected, and which ones an empty answer speaks against."""
    for form in check.forms:
        yield f"{smallest_effect(check, form)} {ruled_out(check, form)}".strip()


def doubts_of_check(check: TableCheck) -> list[str]:
    """The layers whose level does not hold on this table, in a sentence; none if all is well."""
    if not check.broken:
        return []
    layer = "signals" if "signals" in check.broken else check.broken[0]
    shuffled, attained = check.any_false(layer), check.attained_fdr(layer)
    if attained.n and attained.low > check.level:
        measured = f"where effects were planted, {written(attained)} of {LAYER[layer]} were false"
    else:
        measured = (
            f"with a shuffled target, {written(shuffled)} of fits found {LAYER[layer]}, "
            "all of them false"
        )
    return [
        f"On this table the level {check.level:g} does not hold for "
        f"{_joined([LAYER[name] for name in check.broken])}: {measured}. Look for repeated rows, "
        "samples that differ in scale, and groups of rows."
    ]


def level_attained(check: TableCheck) -> str:
    """Rates of false findings among the signals."""
    attained, shuffled = check.attained_fdr(), check.any_false()
    said = []
    if attained.n:
        said.append(
            f"At level {check.level:g}, {written(attained)} of the signals were false on average "
            "where effects were planted."
        )
    if shuffled.n:
        said.append(
            "With a shuffled target every finding is false: "
            f"{written(shuffled)} of {_counted(shuffled.n, 'fit')} had one."
        )
    return " ".join(said)


def smallest_effect(check: TableCheck, form: str, layer: str = "") -> str:
    """The smallest effect of a form that is detected, in a layer, with a power of 80%."""
    from .account import CHANCE

    found, what, tried = check.smallest(form, layer=layer), FORMS[form], check.tried(form)
    if not tried:
        return f"No fit was left for {_with_article(what).lower()}."
    if np.isinf(found.at):
        largest = max(cell.share for cell in tried)
        return (
            f"No {what} is detected with {CHANCE:.0%} power, even if it explains "
            f"{percent(largest)} of {_variance(check)}."
        )
    within = " or less" if found.first else f" (95% interval {_interval(found)})"
    return (
        f"{_with_article(what)} is detected with {CHANCE:.0%} power if it explains "
        f"{percent(found.at)}{within} of {_variance(check)}{as_ratio(check, found.at, form)}."
    )


def ruled_out(check: TableCheck, form: str) -> str:
    """Which effects an empty answer speaks against."""
    from .account import SURELY

    found = check.smallest(form, SURELY)
    if not check.tried(form):
        return ""
    if np.isinf(found.at):
        return "An empty answer rules out no such effect that was tried."
    return (
        f"An empty answer speaks against such effects of {percent(found.at)} and more: they would "
        f"be missed in at most {1 - SURELY:.0%} of studies like this one."
    )


def what_was_planted(check: TableCheck) -> str:
    """How many effects were planted at once, on which features, in how many fits."""
    n_null = check.any_false().n
    where = PLANTED_ON.get(check.planted_on, check.planted_on)
    said = f"{n_null} of {_counted(check.n_fits, 'fit')} had a shuffled target."
    if not check.forms:
        return said
    numbers = {form: _numbers_planted(check, form) for form in check.forms}
    if len({*numbers.values()}) == 1:
        listed = numbers[check.forms[0]]
    else:
        listed = "; ".join(f"{FORMS[form]}: {some}" for form, some in numbers.items())
    return (
        f"{said} In the others effects of the same strength were planted at once ({listed}), on "
        f"features drawn anew for every fit from {where}."
    )


def _numbers_planted(check: TableCheck, form: str) -> str:
    """How many effects of each strength: 5 of 5% or 10%, 2 of 20%."""
    shares: dict[int, list[str]] = {}
    for cell in check.cells:
        if cell.form == form:
            shares.setdefault(cell.n_effects, []).append(percent(cell.share))
    return ", ".join(f"{n} of {' or '.join(some)}" for n, some in shares.items())


def words_of_plan(plan: SamplePlan) -> Iterator[str]:
    """How many rows it takes, effect by effect."""
    from .account import CHANCE

    for form, share, n_effects in plan.effects():
        found = plan.rows_needed(form, share)
        effects = f"effects that explain {percent(share)} of {_variance(plan)}"
        if form != "line":
            effects = f"{'U-shaped' if form == 'bend' else 'interaction'} {effects}"
        effects += as_ratio(plan, share, form, n_effects)
        tried = [cell.n_rows for cell in plan.tried(form) if cell.share == share]
        if not tried:
            yield f"No fit was left for {effects}."
        elif np.isinf(found.at):
            yield f"{max(tried):,} rows are not enough to detect {CHANCE:.0%} of {effects}."
        else:
            least = " or fewer" if found.first else f" (95% interval {_rows(found)})"
            yield f"{found.at:,.0f} rows{least} are needed to detect {CHANCE:.0%} of {effects}."
    if plan.n_pilot and max(cell.n_rows for cell in plan.cells) > plan.n_pilot:
        yield (
            f"Beyond the {plan.n_pilot:,} rows of the pilot, rows were simulated with its "
            "correlations, weak ones shrunk towards none."
        )
    yield f"{_counted(plan.n_fits, 'fit')}, {plan.seconds:.0f} s, {STOPPED[plan.stopped]}."


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
    high = "more than was tried" if np.isinf(found.high) else percent(found.high)
    return f"{percent(found.low)} to {high}"


def _rows(found: Crossing) -> str:
    high = "more than were tried" if np.isinf(found.high) else f"{found.high:,.0f}"
    return f"{found.low:,.0f} to {high}"


def _variance(trials: Trials) -> str:
    return f"the variance of the {'latent score' if trials.ratio else 'target'}"


def as_ratio(trials: Trials, share: float, form: str, n: int = 0) -> str:
    """The odds or hazard ratio of an effect, if the target has one."""
    from .account import ratio_of

    if not trials.ratio:
        return ""
    same = [cell for cell in trials.cells if cell.form == form]
    nearest = min(same, key=lambda cell: abs(cell.share - share))
    ratio = ratio_of(trials.target, share, n or nearest.n_effects)
    return f" ({trials.ratio} {ratio:.1f} per standard deviation)"


def _joined(names: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _with_article(what: str) -> str:
    return f"{'An' if what[0] == 'i' else 'A'} {what}"


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'s' * (n != 1)}"
