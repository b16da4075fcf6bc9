"""Defines Selection: what was selected, why, and what became of every other feature."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from ..controllers import EVIDENCE, Evidence
from ..data.frames import frame_of
from ..data.messages import did_you_mean, position_of
from ..decision import Decision, decide_with_fallback
from ..features.marginal import MarginalTests
from ..layers.carriers import Carriers
from ..layers.panel import Panel
from ..power.account import TableCheck
from ..problems import Problem
from ..rows.checks import RowChecks
from ..runs.json_values import from_json_value, to_json_value
from ..settings import check_choice, check_count
from ..types import Data, Indices, Mask, Vector, pd
from . import conditional, knockoffs
from .annotations import annotations_of, position_by_annotation
from .bounds import CONFIDENCE, bound_of_answer, bounds_of_sets
from .layers import LAYERS, Layer
from .pairs import n_selected_pairs, table_of_pairs
from .plot_data import PlotData
from .tables import (
    alone_columns,
    alone_markers,
    table_of_features,
    table_of_groups,
    table_of_hypotheses,
    table_of_layer,
)
from .trends import Trends

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Presentation(Protocol):
    """How one kind of evidence is shown in tables.

    `MEASURED` is the column that features are ranked by.
    """

    MEASURED: str

    def shown(self, selection: Selection) -> tuple[str, ...]:
        """Columns of the findings that fit a terminal."""

    def columns(
        self, selection: Selection, hypotheses: Indices | None = None
    ) -> dict[str, NDArray[Any]]:
        """Columns by name: of the representatives of these hypotheses, or of all features."""

    def markers(self, selection: Selection) -> dict[str, NDArray[Any]]:
        """Columns by name: for each class or output the selected features associated with it."""

    def outcomes(self, selection: Selection) -> NDArray[Any]:
        """What became of every feature that was not selected, in a word or two."""

    def neighbours(self, selection: Selection, k: int) -> list[tuple[int, float]]:
        """The features most associated with a feature, and how much."""

    def error_rate(self, selection: Selection) -> str:
        """What the level bounds."""


PRESENTATIONS: dict[str, Presentation] = {"tests": conditional, "knockoffs": knockoffs}


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """What was selected, at which level, and what became of every other feature.

    It shows itself: ``str()`` says what was found and what that rests on. Arrays have one entry for
    each feature, in the order of X, unless they are positions of features.

    Attributes
    ----------
    names
        Name of every feature, in the order of X.
    alone
        What is known of every feature alone, adjusted for covariates and groups of rows only.
    evidence
        What the controller found about every feature, before any level is set.
    decision
        What was selected from it, at which level.
    groups_carried
        Credible sets of the groups that the level selects, and other usual levels.
    panel
        Few, relevant features that are not redundant, and how well they predict if that was
        measured.
    plot_data
        What figures show of the data: summaries, and values only if they were to be kept.
    trends
        Marginal associations of the best features with the target.
    likeness
        For each partition into groups Spearman's correlation of each feature with the
        representative of its group.
    copies, constants
        Features that copy one another, each set beginning with the one that was tested, and
        features without variance.
    always_kept
        Features that are always kept: adjusted for, not tested.
    of_interest
        Features that were to be tested, with their copies, all others being adjusted for; None if
        that was all.
    covariates, covariate_categories, covariate_form, unadjusted
        Names of what was adjusted for, which of these, by number, were taken level by level, in
        which form they were (splines, waves, products), and the relevance of every feature before
        that.
    row_comparison, n_groups_of_rows
        How rows were compared: as independent ``"rows"``, ``"within"`` groups of rows, or as
        ``"means"`` of groups; and how many groups there were.
    row_checks
        Signs that rows are not independent: repeated rows, and rows alike those next to them.
    on_empty, n_features_requested
        What to do when the level selects nothing, and how many features were requested instead of
        a level, if any.
    target, n_rows
        How the target was read, and how many rows there were.
    settings, versions, seed, seconds
        What it takes to do it again, and how long each stage took.
    source
        Column of the target and files with their checksums, where files were read.
    table_check
        Level and power on this table, if `check` measured them at this level.
    annotations
        What is said of features beside their names, such as symbols of genes: by the name of each
        annotation a text per feature. Tables show it.

    Examples
    --------
    >>> from smrmr import select, simulate
    >>> data = simulate("1.a", n=80, p=12, random_state=2)
    >>> found = select(data.X, data.y)
    >>> sorted(found.selected_names), sorted(found.selected.tolist())
    (['x0', 'x5'], [0, 5])
    >>> found.outcome("x1"), found.shapes[5], bool(found.q_values[5] < 0.01)
    ('not significant', 'rises', True)
    >>> found.findings()["feature"].tolist() == found.selected_names
    True

    One fit answers for every level, and can be kept:

    >>> len(found.at(fdr=0.01).selected) <= len(found.selected) <= len(found.at(fdr=0.9).selected)
    True
    >>> sorted(found.from_json(found.to_json()).selected_names)
    ['x0', 'x5']
    """

    names: tuple[str, ...]
    alone: MarginalTests
    evidence: Evidence
    decision: Decision
    groups_carried: tuple[Carriers, ...]
    panel: Panel
    plot_data: PlotData
    likeness: tuple[Vector, ...]
    copies: tuple[Indices, ...]
    constants: Indices
    on_empty: str
    target: str
    n_rows: int
    settings: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    seed: int | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    source: dict[str, str] = field(default_factory=dict)
    always_kept: Indices = field(default_factory=lambda: np.empty(0, np.intp))
    of_interest: Indices | None = None
    covariates: tuple[str, ...] = ()
    covariate_categories: Indices = field(default_factory=lambda: np.empty(0, np.intp))
    covariate_form: str = ""
    unadjusted: Vector = field(default_factory=lambda: np.empty(0))
    row_comparison: str = "rows"
    n_groups_of_rows: int = 0
    row_checks: RowChecks = field(default_factory=RowChecks)
    trends: Trends = field(default_factory=Trends)
    n_features_requested: int | None = None
    table_check: TableCheck | None = None
    annotations: dict[str, list[str]] = field(default_factory=dict)

    @property
    def n_features(self) -> int:
        """Number of features in X."""
        return len(self.names)

    @property
    def n_of_interest(self) -> int:
        """Number of features that were to be tested: all, or those of `of_interest`."""
        return self.n_features if self.of_interest is None else len(self.of_interest)

    @property
    def fdr(self) -> float:
        """The level requested."""
        return self.decision.fdr

    @property
    def W(self) -> Vector:  # noqa: N802 the paper's letter
        """Importance of every feature, 0 if it was not kept; the mean over draws. Of knockoffs."""
        return self._of_evidence("W", "p_values")

    @property
    def p_values(self) -> Vector:
        """p-value of every feature, or its group, given all others; 1 if not tested. Of tests."""
        return self._of_evidence("p_values", "W")

    def _of_evidence(self, name: str, instead: str) -> Vector:
        if hasattr(self.evidence, name):
            return np.asarray(getattr(self.evidence, name))
        raise AttributeError(
            f"a selection by {self.evidence.kind} has no {name}: use q_values, which every "
            f"selection has, or {instead}."
        )

    @property
    def relevance(self) -> Vector:
        """Association of every feature with the target."""
        return np.asarray(self.evidence.relevance)

    @cached_property
    def selected(self) -> Indices:
        """Selected features, best first; of every selected group its representative."""
        return np.asarray(self.evidence.representatives[self.decision.selected])

    @cached_property
    def members(self) -> tuple[Indices, ...]:
        """For each selected feature its group: itself, its look-alikes and copies."""
        return tuple(self.evidence.members_of(int(h)) for h in self.decision.selected)

    @cached_property
    def look_alikes(self) -> tuple[Indices, ...]:
        """For each selected feature the others of its group, copies counted once."""
        return tuple(
            np.setdiff1d(self.leaders[group], self.leaders[k])
            for k, group in zip(self.selected, self.members, strict=True)
        )

    @cached_property
    def alike(self) -> tuple[Vector, ...]:
        """Spearman's correlation of each of `members` with its representative."""
        return tuple(self.likeness_of(int(h)) for h in self.decision.selected)

    @property
    def n_groups(self) -> int:
        """How many of the selected features represent a group of look-alikes."""
        return sum(len(others) > 0 for others in self.look_alikes)

    @cached_property
    def grouped(self) -> bool:
        """Whether groups of features other than copies were tested."""
        numbers = self.evidence.hypotheses[-1]
        own = (self.leaders == np.arange(self.n_features)) & (numbers >= 0)
        return bool(len(np.unique(numbers[own])) < np.count_nonzero(own))

    @cached_property
    def carriers(self) -> tuple[Carriers, ...]:
        """For each selected feature the members of its group that may carry its association.

        That is a credible set for each effect that the data support: one of its members carries the
        effect with probability 95%, if the effect is of one member.
        """
        return tuple(self.carriers_of(int(h)) for h in self.decision.selected)

    def carriers_of(self, hypothesis: int) -> Carriers:
        """Members of a hypothesis that may carry its association, with their probabilities.

        Parameters
        ----------
        hypothesis
            Its number, as in ``decision.selected``.

        Returns
        -------
        Carriers
            Of a single feature itself. Of groups that no usual level selects, which were not
            looked into, all members, none more probable than others.
        """
        known = self._carriers.get(hypothesis)
        if known is not None:
            return known
        members = self.evidence.members_of(hypothesis)
        members = members[self.leaders[members] == members]
        return Carriers(hypothesis, members, np.full(len(members), 1 / len(members)), (members,))

    @cached_property
    def _carriers(self) -> dict[int, Carriers]:
        return {one.hypothesis: one for one in self.groups_carried}

    @cached_property
    def found_with(self) -> Indices:
        """For each feature the selected one whose group it is in, -1 for none."""
        found = np.full(self.n_features, -1)
        for k, group in zip(self.selected, self.members, strict=True):
            found[group] = k
        return found

    @property
    def selected_names(self) -> list[str]:
        """Names of the selected features, best first."""
        return [self.names[k] for k in self.selected]

    @cached_property
    def support(self) -> Mask:
        """Which features are selected."""
        return np.isin(np.arange(self.n_features), self.selected)

    @cached_property
    def q_values(self) -> Vector:
        """Smallest level that selects each feature, or a group it represents; 1 if none does."""
        q = self._by_feature(self.decision.q_values, 1.0).copy()
        np.minimum.at(q, self.evidence.representatives, self.decision.q_values)
        return q

    @cached_property
    def frequency(self) -> Vector:
        """Share of the draws of knockoffs that select each feature, or its group."""
        return self._by_feature(self.decision.frequency, 0.0)

    @cached_property
    def leaders(self) -> Indices:
        """For each feature the one that stood for it: itself, or the first of its copies."""
        leaders = np.arange(self.n_features)
        for same in self.copies:
            leaders[same] = same[0]
        return leaders

    def n_alike(self, feature: int) -> int:
        """Size of the smallest group in which a feature was tested, copies counted once.

        Parameters
        ----------
        feature
            Its position in X.

        Returns
        -------
        int
            1 for a feature that was tested on its own.
        """
        numbers = self.evidence.hypotheses[0]
        inside = np.flatnonzero(numbers == numbers[feature])
        return len(np.unique(self.leaders[inside]))

    @cached_property
    def associated(self) -> Mask:
        """Which features, copies among them, depend on the target alone, at the level."""
        found = np.zeros(self.n_features, np.bool_)
        found[self.layer("associated").features] = True
        return found[self.leaders]

    @property
    def unclear(self) -> float:
        """Two standard errors of an effect, within which its direction is unclear."""
        return float(2 / np.sqrt(self.n_rows))

    def layer(self, name: str) -> Layer:
        """One layer of the answer: the features it names, with p-values and q-values of all.

        Parameters
        ----------
        name
            ``"associated"``: features that depend on the target, each alone. ``"signals"``:
            features and groups that add to all others, which is what `selected` holds. ``"own"``:
            single features that add to all others, their look-alikes among these. ``"pairs"``:
            features that act together with another one, or with a covariate, see `pairs`.
            ``"panel"``: few, relevant features that are not redundant, to predict with; its scores
            are coefficients, its p-values those of features alone.

        Returns
        -------
        Layer
            Its ``features``, ``p_values``, ``q_values`` and ``scores``.

        Raises
        ------
        ValueError
            If there is no such layer.

        Examples
        --------
        >>> from smrmr import select, simulate
        >>> data = simulate("1.a", n=80, p=12, random_state=2)
        >>> found = select(data.X, data.y)
        >>> sorted(found.layer("associated").features.tolist())
        [0, 5]
        """
        check_choice("layer", name, tuple(LAYERS))
        if name not in self._layers:
            self._layers[name] = LAYERS[name](self)
        return self._layers[name]

    @cached_property
    def _layers(self) -> dict[str, Layer]:
        return {}

    @cached_property
    def shapes(self) -> NDArray[Any]:
        """Shape of the marginal association of each of the best features; empty for others.

        ``"rises"``, ``"falls"``, ``"U"``, ``"arch"``, ``"threshold"`` or ``"unclear"``; with
        classes ``"up in"`` the class of largest mean; ``"category"`` for what is no number.
        """
        shapes = np.full(self.n_features, "", dtype=object)
        shapes[self.trends.features] = self.trends.shapes
        return shapes

    def sizes(self) -> dict[str, Vector]:
        """Sizes of the marginal associations of the best features; NaN for others.

        By name: Spearman's ``correlation``; with classes the mean in each, and of two classes
        their difference in standard deviations and the fold change.
        """
        sizes = {}
        for name, values in self.trends.sizes().items():
            sizes[name] = np.full(self.n_features, np.nan)
            sizes[name][self.trends.features] = values
        return sizes

    def position(self, feature: str | int) -> int:
        """Position of a feature in X.

        Parameters
        ----------
        feature
            Its name, or an annotation that no other feature has, or the position itself.

        Returns
        -------
        int
            The position.

        Raises
        ------
        ValueError
            If there is no such feature; the message names those that are spelt alike.
        """
        if self.annotations and isinstance(feature, str) and feature not in self.names:
            found = position_by_annotation(self, feature)
            if found is not None:
                return found
            known = [text for texts in (self.names, *self.annotations.values()) for text in texts]
            raise Problem(f"there is no feature {feature!r}.{did_you_mean(feature, known)}")
        return position_of(feature, self.names)

    def with_annotations(self, about: Any) -> Selection:
        """The same selection, whose tables say more of features than their names.

        Parameters
        ----------
        about
            A pandas DataFrame with a row per feature, whose index holds names of features, or a
            mapping from them to texts. Features that it does not name have none.

        Returns
        -------
        Selection
            With `annotations`.

        Examples
        --------
        >>> from smrmr import select, simulate
        >>> data = simulate("1.a", n=80, p=12, random_state=2)
        >>> found = select(data.X, data.y).with_annotations({"x0": "TP53", "x5": "EGFR"})
        >>> sorted(found.findings()["annotation"]), found.position("EGFR")
        (['EGFR', 'TP53'], 5)
        """
        table = about if hasattr(about, "columns") else pd.Series(about).to_frame("annotation")
        return replace(self, annotations=annotations_of(self.names, table))

    def likeness_of(self, hypothesis: int) -> Vector:
        """Spearman's correlation of the members of a hypothesis with its representative.

        Parameters
        ----------
        hypothesis
            Its number, as in ``decision.selected``.

        Returns
        -------
        ndarray
            One correlation for each member, 1 for the representative.
        """
        members = self.evidence.members_of(hypothesis)
        partitions = zip(self.evidence.hypotheses, self.likeness, strict=True)
        return next(r[members] for numbers, r in partitions if numbers[members[0]] == hypothesis)

    def _by_feature(self, values: Vector, otherwise: float) -> Vector:
        """Values of hypotheses by feature, going by the finest groups; the untested have none."""
        numbers = self.evidence.hypotheses[0]
        return np.where(numbers < 0, otherwise, values[numbers])

    def at(
        self, fdr: float, on_empty: str | None = None, n_features: int | None = None
    ) -> Selection:
        """Decide again at another level, and by another rule if given, without fitting again.

        Parameters
        ----------
        fdr
            The level, in (0, 1).
        on_empty, n_features
            As in `smrmr.Recipe`; the rule of this selection, and no number, unless given.

        Returns
        -------
        Selection
            The same evidence, decided again. A level chosen after looking carries no guarantee.

        Raises
        ------
        ValueError
            If the level is not between 0 and 1, or the rule is not known.
        """
        rule = self.on_empty if on_empty is None else on_empty
        decision = decide_with_fallback(self.evidence, fdr, rule, n_features)
        checked = self.table_check if self.table_check and self.table_check.level == fdr else None
        decided = replace(self, decision=decision, on_empty=rule, table_check=checked)
        return replace(decided, n_features_requested=n_features)

    def check(self, X: Data, y: Data, recipe: Any = None, rng: int = 0, **how: Any) -> Selection:
        """Measure level and power on the same table, and keep them with this selection.

        Reports then have a section "What this table can tell".

        Parameters
        ----------
        X, y
            The data that this selection is of.
        recipe
            The recipe that it was made by, where that holds what cannot be written down: groups of
            features, or strategies of your own. By default it is read from `settings`.
        rng, **how
            Other arguments of `smrmr.check`, such as ``covariates``, ``forms``, ``minutes``.

        Returns
        -------
        Selection
            The same selection with `table_check`.

        Raises
        ------
        ValueError
            As `smrmr.check`; and if X has other features, or a recipe is needed.

        Examples
        --------
        >>> import smrmr
        >>> data = smrmr.simulate("1.d", n=60, p=100, random_state=0)
        >>> found = smrmr.select(data.X, data.y).check(data.X, data.y, n_fits=6, strengths=0.5)
        >>> found.table_check.n_fits
        6
        """
        from ..trials.check import check_selection

        return replace(self, table_check=check_selection(self, X, y, recipe, rng, **how))

    def outcome(self, feature: str | int) -> str:
        """What became of a feature, in a word or two.

        Parameters
        ----------
        feature
            Its name, or its position in X.

        Returns
        -------
        str
            Such as ``"selected"``, ``"copy"``, ``"constant"`` or ``"not significant"``.

        Raises
        ------
        ValueError
            If there is no such feature.
        """
        return str(self.outcomes[self.position(feature)])

    @cached_property
    def outcomes(self) -> NDArray[Any]:
        """What became of every feature, in a word or two."""
        everyone, known_as = np.arange(self.n_features), self.leaders
        of_interest = everyone if self.of_interest is None else self.of_interest
        words = {
            "always kept": np.isin(everyone, self.always_kept),
            "constant": np.isin(everyone, self.constants),
            "only adjusted for": ~np.isin(everyone, of_interest),
            "selected": self.support,
            "selected copy": (known_as != everyone) & self.support[known_as],
            "copy": known_as != everyone,
            "in a selected group": self.found_with >= 0,
        }
        return np.select(list(words.values()), list(words), self.presentation.outcomes(self))

    @property
    def presentation(self) -> Presentation:
        """How tables show this kind of evidence."""
        return PRESENTATIONS[self.evidence.kind]

    @property
    def error_rate(self) -> str:
        """What the level bounds: the FDR, or the familywise error rate."""
        return self.presentation.error_rate(self)

    def explain(self, feature: str | int) -> str:
        """What became of a feature, and why.

        Parameters
        ----------
        feature
            Its name, or its position in X.

        Returns
        -------
        str
            A few sentences.

        Raises
        ------
        ValueError
            If there is no such feature.
        """
        from ..report import explain

        return explain(self, feature)

    def to_frame(self) -> pd.DataFrame:
        """Every feature with what became of it, as a pandas DataFrame, selected features first."""
        return table_of_features(self)

    def findings(self, layer: str = "signals") -> pd.DataFrame:
        """What a layer of the answer names, as a pandas DataFrame, best first.

        Parameters
        ----------
        layer
            As in `layer`. Signals, the default, have a row per feature or group, pairs a row per
            pair.

        Returns
        -------
        pandas.DataFrame
            Columns that end in ``_alone`` are about a feature alone; ``p_value``, ``direction`` and
            ``effect`` are given all others; ``partner`` is what the effect of a feature depends on,
            if such a pair is selected. The columns of pairs are those of `pairs`.

        Raises
        ------
        ValueError
            If there is no such layer.
        """
        if layer == "signals":
            return table_of_hypotheses(self, self.decision.selected)
        if layer == "pairs":
            return self.pairs[: n_selected_pairs(self)].drop(columns="selected")
        return table_of_layer(self, self.layer(layer))

    @property
    def pairs(self) -> pd.DataFrame:
        """Pairs of features that may act together, as a pandas DataFrame, smallest p-value first.

        Two features act together if the effect of either depends on the other, given all others;
        the ``partner`` may be a covariate. ``q_value`` and ``selected`` are by the rule of the
        tests over all pairs tested: a level of its own, apart from that over features. All pairs
        that are not listed have larger p-values.

        ``direction`` is ``"concordant"`` where the target (of two classes the second by name) is
        higher if both are high or both are low, ``"discordant"`` where it is higher if one is high
        and the other low, and empty where that has no meaning: with several classes or outputs, or
        with a category. ``share_explained`` is the share of the residual variance that both
        together explain. Knockoffs test no pairs.
        """
        return table_of_pairs(self)

    @overload
    def at_least(
        self, features: Mapping[str, Any], confidence: float = CONFIDENCE, layer: str | None = None
    ) -> pd.DataFrame: ...

    @overload
    def at_least(
        self,
        features: str | int | Sequence[str | int] | Indices | None = None,
        confidence: float = CONFIDENCE,
        layer: str | None = None,
    ) -> int: ...

    def at_least(
        self, features: Any = None, confidence: float = CONFIDENCE, layer: str | None = None
    ) -> int | pd.DataFrame:
        """At least how many features of a set are true, whatever set is chosen after looking.

        The bounds of all sets hold together with this confidence: closed testing with Simes tests
        (Goeman and Solari 2011), see docs/formulas.md.

        Parameters
        ----------
        features
            Names or positions of features, or a mapping from names of sets, such as pathways, to
            these. None asks about the answer: what `layer` names.
        confidence
            With which the bounds hold, in (0, 1); to be set before looking.
        layer
            What true means: ``"associated"``, that a feature depends on the target, or ``"own"``,
            that it adds to all others. By default the first for sets; for the answer the signals.

        Returns
        -------
        int or pandas.DataFrame
            The bound; for a mapping a row per set with its ``size``, ``at_least`` and ``share``.

        Raises
        ------
        ValueError
            If there is no such feature or layer, or the layer has no p-values, as with knockoffs.

        Examples
        --------
        >>> from smrmr import select, simulate
        >>> data = simulate("1.a", n=80, p=12, random_state=2)
        >>> found = select(data.X, data.y)
        >>> found.at_least(), found.at_least(["x0", "x1", "x2"])
        (2, 1)
        """
        if features is None:
            return bound_of_answer(self, confidence, "signals" if layer is None else layer)
        return bounds_of_sets(self, features, confidence, "associated" if layer is None else layer)

    def markers(self, layer: str = "signals") -> pd.DataFrame:
        """For each class the features of a layer that mark it, as a pandas DataFrame.

        A row per class and feature, in the order of classes, smallest p-value first: the feature is
        ``"higher"`` or ``"lower"`` in the class than in all others, given the features outside its
        group (of associated features: alone); or ``"unclear"`` where the two differ otherwise. With
        several outputs the output ``"rises"`` or ``"falls"``.

        Of more than two classes, or of several outputs, only those are named whose p-value passes
        Holm's rule at level fdr R / m, where R of m hypotheses are selected. Then the error in
        naming them, averaged over the selected features, is at most fdr in expectation (Benjamini
        and Bogomolov 2014). A selected feature may have none: all classes together tell of it.

        Parameters
        ----------
        layer
            ``"signals"`` or ``"associated"``.

        Returns
        -------
        pandas.DataFrame
            Columns ``class`` (``output`` for numbers), ``feature``, ``direction``, ``effect`` (the
            partial correlation) and ``p_value``.

        Raises
        ------
        AttributeError
            If signals are by knockoffs, which have no effects for each class.
        ValueError
            If there is no such layer.

        Examples
        --------
        x0 is high in red, x1 is high in blue; green is low in both:

        >>> import numpy as np
        >>> from smrmr import select
        >>> rng = np.random.default_rng(0)
        >>> y = np.repeat(["red", "green", "blue"], 50)
        >>> X = rng.normal(size=(150, 20))
        >>> X[:50, 0] += 2
        >>> X[100:, 1] += 2
        >>> found = select(X, y).markers()
        >>> found[found["direction"] == "higher"][["class", "feature"]].to_dict("split")["data"]
        [['blue', 'x1'], ['red', 'x0']]
        """
        check_choice("layer", layer, ("signals", "associated"))
        alone = layer == "associated"
        return frame_of(alone_markers(self) if alone else self.presentation.markers(self))

    def near_misses(self, most: int = 10) -> pd.DataFrame:
        """The best of what was not selected, as a pandas DataFrame; these are no findings.

        Of knockoffs these are features that beat theirs, of tests those of smallest p-value; those
        that are associated with the target alone come first.

        Parameters
        ----------
        most
            How many, at most.

        Returns
        -------
        pandas.DataFrame
            A row for each, best first.

        Raises
        ------
        ValueError
            If `most` is not a whole number of 0 or more.
        """
        table = table_of_hypotheses(self, self._best_unselected(most))
        measured = self.presentation.MEASURED
        shown = ("feature", *self.annotations, "p_value_alone", measured)
        shown = (*shown, "q_value", "direction", "shape")
        table = table[[name for name in shown if name in table]]
        return table.assign(status="near miss, not a finding")

    def near_miss_positions(self, most: int = 10) -> Indices:
        """Positions of the features in `near_misses`.

        Parameters
        ----------
        most
            How many, at most.

        Returns
        -------
        ndarray
            Positions, best first.

        Raises
        ------
        ValueError
            If `most` is not a whole number of 0 or more.
        """
        return np.asarray(self.evidence.representatives[self._best_unselected(most)])

    def _best_unselected(self, most: int) -> Indices:
        """The best hypotheses of features that were not selected."""
        check_count("most", most, least=0)
        order = self.evidence.order
        features = self.evidence.representatives[order]
        new = (self.found_with[features] < 0) & (self.evidence.scores[features] > 0)
        order, features = order[new], features[new]
        alone = self.layer("associated").q_values[features] <= self.fdr
        return np.asarray(order[np.argsort(~alone, kind="stable")][:most])

    def groups(self) -> pd.DataFrame:
        """All groups of two or more features, copies too, as a DataFrame, smallest q first.

        ``at_least_associated`` is the bound of `at_least`, with 90% confidence for all together.
        """
        return table_of_groups(self)

    def table_columns(self) -> dict[str, NDArray[Any]]:
        """What tables show of every feature besides its name and outcome, by name."""
        found = self.decision.selected
        columns = {"q_value": self.q_values, **self.presentation.columns(self)}
        columns |= alone_columns(self, np.arange(self.n_features))
        of_found = {"q_value": self.decision.q_values[found]}
        for name, values in (of_found | self.presentation.columns(self, found)).items():
            columns[name] = columns[name].copy()
            columns[name][self.selected] = values  # those of the hypothesis that was selected
        if self.unadjusted.size:
            columns["relevance_unadjusted"] = self.unadjusted
        return columns | {"shape": self.shapes}

    def plot(
        self,
        figure: str = "associated",
        ax: Axes | None = None,
        *,
        feature: str | int | tuple[str | int, str | int] | None = None,
    ) -> Axes:
        """Draw a figure of the report on matplotlib axes.

        Parameters
        ----------
        figure, ax, feature
            As in `smrmr.report.plot`.

        Returns
        -------
        matplotlib.axes.Axes
            Where it was drawn.

        Raises
        ------
        ValueError
            If there is no such figure of this kind of evidence, or no such feature.
        """
        from ..report import plot

        return plot(self, figure, ax, feature=feature)

    def report(self, path: str | PathLike[str]) -> Path:
        """Write a report as one HTML file that needs nothing else.

        Parameters
        ----------
        path
            Where to write; the directory must exist.

        Returns
        -------
        pathlib.Path
            Where it is.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        from ..report import write_report

        written = write_report(self, path)
        self.__dict__["report_path"] = str(path)  # which the card of a notebook links to
        return written

    def to_json(self) -> str:
        """Everything as JSON; `from_json` reads it back."""
        from ..report import statement

        near = [] if self.selected.size else self.near_misses().to_dict("records")
        about = {
            "selected": self.selected_names,
            "statement": statement(self),
            "layers": {name: [self.names[k] for k in self.layer(name).features] for name in LAYERS},
            "pairs": self.findings("pairs").to_dict("records"),
            "near_misses": near,
            "fdr": self.fdr,
        }
        content = about | to_json_value(self)
        content["evidence"] = {"kind": self.evidence.kind, **to_json_value(self.evidence)}
        del content["decision"]  # which follows from the evidence
        return json.dumps(content, default=to_json_value, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Selection:
        """Read what `to_json` wrote.

        Parameters
        ----------
        text
            The JSON.

        Returns
        -------
        Selection
            The same selection.

        Raises
        ------
        ValueError
            If the text is not a selection that smrmr saved.
        """
        try:
            content = json.loads(text)
            evidence: Evidence = from_json_value(
                EVIDENCE[content["evidence"]["kind"]], content["evidence"]
            )
            if len(content["names"]) != evidence.n_features:
                raise ValueError(f"{len(content['names'])} names, {evidence.n_features} features")
            decision = decide_with_fallback(
                evidence, content["fdr"], content["on_empty"], content["n_features_requested"]
            )
            found: Selection = from_json_value(
                cls, content | {"evidence": evidence, "decision": decision}
            )
            return found
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise ValueError(f"this is not a selection saved by smrmr ({error!r}).") from error

    def __str__(self) -> str:
        from ..report import statement_with_advice

        return statement_with_advice(self)

    def __repr__(self) -> str:
        from ..report import brief

        return brief(self)

    def _repr_html_(self) -> str:
        from ..report import card

        return card(self)
