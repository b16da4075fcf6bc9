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
SHORT = {"line": "linear", "bend": "U-shaped", "pair": "interaction"}  # in tables and figures
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
WHAT_TO_DO = (
    "Test what was found on new data, or check the table again at a lower level or by a stricter "
    "rule, such as holm."
)


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
    for form in forms_tried(check):
        yield f"{smallest_effect(check, form)} {ruled_out(check, form)}"


def forms_tried(check: TableCheck) -> list[str]:
    """Forms of effects that some fit had: not all, where time was short."""
    return [form for form in check.forms if check.tried(form)]


def doubts_of_check(check: TableCheck) -> list[str]:
    """That the level does not hold on this table, and what to do; nothing if all is well."""
    return [f"{failed} {WHAT_TO_DO}" for failed in filter(None, [level_failed(check)])]


def level_failed(check: TableCheck) -> str:
    """The layers whose level does not hold on this table, in a sentence; else nothing."""
    if not check.broken:
        return ""
    layer = "signals" if "signals" in check.broken else check.broken[0]
    shuffled, attained = check.any_false(layer), check.attained_fdr(layer)
    if attained.n and attained.low > check.level:
        measured = f"where effects were planted, {written(attained)} of {LAYER[layer]} were false"
    else:
        measured = (
            f"with a shuffled target, {written(shuffled)} of fits found {LAYER[layer]}, "
            "all of them false"
        )
    return (
        f"On this table the level {check.level:g} does not hold for "
        f"{_joined([LAYER[name] for name in check.broken])}: {measured}."
    )


def level_attained(check: TableCheck) -> str:
    """Rates of false findings among the signals, and whether they agree with the level."""
    attained, shuffled = check.attained_fdr(), check.any_false()
    if not attained.n + shuffled.n:
        return "There was no time for a fit that tells whether the level holds."
    said = [] if check.broken else [_agreement(check)]
    if attained.n:
        said.append(
            f"Where effects were planted, {written(attained)} of the signals were false on average."
        )
    if shuffled.n:
        said.append(
            "With a shuffled target every finding is false: "
            f"{written(shuffled)} of {_counted(shuffled.n, 'fit')} had one."
        )
    both = "Both should" if attained.n and shuffled.n else "It should"
    return " ".join([*said, f"{both} be at most {percent(check.level)}."])


def agrees(check: TableCheck) -> bool:
    """Whether the intervals of both rates among the signals reach down to the level."""
    return all(rate.low <= check.level for rate in (check.attained_fdr(), check.any_false()))


def _agreement(check: TableCheck) -> str:
    if agrees(check):
        return f"These fits agree with the level {check.level:g}."
    return f"These fits put the level {check.level:g} in question; more of them would tell."


def smallest_effect(check: TableCheck, form: str, layer: str = "") -> str:
    """The smallest effect of a form that is detected, in a layer, with a power of 80%."""
    from .account import CHANCE

    found, what = check.smallest(form, layer=layer), FORMS[form]
    if np.isinf(found.at):
        largest = max(cell.share for cell in check.tried(form))
        return (
            f"No {what} is detected with {CHANCE:.0%} power, even if it explains "
            f"{percent(largest)} of {_variance(check)}."
        )
    least = " or less, the weakest that was tried," if found.first else ""
    within = _interval(found)
    return (
        f"{_with_article(what)} is detected with {CHANCE:.0%} power if it explains "
        f"{percent(found.at)}{within}{least} of {_variance(check)}"
        f"{as_ratio(check, found.at, form)}."
    )


def ruled_out(check: TableCheck, form: str) -> str:
    """Which effects an empty answer speaks against."""
    from .account import SURELY

    found, what = check.smallest(form, SURELY), FORMS[form]
    if np.isinf(found.at):
        largest = max(cell.share for cell in check.tried(form))
        return (
            f"An empty answer rules out no {what} that was tried, not even one of "
            f"{percent(largest)} of the variance."
        )
    return (
        f"{_with_article(what)} that explains {percent(found.at)} or more of the "
        f"variance{_interval(found)} "
        f"would be missed in at most {1 - SURELY:.0%} of studies like this one: an empty answer "
        "speaks against it."
    )


