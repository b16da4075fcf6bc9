"""Defines TableCheck and SamplePlan: what was found of effects that were planted, as numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from ..data.frames import frame_of
from ..problems import Problem
from ..runs.json_values import from_json_value, to_json_value
from ..settings import check_choice
from ..types import Indices, Mask, Vector, pd
from .rates import Crossing, Rate, crossing_of, rate_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LAYERS = ("associated", "signals", "own", "pairs")  # of the answer, in the order of outcomes
PLANTED, FOUND, NAMED, FALSE = range(4)  # what is counted in each layer
UNKNOWN = -1  # where it cannot be told which are false
CHANCE = 0.8  # of being found that a detectable effect has
SURELY = 0.95  # of being found that an effect has which an empty answer speaks against
ALARM = 0.05  # chance of a false alarm about the level, over all layers
RATIOS = {"classes": "odds ratio", "survival": "hazard ratio"}  # by kind of target


@dataclass(frozen=True)
class Cell:
    """What is the same in some trials: the planted effects, and the number of rows.

    Attributes
    ----------
    form
        ``"line"``, ``"bend"`` or ``"pair"``; empty if nothing is planted.
    share
        Share of the variance of the target, or of its latent score, that each effect explains.
    n_effects
        How many effects.
    n_rows
        How many rows.
    """

    form: str
    share: float
    n_effects: int
    n_rows: int


@dataclass(frozen=True, eq=False, repr=False)
class Trials:
    """Outcomes of fits to data in which known effects were planted.

    Attributes
    ----------
    level
        Level of the false discovery rate.
    target
        Kind of the target.
    n_features
        Number of features.
    cells
        What was planted.
    cell_of
        For each trial the number of its cell.
    outcomes
        For each trial and layer how many were planted, found, named, and false, (trials, 4, 4);
        -1 where it cannot be told which are false.
    stopped
        Why no more trials were run: ``"precision"``, ``"fits"`` or ``"time"``.
    seconds
        How long the trials took.
    """

    level: float
    target: str
    n_features: int
    cells: tuple[Cell, ...]
    cell_of: Indices
    outcomes: NDArray[np.intp]
    stopped: str
    seconds: float

    @property
    def n_fits(self) -> int:
        """How many data sets were fitted."""
        return len(self.cell_of)

    @property
    def forms(self) -> tuple[str, ...]:
        """Forms of the planted effects, each once."""
        return tuple(dict.fromkeys(cell.form for cell in self.cells if cell.form))

    def tried(self, form: str) -> list[Cell]:
        """Cells of a form that were fitted at least once.

        Parameters
        ----------
        form
            ``"line"``, ``"bend"`` or ``"pair"``.

        Returns
        -------
        list of Cell
            Those of `cells`, in order.
        """
        return [self.cells[c] for c in np.unique(self.cell_of) if self.cells[c].form == form]

    @property
    def ratio(self) -> str:
        """What the ratio of an effect is called; empty where the target is numbers."""
        return RATIOS.get(self.target, "")

    def power(self, cell: int, layer: str = "signals") -> Rate:
        """Share of the planted effects that a layer names, with an interval.

        Parameters
        ----------
        cell
            Number of the cell.
        layer
            ``"associated"``, ``"signals"``, ``"own"`` or ``"pairs"``.

        Returns
        -------
        Rate
            Mean, low and high end, number of trials.
        """
        counts = self._counts(layer)[self.cell_of == cell]
        counts = counts[counts[:, PLANTED] > 0]
        return rate_of(_shares(counts, FOUND, PLANTED), _mean(counts[:, PLANTED]))

    def rate(self, cell: int) -> Rate:
        """What a cell is about: the power of its effects; without any, the share with a finding.

        Parameters
        ----------
        cell
            Number of the cell.

        Returns
        -------
        Rate
            Of pairs in the layer of pairs, of all others among the signals.
        """
        if self.cells[cell].form:
            return self.power(cell, layer_of(self.cells[cell].form))
        named = self._counts("signals")[self.cell_of == cell, NAMED]
        return rate_of((named > 0).astype(np.float64))

    def to_frame(self) -> pd.DataFrame:
        """Power of every cell and layer, as a pandas DataFrame."""
        rows = [
            (cell, layer, self.power(c, layer))
            for c, cell in enumerate(self.cells)
            for layer in LAYERS
            if cell.form and (layer != "pairs" or cell.form == "pair")
        ]
        columns: dict[str, Any] = {
            "form": np.array([cell.form for cell, _, _ in rows], dtype=object),
            "share": np.array([cell.share for cell, _, _ in rows]),
        }
        if self.ratio:
            ratios = [ratio_of(self.target, cell.share, cell.n_effects) for cell, _, _ in rows]
            columns[self.ratio.replace(" ", "_")] = np.array(ratios)
        columns |= {
            "n_effects": np.array([cell.n_effects for cell, _, _ in rows], dtype=np.intp),
            "n_rows": np.array([cell.n_rows for cell, _, _ in rows], dtype=np.intp),
            "layer": np.array([layer for _, layer, _ in rows], dtype=object),
            "power": np.array([rate.mean for *_, rate in rows]),
            "low": np.array([rate.low for *_, rate in rows]),
            "high": np.array([rate.high for *_, rate in rows]),
            "n_fits": np.array([rate.n for *_, rate in rows], dtype=np.intp),
        }
        return frame_of(columns)

    def to_json(self) -> str:
        """Everything as JSON; `from_json` reads it back."""
        return json.dumps(to_json_value(self), default=to_json_value, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Any:
        """Read what `to_json` wrote.

        Parameters
        ----------
        text
            The JSON.

        Returns
        -------
        TableCheck or SamplePlan
            The same.

        Raises
        ------
        ValueError
            If the text is not what `to_json` of this class wrote.
        """
        try:
            return from_json_value(cls, json.loads(text))
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise ValueError(f"this is no {cls.__name__} saved by smrmr ({error!r}).") from error

    def __repr__(self) -> str:
        """What a prompt and a notebook show: the sentences, where arrays would fill pages."""
        return f"{type(self).__name__}: {self}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>{self.to_frame().to_html(index=False)}"

    def _counts(self, layer: str) -> NDArray[np.intp]:
        check_choice("layer", layer, LAYERS)
        return np.asarray(self.outcomes[:, LAYERS.index(layer)])

    def _crossing(self, cells: list[int], places: list[float], layer: str, at: float) -> Crossing:
        """Where power over some cells, in order of their places, reaches a chance."""
        counts, tried = self._counts(layer), []
        for c, place in zip(cells, places, strict=True):
            mine = counts[(self.cell_of == c) & (counts[:, PLANTED] > 0)]
            if len(mine):
                tried.append((place, _shares(mine, FOUND, PLANTED), _mean(mine[:, PLANTED])))
        if not tried:
            return Crossing(np.inf, np.inf, np.inf, False)
        where, shares, sizes = zip(*tried, strict=True)
        return crossing_of(np.array(where), shares, at, sizes)


@dataclass(frozen=True, eq=False, repr=False)
class TableCheck(Trials):
    """Whether the level holds on a table, and which effects are found in it.

    ``str()`` says it in sentences, `to_frame` has the power of every strength, `levels` the rates
    of false findings. What it rests on is in docs/check.md.

    Attributes
    ----------
    level
        Level of the false discovery rate.
    target
        Kind of the target.
    n_features
        Number of features.
    cells
        What was planted.
    cell_of
        For each trial the number of its cell.
    outcomes
        For each trial and layer how many were planted, found, named, and false, (trials, 4, 4);
        -1 where it cannot be told which are false.
    stopped
        Why no more trials were run: ``"precision"``, ``"fits"`` or ``"time"``.
    seconds
        How long the trials took.
    planted_on
        Which features effects were planted on: ``"all"``, ``"clusters"`` or their names.

    Examples
    --------
    >>> import smrmr
    >>> data = smrmr.simulate("1.d", n=60, p=100, random_state=0)
    >>> found = smrmr.check(data.X, data.y, n_fits=6, strengths=(0.5,))
    >>> found.n_fits, [cell.n_effects for cell in found.cells]
    (6, [0, 1])
    """

    planted_on: str = "all"

    def attained_fdr(self, layer: str = "signals") -> Rate:
        """Mean share of false ones among what a layer names, where effects were planted.

        A finding is false if it holds no feature with a planted effect. Of features associated
        alone this cannot be told: those that correlate with a planted one are associated too.

        Parameters
        ----------
        layer
            ``"signals"``, ``"own"`` or ``"pairs"``.

        Returns
        -------
        Rate
            Mean, low and high end, number of trials.
        """
        counts = self._counts(layer)[~self._nothing_planted]
        counts = counts[counts[:, FALSE] != UNKNOWN]
        named = counts[counts[:, NAMED] > 0, NAMED]
        return rate_of(_shares(counts, FALSE, NAMED), _mean(named))

    def any_false(self, layer: str = "signals") -> Rate:
        """Share of shuffled targets with any finding; all of these are false.

        Parameters
        ----------
        layer
            ``"associated"``, ``"signals"``, ``"own"`` or ``"pairs"``.

        Returns
        -------
        Rate
            Mean, low and high end, number of trials.
        """
        counts = self._counts(layer)[self._nothing_planted]
        return rate_of((counts[:, NAMED] > 0).astype(np.float64))

    def smallest(self, form: str = "line", chance: float = CHANCE, layer: str = "") -> Crossing:
        """Smallest share of variance at which an effect is found with a chance.

        Parameters
        ----------
        form
            ``"line"``, ``"bend"`` or ``"pair"``, one of `forms`.
        chance
            In (0, 1).
        layer
            As in `power`; by default pairs of effects of pairs, else signals.

        Returns
        -------
        Crossing
            The share with its interval; ``inf`` if no strength that was tried reaches the chance.

        Raises
        ------
        ValueError
            If no effect of this form was planted.
        """
        if form not in self.forms:
            raise Problem(
                f"no effect of form {form!r} was planted.", f"Use one of {', '.join(self.forms)}."
            )
        cells = [c for c, cell in enumerate(self.cells) if cell.form == form]
        cells.sort(key=lambda c: self.cells[c].share)
        shares = [self.cells[c].share for c in cells]
        return self._crossing(cells, shares, layer or layer_of(form), chance)

    def levels(self) -> pd.DataFrame:
        """Rates of false findings by layer, as a pandas DataFrame; NaN where they are unknown."""
        attained = [self.attained_fdr(layer) for layer in LAYERS]
        by_chance = [self.any_false(layer) for layer in LAYERS]
        columns: dict[str, Any] = {"layer": np.array(LAYERS, dtype=object)}
        for name, rates in (("attained_fdr", attained), ("any_false", by_chance)):
            for end, suffix in (("mean", ""), ("low", "_low"), ("high", "_high")):
                values = [getattr(rate, end) if rate.n else np.nan for rate in rates]
                columns[f"{name}{suffix}"] = np.array(values)
        return frame_of(columns)

    @property
    def broken(self) -> tuple[str, ...]:
        """Layers whose level does not hold on this table, by far more than chance would have it.

        A layer is one if its interval lies above the level, at a confidence that makes a false
        alarm of any layer a matter of 5%.
        """
        alpha = ALARM / (2 * len(LAYERS))
        return tuple(
            layer
            for layer in LAYERS
            if self._exceeds(self.any_false(layer), alpha)
            or self._exceeds(self.attained_fdr(layer), alpha)
        )

    def _exceeds(self, rate: Rate, alpha: float) -> bool:
        """Whether a rate is above the level; shares vary no more than answers of yes or no."""
        hits = rate.mean * rate.n
        return hits > 0 and bool(betainc(hits, rate.n - hits + 1, self.level) <= alpha)

    @property
    def _nothing_planted(self) -> Mask:
        return np.array([not cell.form for cell in self.cells], np.bool_)[self.cell_of]

    def plot(self, ax: Axes | None = None, layer: str = "") -> Axes:
        """Draw power against the strength of effects, with the smallest that is found at 80%.

        Parameters
        ----------
        ax
            Where to draw; a new figure of pyplot unless given.
        layer
            As in `power`; by default pairs of effects of pairs, else signals.

        Returns
        -------
        matplotlib.axes.Axes
            Where it was drawn.
        """
        from ..report.axes import draw_axes
        from ..report.power_plots import check_plot

        return draw_axes(check_plot(self, layer), ax)

    def __str__(self) -> str:
        from .words import words_of_check

        return " ".join(words_of_check(self))


@dataclass(frozen=True, eq=False, repr=False)
class SamplePlan(Trials):
    """Power against the number of rows.

    ``str()`` says how many rows are needed, `to_frame` has the power of every number of rows.

    Attributes
    ----------
    level
        Level of the false discovery rate.
    target
        Kind of the target.
    n_features
        Number of features.
    cells
        What was planted.
    cell_of
        For each trial the number of its cell.
    outcomes
        For each trial and layer how many were planted, found, named, and false, (trials, 4, 4);
        -1 where it cannot be told which are false.
    stopped
        Why no more trials were run: ``"precision"``, ``"fits"`` or ``"time"``.
    seconds
        How long the trials took.
    drawn_from
        What rows were drawn from: ``"pilot"`` or ``"correlation"``.
    n_pilot
        Number of rows of the pilot table; 0 without one.

    Examples
    --------
    >>> import smrmr
    >>> found = smrmr.plan(p=50, strengths=0.3, n_rows=(30, 60), n_fits=6)
    >>> found.n_fits, [cell.n_rows for cell in found.cells]
    (6, [30, 60])
    """

    drawn_from: str = "pilot"
    n_pilot: int = 0

    def rows_needed(
        self, form: str, share: float, chance: float = CHANCE, layer: str = ""
    ) -> Crossing:
        """Number of rows at which effects are found with a chance.

        Parameters
        ----------
        form, share
            Of the effects, as in `cells`.
        chance
            In (0, 1).
        layer
            As in `power`; by default pairs of effects of pairs, else signals.

        Returns
        -------
        Crossing
            The number with its interval; ``inf`` if none that was tried is enough.
        """
        cells = [c for c, cell in enumerate(self.cells) if (cell.form, cell.share) == (form, share)]
        cells.sort(key=lambda c: self.cells[c].n_rows)
        rows = [float(self.cells[c].n_rows) for c in cells]
        return self._crossing(cells, rows, layer or layer_of(form), chance)

    def effects(self) -> Iterator[tuple[str, float, int]]:
        """Form, share and number of the planted effects, each once."""
        yield from dict.fromkeys((cell.form, cell.share, cell.n_effects) for cell in self.cells)

    def plot(self, ax: Axes | None = None, layer: str = "") -> Axes:
        """Draw power against the number of rows, with that of the pilot.

        Parameters
        ----------
        ax
            Where to draw; a new figure of pyplot unless given.
        layer
            As in `power`; by default pairs of effects of pairs, else signals.

        Returns
        -------
        matplotlib.axes.Axes
            Where it was drawn.
        """
        from ..report.axes import draw_axes
        from ..report.power_plots import plan_plot

        return draw_axes(plan_plot(self, layer), ax)

    def __str__(self) -> str:
        from .words import words_of_plan

        return " ".join(words_of_plan(self))


def layer_of(form: str) -> str:
    """The layer whose business effects of a form are."""
    return "pairs" if form == "pair" else "signals"


def ratio_of(target: str, share: float, n_effects: int) -> float:
    r"""Odds or hazard ratio per standard deviation of an effect that explains a share.

    With :math:`K` effects of share :math:`s` the log ratio is :math:`c \sqrt{s / (1 - K s)}`, where
    :math:`c^2` is the variance of the noise: :math:`\pi^2 / 3` of a logit, :math:`\pi^2 / 6` of a
    log hazard.

    >>> round(ratio_of("classes", 0.1, 1), 2), round(ratio_of("survival", 0.1, 1), 2)
    (1.83, 1.53)
    """
    noise = np.pi / np.sqrt(3 if target == "classes" else 6)
    left = max(1 - n_effects * share, 1e-9)
    return float(np.exp(np.minimum(noise * np.sqrt(share / left), 50.0)))


def share_of(target: str, ratio: float, n_effects: int) -> float:
    """Share that an effect of an odds or hazard ratio explains: the inverse of `ratio_of`.

    >>> round(share_of("survival", ratio_of("survival", 0.1, 3), 3), 12)
    0.1
    """
    noise = np.pi / np.sqrt(3 if target == "classes" else 6)
    squared = (np.log(ratio) / noise) ** 2
    return float(squared / (1 + n_effects * squared))


def _shares(counts: NDArray[np.intp], some: int, every: int) -> Vector:
    """For each trial the share of some among all, 0 of none."""
    return np.asarray(counts[:, some] / np.maximum(counts[:, every], 1))


def _mean(sizes: NDArray[np.intp]) -> float:
    return float(np.mean(sizes)) if sizes.size else 1.0
