"""Defines Selection: what was selected, why, and what became of every other feature."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..controllers import EVIDENCE, Evidence
from ..decision import Decision, decide_with_fallback
from ..recipe import Recipe
from ..runs.json_values import from_json_value, to_json_value
from ..settings import check_count
from ..types import Indices, Vector
from .plot_data import PlotData
from .presentation import PRESENTATIONS, Presentation
from .tables import table_of_features, table_of_groups, table_of_hypotheses
from .trends import Trends
from .views import Views

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class Selection(Views):
    """What was selected, at which level, and what became of every other feature.

    It shows itself: ``str()`` says what was found and what that rests on. Arrays have one entry for
    each feature, in the order of X, unless they are positions of features.

    Attributes
    ----------
    names
        Name of every feature, in the order of X.
    evidence
        What the controller found about every feature, before any level is set.
    decision
        What was selected from it, at which level.
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
    covariates, unadjusted
        Names of what was adjusted for, and the relevance of every feature before that.
    row_comparison, n_groups_of_rows
        How rows were compared: as independent ``"rows"``, ``"within"`` groups of rows, or as
        ``"means"`` of groups; and how many groups there were.
    on_empty, n_features_requested
        What to do when the level selects nothing, and how many features were requested instead of
        a level, if any.
    target, n_rows
        How the target was read, and how many rows there were.
    settings, versions, seed, seconds
        What it takes to do it again, and how long each stage took.
    source
        Column of the target and files with their checksums, where files were read.

    Examples
    --------
    >>> from smrmr import Recipe, select, simulate
    >>> data = simulate("1.a", n=80, p=12, random_state=2)
    >>> found = select(data.X, data.y, Recipe(fdr=0.1))
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
    evidence: Evidence
    decision: Decision
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
    covariates: tuple[str, ...] = ()
    unadjusted: Vector = field(default_factory=lambda: np.empty(0))
    row_comparison: str = "rows"
    n_groups_of_rows: int = 0
    trends: Trends = field(default_factory=Trends)
    n_features_requested: int | None = None

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
        return replace(self, decision=decision, on_empty=rule, n_features_requested=n_features)

    def with_recipe(self, recipe: Recipe) -> Selection:
        """What the same fit gives under a recipe that differs in its level and the like alone.

        Parameters
        ----------
        recipe
            It may differ in ``fdr``, ``on_empty`` and ``n_features``.

        Returns
        -------
        Selection
            As if it had been fitted with that recipe.
        """
        known = replace(self, evidence=self.evidence.at_level(recipe.fdr), settings=recipe.settings)
        return known.at(recipe.fdr, recipe.on_empty, recipe.n_features)

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
        words = {
            "always kept": np.isin(everyone, self.always_kept),
            "constant": np.isin(everyone, self.constants),
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

    def to_frame(self) -> Any:
        """Every feature with what became of it, as a pandas DataFrame, selected features first."""
        return table_of_features(self)

    def findings(self) -> Any:
        """What was selected, as a pandas DataFrame: a row per feature or group, best first."""
        return table_of_hypotheses(self, self.decision.selected)

    def near_misses(self, most: int = 10) -> Any:
        """The best of what was not selected, as a pandas DataFrame; these are no findings.

        Of knockoffs these are features that beat theirs, of tests those of smallest p-value.

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
        shown = ("feature", self.presentation.MEASURED, "q_value", "direction", "shape")
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
        return np.asarray(order[new][:most])

    def groups(self) -> Any:
        """All groups of two or more features, copies too, as a DataFrame, smallest q first."""
        return table_of_groups(self)

    def table_columns(self) -> dict[str, NDArray[Any]]:
        """What tables show of every feature besides its name and outcome, by name."""
        found = self.decision.selected
        columns = {"q_value": self.q_values, **self.presentation.columns(self)}
        of_found = {"q_value": self.decision.q_values[found]}
        for name, values in (of_found | self.presentation.columns(self, found)).items():
            columns[name] = columns[name].copy()
            columns[name][self.selected] = values  # those of the hypothesis that was selected
        if self.unadjusted.size:
            columns["relevance_unadjusted"] = self.unadjusted
        return columns | {"shape": self.shapes}

    def plot(
        self, figure: str, ax: Axes | None = None, *, feature: str | int | None = None
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
