r"""Survival: times and events, tested by the residuals of a null model.

The null model is that of Cox given covariates, or that of Nelson and Aalen without any. With
:math:`\delta_i` the event of row i, :math:`t_i` its time and :math:`\hat\Lambda_i` the hazard that
the null model adds up until then, :math:`M_i = \delta_i - \hat\Lambda_i` is the martingale
residual, the event less what was to be expected, and :math:`\mathrm{sign}(M_i) \sqrt{-2 (M_i +
\delta_i \log(\delta_i - M_i))}` the deviance residual, which has shorter tails.
"""

import re
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ...problems import Problem, setting, warn
from ...types import Data, Indices, Mask, Matrix, Vector, pd
from ..messages import named, refuse_missing
from ..ranks import settled
from ..row_groups import vary_within
from .events import counted_by_r, events_of
from .numbers import Numbers
from .protocol import GUMBEL_SPREAD, LEAST_NOISE, Planting, Target

FEWEST_EVENTS = 5
EVENTS = frozenset(("event", "status", "dead", "died", "death", "cens", "observed"))
SAID_OF_EVENTS = EVENTS | {"relapse"}  # words in names of columns that are warned of
SAID_OF_TIMES = frozenset(("time", "days", "weeks", "months", "years", "survival", "duration"))
NEWTON_STEPS = 50
RIDGE = 1e-4  # of coefficients, per row, so that a covariate that separates events is no trouble


@dataclass(frozen=True)
class Survival(Numbers):
    """A time and an event per row; values are deviance residuals given the covariates.

    `derived_from` holds times and events as two rows.
    """

    alias: ClassVar[str] = "survival"
    within_groups: ClassVar[bool] = False

    def accepts(self, y: Data) -> bool:
        """Whether y is an array of fields, as scikit-survival makes them."""
        _warn_if_survival(y)
        return _has_fields(y)

    def read(self, y: Data) -> Target:
        """Times and events: an array of fields, a table or two columns of an array."""
        times_and_events = _times_and_events(y)
        given = Target(self.alias, times_and_events[0], derived_from=times_and_events)
        found = self.derive_values(given, np.empty((0, given.n_rows)))
        if np.ptp(found.values) < 1e-9:
            raise Problem("the survival times are the same for all rows.", "They must vary.")
        return found

    def derive_values(self, target: Target, covariates: Matrix) -> Target:
        """Deviance residuals given the covariates."""
        assert target.derived_from is not None
        time, event = target.derived_from
        return replace(target, values=settled(deviance_residuals(time, event == 1, covariates)))

    def mean(self, target: Target, codes: Indices) -> Target:
        """The time and event of every group, which must not vary within."""
        assert target.derived_from is not None
        if vary_within(target.derived_from.T, codes):
            raise Problem(
                "survival times change within groups.", "One time and event per group is needed."
            )
        return self.take(target, np.unique(codes, return_index=True)[1])

    def plant(self, target: Target, planting: Planting, rng: Generator) -> Target:
        """Times and events handed out anew so that hazards are proportional to exp(signal).

        At every time, in order, one of the rows at risk gets it: if it is an event, with
        probability in proportion to its hazard; if it is not, any of them (the permutational
        algorithm of Abrahamowicz, MacKenzie and Esdaile 1996).
        """
        assert target.derived_from is not None
        time, event = target.derived_from
        hazard = cox_predictor(time, event == 1, planting.covariates)
        hazard += planting.signal[0] * GUMBEL_SPREAD / max(planting.noise, LEAST_NOISE)
        clocks, chance = rng.gumbel(size=time.shape) + hazard, rng.random(time.shape)
        dealt = np.empty((2, len(time)))
        for stratum in np.unique(planting.strata):
            rows = np.flatnonzero(planting.strata == stratum)
            order = rows[np.lexsort((1 - event[rows], time[rows]))]
            taken = _rows_at_risk(event[order] == 1, clocks[rows], chance[rows])
            dealt[:, rows[taken]] = target.derived_from[:, order]
        return self.derive_values(replace(target, derived_from=dealt), planting.covariates)


def _has_fields(y: Data) -> bool:
    return getattr(getattr(y, "dtype", None), "names", None) is not None


def _warn_if_survival(y: Data) -> None:
    """Warn of a table of two columns that by names and values are an event and a time."""
    if not (hasattr(y, "iloc") and y.ndim == 2 and y.shape[1] == 2):
        return
    columns = [(str(name), y.iloc[:, k].to_numpy()) for k, name in enumerate(y.columns)]
    for (event, events), (time, times) in (columns, columns[::-1]):
        named = _says(event, SAID_OF_EVENTS) and _says(time, SAID_OF_TIMES)
        if named and events_of(events) is not None and _are_times(times):
            warn(
                f"y looks like survival, with {event!r} and {time!r} as event and time, and is "
                f"taken for two outputs. Use {setting('target', 'survival')} if it is, or "
                f"{setting('target', 'continuous')} to confirm."
            )
            return


def _says(name: str, words: frozenset[str]) -> bool:
    """Whether one of these words is in a name."""
    return not words.isdisjoint(re.split("[^a-z]+", name.lower()))


