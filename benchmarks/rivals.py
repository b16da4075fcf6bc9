"""Rivals from elsewhere: what `methods` runs by name; all but Boruta promise a level of the FDR.

Each takes a `Problem` and a seed. They work with numbers: two classes become 0 and 1, more are
refused, and so are so many features that one fit takes minutes.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from ctypes import CDLL
from io import StringIO
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from sklearn.linear_model import Lasso, LassoCV, LogisticRegression, LogisticRegressionCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from smrmr.types import Indices, Matrix, Vector

MOST_FEATURES = 1000
MOST_IN_PROBIT = 200  # whose chains go through all rows at every step


class Problem(Protocol):
    """What methods are given: features, target, and its type, "classes" or "continuous"."""

    X: Matrix
    y: Any
    target: str


def as_numbers(data: Problem, most: int | None = MOST_FEATURES) -> tuple[Matrix, Vector]:
    """Features and target as numbers; an error where a rival cannot take them."""
    if most and data.X.shape[1] > most:
        raise ValueError(
            f"left out beyond {most} features, where one fit takes minutes and gigabytes."
        )
    if data.target != "classes":
        return data.X, np.asarray(data.y, dtype=np.float64)
    classes, y = np.unique(data.y, return_inverse=True)
    if len(classes) > 2:
        raise ValueError(f"left out with {len(classes)} classes: it takes numbers or two classes.")
    return data.X, y.astype(np.float64)


def as_two_classes(data: Problem) -> tuple[Matrix, Vector]:
    """Features, standardised, and classes 0 and 1; an error where there are no two classes."""
    X, y = as_numbers(data)
    if data.target != "classes":
        raise ValueError("left out with a target of numbers: it takes two classes.")
    return StandardScaler().fit_transform(X), y


def lasso_knockoffs(data: Problem, seed: int) -> Any:
    """LASSO coefficient differences on Gaussian knockoffs, as knockpy does it by default."""
    return _knockoffs(*as_numbers(data), seed, "lasso")


def mlr_knockoffs(data: Problem, seed: int) -> Any:
    """Masked likelihood ratios of a spike-and-slab model on MVR knockoffs, by knockpy."""
    classes = data.target == "classes"
    return _knockoffs(*as_numbers(data, MOST_IN_PROBIT if classes else MOST_FEATURES), seed, "mlr")


def _knockoffs(X: Matrix, y: Vector, seed: int, statistic: str) -> Any:
    from knockpy import KnockoffFilter

    np.random.seed(seed)  # noqa: NPY002 knockpy draws from numpy's global generator
    with suppress(TypeError):  # Windows has no CDLL(None)
        CDLL(None).srand(seed % 2**31)  # and the chains of its likelihood ratios from C's
    found = KnockoffFilter(ksampler="gaussian", fstat=statistic, knockoff_kwargs={"method": "mvr"})
    found.forward(X=X, y=y, shrinkage="ledoitwolf")
    return found


def knockoffs_at(found: Any, level: float) -> Indices:
    """What knockpy selects at a level."""
    return np.flatnonzero(found.make_selections(found.W, fdr=level))


def d0crt(data: Problem, seed: int) -> Vector:
    """p-values of hidimstat's distilled conditional randomisation test with the LASSO.

    By default it tests the tenth of features whose coefficients are largest; others have p-value 1.
    Its paths of lambda go down to 1/1000 of the largest, where a fit of 500 features takes minutes;
    ours end earlier, where cross-validation does not go.
    """
    X, y = as_numbers(data)
    y = y - y.mean()  # which its LASSO without an intercept needs
    return _distilled(X, y, _target_lasso(), lasso_screening=_target_lasso(), random_state=seed)


def logistic_d0crt(data: Problem, seed: int) -> Vector:
    """p-values of hidimstat's test with residuals of classes from an l1-penalised logistic fit.

    The penalty is cross-validated once, on all features; the fit without each feature keeps it.
    Features are screened by the LASSO as in `d0crt`.
    """
    X, y = as_two_classes(data)
    chosen = _logistic_lasso(seed).fit(X, y)
    at_chosen = LogisticRegression(
        C=float(chosen.C_), l1_ratio=1, solver="liblinear", random_state=seed
    )
    return _distilled(
        X,
        y,
        make_pipeline("passthrough", at_chosen),  # by itself it would start hidimstat's CRT-logit
        method="predict_proba",
        lasso_screening=_target_lasso(),
        refit=True,
        random_state=seed,
    )


def crt_logit(data: Problem, seed: int) -> Vector:
    """p-values of hidimstat's CRT-logit (Nguyen et al. 2022), which decorrelates the score.

    It sets the coefficient of the feature to 0 instead of fitting classes again without it.
    """
    X, y = as_two_classes(data)
    logistic = _logistic_lasso(seed)
    return _distilled(X, y, logistic, lasso_screening=logistic, random_state=seed)


def _distilled(X: Matrix, y: Vector, target_fit: Any, **settings: Any) -> Vector:
    from hidimstat import D0CRT  # after what it cannot take was refused

    test = D0CRT(target_fit, model_distillation_x=_node_lasso(), **settings)
    test.fit(X, y)
    test.importance(X, y)
    return np.asarray(test.pvalues_)


def _target_lasso() -> Any:
    return LassoCV(alphas=20, eps=0.003, tol=1e-3, fit_intercept=False)


def _logistic_lasso(seed: int) -> Any:
    return LogisticRegressionCV(
        Cs=np.logspace(-2, 1, 15),
        l1_ratios=(1,),
        cv=5,
        solver="liblinear",
        scoring="neg_log_loss",
        use_legacy_attributes=False,
        random_state=seed,
    )


def gcm(data: Problem, seed: int) -> Vector:
    r"""p-values of the generalised covariance measure (Shah and Peters 2020) with the LASSO.

    With residuals e of y and r of x_k, both given all other features and by scikit-learn's LASSO,
    :math:`\sqrt n \, \mathrm{mean}(re) / \mathrm{sd}(re)` is standard normal where x_k adds
    nothing to the others. Lambda is cross-validated: for y once, for every x_k on its own. A
    feature that takes no part in the LASSO of y is left out of it without a new fit.
    """
    X, y = as_numbers(data)
    Z = StandardScaler().fit_transform(X)
    whole = LassoCV(alphas=50, eps=0.003, tol=1e-3).fit(Z, y)
    p_values = np.ones(Z.shape[1])
    for k in np.flatnonzero(Z.any(axis=0)):
        others = np.delete(Z, k, axis=1)
        model = Lasso(whole.alpha_, tol=1e-3).fit(others, y) if whole.coef_[k] else whole
        e = y - model.predict(Z if model is whole else others)
        r = Z[:, k] - _node_lasso().fit(others, Z[:, k]).predict(others)
        p_values[k] = covariance_test(r * e)
    return p_values


def covariance_test(products: Vector) -> float:
    """Two-sided normal p-value of a mean of 0.

    Examples
    --------
    >>> round(covariance_test(np.array([1.0, 3.0, 1.0, 3.0])), 6)
    6.3e-05
    """
    spread = products.std()
    if not spread:
        return 1.0
    return float(2 * ndtr(-np.sqrt(len(products)) * abs(products.mean()) / spread))


def _node_lasso() -> Any:
    return LassoCV(alphas=20, eps=0.03, tol=1e-3)


def trex(data: Problem, seed: int) -> Callable[[float], Indices]:
    """The T-Rex selector, which has to be run again for every level: a function of the level."""
    X, y = as_numbers(data, None)

    def select_at(level: float) -> Indices:
        from trexselector import trex as run

        with redirect_stdout(StringIO()):  # it prints even when asked not to
            found = run(X, y, tFDR=level, seed=seed, verbose=False)
        selected: NDArray[Any] = np.asarray(found["selected_var"], dtype=np.intp)
        return selected.ravel()

    return select_at


def boruta(data: Problem, seed: int) -> Indices:
    """What Boruta confirms: features that a random forest needs more often than shuffled ones.

    With the forest that its authors show (balanced classes, trees of depth 5, their number chosen
    by Boruta) and its own defaults. It has no level: 0.05 is of a test per feature of its votes.
    """
    X, y = as_numbers(data, None)
    from boruta import BorutaPy  # after what it cannot take was refused
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    if data.target == "classes":
        forest = RandomForestClassifier(max_depth=5, class_weight="balanced", n_jobs=1)
    else:
        forest = RandomForestRegressor(max_depth=5, n_jobs=1)
    found = BorutaPy(forest, n_estimators="auto", random_state=seed).fit(X, y)
    return np.flatnonzero(found.support_)
