"""Defines Selection: what was selected, why, and what became of every other feature."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from importlib import import_module
from numbers import Integral
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..control import EVIDENCE
from ..control.answer import answer
from ..control.decision import Decision
from ..recipe import Recipe
from ..runs.plain import read_plain, write_plain
from ..types import Indices, Mask, Vector
from .pictures import Picture
from .tables import table_of_features, table_of_groups, table_of_hypotheses
from .trends import Trends

_INSTEAD = {"W": "p_values", "p_values": "W"}


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """What was selected, at which level, and what became of every other feature.

    Attributes
    ----------
    names
        Name of every feature, in the order of X.
    evidence
        What the controller found about every feature, before any level is set.
    decision
        What was selected from it, at which level.
    picture
        What figures show of the data: summaries, and values only if they were to be kept.
    trends
        How the features that stand out most go with the target, each alone.
    likeness
        For each partition into groups Spearman's correlation of each feature with its group's lead.
    copies, constants
        Features that copy one another, each set led by the one that stood for it, and features
        without variance.
    always_kept
        Features that were asked to be kept: adjusted for, not tested.
    covariates, unadjusted
        Names of what was adjusted for, and the relevance of every feature before that.
    rows_asked, n_groups_of_rows
        How rows were compared: as independent ``"rows"``, ``"within"`` groups of rows, or as
        ``"means"`` of groups; and how many groups there were.
    on_empty, n_asked
        What to do when the level selects nothing, and how many features were asked for instead of
        a level, if any.
    target, n_rows
        How the target was read, and how many rows there were.
    settings, versions, seed, seconds
        What it takes to do it again, and how long each stage took.
    source
        Column of the target and files with their checksums, where files were read.
    """

    names: tuple[str, ...]
    evidence: Any
    decision: Decision
    picture: Picture
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
    rows_asked: str = "rows"
    n_groups_of_rows: int = 0
    trends: Trends = field(default_factory=Trends)
    n_asked: int | None = None

    @property
    def n_features(self) -> int:
        """Number of features in X."""
        return len(self.names)

    @property
    def fdr(self) -> float:
        """The level asked for."""
        return self.decision.fdr

    @property
    def W(self) -> Vector:  # noqa: N802 the paper's letter
        """Importance of every feature, 0 if it was not kept; the mean over draws."""
        return self._own("W")

    @property
    def p_values(self) -> Vector:
        """p-value of every feature, or of its group, given all others; 1 if it was not tested."""
        return self._own("p_values")

    @property
    def relevance(self) -> Vector:
        """Association of every feature with the target."""
        return np.asarray(self.evidence.relevance)

    @cached_property
    def selected(self) -> Indices:
        """Selected features, best first; of every group that is selected its lead."""
        return np.asarray(self.evidence.leads[self.decision.selected])

    @cached_property
    def members(self) -> tuple[Indices, ...]:
        """For each selected feature its group: itself, its look-alikes and copies."""
        return tuple(self.evidence.members_of(int(h)) for h in self.decision.selected)

    @cached_property
    def look_alikes(self) -> tuple[Indices, ...]:
        """For each selected feature the others of its group, copies counted once."""
        return tuple(
            np.setdiff1d(self.leaders[group], self.leaders[lead])
            for lead, group in zip(self.selected, self.members, strict=True)
        )

    @cached_property
    def alike(self) -> tuple[Vector, ...]:
        """Spearman's correlation of each of `members` with its lead."""
        return tuple(self.likeness_of(int(h)) for h in self.decision.selected)

    @property
    def n_groups(self) -> int:
        """How many of the selected features stand for a group of look-alikes."""
        return sum(len(others) > 0 for others in self.look_alikes)

    @cached_property
    def grouped(self) -> bool:
        """Whether groups of features other than copies were asked about."""
        numbers = self.evidence.hypotheses[-1]
        own = (self.leaders == np.arange(self.n_features)) & (numbers >= 0)
        return bool(len(np.unique(numbers[own])) < np.count_nonzero(own))

    @cached_property
    def carriers(self) -> tuple[Indices, ...]:
        """For each selected feature those of its group that may be what was found.

        If one member alone carries what the group tells of the target, it is among these with 95%
        confidence. Nobody among them: it takes more than one.
        """
        return tuple(self.evidence.carriers_of(int(h)) for h in self.decision.selected)

    @cached_property
    def found_with(self) -> Indices:
        """For each feature the selected one whose group it is in, -1 for none."""
        found = np.full(self.n_features, -1)
        for lead, group in zip(self.selected, self.members, strict=True):
            found[group] = lead
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
        """Smallest level that selects each feature, or a group it leads; 1 if there is none."""
        q = self._by_feature(self.decision.q_values, 1.0).copy()
        np.minimum.at(q, self.evidence.leads, self.decision.q_values)
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
        """Size of the smallest group that a feature was asked about in, copies counted once."""
        numbers = self.evidence.hypotheses[0]
        inside = np.flatnonzero(numbers == numbers[feature])
        return len(np.unique(self.leaders[inside]))

    def at(
        self, fdr: float, on_empty: str | None = None, n_features: int | None = None
    ) -> Selection:
        """Decide again at another level, and by another rule if given, without fitting again."""
        rule = self.on_empty if on_empty is None else on_empty
        decision = answer(self.evidence, fdr, rule, n_features)
        return replace(self, decision=decision, on_empty=rule, n_asked=n_features)

    def asked_as(self, recipe: Recipe) -> Selection:
        """What the same fit gives under a recipe that differs in `fdr` and what follows from it."""
        known = replace(self, evidence=self.evidence.asked_at(recipe.fdr), settings=recipe.settings)
        return known.at(recipe.fdr, recipe.on_empty, recipe.n_features)

    def outcome(self, feature: str | int) -> str:
        """What became of a feature, in a word or two."""
        k = self.position(feature)
        leader = int(self.leaders[k])
        if k in self.always_kept:
            return "always kept"
        if k in self._constants:
            return "constant"
        if self.support[k]:
            return "selected"
        if leader != k:
            return "selected copy" if self.support[leader] else "copy"
        return "in a selected group" if self.found_with[k] >= 0 else str(self.evidence.outcome(k))

    def explain(self, feature: str | int) -> str:
        """Say what became of a feature, and why."""
        return str(_report().explain(self, feature))

    def to_frame(self) -> Any:
        """Every feature with what became of it, as a pandas DataFrame, selected features first."""
        return table_of_features(self)

    def findings(self) -> Any:
        """What was selected, as a pandas DataFrame: a row per feature or group, best first."""
        return table_of_hypotheses(self, self.decision.selected)

    def leads(self, most: int = 10) -> Any:
        """The best of what was not selected, as a pandas DataFrame: leads, which are no findings.

        Of knockoffs these are features that beat theirs, of tests those of smallest p-value.
        """
        table = table_of_hypotheses(self, self._best_left(most))
        shown = ("feature", self.evidence.measured, "q_value", "direction", "shape")
        told = table[[name for name in shown if name in table]]
        return told.assign(status="lead, not a finding")

    def lead_positions(self, most: int = 10) -> Indices:
        """Positions of the features that `leads` tells of."""
        return np.asarray(self.evidence.leads[self._best_left(most)])

    def _best_left(self, most: int) -> Indices:
        """The best hypotheses of features that were not selected."""
        order = self.evidence.order
        features = self.evidence.leads[order]
        new = (self.found_with[features] < 0) & (self.evidence.scores[features] > 0)
        return np.asarray(order[new][:most])

    def groups(self) -> Any:
        """All groups of two or more features, copies too, as a DataFrame, smallest q first."""
        return table_of_groups(self)

    def columns(self) -> dict[str, NDArray[Any]]:
        """What tables show of every feature besides its name and outcome, by name."""
        labels, found = self.picture.labels, self.decision.selected
        columns = {"q_value": self.q_values, **self.evidence.columns(labels, self.n_rows)}
        told = self.evidence.findings(found, labels, self.n_rows)
        told["q_value"] = self.decision.q_values[found]
        if self.unadjusted.size:
            columns["relevance_unadjusted"] = self.unadjusted
        for name in columns.keys() & told.keys():  # what was selected, as what it was
            columns[name] = columns[name].copy()
            columns[name][self.selected] = told[name]
        return columns | {"shape": self.shapes}

    @cached_property
    def shapes(self) -> NDArray[Any]:
        """How each feature goes with the target alone, in a word; see `Trends`.

        Empty for those that do not stand out.
        """
        shapes = np.full(self.n_features, "", dtype=object)
        shapes[self.trends.features] = self.trends.shapes
        return shapes

    def sizes(self) -> dict[str, Vector]:
        """How much features go with the target, each alone; NaN for those that do not stand out.

        See `Trends.sizes`.
        """
        sizes = {}
        for name, values in self.trends.sizes().items():
            sizes[name] = np.full(self.n_features, np.nan)
            sizes[name][self.trends.features] = values
        return sizes

    def report(self, path: str | PathLike[str]) -> Any:
        """Write a report as one HTML file that needs nothing else; returns its path."""
        written = _report().write_report(self, path)
        self.__dict__["report_path"] = str(path)  # which the card of a notebook links to
        return written

    def to_json(self) -> str:
        """Everything as JSON; `from_json` reads it back."""
        about = {
            "selected": self.selected_names,
            "statement": _report().statement(self),
            "leads": [] if self.selected.size else self.leads().to_dict("records"),
            "fdr": self.fdr,
        }
        content = about | write_plain(self)
        content["evidence"] = {"kind": self.evidence.kind, **write_plain(self.evidence)}
        del content["decision"]  # which follows from the evidence
        return json.dumps(content, default=write_plain, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Selection:
        """Read what `to_json` wrote."""
        try:
            content = json.loads(text)
            evidence = read_plain(EVIDENCE[content["evidence"]["kind"]], content["evidence"])
            if len(content["names"]) != evidence.n_features:
                raise ValueError(f"{len(content['names'])} names, {evidence.n_features} features")
            decision = answer(evidence, content["fdr"], content["on_empty"], content["n_asked"])
            found: Selection = read_plain(
                cls, content | {"evidence": evidence, "decision": decision}
            )
            return found
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise ValueError(f"this is not a selection saved by smrmr ({error!r}).") from error

    def position(self, feature: str | int) -> int:
        """Place of a feature in X, from its name or from the place itself."""
        if isinstance(feature, str):
            if feature in self.names:
                return self.names.index(feature)
            close = get_close_matches(feature, self.names, n=3)
            hint = f" Did you mean {' or '.join(close)}?" if close else ""
            raise ValueError(f"there is no feature {feature!r}.{hint}")
        if not isinstance(feature, Integral) or not 0 <= int(feature) < self.n_features:
            raise ValueError(f"feature {feature!r} is not between 0 and {self.n_features - 1}.")
        return int(feature)

    def __str__(self) -> str:
        return str(_report().statement_with_advice(self))

    def __repr__(self) -> str:
        return str(_report().brief(self))

    def _repr_html_(self) -> str:
        return str(_report().card(self))

    def likeness_of(self, hypothesis: int) -> Vector:
        """Spearman's correlation of the members of a hypothesis with its lead."""
        members = self.evidence.members_of(hypothesis)
        partitions = zip(self.evidence.hypotheses, self.likeness, strict=True)
        return next(r[members] for numbers, r in partitions if numbers[members[0]] == hypothesis)

    def _by_feature(self, values: Vector, otherwise: float) -> Vector:
        """Values of hypotheses by feature, going by the finest groups; constants have none."""
        numbers = self.evidence.hypotheses[0]
        return np.where(numbers < 0, otherwise, values[numbers])

    def _own(self, name: str) -> Vector:
        """Numbers that not every controller gives."""
        if not hasattr(self.evidence, name):
            raise AttributeError(
                f"a selection by {self.evidence.kind} has no {name}: use q_values, which every "
                f"selection has, or {_INSTEAD[name]}."
            )
        return np.asarray(getattr(self.evidence, name))

    @cached_property
    def _constants(self) -> set[int]:
        return set(self.constants.tolist())


def _report() -> Any:
    """The report, by its name: it is made from selections, so it comes later in the flow."""
    return import_module("smrmr.report")
