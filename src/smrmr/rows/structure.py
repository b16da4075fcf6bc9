r"""Asks whether leading principal components of the features carry the target.

So they do where samples come from several populations, batches or plates that differ in the target:
then most features are associated with it a little, whatever they do. Genomic control (Devlin and
Roeder 1999) measures that by the median of squared correlations with the target, over that by
chance. Where few features matter it is near 1. Where all features share a strong factor, neighbours
of a feature tell of it, and tests given all others are adjusted for it. What remains to be warned
of is a target that goes with most features by way of components that single features hardly tell
of.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, eigvalsh
from scipy.special import betainc

from ..conditional.scores import adjusted_for, target_columns
from ..data.study import Study
from ..types import Indices, Matrix, Vector
from .sample import sampled

MAX_ROWS, MAX_COLUMNS = 1000, 2000  # rows and columns that are looked at
MIN_FREEDOM = 20  # degrees of freedom without which nothing can be seen
MIN_FEATURES = 50  # without which a factor of some of them passes for one of all samples
MAX_COMPONENTS = 10
BEYOND_NOISE = 1.1  # times the largest eigenvalue of noise, from which on a component counts
MIN_GAP = 1.25  # ratio of eigenvalues, from which on components are apart from what follows
MIN_EIGENVALUE = 1e-9  # below which it is rounding
MEDIAN_OF_CHI_SQUARED = 0.4549364  # of one degree of freedom
ALPHA = 1e-6  # true features alone make components carry a target, now and then
FAR = 2.0  # median of squared correlations over that by chance, that components must halve,
NEAR = 1.4  # down to no more than this
MAX_OF_TARGET = 0.8  # beyond which components are the target itself, such as types of cells
MAX_SHARED = 0.4  # share of a feature's variance up to which its neighbours hide the components


@dataclass(frozen=True, eq=False)
class Structure:
    """What leading principal components of the features explain.

    Attributes
    ----------
    n_components
        Components beyond noise, at most 10.
    of_target, p_value
        Share of the target's variance that they explain, and the chance of so much. Of several
        columns of the target these are of the one that they explain best.
    of_features
        Share of the variance of features that they explain.
    inflation, adjusted_inflation
        Median squared correlation of features with the target over that by chance, and the same
        given the components.
    """

    n_components: int
    of_target: float
    p_value: float
    of_features: float
    inflation: float
    adjusted_inflation: float

    @property
    def found(self) -> bool:
        """Whether the target goes with most features through these components alone."""
        return (
            self.p_value <= ALPHA
            and self.of_target <= MAX_OF_TARGET
            and self.of_features <= MAX_SHARED
            and self.inflation >= max(FAR, FAR * self.adjusted_inflation)
            and self.adjusted_inflation <= NEAR
        )


def population_structure(study: Study) -> Structure | None:
    """Leading components and what they explain; none without them, or with few rows or columns."""
    n = study.columns.n_rows
    rows: Indices = np.unique(np.linspace(0, n - 1, min(n, MAX_ROWS)).astype(np.intp))
    study, Z = sampled(study, rows, MAX_COLUMNS)
    covariates = study.adjustment.basis
    freedom = len(rows) - 1 - len(covariates)
    Z = adjusted_for(Z, covariates)
    Z = Z[Z.any(axis=1)]
    if freedom < MIN_FREEDOM or len(Z) < MIN_FEATURES:
        return None
    components = _leading_components(Z, freedom)
    left = freedom - len(components)
    if not len(components) or left < MIN_FREEDOM:
        return None
    E = target_columns(study.target, covariates).values
    shares = np.sum((E @ components.T) ** 2, axis=1) / len(rows)
    best = int(np.argmax(shares))
    e, share = E[best], float(min(shares[best], 1.0))
    by_chance = float(betainc(left / 2, len(components) / 2, 1 - share))
    return Structure(
        n_components=len(components),
        of_target=share,
        p_value=min(1.0, len(E) * by_chance),
        of_features=float(np.mean((Z @ components.T) ** 2) * len(components) / len(rows)),
        inflation=_inflation(Z, e, freedom),
        adjusted_inflation=_inflation(
            adjusted_for(Z, components), adjusted_for(e[None], components)[0], left
        ),
    )


def _leading_components(Z: Matrix, freedom: int) -> Matrix:
    """Principal components beyond the noise edge and before a gap, orthonormal rows over samples.

    Correlations of single features spread eigenvalues evenly; populations set a few apart.
    """
    few = len(Z) < Z.shape[1]  # features: there are as many eigenvalues besides 0
    products = (Z @ Z.T if few else Z.T @ Z) / len(Z)
    values = np.maximum(eigvalsh(products, check_finite=False)[::-1], MIN_EIGENVALUE)
    edge = (1 + np.sqrt(freedom / len(Z))) ** 2
    n_beyond = min(int(np.sum(values > BEYOND_NOISE * edge)), MAX_COMPONENTS, len(values) - 1)
    gaps = values[:n_beyond] / values[1 : n_beyond + 1]
    n_apart = int(gaps.argmax()) + 1 if gaps.max(initial=0.0) >= MIN_GAP else 0
    if not n_apart:  # as in most tables: vectors take most of the time
        return np.empty((0, Z.shape[1]))
    size = len(products)
    rows = eigh(products, subset_by_index=(size - n_apart, size - 1))[1].T[::-1]
    if few:
        rows = rows @ Z / np.sqrt(len(Z) * values[:n_apart, None])
    return np.asarray(rows)


def _inflation(Z: Matrix, e: Vector, freedom: int) -> float:
    """Median squared correlation over that by chance."""
    squares = (Z @ e / len(e)) ** 2
    return float(np.median(squares) * freedom / MEDIAN_OF_CHI_SQUARED)