def what_was_planted(check: TableCheck) -> str:
    """How the target was handed out anew, how many effects were planted, on which features."""
    n_null = check.any_false().n
    said = (
        f"This table was fitted {_counted(check.n_fits, 'time')}, each time with the values of the "
        "target handed out anew to its rows."
    )
    if n_null:
        said += f" In {_counted(n_null, 'fit')} they were shuffled: every finding is then false."
    if check.n_fits == n_null:
        return said
    numbers = {form: _numbers_planted(check, form) for form in forms_tried(check)}
    if len({*numbers.values()}) == 1:
        listed = next(iter(numbers.values()))
    else:
        listed = ", and ".join(f"{some} as {SHORT[form]}" for form, some in numbers.items())
    where = PLANTED_ON.get(check.planted_on, check.planted_on)
    return (
        f"{said} In {_counted(check.n_fits - n_null, 'fit')} some features had effects of known "
        f"strength, of one strength at a time: {listed} of {_variance(check)} each. The features "
        f"were drawn anew for every fit from {where}."
    )


def _numbers_planted(check: TableCheck, form: str) -> str:
    """How many effects of each strength: 5 effects of 5% or 10%, or 1 effect of 30%."""
    shares: dict[int, list[str]] = {}
    for cell in check.tried(form):
        shares.setdefault(cell.n_effects, []).append(percent(cell.share))
    return ", or ".join(
        f"{_counted(n, 'effect')} of {_joined(some, 'or')}" for n, some in shares.items()
    )


def words_of_plan(plan: SamplePlan) -> Iterator[str]:
    """How many rows it takes, effect by effect."""
    from .account import CHANCE

    for form, share, n_effects in plan.effects():
        found = plan.rows_needed(form, share)
        tried = [cell.n_rows for cell in plan.tried(form) if cell.share == share]
        effects = f"effects that explain {percent(share)} of {_variance(plan)}"
        if form != "line":
            effects = f"{'U-shaped' if form == 'bend' else 'interaction'} {effects}"
        effects += as_ratio(plan, share, form, n_effects)
        if not tried:
            yield f"There was no time to look for {effects}."
        elif np.isinf(found.at):
            yield f"{max(tried):,} rows are not enough to detect {CHANCE:.0%} of {effects}."
        else:
            least = " or fewer" if found.first else f" (95% interval {_rows(found)})"
            yield f"{found.at:,.0f} rows{least} are needed to detect {CHANCE:.0%} of {effects}."
    if plan.n_pilot and max(cell.n_rows for cell in plan.cells) > plan.n_pilot:
        yield (
            f"Beyond the {plan.n_pilot:,} rows of the pilot, rows were simulated with its "
            "distributions, and with those of its correlations that chance alone does not give."
        )
    yield f"{_counted(plan.n_fits, 'fit')}, {plan.seconds:.0f} s, {STOPPED[plan.stopped]}."


def written(rate: Rate) -> str:
    """A rate with its interval.

    >>> written(Rate(0.08, 0.0547, 0.125, 40))
    '8% (95% interval 5.5% to 12%)'
    """
    return f"{_tenths(rate.mean)} (95% interval {_tenths(rate.low)} to {_tenths(rate.high)})"


def written_shortly(rate: Rate) -> str:
    """A rate with its interval for a table; nothing if it was not measured.

    >>> written_shortly(Rate(0.08, 0.0547, 0.125, 40)), written_shortly(Rate(0.5, 0.0, 1.0, 0))
    ('8% (5.5 to 12%)', '')
    """
    if not rate.n:
        return ""
    return f"{_tenths(rate.mean)} ({_tenths(rate.low)[:-1]} to {_tenths(rate.high)})"


def percent(share: float) -> str:
    """A share as a percentage, of two digits where it is small."""
    return f"{100 * share:.2g}%" if 0 < share < 0.095 else f"{100 * share:.0f}%"


def _tenths(share: float) -> str:
    """A measured share as a percentage: below 10% of one decimal, which is as much as is known."""
    return f"{round(100 * share, 1 if share < 0.0995 else None):g}%"


def _interval(found: Crossing) -> str:
    """The interval of a strength in brackets; of the weakest that was tried its high end."""
    if found.high == found.first * found.at:
        return ""
    low = "up" if found.first else percent(found.low)
    high = "more than was tried" if np.isinf(found.high) else percent(found.high)
    return f" (95% interval {low} to {high})"


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


def _joined(names: list[str], word: str = "and") -> str:
    return f" {word} ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _with_article(what: str) -> str:
    return f"{'An' if what[0] == 'i' else 'A'} {what}"


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'s' * (n != 1)}"
