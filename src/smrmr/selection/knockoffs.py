"""Shows the knockoff filter in tables: W and coefficients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..paper.evidence import KnockoffEvidence
from ..types import Indices, Vector

if TYPE_CHECKING:
    from .selection import Selection

MEASURED = "W"


def evidence_of(selection: Selection) -> KnockoffEvidence:
    """The evidence of a selection by knockoffs."""
    assert isinstance(selection.evidence, KnockoffEvidence)
    return selection.evidence


def shown(selection: Selection) -> tuple[str, ...]:
    """Columns of the findings that fit a terminal."""
    return "W", "q_value", "relevance", "shape"


def markers(selection: Selection) -> dict[str, NDArray[Any]]:
    """Refused: knockoffs have no effects for each class."""
    raise AttributeError(
        "a selection by knockoffs has no effects for each class or output, of which markers are "
        "made; one by conditional tests has."
    )


def columns(selection: Selection, hypotheses: Indices | None = None) -> dict[str, Vector]:
    """Columns by name: of the representatives of these hypotheses, or of all features."""
    evidence = evidence_of(selection)
    features = slice(None) if hypotheses is None else evidence.representatives[hypotheses]
    return {
        "W": evidence.W[features],
        "theta": evidence.theta[features],
        "theta_knockoff": evidence.theta_knockoff[features],
        "relevance": evidence.relevance[features],
    }


def outcomes(selection: Selection) -> NDArray[Any]:
    """What became of every feature that was not selected, in a word or two."""
    evidence = evidence_of(selection)
    everyone, W = np.arange(evidence.n_features), evidence.W
    shortlisted = np.concatenate([draw.shortlisted for draw in evidence.draws])
    words = {
        "below the threshold": np.isin(everyone, evidence.kept) & (W > 0),
        "beaten by its knockoff": np.isin(everyone, evidence.kept) & (W < 0),
        "no weight": np.isin(everyone, evidence.kept),
        "screened out by mRMR": np.isin(everyone, shortlisted),
    }
    return np.select(list(words.values()), list(words), "screened out by relevance")


def neighbours(selection: Selection, k: int) -> list[tuple[int, float]]:
    """Kept features most associated with a kept feature, in the first draw that kept it."""
    for draw in evidence_of(selection).draws:
        for i in np.flatnonzero(draw.kept == k):
            near = zip(draw.neighbours[i].tolist(), draw.association[i].tolist(), strict=True)
            return list(near)
    return []


def error_rate(selection: Selection) -> str:
    """What the level bounds."""
    return "FDR"
