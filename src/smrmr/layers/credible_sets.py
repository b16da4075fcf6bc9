r"""Credible sets: which members of a found group of look-alikes carry its association.

The target is a sum of few effects, each of one member, as in the sum of single effects of Wang,
Sarkar, Carbonetto and Stephens (2020). Given the other effects, the posterior of one is exact:

.. math:: Y = X_j B + \varepsilon, \quad \varepsilon_i \sim N(0, \Sigma), \quad
          \mathrm{vec}\, B \mid g \sim N(0, g\, \Sigma \otimes I_k), \quad
          p(\Sigma) \propto |\Sigma|^{-(d + 1) / 2}

:math:`X_j` has k columns: the normal scores z of member j (straight), or z and what its absolute
value adds to it (bent). Members, forms and values of g are equally probable beforehand. With
:math:`G = X_j^\top X_j`, :math:`H = G + I_k / g` and
:math:`W = X_j^\top Y (Y^\top Y)^{-1} Y^\top X_j`,

.. math:: \frac{p(Y \mid j, g)}{p(Y \mid \text{no effect})} =
          |g H|^{-d / 2} \left(|H - W| \, / \, |H|\right)^{-\nu / 2}

:math:`Y` and :math:`X_j` are adjusted for the expected carriers of the other effects, which are
found in turns until they settle. Adjusting takes the place of subtracting their fits: these are
shrunk, and look-alikes would take what is left for an effect of their own. :math:`\nu` is the
number of rows less one and less the columns adjusted for, times `ROW_WEIGHT`. Constants were chosen
by coverage, which ``python -m benchmarks.studies.credible_sets`` prints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp

from ..types import Indices, Mask, Matrix, Vector

MOST_EFFECTS = 3
EFFECT_VARIANCES = (0.01, 0.04, 0.16, 0.64, 2.56)  # values of g; the noise has variance 1
ROW_WEIGHT = 0.9  # of a row as evidence: noise is not quite normal, bends not quite those of |z|
PROMISING = 0.0  # log10 of the Bayes factor from which a further effect is followed up,
SUPPORTED = 1.5  # and at which each of several effects is believed given the others
MAX_SAME = 0.05  # probability that two effects are of the same member
MIN_BEND = 1e-3  # share of the variance of |z| beyond z, below which both forms are one
MIN_AGREEMENT = 0.25  # mean square of the bent column expected of a carrier, if there is one
MIN_NOISE = 1e-8  # share of the target, so that a perfect fit leaves no rounding errors to explain
MIN_SHARE = 1e-6  # singular value of unit rows below which there is no further direction
SAME = 1e-9  # probabilities that differ by less are equal
SETTLED = 1e-4  # change of probabilities below which effects have settled
MOST_TURNS = 30
MAX_BLOCK_VALUES = 2**22  # bounds the memory of absolute values


@dataclass(frozen=True, eq=False)
class CredibleSet:
    """Members one of which carries an effect, with at least the probability asked for.

    Attributes
    ----------
    members
        Positions in the group, the most probable first; as few as reach the probability.
    probabilities
        Of every member of the group, that it carries this effect; they add up to 1.
    """

    members: Indices
    probabilities: Vector


def credible_sets(Z: Matrix, E: Matrix, level: float = 0.95) -> tuple[CredibleSet, ...]:
    """Sets of members that carry the association of a group with the target, one per effect.

    Parameters
    ----------
    Z
        Normal scores of the members, (m, n), every row with mean 0 and variance 1.
    E
        Columns of the target as rows, (q, n), adjusted for all that is outside the group. They may
        be linearly dependent, as those of classes are.
    level
        Probability that a set reaches.

    Returns
    -------
    At least one set, as the group is taken to matter; where it does not, the set holds most
    members. Further sets are for effects that the data clearly support.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.normal(size=(1, 200)) + rng.normal(size=(5, 200)) / 2
    >>> Z = (Z - Z.mean(axis=1, keepdims=True)) / Z.std(axis=1, keepdims=True)
    >>> (found,) = credible_sets(Z, Z[[3]] + rng.normal(size=200))
    >>> found.members.tolist()
    [3]
    """
    forms, Y = _Forms.of(Z), orthonormal(E - E.mean(axis=1, keepdims=True))
    effects = [_find_effect(forms, Y, [])]
    while len(effects) < min(MOST_EFFECTS, len(Z)):
        another = _find_effect(forms, Y, effects)
        if another.log10_factor < PROMISING:
            break
        more = _settled(forms, Y, [*effects, another])
        if more is None or not _supported(more):
            break
        effects = more
    return tuple(_smallest_set(effect.probabilities, level) for effect in effects)


def inclusion_probabilities(sets: Sequence[CredibleSet]) -> Vector:
    """Probability of every member that it carries at least one of the effects."""
    return np.asarray(1 - np.prod([1 - one.probabilities for one in sets], axis=0))


def log_factors(G: Matrix, W: Matrix, d: int, nu: float, bent: Mask) -> Matrix:
    """Logarithms of Bayes factors of members as straight and as bent, (m, 2, values of g).

    `G` and `W` are those of the module's formula, (m, 2, 2), for straight and bent columns.
    Members without a bent column have the same factor twice.
    """
    g = np.array(EFFECT_VARIANCES)
    by_form = []
    for k in (1, 2):
        H = G[:, None, :k, :k] + np.eye(k) / g[:, None, None]
        before = np.linalg.slogdet(H)[1]
        after = np.linalg.slogdet(H - W[:, None, :k, :k])[1]
        by_form.append(-d / 2 * (before + k * np.log(g)) - nu / 2 * (after - before))
    straight, both = by_form
    return np.stack([straight, np.where(bent[:, None], both, straight)], axis=1)


@dataclass(frozen=True, eq=False)
class _Forms:
    """Columns of every member: z, and a in ``abs(z) = mean + slope z + size a``.

    `size` is 0 for members whose absolute value adds nothing, such as those of two values.
    """

    Z: Matrix
    mean: Vector
    slope: Vector
    size: Vector

    @classmethod
    def of(cls, Z: Matrix) -> _Forms:
        found = cls(Z, *np.zeros((3, len(Z))))
        for some, absolute in found._blocks():
            found.mean[some] = absolute.mean(axis=1)
            found.slope[some] = np.einsum("ij,ij->i", absolute, Z[some]) / Z.shape[1]
        share = np.einsum("ij,ij->i", Z, Z) / Z.shape[1] - found.mean**2 - found.slope**2
        return replace(found, size=np.sqrt(np.where(share > MIN_BEND, share, 0.0)))

    @property
    def bent(self) -> Mask:
        """Members that have a bent column."""
        return self.size > 0

    def products(self, R: Matrix) -> Matrix:
        """Sums of products of both columns of every member with centred rows, (m, 2, d)."""
        straight = self.Z @ R.T
        absolute = np.empty_like(straight)
        for some, values in self._blocks():
            absolute[some] = values @ R.T
        bent = self._by_size(absolute - self.slope[:, None] * straight)
        return np.stack([straight, bent], axis=1)

    def expected(self, probabilities: Vector) -> Matrix:
        """Both columns averaged over members, those of opposite sign turned over, (1 or 2, n)."""
        likeness = self.Z @ self.Z[np.argmax(probabilities)] / self.Z.shape[1]
        straight = (probabilities * likeness) @ self.Z
        weights = self._by_size(probabilities[:, None])[:, 0]
        bent = -weights @ self.mean - (weights * self.slope) @ self.Z
        for some, values in self._blocks():
            bent += weights[some] @ values
        agreed = np.mean(bent**2) > MIN_AGREEMENT
        return np.stack([straight, bent][: 1 + agreed])

    def _by_size(self, values: Matrix) -> Matrix:
        size = self.size[:, None]
        return np.divide(values, size, out=np.zeros_like(values), where=size > 0)

    def _blocks(self) -> Iterator[tuple[slice, Matrix]]:
        width = max(1, MAX_BLOCK_VALUES // self.Z.shape[1])
        for start in range(0, len(self.Z), width):
            some = slice(start, start + width)
            yield some, np.abs(self.Z[some])


@dataclass(frozen=True, eq=False)
class _Effect:
    """Posterior of one effect given others.

    Attributes
    ----------
    probabilities
        Of every member, that it is the carrier.
    log10_factor
        Of Bayes, against no such effect.
    columns
        Those expected of the carrier, for which other effects are adjusted.
    """

    probabilities: Vector
    log10_factor: float
    columns: Matrix


def _find_effect(forms: _Forms, Y: Matrix, others: Sequence[_Effect]) -> _Effect:
    """Posterior of an effect adjusted for the carriers of others; `Y` has orthonormal rows."""
    d, n = Y.shape
    U = orthonormal(np.concatenate([np.empty((0, n)), *(other.columns for other in others)]))
    R = Y - (Y @ U.T) @ U
    T, P = forms.products(U), forms.products(R)
    G = n * np.eye(2) - T @ T.swapaxes(1, 2)
    W = P @ np.linalg.solve(R @ R.T + MIN_NOISE * np.eye(d), P.swapaxes(1, 2))
    logs = log_factors(G, W, d, ROW_WEIGHT * (n - 1 - len(U)), forms.bent)
    total = logsumexp(logs)
    probabilities = np.exp(logs - total).sum(axis=(1, 2))
    log10_factor = float(total - np.log(logs.size)) / np.log(10)
    return _Effect(probabilities, log10_factor, forms.expected(probabilities))


def _settled(forms: _Forms, Y: Matrix, effects: Sequence[_Effect]) -> list[_Effect] | None:
    """Effects found in turns, each given the others, or nothing if they do not settle."""
    found = list(effects)
    for _ in range(MOST_TURNS):
        change = 0.0
        for k, before in enumerate(found):
            found[k] = _find_effect(forms, Y, [*found[:k], *found[k + 1 :]])
            change = max(change, np.abs(found[k].probabilities - before.probabilities).max())
        if change < SETTLED:
            return found
    return None


def _supported(effects: Sequence[_Effect]) -> bool:
    """Whether there is evidence of each effect given the others, and their carriers differ."""
    p = np.stack([effect.probabilities for effect in effects])
    differ = np.triu(p @ p.T, 1).max() <= MAX_SAME
    return bool(differ and min(effect.log10_factor for effect in effects) >= SUPPORTED)


def orthonormal(rows: Matrix) -> Matrix:
    """Orthonormal rows that span the same, as many as the rank."""
    length = np.sqrt(np.sum(rows**2, axis=1, keepdims=True))
    unit = np.divide(rows, length, out=np.zeros_like(rows), where=length > 0)
    _, sizes, found = np.linalg.svd(unit, full_matrices=False)
    return np.asarray(found[sizes > MIN_SHARE])


def _smallest_set(probabilities: Vector, level: float) -> CredibleSet:
    """The fewest members that reach the level, ties by position."""
    order = np.argsort(-np.round(probabilities / SAME), kind="stable")
    short = np.cumsum(probabilities[order]) < level - SAME
    return CredibleSet(order[: 1 + int(np.sum(short))], probabilities)
