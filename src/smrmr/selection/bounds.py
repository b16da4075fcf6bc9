"""At least how many features of an answer, or of any set of features, are true."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..conditional.evidence import ConditionalEvidence
from ..data.frames import frame_of
from ..layers.bounds import Bounds
from ..problems import Problem, setting
from ..settings import check_choice, check_level
from ..types import Indices

if TYPE_CHECKING:
    from .selection import Selection

CONFIDENCE = 0.9  # of bounds in tables and reports
BOUNDED = ("associated", "own")  # layers whose hypotheses are single features


def bound_of_answer(selection: Selection, confidence: float, layer: str) -> int:
    """The bound of what a layer names; of signals, among all features and groups tested."""
    check_choice("layer", layer, ("signals", *BOUNDED))
    if layer != "signals":
        named = selection.layer(layer).features
        return Family(selection, layer, confidence).at_least(named)
    evidence = selection.evidence
    _refuse_knockoffs(selection, layer)
    assert isinstance(evidence, ConditionalEvidence)
    bounds = Bounds.of(evidence.p_of_hypotheses, 1 - check_level(confidence, "confidence"))
    return bounds.at_least(selection.decision.selected)


def bounds_of_sets(selection: Selection, features: Any, confidence: float, layer: str) -> Any:
    """The bound of one set of features, or a DataFrame of those of several named ones."""
    check_choice("layer", layer, BOUNDED)
    family = Family(selection, layer, confidence)
    if not isinstance(features, Mapping):
        return family.at_least(_positions(selection, features))
    sets = {str(name): _positions(selection, members) for name, members in features.items()}
    bounds = np.array([family.at_least(members) for members in sets.values()], dtype=np.intp)
    sizes = np.array([len(members) for members in sets.values()], dtype=np.intp)
    order = np.lexsort((sizes, -bounds / np.maximum(sizes, 1), -bounds))
    return frame_of(
        {
            "set": np.array([*sets], dtype=object)[order],
            "size": sizes[order],
            "at_least": bounds[order],
            "share": (bounds / np.maximum(sizes, 1))[order],
        }
    )


class Family:
    """The hypotheses of a layer, with the bounds of all sets of them."""

    def __init__(self, selection: Selection, layer: str, confidence: float) -> None:
        if layer == "own":
            _refuse_knockoffs(selection, layer)
        self._leaders, found = selection.leaders, selection.layer(layer)
        self._bounds = found.bounds(check_level(confidence, "confidence"))
        self._place = np.full(selection.n_features, -1)
        self._place[found.tested] = np.arange(len(found.tested))

    def at_least(self, features: Indices) -> int:
        """The bound of a set; copies count once, and what was not tested not at all."""
        places = self._place[self._leaders[features]]
        return self._bounds.at_least(places[places >= 0])


def _positions(selection: Selection, features: Any) -> Indices:
    """Positions of features, each once."""
    several = isinstance(features, Iterable) and not isinstance(features, str)
    given = features if several else [features]
    return np.unique(np.array([selection.position(one) for one in given], dtype=np.intp))


def _refuse_knockoffs(selection: Selection, layer: str) -> None:
    if not isinstance(selection.evidence, ConditionalEvidence):
        raise Problem(
            f"knockoffs have no p-values, which bounds of layer {layer!r} are made of.",
            f"Use {setting('layer', 'associated')}, or select by {setting('control', 'tests')}.",
        )
