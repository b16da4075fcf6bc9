"""Says whether knockoffs look exchangeable with their features."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ..data.columns import Columns, as_columns
from ..data.messages import named
from ..data.ranks import average_ranks
from ..data.scaling import unit_columns
from ..settings import as_generator
from ..types import Data, Indices, Mask, Matrix, Vector

N_TESTS = 3
SMALLEST_P = 0.01 / N_TESTS  # so that good knockoffs fail once in a hundred, over all tests
FLIPS = 999
FOLDS = 5
MAX_ROWS = 300
MAX_FEATURES = 30


@dataclass(frozen=True)
class Diagnosis:
    """What three tests of exchangeability found.

    Attributes
    ----------
    moment_error, moment_error_by_chance
        Root mean square difference between second moments that a swap should not change, on the
        correlation scale, and what it would be if all were well.
    moment_p
        P-value of that difference.
    curve_error, curve_error_by_chance, curve_p
        The same for second moments with squared ranks, (rank - mean rank) squared: these detect a
        feature that depends on the absolute value of another.
    accuracy, accuracy_p
        How often a classifier distinguishes a row from the same row with features swapped, on rows
        it was not trained on (0.5 is guessing), and the p-value of that.

    Examples
    --------
    Columns in another order of rows are no knockoffs: they lose all relations between features.

    >>> from smrmr import simulate
    >>> from smrmr.paper import diagnose_knockoffs
    >>> X = simulate("1.c", n=100, p=31, random_state=0).X
    >>> found = diagnose_knockoffs(X, X[::-1])
    >>> found.passed, found.moment_error > found.moment_error_by_chance
    (False, True)
    """

    moment_error: float
    moment_error_by_chance: float
    moment_p: float
    curve_error: float
    curve_error_by_chance: float
    curve_p: float
    accuracy: float
    accuracy_p: float

    @property
    def passed(self) -> bool:
        """Whether no test rejects; all together fail good knockoffs once in a hundred."""
        return min(self.moment_p, self.curve_p, self.accuracy_p) > SMALLEST_P

    def __str__(self) -> str:
        verdict = (
            "no sign against exchangeability"
            if self.passed
            else "NOT exchangeable with the features: the FDR level cannot be relied on"
        )
        return (
            f"Knockoffs: {verdict}. Second moments change by {self.moment_error:.3f} under swaps, "
            f"by chance {self.moment_error_by_chance:.3f} (p = {self.moment_p:.3f}), those with "
            f"squared ranks by {self.curve_error:.3f}, by chance {self.curve_error_by_chance:.3f} "
            f"(p = {self.curve_p:.3f}); a classifier recognises swapped rows in "
            f"{self.accuracy:.0%} of cases, by chance 50% "
            f"(p = {self.accuracy_p:.3f})."
        )


def diagnose_knockoffs(
    X: Data, X_knockoff: Data, *, random_state: int | Generator | None = 0
) -> Diagnosis:
    """Test whether swapping features with their knockoffs can be noticed.

    Half of the features, chosen at random, are swapped in every row. If the knockoffs are
    exchangeable, a row and its swapped copy have the same distribution, so choosing the one or the
    other by a coin changes nothing: 999 such choices give exact p-values for (a) the change
    of all second moments, (b) the change of those between features and squared ranks, and (c) the
    cross-validated success of a kernel classifier that sees every pair of features. At most 300
    rows, and for (c) 30 features, drawn at random, are used.

    Knockoffs fitted to these same rows do better here than on others, so a pass is not proof.
    Copies must be left out of X: their knockoffs are copies too, so that swapping one of them alone
    is noticed. Paper: section 4 needs exchangeable knockoffs.

    Parameters
    ----------
    X
        Features, (n, p), numbers without missing values.
    X_knockoff
        Their knockoffs, of the same shape.
    random_state
        Seed or Generator of swaps, rows and coins.

    Returns
    -------
    Diagnosis
        Three p-values and the sizes behind them; ``passed`` sums them up, ``str()`` says it.

    Raises
    ------
    ValueError
        If the shapes differ, or columns are categories: code them as 0/1, alike in both.

    Examples
    --------
    >>> import numpy as np
    >>> from smrmr import simulate
    >>> from smrmr.paper import diagnose_knockoffs, draw_knockoffs
    >>> X = simulate("1.c", n=100, p=31, random_state=0).X
    >>> diagnose_knockoffs(X, draw_knockoffs(X, random_state=0).X_knockoff).passed
    True
    >>> noise = np.random.default_rng(0).normal(size=X.shape)
    >>> diagnose_knockoffs(X, noise).passed
    False
    """
    columns, knockoffs = as_columns(X), as_columns(X_knockoff)
    refuse_categories(columns)
    refuse_categories(knockoffs)
    check_pair(columns.values, knockoffs.values)
    return diagnose(columns.values, knockoffs.values, as_generator(random_state))


def refuse_categories(columns: Columns) -> None:
    """Refuse categories where features and knockoffs come apart: their codes could differ."""
    if columns.nominal.any():
        names = [columns.name(int(k)) for k in np.flatnonzero(columns.nominal)]
        raise ValueError(
            f"columns {named(names)} are categories. Code them as 0/1 numbers, alike in X and "
            "in the knockoffs."
        )


def check_pair(values: NDArray[Any], knockoffs: NDArray[Any]) -> None:
    """Refuse knockoffs of another shape than the features."""
    if values.shape != knockoffs.shape:
        raise ValueError(
            f"X has shape {values.shape} and X_knockoff {knockoffs.shape}. One knockoff for every "
            "value of X is needed."
        )


def diagnose(
    values: NDArray[Any], knockoffs: NDArray[Any], rng: Generator, groups: Indices | None = None
) -> Diagnosis:
    """Diagnose checked arrays; see `diagnose_knockoffs`. Features of one group are swapped as one.

    `groups` numbers them from 0.
    """
    rows_rng, swap_rng, flip_rng = rng.spawn(3)
    rows = _some(len(values), MAX_ROWS, rows_rng)
    pair = unit_columns(np.concatenate([values[rows], knockoffs[rows]]))
    pair *= np.sqrt(len(pair))
    x, knockoff = pair[: len(rows)], pair[len(rows) :]
    groups = np.arange(x.shape[1]) if groups is None else groups
    n_groups = int(groups.max()) + 1
    swapped = (swap_rng.permutation(n_groups) < max(1, n_groups // 2))[groups]
    flips = np.where(flip_rng.random((len(rows), FLIPS + 1)) < 0.5, -1.0, 1.0)
    flips[:, 0] = 1.0  # what was observed

    p, kept = x.shape[1], np.count_nonzero(~swapped)
    n_moments = 4 * (p**2 - kept**2)  # second moments that a swap moves
    same, crossed = _products(x, knockoff, swapped)
    errors = _errors(same**2 - crossed**2, flips, n_moments)
    squared = _squared_ranks(pair)
    squared_same, squared_crossed = _products(squared[: len(rows)], squared[len(rows) :], swapped)
    # of features and squared ranks together, without those of the features alone
    change = (squared_same + 2 * same) * squared_same - (
        squared_crossed + 2 * crossed
    ) * squared_crossed
    curves = _errors(change, flips, 3 * n_moments)

    few = _some(p, MAX_FEATURES, swap_rng)
    success = _cross_validated(
        _swap_kernel(x[:, few], knockoff[:, few], swapped[few]), flips, swap_rng
    )
    moments, bent = (
        (float(some[0]), float(np.sqrt(np.mean(some[1:] ** 2))), _p_value(some))
        for some in (errors, curves)
    )
    return Diagnosis(*moments, *bent, float(success[0]), _p_value(success))


def _errors(change: Matrix, flips: Matrix, n_moments: int) -> Vector:
    """Root mean square change of so many moments, for each choice of rows or swapped copies."""
    total = np.einsum("ib,ib->b", flips, 2 * change @ flips)
    return np.asarray(np.sqrt(np.maximum(total, 0.0) / n_moments) / len(flips))


def _squared_ranks(pair: Matrix) -> Matrix:
    """Squared distance of ranks from their mean, as unit columns; of 0/1 columns nothing is left.

    Ranks are those among feature and knockoff together, which a swap leaves alone.
    """
    ranks = average_ranks(pair, axis=0)
    return np.asarray(unit_columns((ranks - ranks.mean(axis=0)) ** 2) * np.sqrt(len(pair)))


def _some(n: int, most: int, rng: Generator) -> Indices:
    return np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))


def _p_value(statistics: Vector) -> float:
    """Share of flips that do as well as what was observed, which is the first."""
    return float(np.mean(statistics >= statistics[0] * (1 - 1e-9)))


def _products(x: Matrix, knockoff: Matrix, swapped: Mask) -> tuple[Matrix, Matrix]:
    """Inner products between rows [x, knockoff], and of those with swapped rows."""
    a, b = x[:, swapped], knockoff[:, swapped]
    kept = sum(m[:, ~swapped] @ m[:, ~swapped].T for m in (x, knockoff))
    product = a @ b.T
    return kept + a @ a.T + b @ b.T, kept + product + product.T


def _swap_kernel(x: Matrix, knockoff: Matrix, swapped: Mask) -> Matrix:
    """Kernel of rows minus their swapped copies that uses each feature's shape and every pair's.

    A feature is embedded by a centred triangular kernel. Its own distribution is left out where the
    knockoff has exactly the same values: then it cannot differ, and a classifier that tries to
    learn from it is wrong on every row it has not seen.
    """
    n = len(x)
    total = np.zeros((2, n, n))  # same, crossed
    squares = np.zeros((2, n, n))
    alone = np.zeros((n, n))
    for a, b, swap in zip(x.T, knockoff.T, swapped, strict=True):
        kernel = _triangular_kernel(np.concatenate([a, b]))
        aa, ab, bb = kernel[:n, :n], kernel[:n, n:], kernel[n:, n:]
        total[0] += aa + bb
        squares[0] += aa**2 + bb**2
        total[1] += ab + ab.T if swap else aa + bb
        squares[1] += ab**2 + ab.T**2 if swap else aa**2 + bb**2
        if swap and not np.array_equal(np.sort(a), np.sort(b)):
            alone += 2 * (aa + bb - ab - ab.T)
    pairs = 2 * np.subtract(*(total**2 - squares))
    return np.asarray(pairs + alone * x.shape[1])


def _triangular_kernel(points: Vector) -> Matrix:
    """The centred kernel of all pairs of points."""
    kernel = np.maximum(1.0 - np.abs(points[:, None] - points), 0.0)
    means = kernel.sum(axis=0) / len(points)
    return np.asarray(kernel - means - means[:, None] + means.mean())


def _cross_validated(kernel: Matrix, flips: Matrix, rng: Generator) -> Vector:
    """Share of rows recognised by a ridge classifier trained on other rows, for each flip."""
    n = len(kernel)
    fold = rng.permutation(n) % FOLDS
    ridge = 0.1 * max(float(np.trace(kernel)) / n, 1e-6)  # the kernel of equal rows is 0
    right = np.zeros(flips.shape[1])
    for k in range(FOLDS):
        test, train = fold == k, fold != k
        inner = kernel[np.ix_(train, train)] + ridge * np.eye(int(train.sum()))
        reader = np.linalg.solve(inner, kernel[np.ix_(train, test)]).T
        margin = flips[test] * (reader @ flips[train])
        right += np.sum(margin > 0, axis=0) + 0.5 * np.sum(margin == 0, axis=0)
    return np.asarray(right / n)
