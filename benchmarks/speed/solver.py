"""Times the solver and the selectors against their rivals, side by side in one run.

    make bench

prints one line per bar: what was compared, both times, the ratio and the bar. One thread
throughout; every comparison alternates between the two sides and takes the best of each.
"""

from __future__ import annotations

import contextlib
import io
import warnings

import cvxpy
import numpy as np
import pandas as pd
from sklearn.linear_model import Lasso
from threadpoolctl import threadpool_limits

import smrmr
from smrmr import paper
from smrmr.paper.solver.lla import loss

from .timing import best, report


def hsic_problem(rng, n=120, p=600):
    """Associations of correlated features: neighbours at 0.5."""
    X = rng.normal(size=(n, p))
    for k in range(1, p):
        X[:, k] = 0.5 * X[:, k - 1] + np.sqrt(0.75) * X[:, k]
    y = X[:, 0] + X[:, 10] ** 2 + np.sin(X[:, 20]) + 2 * X[:, 30] + rng.normal(size=n)
    return smrmr.associate(X, y, measure="hsic")


def lasso(rng):
    found = hsic_problem(rng)
    p = len(found.relevance)
    embedding = np.asfortranarray(np.linalg.cholesky(found.redundancy).T)
    y = np.linalg.solve(embedding.T, found.relevance)
    for lam in (0.01, 0.001):
        model = Lasso(lam / p, positive=True, fit_intercept=False, tol=1e-8, max_iter=10**5)
        x = cvxpy.Variable(p, nonneg=True)

        def ours(lam=lam):
            return smrmr.paper.solve(found, penalty="l1", lam=lam)

        def general(lam=lam, x=x):
            quadratic = 0.5 * cvxpy.quad_form(x, cvxpy.psd_wrap(found.redundancy))
            cvxpy.Problem(cvxpy.Minimize(quadratic - (found.relevance - lam) @ x)).solve()

        def embed_and_fit(model=model):
            embedding = np.linalg.cholesky(found.redundancy).T
            model.fit(embedding, np.linalg.solve(embedding.T, found.relevance))

        solution = ours()
        fast, other, whole = best(
            ours, lambda model=model: model.fit(embedding, y), embed_and_fit, repeat=25
        )
        (slow,) = best(general, repeat=3)
        value = [loss(found, t) + lam * t.sum() for t in (model.coef_, np.maximum(x.value, 0))]
        excess = solution.objective - np.array(value)
        size = int((solution.theta > 0).sum())
        detail = f"{1e3 * fast:.2f} ms against {1e3 * other:.1f} ms, objective {excess[0]:+.0e}"
        name = f"1 LASSO, 600 variables, {size} kept, against scikit-learn"
        report(name, f"{other / fast:.1f}x", ">= 10x", detail)
        detail = f"{1e3 * whole:.1f} ms"
        report("1 the same with the embedding", f"{whole / fast:.1f}x", "", detail)
        detail = f"{1e3 * fast:.2f} ms against {1e3 * slow:.0f} ms, objective {excess[1]:+.0e}"
        report("1 the same against CVXPY", f"{slow / fast:.0f}x", ">= 300x", detail)


def path(rng):
    found = hsic_problem(rng)
    for penalty in ("mcp", "scad"):
        whole = paper.solution_path(found, penalty=penalty)

        def cold(penalty=penalty, lam=whole.lams[-1]):
            return smrmr.paper.solve(found, penalty=penalty, lam=lam)

        long, short = best(
            lambda penalty=penalty: paper.solution_path(found, penalty=penalty), cold, repeat=9
        )
        detail = f"{1e3 * long:.1f} ms against {1e3 * short:.2f} ms, KKT {whole.kkts.max():.0e}"
        name = f"2 path of 50 lambdas, {penalty}, over one cold solve at its end"
        report(name, f"{long / short:.1f}", "<= 25", detail)


def hsic_lasso(rng):
    np.linalg.linalg = np.linalg  # pyHSICLasso names a module that numpy 2 removed
    from pyHSICLasso import HSICLasso

    n, p, count = 100, 5000, 20
    X = rng.normal(size=(n, p))
    y = 2 * X[:, 0] + 2 * X[:, 10] ** 2 + 3 * np.sin(3 * X[:, 20]) + X[:, 30] * X[:, 40]
    rival = HSICLasso()
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rival.input(X, y, featname=[f"x{k}" for k in range(p)])
        ours = smrmr.rivals.HSICLasso(count)
        fast, slow = best(
            lambda: ours.fit(X, y), lambda: rival.regression(count, B=0, n_jobs=1), repeat=2
        )
    shared = len(set(np.flatnonzero(ours.get_support())) & set(rival.get_index()))
    detail = f"{fast:.2f} s against {slow:.1f} s, {shared} of {count} features shared"
    name = "3 HSICLasso, n=100, p=5000, K=20, against pyHSICLasso"
    report(name, f"{slow / fast:.1f}x", ">= 5x, same", detail)


def greedy_mrmr(rng):
    import mrmr

    n, p, count = 500, 2000, 30
    X = pd.DataFrame(rng.normal(size=(n, p)))
    y = pd.Series(X[0] + 0.5 * X[1] + rng.normal(size=n))
    ours = smrmr.rivals.MRMR(count, measure="f", scheme="quotient")
    picked = []
    fast, slow = best(
        lambda: ours.fit(X.to_numpy(), y.to_numpy()),
        lambda: picked.append(mrmr.mrmr_regression(X, y, K=count, n_jobs=1, show_progress=False)),
        repeat=1,
    )
    same = np.argsort(ours.ranking_)[:count].tolist() == [int(k) for k in picked[0]]
    detail = f"{fast:.2f} s against {slow:.1f} s, {'same' if same else 'OTHER'} features in order"
    name = "4 MRMR, n=500, p=2000, K=30, against mrmr_selection"
    report(name, f"{slow / fast:.0f}x", ">= 5x, same", detail)


def main():
    rng = np.random.default_rng(0)
    print(f"smrmr {smrmr.__version__}, numpy {np.__version__}, cvxpy {cvxpy.__version__}")
    with threadpool_limits(1):
        smrmr.rivals.MRMR(2, measure="f").fit(rng.normal(size=(20, 5)), rng.normal(size=20))
        smrmr.rivals.HSICLasso(2).fit(rng.normal(size=(40, 5)), rng.normal(size=40))
        lasso(rng)
        path(rng)
        hsic_lasso(rng)
        greedy_mrmr(rng)


if __name__ == "__main__":
    main()
