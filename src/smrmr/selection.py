"""Defines Selection: what was selected, why, and what became of every other feature."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from importlib import import_module
from numbers import Integral
from os import PathLike
from typing import Any

import numpy as np

from .control.decision import Decision, Derandomised, check_level, decide, derandomise, q_values
from .control.knockoffs.draws import Draw, Shown, read_draw, read_shown
from .types import Indices, Mask, Matrix, Vector


@dataclass(frozen=True, eq=False)
class Selection:
    """What was selected, at which level, and what became of every other feature.

    Attributes
    ----------
    names
        Name of every feature, in the order of X.
    relevance
        Association of every feature with the target, on the rows that screen (all rows if none do).
    draws
        What each draw of splits and knockoffs gave; one unless `n_draws` is larger.
    shown
        Values of the features of largest W, for figures.
    groups, constants
        Copies, each group led by the feature that stood for it, and features without variance.
    fdr, on_empty
        The level asked for and what to do when it selects nothing.
    inner_fdr
        The level of each of several draws, fixed before looking at the data.
    target, n_rows
        How the target was read, and how many rows there were.
    settings, versions, seed, seconds
        What it takes to do it again, and how long each stage took.
    source
        Column of the target and files with their checksums, where files were read.
    """

    names: tuple[str, ...]
    relevance: Vector
    draws: tuple[Draw, ...]
    shown: Shown
    groups: tuple[Indices, ...]
    constants: Indices
    fdr: float
    inner_fdr: float
    on_empty: str
    target: str
    n_rows: int
    settings: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    seed: int | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    source: dict[str, str] = field(default_factory=dict)

    @property
    def n_features(self) -> int:
        """Number of features in X."""
        return len(self.names)

    @cached_property
    def W(self) -> Vector:  # noqa: N802 the paper's letter
        """Importance of every feature, 0 if it was not kept; the mean over draws."""
        return self._mean_over_draws("W")

    @cached_property
    def theta(self) -> Vector:
        """Coefficient of every feature, 0 if it was not kept; the mean over draws."""
        return self._mean_over_draws("theta")

    @cached_property
    def theta_knockoff(self) -> Vector:
        """Coefficient of every feature's knockoff; the mean over draws."""
        return self._mean_over_draws("theta_knockoff")

    @cached_property
    def kept(self) -> Indices:
        """Features that passed the screen in some draw."""
        return np.asarray(np.unique(np.concatenate([draw.kept for draw in self.draws])))

    @cached_property
    def decision(self) -> Decision | Derandomised:
        """The decision on features that stand for themselves and their copies."""
        if len(self.draws) == 1:
            return decide(self.W, self.fdr, on_empty=self.on_empty, relevance=self.relevance)
        return derandomise(self._W_draws, self.fdr, inner_fdr=self.inner_fdr)

    @cached_property
    def selected(self) -> Indices:
        """Selected features, best first, each followed by its copies."""
        copies = {int(group[0]): group for group in self.groups}
        found = [copies.get(int(k), np.array([k])) for k in self.decision.selected]
        return np.asarray(np.concatenate([np.empty(0, np.intp), *found]), dtype=np.intp)

    @property
    def selected_names(self) -> list[str]:
        """Names of the selected features, best first."""
        return [self.names[k] for k in self.selected]

    @property
    def level(self) -> float:
        """The level used; above `fdr` only where ``on_empty="relax"`` raised it."""
        return getattr(self.decision, "level", self.fdr)

    @cached_property
    def q_values(self) -> Vector:
        """Smallest level that selects each feature, 1 if there is none.

        Over several draws that is the level at which e-BH selects it, the inner level held fixed.
        """
        if isinstance(self.decision, Decision):
            q = q_values(self.W)
        else:
            e = self.decision.e_values
            order = np.argsort(-e, kind="stable")
            with np.errstate(divide="ignore"):
                levels = len(e) / (np.arange(1, len(e) + 1) * e[order])
            q = np.empty(len(e))
            q[order] = np.minimum(np.minimum.accumulate(levels[::-1])[::-1], 1.0)
        for group in self.groups:
            q[group] = q[group[0]]
        return q

    def at(self, fdr: float, on_empty: str | None = None) -> Selection:
        """Decide again at another level, and by another rule if given, without fitting again."""
        rule = self.on_empty if on_empty is None else on_empty
        if rule != "none" and (rule != "relax" or len(self.draws) > 1):
            raise ValueError(
                f"on_empty={on_empty!r} is not possible here. Use 'none', or 'relax' with one draw."
            )
        return replace(self, fdr=check_level(fdr), on_empty=rule)

    def explain(self, feature: str | int) -> str:
        """Say what became of a feature, and why."""
        k = self._position(feature)
        name = self.names[k]
        if k in self.constants:
            return f"{name} is constant, so it can tell nothing about the target."
        leader = int(self._leaders[k])
        if leader != k:
            return f"{name} is a copy of {self.names[leader]}. " + self.explain(leader)
        if len(self.draws) == 1:
            return self._explain_draw(k, self.draws[0])
        kept = sum(k in draw.kept for draw in self.draws)
        result = self.decision
        assert isinstance(result, Derandomised)
        verdict = "selected" if k in result.selected else "not selected"
        return (
            f"{name} is {verdict} at FDR {self.fdr:g}: it passed the screen in {kept} of "
            f"{len(self.draws)} draws and the threshold in {result.frequency[k]:.0%} of them "
            f"(e-value {result.e_values[k]:.3g})."
        )

    def fate(self, k: int) -> str:
        """One word or two for what became of feature `k`."""
        k = self._position(k)
        leader = self._leaders[k]
        if self._masks["constants"][k]:
            return "constant"
        if self._masks["chosen"][leader]:
            return "selected" if leader == k else "selected copy"
        if leader != k:
            return "copy"
        if not self._masks["kept"][leader]:
            short = self._masks["shortlisted"][k]
            return "screened out by mRMR" if short else "screened out by relevance"
        if self.W[k] == 0:
            return "no weight"
        return "below the threshold" if self.W[k] > 0 else "beaten by its knockoff"

    def to_frame(self) -> Any:
        """Every feature with its fate, as a pandas DataFrame, selected features first."""
        import pandas as pd  # only needed here

        frame = pd.DataFrame(
            {
                "feature": list(self.names),
                "selected": np.isin(np.arange(self.n_features), self.selected),
                "W": self.W,
                "q_value": self.q_values,
                "theta": self.theta,
                "theta_knockoff": self.theta_knockoff,
                "relevance": self.relevance,
                "fate": [self.fate(k) for k in range(self.n_features)],
            }
        )
        order = np.lexsort((-self.relevance, -self.W, ~frame["selected"].to_numpy()))
        return frame.iloc[order].reset_index(drop=True)

    def report(self, path: str | PathLike[str]) -> Any:
        """Write a report as one HTML file that needs nothing else; returns its path."""
        # by name: the report is made from selections, so it comes later in the flow
        return import_module("smrmr.report").write_report(self, path)

    def to_json(self) -> str:
        """Everything as JSON; `from_json` reads it back."""
        content = {
            "selected": self.selected_names,
            "statement": str(self),
            **{name: getattr(self, name) for name in self.__dataclass_fields__},
            "draws": [asdict(draw) for draw in self.draws],
            "shown": asdict(self.shown),
        }
        return json.dumps(content, default=_plain, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Selection:
        """Read what `to_json` wrote."""
        try:
            content = json.loads(text)
            content = {name: content[name] for name in cls.__dataclass_fields__}
            draws = tuple(read_draw(draw) for draw in content["draws"])
            shown = read_shown(content["shown"])
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise ValueError(f"this is not a selection saved by smrmr ({error!r}).") from error
        content["names"] = tuple(content["names"])
        content["relevance"] = np.array(content["relevance"], dtype=np.float64)
        content["groups"] = tuple(np.array(group, dtype=np.intp) for group in content["groups"])
        content["constants"] = np.array(content["constants"], dtype=np.intp)
        content["draws"], content["shown"] = draws, shown
        return cls(**content)

    def __str__(self) -> str:
        if isinstance(self.decision, Decision):
            return str(self.decision)
        n = len(self.selected)
        return (
            f"{n or 'No'} feature{'s' * (n != 1)} selected at FDR {self.fdr:g} over "
            f"{len(self.draws)} draws."
        )

    @cached_property
    def _W_draws(self) -> Matrix:  # noqa: N802
        everything = np.zeros((len(self.draws), self.n_features))
        for row, draw in zip(everything, self.draws, strict=True):
            row[draw.kept] = draw.W
        return everything

    def _mean_over_draws(self, name: str) -> Vector:
        total = np.zeros(self.n_features)
        for draw in self.draws:
            total[draw.kept] += getattr(draw, name)
        return total / len(self.draws)

    @cached_property
    def _leaders(self) -> Indices:
        """For each feature the one that stood for it."""
        leaders = np.arange(self.n_features)
        for group in self.groups:
            leaders[group] = group[0]
        return leaders

    @cached_property
    def _masks(self) -> dict[str, Mask]:
        """Which features are constant, chosen, kept, shortlisted in some draw."""
        sets = {
            "constants": [self.constants],
            "chosen": [self.decision.selected],
            "kept": [self.kept],
            "shortlisted": [draw.shortlisted for draw in self.draws],
        }
        masks: dict[str, Mask] = {name: np.zeros(self.n_features, dtype=np.bool_) for name in sets}
        for name, parts in sets.items():
            for part in parts:
                masks[name][part] = True
        return masks

    def _position(self, feature: str | int) -> int:
        if isinstance(feature, str):
            if feature in self.names:
                return self.names.index(feature)
            close = get_close_matches(feature, self.names, n=3)
            hint = f" Did you mean {' or '.join(close)}?" if close else ""
            raise ValueError(f"there is no feature {feature!r}.{hint}")
        if not isinstance(feature, Integral) or not 0 <= feature < self.n_features:
            raise ValueError(f"feature {feature!r} is not between 0 and {self.n_features - 1}.")
        return int(feature)

    def _explain_draw(self, k: int, draw: Draw) -> str:
        name = self.names[k]
        rank = int(np.sum(self.relevance > self.relevance[k])) + 1
        place = f"relevance {self.relevance[k]:.3f}, rank {rank} of {self.n_features}"
        if k not in draw.shortlisted:
            return (
                f"{name} was screened out by relevance ({place}): the {len(draw.shortlisted)} most "
                f"relevant features on the {draw.n_screen} screening rows went on."
            )
        if k not in draw.kept:
            return (
                f"{name} was screened out by mRMR ({place}): with the others in the model on the "
                f"{draw.n_screen} screening rows its coefficient was not among the "
                f"{len(draw.kept)} largest."
            )
        i = int(np.flatnonzero(draw.kept == k)[0])
        W, theta, twin = draw.W[i], draw.theta[i], draw.theta_knockoff[i]
        weights = f"coefficient {theta:.4f}, its knockoff's {twin:.4f}"
        if k in self.decision.selected:
            return f"{name} is selected ({place}; {weights}; q-value {self.q_values[k]:.3g})."
        if W == 0 and theta > 0:
            return (
                f"{name} got no weight: on the {draw.n_select} selecting rows it equals its "
                "knockoff or another feature, so nothing can tell them apart."
            )
        if W == 0:
            return f"{name} got no weight ({place})." + self._redundant_with(draw, i)
        if W < 0:
            return f"{name} was beaten by its knockoff ({weights})." + self._redundant_with(draw, i)
        threshold = getattr(self.decision, "threshold", np.inf)
        reason = f"the threshold {threshold:.4f}" if threshold < np.inf else "any threshold"
        return (
            f"{name} beat its knockoff ({weights}), but W = {W:.4f} is below {reason} at FDR "
            f"{self.fdr:g}; it would be selected at {self.q_values[k]:.3g}."
        )

    def _redundant_with(self, draw: Draw, i: int) -> str:
        """Name the most alike neighbour with more weight, which may have taken its place."""
        weight = dict(zip(draw.kept.tolist(), draw.theta.tolist(), strict=True))
        heavier = [
            (likeness, other)
            for other, likeness in zip(draw.neighbours[i], draw.likeness[i], strict=True)
            if weight[int(other)] > draw.theta[i]
        ]
        if not heavier:
            return ""
        likeness, other = max(heavier)
        return (
            f" Its nearest neighbour with more weight is {self.names[other]} (D = {likeness:.3f})."
        )


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    return str(value)
