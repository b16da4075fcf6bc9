"""Checks of one's own distillers, statistics and rules, as scikit-learn's `check_estimator` is one.

Each check raises an AssertionError that names the law that is broken. The package's own strategies
go through the same checks.
"""

from __future__ import annotations

import numpy as np

from .conditional.distillers import Distiller, FitProblem
from .conditional.rules import Rule
from .conditional.scores import draw_tie_breakers
from .conditional.statistics import ResidualPairs, Statistic
from .types import Indices, Mask, Matrix

__all__ = ["check_distiller", "check_rule", "check_statistic"]

N_ROWS, N_FEATURES = 60, 25
NOTHING = np.empty(0, np.intp)


def check_distiller(distiller: Distiller, *, target: str = "both", tolerance: float = 1e-5) -> None:
    """Check that a distiller does not depend on what it leaves out, nor on the order of rows.

    Parameters
    ----------
    distiller
        What is to be checked.
    target
        ``"numbers"``, ``"classes"``, ``"two classes"`` or ``"both"``: what it can fit.
    tolerance
        By how much residuals, of a target of variance 1, may differ where they should not:
        iterative fits stop somewhere.

    Raises
    ------
    AssertionError
        If a law is broken; the message names it.

    Examples
    --------
    >>> from smrmr.conditional import Lasso
    >>> from smrmr.testing import check_distiller
    >>> check_distiller(Lasso())
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_ROWS, N_FEATURES))
    y = X[:, :4].sum(axis=1) + rng.standard_normal(N_ROWS)
    groups = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    targets: dict[str, Matrix | Mask] = {"numbers": y[:, None], "classes": (y > 0)[:, None]}
    several: dict[str, Matrix | Mask] = {
        "numbers": np.stack([y, X[:, 1] - X[:, 4]], axis=1),
        "classes": groups[:, None] == np.arange(3),
    }
    if target == "two classes":
        _check_distiller(distiller, X, targets["classes"], tolerance, rng)
    for kind in targets:
        if target in (kind, "both"):
            for values in (targets[kind], several[kind]):
                _check_distiller(distiller, X, values, tolerance, rng)


def _check_distiller(
    distiller: Distiller, X: Matrix, Y: Matrix | Mask, tolerance: float, rng: np.random.Generator
) -> None:
    n, q = Y.shape
    problem = FitProblem.of(X, Y)
    full, held_out = distiller.fit(problem, NOTHING), distiller.held_out(problem)
    for values in (full.residuals, held_out, full.without([NOTHING])[:, 0]):
        shape = np.shape(values)
        assert shape == (q, n), f"residuals have shape {shape}, not {(q, n)}"
        assert np.isfinite(values).all(), "residuals must be finite"
    assert np.mean(held_out**2) < 1, "a strong effect must lower the error on rows left out below 1"
    for k in (0, 3, 10):
        out, residuals = np.array([k]), []
        for column in (X[:, k], Y[:, 0] + 0.1 * rng.standard_normal(n)):
            other = X.copy()
            other[:, k] = column
            residuals.append(distiller.fit(FitProblem.of(other, Y), out).residuals)
        apart = np.abs(residuals[0] - residuals[1]).max()
        assert apart <= tolerance, f"a column left out was seen: residuals differ by {apart:.1g}"
    order = rng.permutation(n)
    moved = distiller.fit(problem.take_rows(order), NOTHING).residuals
    apart = np.abs(moved - full.residuals[:, order]).max()
    assert apart <= tolerance, f"residuals depend on where rows stand, by {apart:.1g}"


def check_statistic(statistic: Statistic, *, n_draws: int = 2000) -> None:
    """Check that p-values are uniform, or larger, where residuals are independent.

    Parameters
    ----------
    statistic
        What is to be checked.
    n_draws
        Pairs of residuals that are drawn for each kind of law.

    Raises
    ------
    AssertionError
        If p-values of independent residuals are too small, by four standard errors.

    Examples
    --------
    >>> from smrmr.conditional import Linear
    >>> from smrmr.testing import check_statistic
    >>> check_statistic(Linear())
    """
    rng = np.random.default_rng(0)
    for n in (40, 150):
        size = n_draws, n
        r = rng.standard_normal(size)
        targets: dict[str, Matrix] = {
            "normal": rng.standard_normal(size),
            "skewed": rng.exponential(size=size),
            "of two values": rng.integers(0, 2, size).astype(np.float64),
        }
        for name, e in targets.items():
            p = statistic.p_values(_pairs(r, e))
            assert np.shape(p) == (n_draws,), f"p-values have shape {np.shape(p)}"
            assert ((p >= 0) & (p <= 1)).all(), "p-values must lie between 0 and 1"
            for level in (0.2, 0.05, 0.01):
                share, error = np.mean(p <= level), np.sqrt(level / n_draws)
                assert share <= level + 4 * error, (
                    f"p <= {level} in {share:.3f} of independent residuals (n={n}, e is {name})"
                )


def _pairs(r: Matrix, e: Matrix) -> ResidualPairs:
    n = r.shape[1]
    _, breaker = draw_tie_breakers(n)
    r, e = (values - values.mean(axis=1, keepdims=True) for values in (r, e))
    rank = np.zeros(len(r), np.intp)
    return ResidualPairs(r, np.stack([e, e[::-1]]), rank, np.argsort(r, axis=1), breaker)


def check_rule(rule: Rule, *, n_draws: int = 1000) -> None:
    """Check that q-values are monotone in p-values, and that the level holds for independent ones.

    Parameters
    ----------
    rule
        What is to be checked.
    n_draws
        Sets of p-values of which half are null.

    Raises
    ------
    AssertionError
        If a law is broken; the message names it.

    Examples
    --------
    >>> from smrmr.conditional import BenjaminiHochberg
    >>> from smrmr.testing import check_rule
    >>> check_rule(BenjaminiHochberg())
    """
    rng, m = np.random.default_rng(0), 20
    single: Indices = np.full(m, -1)
    rates = []
    for _ in range(n_draws):
        p = rng.random(m)
        p[: m // 2] **= 6
        q = rule.adjust(p, single)
        assert q.shape == (m,), f"q-values have shape {q.shape}, not ({m},)"
        assert ((q >= 0) & (q <= 1)).all(), "q-values must lie between 0 and 1"
        order = np.argsort(p)
        assert (np.diff(q[order]) >= 0).all(), "a smaller p-value had a larger q-value"
        shuffled = rng.permutation(m)
        same = rule.adjust(p[shuffled], single)
        assert np.allclose(same, q[shuffled]), "q-values depend on where p-values stand"
        lower = p.copy()
        lower[rng.integers(m)] /= 2
        assert (rule.adjust(lower, single) <= q + 1e-12).all(), "a lower p-value raised a q-value"
        chosen = q <= 0.1
        false, n_chosen = int(chosen[m // 2 :].sum()), int(chosen.sum())
        rates.append(false / max(n_chosen, 1) if rule.error_rate == "FDR" else float(false > 0))
    error = np.std(rates) / np.sqrt(n_draws)
    assert np.mean(rates) <= 0.1 + 4 * error, f"{rule.error_rate} {np.mean(rates):.3f} at level 0.1"
