"""Chooses terms that covariates act by beyond their splines: waves of one, products of several.

Adjusting for a term that does nothing costs a few degrees of freedom; leaving one out that moves
both target and features costs the level. So a term is taken where target or features depend on it,
the clearest first, until none is clear or the rows that may be spent on them are used up. Whatever
is taken, projecting on more functions of the covariates leaves the tests valid.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import prod

import numpy as np
from scipy.special import gammaincc

from ..types import Matrix, Vector
from .covariates import Covariates, Term, is_number, normal_places
from .ranks import average_ranks

LONG_TAIL = 4.0  # standard deviations from which on a number has long tails
MAX_WAVES = 12  # half periods of a wave along a number,
ROWS_PER_WAVE = 10  # each of so many rows at least
DEGREES = {2: 4, 3: 2}  # of products of so many covariates: half periods of all beyond the fewest
MOST_MULTIPLIED = 6  # covariates of which all these products are candidates; of more, of degree 1
MAX_COLUMNS = 64  # of the products of levels of categories, beyond which they are no candidates
MAX_TERM_SHARE = 1 / 4  # of the rows that covariates may take up with their terms
CHANCE_TERMS = 1.0  # terms that may be expected to be taken by chance,
MAX_ALPHA = 0.05  # each at this level at most,
RELATED_ALPHA = 0.3  # or at this one where another term of the same covariates was taken
MIN_NEW = 0.2  # length, of a column of length 1, that must be new to count as a dimension
MIN_LENGTH = 1e-6  # of a residual, relative to its column, below which it is rounding


def choose_terms(
    covariates: Covariates, basis: Matrix, target: Matrix, features: Matrix
) -> tuple[Term, ...]:
    """Terms that target or features depend on, given all that is adjusted for already.

    That is `basis`, orthonormal rows. `target` and `features` have a row for each of their columns.
    """
    candidates = list(candidate_terms(covariates))
    alpha = min(MAX_ALPHA, CHANCE_TERMS / max(len(candidates), 1))
    most = int(MAX_TERM_SHARE * basis.shape[1])
    responses = [Responses.of(values, basis) for values in (target, features)]
    taken: list[Term] = []
    while True:
        related = {term.owners for term in taken}
        best_p, best = 1.0, None
        for term in candidates:
            new = _directions(term.columns, basis)
            if 0 < len(new) <= most - len(basis):
                p = len(responses) * min(one.p_value(new, len(basis)) for one in responses)
                if p < min(best_p, RELATED_ALPHA if term.owners in related else alpha):
                    best_p, best = p, Term(term.owners, new.T)
        if best is None:
            return tuple(taken)
        taken.append(best)
        basis = np.vstack([basis, best.columns.T])
        responses = [one.given(best.columns.T) for one in responses]


@dataclass(frozen=True, eq=False)
class Responses:
    """Columns of the target, or features, given what is adjusted for: rows of length 1.

    `concentration` is the sum of squared eigenvalues of their scatter matrix over the square of
    their sum: 1 for a single row, less the more there are that do not correlate.
    """

    values: Matrix
    concentration: float

    @classmethod
    def of(cls, values: Matrix, basis: Matrix) -> Responses:
        """Normal scores of rows of values, given orthonormal rows."""
        scores = normal_places(values.T).T
        return cls(scores - scores.mean(axis=1, keepdims=True), 1.0).given(basis)

    def given(self, basis: Matrix) -> Responses:
        """The same, given more orthonormal rows; what these explain completely is left out."""
        before = np.linalg.norm(self.values, axis=1)
        left = self.values - (self.values @ basis.T) @ basis
        length = np.linalg.norm(left, axis=1)
        kept = length > MIN_LENGTH * np.where(before > 0, before, np.inf)
        unit = left[kept] / length[kept, None]
        scatter = unit @ unit.T if len(unit) < unit.shape[1] else unit.T @ unit
        return Responses(unit, float(np.sum(scatter**2)) / max(len(unit), 1) ** 2)

    def p_value(self, directions: Matrix, n_adjusted: int) -> float:
        """Whether orthonormal directions explain more of the rows than others would.

        The share that they explain is compared with its mean and variance over all rotations of
        the dimensions that are left, as a scaled chi-square.
        """
        size, left = len(directions), self.values.shape[1] - 1 - n_adjusted
        spread = (size - size**2 / left) * (self.concentration - 1 / left)
        if not len(self.values) or spread <= 0:
            return 1.0
        mean, variance = size / left, 2 * spread / ((left - 1) * (left + 2))
        share = np.sum((self.values @ directions.T) ** 2) / len(self.values)
        return float(gammaincc(mean**2 / variance, share * mean / variance))


@dataclass(frozen=True, eq=False)
class _Factor:
    """What a covariate brings into terms: its values or indicators, and where a number lies.

    `place` is from 0 to 1, along the range of a number, or along its ranks if it has long tails;
    a category has none.
    """

    values: Matrix
    place: Vector | None

    @classmethod
    def of(cls, design: Matrix) -> _Factor:
        if not is_number(design):
            return cls(design, None)
        values = design[:, 0]
        if np.abs(values).max() > LONG_TAIL * values.std():
            values = average_ranks(values)
        return cls(design[:, :1], (values - values.min()) / np.ptp(values))


def candidate_terms(covariates: Covariates) -> Iterator[Term]:
    """Terms that may be taken: waves of each number, products of two and of three covariates.

    A wave is a cosine and a sine. A product is that of values and indicators, and those of cosines
    that have the same degree, their half periods together.
    """
    n_waves = min(MAX_WAVES, len(covariates.design) // ROWS_PER_WAVE)
    factors = [
        _Factor.of(covariates.design[:, covariates.owners == k])
        for k in range(len(covariates.names))
    ]
    for k, factor in enumerate(factors):
        if factor.place is not None:
            for half_periods in range(2, n_waves + 1):
                angle = np.pi * half_periods * factor.place
                yield Term((k,), np.stack([np.cos(angle), np.sin(angle)], axis=1))
    many = len(factors) > MOST_MULTIPLIED
    for size in (2,) if many else DEGREES:
        for owners in combinations(range(len(factors)), size):
            if prod(factors[k].values.shape[1] for k in owners) > MAX_COLUMNS:
                continue
            for columns in _products([factors[k] for k in owners], 1 if many else DEGREES[size]):
                yield Term(owners, columns)


def _products(factors: Sequence[_Factor], n_degrees: int) -> Iterator[Matrix]:
    """Products of values of the factors, then of cosines of the numbers, degree by degree."""
    yield _multiplied([factor.values for factor in factors])
    labels = [factor.values for factor in factors if factor.place is None]
    places = [factor.place for factor in factors if factor.place is not None]
    for degree in range(len(places), len(places) + n_degrees) if places else ():
        all_half_periods = product(range(1, degree + 1), repeat=len(places))
        yield np.hstack(
            [
                _multiplied([*map(_cosine, places, each), *labels])
                for each in all_half_periods
                if sum(each) == degree
            ]
        )


def _cosine(place: Vector, half_periods: int) -> Matrix:
    return np.cos(np.pi * half_periods * place)[:, None]


def _multiplied(parts: Sequence[Matrix]) -> Matrix:
    """All products of one column of each part."""
    found = parts[0]
    for part in parts[1:]:
        found = (found[:, :, None] * part[:, None]).reshape(len(part), -1)
    return found


def _directions(columns: Matrix, basis: Matrix) -> Matrix:
    """Orthonormal rows that columns add to a basis, but for what is nearly in it."""
    centred = (columns - columns.mean(axis=0)).T
    length = np.linalg.norm(centred, axis=1, keepdims=True)
    unit = centred / np.where(length > 0, length, 1.0)
    left = unit - (unit @ basis.T) @ basis
    _, sizes, rows = np.linalg.svd(left, full_matrices=False)
    return np.asarray(rows[sizes > MIN_NEW])
