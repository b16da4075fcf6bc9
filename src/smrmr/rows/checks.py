"""Defines RowChecks: all that was asked about the independence of rows, and what came out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..data.study import Study
from ..problems import setting, warn
from ..runs.blocks import map_on_threads, one_blas_thread
from ..runs.work import Work
from .dependence import MATERIAL, Dependence, below_05, row_dependence
from .repeats import Repeats, repeated_rows
from .structure import Structure, population_structure

CHECKS: tuple[Callable[[Study], Any], ...] = (repeated_rows, row_dependence, population_structure)


@dataclass(frozen=True, eq=False)
class RowChecks:
    """Signs that rows are not independent.

    Attributes
    ----------
    repeats
        Rows that are repeated.
    dependence
        How much alike rows are that are near each other, in order and by coordinates, as far as
        that could be asked.
    structure
        What leading principal components of the features explain, if there are any.
    """

    repeats: Repeats = field(default_factory=Repeats)
    dependence: tuple[Dependence, ...] = ()
    structure: Structure | None = None

    @property
    def found(self) -> str:
        """What was found and what to do about it, with settings marked; empty if nothing was."""
        if self.repeats.found:  # which are alike their neighbours too, if they follow one another
            return _about_repeats(self.repeats)
        dependent = [one for one in self.dependence if one.found]
        if dependent:
            return _about_dependence(max(dependent, key=lambda one: one.inflation))
        if self.structure is not None and self.structure.found:
            return _about_structure(self.structure)
        return ""


def check_rows(study: Study, work: Work) -> RowChecks:
    """Look for rows that are not independent, in the order given, and warn of them."""
    with work.stage("rows"), one_blas_thread():
        checks = RowChecks(*map_on_threads(lambda check: check(study), CHECKS, work.n_jobs))
    if checks.found:
        warn(checks.found)
    return checks


def _about_repeats(repeats: Repeats) -> str:
    if repeats.inflation >= MATERIAL:
        found = f"{repeats.n_equal} of {repeats.n_rows} rows are equal to another row"
        cost = _cost(repeats.inflation)
    else:
        found = (
            f"{repeats.n_alike} of {repeats.n_rows} rows are far more like another row than chance "
            "allows"
        )
        cost = "more false features than the level allows may be selected"
    return (
        f"{found}. If samples were measured more than once, or come from one patient, plate or "
        f"family, rows are not independent, and {cost}. Say which rows belong together: "
        f"{setting('groups', ...)}."
    )


def _about_dependence(found: Dependence) -> str:
    in_order = found.along == "order"
    near = "that follow one another" if in_order else "that are close by their coordinates"
    blocks = "of rows that follow one another" if in_order else "of neighbouring rows"
    return (
        f"rows {near} are alike, in the target (correlation {found.target:.2f}) and in the "
        f"features ({found.features:.2f} on average). They are not independent, and "
        f"{_cost(found.inflation)}. Compare means of blocks {blocks}, "
        f"{setting('groups', ...)} with {setting('aggregate', 'mean')}, or adjust for what makes "
        "them alike by covariates."
    )


def _about_structure(found: Structure) -> str:
    n = found.n_components
    first = "the first principal component" if n == 1 else f"the first {n} principal components"
    given = "it" if n == 1 else "them"
    return (
        f"{first} of the features explain{'s' if n == 1 else ''} {100 * found.of_target:.0f}% of "
        "the target, and by way of "
        f"{given} most features go with it: squared correlations are {found.inflation:.1f} times "
        f"those by chance, {found.adjusted_inflation:.1f} times given {given}. If samples come "
        "from several populations, batches or plates, more false features than the level allows "
        f"may be selected. Take these, or the component{'s' if n > 1 else ''}, as covariates."
    )


def _cost(inflation: float) -> str:
    share = 100 * below_05(inflation)
    return (
        f"a p-value up to 0.05 comes by chance in {share:.0f}% of all cases instead of 5%: more "
        "false features than the level allows may be selected"
    )
