"""Says which effects are planted: their form, strength and number, and on which features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..power.account import RATIOS, Cell, share_of
from ..problems import Problem, setting
from ..settings import check_choice, check_count
from .planting import FORMS

STRENGTHS = (0.05, 0.1, 0.2, 0.3, 0.5)  # shares of variance that are planted by default
MOST_EFFECTS = 5  # that are planted at once by default
MOST_EXPLAINED = 0.5  # share of variance that these explain together


@dataclass(frozen=True)
class Effects:
    """Which effects are planted.

    Parameters
    ----------
    forms
        ``"line"``, ``"bend"`` (high where the feature is low or high) or ``"pair"`` (the product of
        two features); several as a list, or joined by commas.
    strengths
        Share of the variance of the target that an effect explains; numbers above 1 are odds ratios
        of classes, or hazard ratios of survival, per standard deviation of the feature.
    n_effects
        How many effects of that strength are planted at once; by default as many of five as explain
        half of the variance together, at least one.
    plant_on
        Features with an effect: drawn at random from ``"all"``, from those with look-alikes
        (``"clusters"``), or from these names.
    """

    forms: str | Sequence[str] = "line"
    strengths: Any = STRENGTHS
    n_effects: int | None = None
    plant_on: Any = "all"

    def __post_init__(self) -> None:
        forms = self.forms.split(",") if isinstance(self.forms, str) else [*self.forms]
        forms = [*dict.fromkeys(form.strip() for form in forms)]
        for form in forms:
            check_choice("forms", form, tuple(FORMS))
        object.__setattr__(self, "forms", tuple(forms))
        object.__setattr__(self, "strengths", _as_strengths(self.strengths))
        if self.n_effects is not None:
            check_count("n_effects", self.n_effects)

    def cells(self, target: str, n_candidates: int, n_rows: int) -> Iterator[Cell]:
        """What is planted at each strength, in data of so many rows.

        Parameters
        ----------
        target
            Kind of the target.
        n_candidates
            Number of features that may have an effect.
        n_rows
            Number of rows.

        Returns
        -------
        iterator of Cell
            One for each form and strength.
        """
        for form in self.forms:
            room = max(1, n_candidates // (2 * FORMS[form].n_features))
            for strength in self.strengths:
                share, n = self._share(target, strength, room)
                yield Cell(form, share, n, n_rows)

    def _share(self, target: str, strength: float, room: int) -> tuple[float, int]:
        """Share of variance, and how many effects."""
        if strength > 1 and target not in RATIOS:
            raise Problem(
                f"{setting('strengths', strength)} is an odds or hazard ratio, and the target is "
                f"{target}.",
                "Give shares of its variance, below 1.",
            )
        most = min(MOST_EFFECTS, room) if self.n_effects is None else self.n_effects
        least = 1 if self.n_effects is None else most
        for n in range(most, least - 1, -1):
            share = share_of(target, strength, n) if strength > 1 else strength
            if n * share <= MOST_EXPLAINED or n == least:
                break
        if n * share > 1 + 1e-9:
            raise Problem(
                f"{n} effects that explain {share:g} each explain more than all variance.",
                cure=f"Lower {setting('strengths')} or {setting('n_effects')}.",
            )
        return share, n

    @property
    def on_all(self) -> bool:
        """Whether any feature may have an effect."""
        return isinstance(self.plant_on, str) and self.plant_on == "all"

    @property
    def said_of_features(self) -> str:
        """`plant_on` as text."""
        if isinstance(self.plant_on, str):
            return self.plant_on
        named = [str(one) for one in np.atleast_1d(self.plant_on)]
        return ", ".join(named[:5]) + (f" and {len(named) - 5} more" if len(named) > 5 else "")


def _as_strengths(given: Any) -> tuple[float, ...]:
    """One or several strengths, as numbers or as text."""
    several = given.split(",") if isinstance(given, str) else np.atleast_1d(given)
    try:
        strengths = sorted({float(one) for one in several})
    except (TypeError, ValueError):
        strengths = []
    if not strengths or not all(np.isfinite(one) and one > 0 and one != 1 for one in strengths):
        raise Problem(
            f"{setting('strengths', given)} is no strength of an effect.",
            "Give shares of variance such as 0.1, or odds or hazard ratios above 1.",
        )
    return tuple(strengths)
