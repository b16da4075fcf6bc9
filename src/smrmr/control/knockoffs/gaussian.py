"""Draws knockoffs: Gaussian, on the data's own scale or on that of normal scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ...data.columns import Columns, as_columns
from ...data.messages import named
from ...groups.copies import find_copies, groups_of, have_ties, signs_against, tiles, unit_columns
from ...runs.blocks import one_blas_thread
from ...settings import as_generator
from ...types import Data, Indices, Mask, Matrix, Vector
from .covariance import check_covariance, estimate
from .models import DECORRELATIONS, Model
from .ties import break_ties, normal_scores


@dataclass(frozen=True, eq=False)
class Knockoffs:
    """Knockoffs of features, and what was assumed to draw them.

    Attributes
    ----------
    X_knockoff
        One knockoff for every column of X, same shape. That of a constant is the constant itself;
        copies have knockoffs that are the same copies of each other.
    s
        How far each knockoff is decorrelated from its feature, 0 (a copy) to 1 or a bit more.
    covariance
        The estimate used: what ``"auto"`` picked, or ``"given"``.
    model
        The correlations of the representatives; ``model.matrix()`` writes them out.
    representatives
        The columns that were modelled: the first of each group of copies, no constants.
    groups
        Copies: each an array of two or more columns, the representative first.
    constants
        Columns without variance.
    copula
        Which columns were drawn as normal scores and mapped back to their own values.
    """

    X_knockoff: NDArray[Any]
    s: Vector
    covariance: str
    model: Model
    representatives: Indices
    groups: tuple[Indices, ...]
    constants: Indices
    copula: Mask


def gaussian_knockoffs(
    X: Data,
    *,
    s: str = "equi",
    covariance: str | Matrix = "auto",
    copula: bool | str = "auto",
    random_state: int | Generator | None = None,
) -> Knockoffs:
    r"""Second-order model-X knockoffs of the features, or their Gaussian-copula form.

    .. math:: \tilde X \mid X \sim N\big(X - (X - \mu) \Sigma^{-1} S,\;
              2 S - S \Sigma^{-1} S\big), \quad S = \mathrm{diag}(s)

    Paper: section 4. Swapping any features with their knockoffs leaves the distribution of the
    pair unchanged if the features are Gaussian (copula form: after monotone transformations) and
    Sigma is right. FDR control rests on that; `diagnose_knockoffs` looks for signs that it fails.

    Parameters
    ----------
    X
        Features, (n, p): an array or DataFrame of numbers without missing values. Categories must
        have two levels.
    s
        ``"equi"``: equal for all (the paper); ``"sdp"``: largest sum; ``"mvr"``: features hardest
        to reconstruct from the others and all knockoffs.
    covariance
        ``"auto"``, ``"sample"``, ``"ledoit-wolf"``, ``"graphical-lasso"``, ``"threshold"``,
        ``"blocks"``, ``"factors"``, or the (p, p) covariance itself if it is known; of columns
        with ties it must be that of the normal variables behind them.
    copula
        True: every column is drawn as normal scores and mapped back to its own values, so that
        each knockoff has exactly the values of its feature in another order. False: only columns
        with ties (counts, genotypes, 0/1), which need it; their scores are latent normal variables
        drawn given the other columns. ``"auto"``: True unless `covariance` is given as a matrix.
    random_state
        Seed or Generator. The same seed gives the same knockoffs.

    Examples
    --------
    >>> from smrmr import gaussian_knockoffs, simulate
    >>> X = simulate("1.a", n=200, p=20, random_state=0).X
    >>> knockoffs = gaussian_knockoffs(X, random_state=0)
    >>> knockoffs.X_knockoff.shape, knockoffs.covariance
    ((200, 20), 'graphical-lasso')
    """
    if s not in DECORRELATIONS:
        raise ValueError(f"s={s!r} is not known. Use {', '.join(map(repr, DECORRELATIONS))}.")
    if not (isinstance(copula, bool | np.bool_) or copula == "auto"):
        raise ValueError(f"copula={copula!r} is not known. Use True, False or 'auto'.")
    columns = as_columns(X)
    check_nominal(columns)
    if not isinstance(covariance, str):
        covariance = np.asarray(covariance, dtype=np.float64)
        check_covariance(covariance, columns.n_columns)
    if copula == "auto":
        copula = isinstance(covariance, str)
    rng = as_generator(random_state)
    return draw_knockoffs(columns.values, s, covariance, bool(copula), rng)


def draw_knockoffs(
    values: NDArray[Any],
    s: str,
    covariance: str | Matrix,
    copula: bool,
    rng: Generator,
) -> Knockoffs:
    """Draw knockoffs of checked columns; see `gaussian_knockoffs`."""
    # BLAS threads pay little for matrices of this size, and stall when other work needs the cores
    with one_blas_thread():
        return _draw(values, s, covariance, copula, rng)


def _draw(
    values: NDArray[Any], s: str, covariance: str | Matrix, copula: bool, rng: Generator
) -> Knockoffs:
    tie_rng, noise_rng = rng.spawn(2)
    plain = unit_columns(values)
    leaders, constant = find_copies(Columns.bare(values), copula)
    followers = np.flatnonzero(leaders != np.arange(len(leaders)))
    scored = np.full(values.shape[1], True) if copula else have_ties(values)
    modelled = np.flatnonzero((leaders == np.arange(len(leaders))) & ~constant)
    if modelled.size == 0:
        raise ValueError("every column of X is constant. Features that vary are needed.")

    scores = plain[:, modelled] * np.sqrt(len(plain))
    ranked = modelled[scored[modelled]]
    scores[:, scored[modelled]] = normal_scores(values[:, ranked], tie_rng)
    break_ties(scores, values[:, modelled], have_ties(values[:, modelled]), tie_rng)
    if not isinstance(covariance, str):
        covariance = covariance[np.ix_(modelled, modelled)]
    model, name = estimate(scores, covariance)
    spread = model.decorrelation(s)

    whole = np.zeros(values.shape)  # of constants: whatever the score, the value is the same
    whole[:, modelled] = model.draw(scores, spread, noise_rng)
    whole[:, followers] = whole[:, leaders[followers]] * signs_against(plain, leaders)[followers]
    all_s = np.zeros(values.shape[1])
    all_s[modelled] = spread
    all_s[followers] = all_s[leaders[followers]]
    return Knockoffs(
        X_knockoff=_from_scores(whole, values, scored | constant),
        s=all_s,
        covariance=name,
        model=model,
        representatives=modelled,
        groups=groups_of(leaders),
        constants=np.flatnonzero(constant),
        copula=scored & ~constant,
    )


def _from_scores(scores: Matrix, values: NDArray[Any], scored: Mask) -> NDArray[Any]:
    """Give each column its own values in the order of its scores, or its own mean and variance."""
    result = np.empty(values.shape, dtype=values.dtype if scored.all() else np.float64)
    for tile in tiles(values.shape[1]):
        part = values[:, tile]
        order = scores[:, tile].argsort(axis=0)
        np.put_along_axis(result[:, tile], order, np.sort(part, axis=0), axis=0)
        rest = ~scored[tile]
        plain = part[:, rest].astype(np.float64)
        size = np.abs(plain).max(axis=0)  # squares of 1e200 would overflow
        mean, spread = size * (plain / size).mean(axis=0), size * (plain / size).std(axis=0)
        result[:, tile][:, rest] = mean + spread * scores[:, tile][:, rest]
    return result


def check_nominal(columns: Columns) -> None:
    """Refuse categories with more than two levels."""
    many = np.flatnonzero(columns.nominal)
    many = many[columns.read(many).max(axis=0, initial=0) > 1]
    if many.size:
        raise ValueError(
            f"columns {named([columns.name(int(k)) for k in many])} are categories with more than "
            "two levels, for which there are no knockoffs here. Code them as one 0/1 column a "
            "level (pandas.get_dummies), or leave them out."
        )