def _times_and_events(y: Data) -> Matrix:
    """Times and events as two rows."""
    columns = _two_columns(y)
    name = _name_of_events(columns)
    values = columns.pop(name)
    which = "the event" if name == "event" else f"the event {name!r}"  # the command has one name
    happened = events_of(values)
    if happened is None:
        refuse_missing(pd.isna(values), which)
        levels = ", ".join(repr(level) for level in pd.unique(values)[:5].tolist())
        raise Problem(
            f"{which} holds {levels}.",
            "Events are True and False, 1 and 0, yes and no, dead and alive, or 2 and 1 as in R.",
        )
    if counted_by_r(values):
        warn(f"{which} is 1 and 2: as in R, 2 is read as the event and 1 as censored.")
    ((called, given),) = columns.items()
    time = _numbers(given, called)
    if not np.isfinite(time).all() or (time < 0).any():
        raise Problem(
            "survival times must be known and not negative.", cure="Leave these rows out."
        )
    if happened.sum() < FEWEST_EVENTS:
        raise Problem(
            f"{int(happened.sum())} events in {len(time)} rows.",
            f"At least {FEWEST_EVENTS} are needed.",
        )
    return np.stack([settled(time), happened])


def _numbers(values: NDArray[Any], name: str) -> Vector:
    try:
        if values.dtype.kind in "mM":
            raise TypeError
        return np.asarray(values.astype(np.float64))
    except (TypeError, ValueError):
        needed = "Times are numbers, such as days from a start."
        raise Problem(f"the time {name!r} holds text or dates.", needed) from None


def _name_of_events(columns: dict[str, NDArray[Any]]) -> str:
    """Which of two columns holds events: by its whole name, its type, its values, or a word."""
    possible = [name for name, values in columns.items() if events_of(values) is not None]
    choices = (
        [name for name in columns if name.lower() in EVENTS],
        [name for name in possible if columns[name].dtype.kind in "bOUT"],
        possible,
        [name for name in possible if _says(name, EVENTS)],
    )
    for found in choices:
        if len(found) == 1:
            return found[0]
    raise Problem(
        f"{', '.join(columns)} cannot be told apart as event and time of survival.",
        "A column of events is needed, True or 1 where it happened, and one of times.",
        "Name them event and time.",
    )


def deviance_residuals(time: Vector, event: Mask, covariates: Matrix) -> Vector:
    """Residuals of the null model; `covariates` are orthonormal rows, maybe none."""
    martingale = martingale_residuals(time, event, covariates)
    inside = np.where(event, np.log(np.maximum(event - martingale, 1e-300)), 0.0)
    size = np.sqrt(np.maximum(-2 * (martingale + inside), 0.0))
    return np.asarray(np.sign(martingale) * size)


def _rows_at_risk(events: Mask, clocks: Vector, chance: Vector) -> Indices:
    """For each time in order the row that gets it: of events that of the largest clock left."""
    by_clock, by_chance = iter(np.argsort(-clocks)), iter(np.argsort(chance))
    left = np.ones(len(events), np.bool_)
    taken = np.empty(len(events), np.intp)
    for i, happened in enumerate(events):
        taken[i] = next(row for row in (by_clock if happened else by_chance) if left[row])
        left[taken[i]] = False
    return taken


def cox_predictor(time: Vector, event: Mask, covariates: Matrix) -> Vector:
    """Log hazard ratio of each row by its covariates, in Cox's model."""
    if not len(covariates):
        return np.zeros(len(time))
    order, last = _at_risk(time)
    design = np.sqrt(len(time)) * covariates
    return np.asarray(_cox(design[:, order], event[order].astype(np.float64), last) @ design)


def martingale_residuals(time: Vector, event: Mask, covariates: Matrix) -> Vector:
    """Event less the hazard added up until the row's time, ties as Breslow has them."""
    order, last = _at_risk(time)
    times, died = time[order], event[order].astype(np.float64)
    weight = np.exp(cox_predictor(time, event, covariates))[order]
    at_risk = np.cumsum(weight)[last]
    steps = died / at_risk
    later = np.cumsum(steps[::-1])[::-1]  # of hazards of rows as late or earlier in this order
    first = np.searchsorted(-times, -times, side="left")
    residual = np.empty(len(time))
    residual[order] = died - weight * later[first]
    return residual


def _at_risk(time: Vector) -> tuple[Indices, Indices]:
    """Rows, the latest first, and for each the last in that order that is still at risk."""
    order = np.argsort(-time, kind="stable")  # sums are then over those at risk
    times = time[order]
    return order, np.searchsorted(-times, -times, side="right") - 1


def _cox(design: Matrix, died: Vector, last: NDArray[np.intp]) -> Vector:
    """Coefficients of Cox's model by Newton's method, with a very small ridge."""
    size, n = design.shape
    b = np.zeros(size)
    for _ in range(NEWTON_STEPS):
        weight = np.exp(np.clip(b @ design, -30, 30))
        total = np.cumsum(weight)[last]
        first = np.cumsum(weight * design, axis=1)[:, last] / total
        products = design[:, None] * design
        second = np.cumsum(weight * products, axis=2)[:, :, last] / total
        slope = (design - first) @ died - RIDGE * n * b
        curve = np.tensordot(second - first[:, None] * first, died, axes=1)
        step = np.linalg.solve(curve + RIDGE * n * np.eye(size), slope)
        b = b + np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-9:
            break
    return b


def _two_columns(y: Data) -> dict[str, NDArray[Any]]:
    if not (hasattr(y, "iloc") and hasattr(y, "columns")):
        array = np.asarray(y)
        y = pd.DataFrame(array) if _has_fields(y) else pd.DataFrame(array).add_prefix("column ")
    columns = {str(name): y.iloc[:, k].to_numpy() for k, name in enumerate(y.columns)}
    if len(columns) != 2:
        raise Problem(
            f"survival has {len(columns)} columns ({named(columns)}).",
            "An event and a time are needed.",
            "Rows that enter late (left truncation) are not supported: leave them out.",
        )
    return columns


def _are_times(values: NDArray[Any]) -> bool:
    return values.dtype.kind in "iuf" and bool((values >= 0).all()) and len(np.unique(values)) > 2
