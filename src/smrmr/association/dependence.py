"""Measures the dependence of two variables, one plain function per statistic.

A variable is n numbers, n labels (strings, booleans, categories: nominal), or an (n, q) array of
vectors.
"""

import numpy as np

from ..data.target import Target, as_variable
from ..measures import HSIC, DistanceCorrelation, ProjectionCorrelation
from ..measures.protocol import Measure
from ..types import Data, Kernel, Matrix
from .associator import cosines


def projection_covariance_squared(x: Data, y: Data) -> float:
    r"""Squared projection covariance, a V-statistic over angles.

    .. math:: \widehat{\mathrm{Pcov}}_v^2 = \frac{1}{n^3} \sum_{i,l,r}
              [\mathcal{K}_X]_{ilr} [\mathcal{L}_Y]_{ilr}

    Paper: eq. (2.5), label ``pc_etim_2``. Ties count as a right angle. Nearly linear in n for
    numbers; O(n³) time and O(n²) memory for vectors.

    Parameters
    ----------
    x, y
        Two variables of the same n samples: n numbers, n labels, or an (n, q) array of vectors.

    Returns
    -------
    float
        The covariance, at least 0.

    Raises
    ------
    ValueError
        If x and y differ in length, have fewer than 4 samples or missing values. Drop these
        samples in both, or fill them.

    Examples
    --------
    Only ranks count, so that these two pairs of variables are the same to it:

    >>> from smrmr.association import projection_covariance_squared
    >>> round(projection_covariance_squared([1, 2, 3, 4], [1, 3, 2, 4]), 6)
    0.154213
    >>> round(projection_covariance_squared([1, 2, 3, 4.5], [1, 3, 2, 9.5]), 6)
    0.154213
    """
    a, b = _pair(x, y)
    return _inner(ProjectionCorrelation("all"), a, b) * np.pi**2 / (4 * float(a.n_rows) ** 5)


def projection_correlation_squared(x: Data, y: Data) -> float:
    r"""Squared projection correlation of two variables (Zhu et al. 2017).

    .. math:: \widehat{\mathrm{PC}}_v^2(x, y) = \frac{\widehat{\mathrm{Pcov}}_v^2(x, y)}
              {\sqrt{\widehat{\mathrm{Pcov}}_v^2(x, x)\, \widehat{\mathrm{Pcov}}_v^2(y, y)}}

    Paper: section 2.4.1. The squared form is the one that makes a Gram matrix. 0 in the population
    if and only if the variables are independent.

    Parameters
    ----------
    x, y
        Two variables of the same n samples: n numbers, n labels, or an (n, q) array of vectors.

    Returns
    -------
    float
        In [0, 1]; 0 if a variable is constant.

    Raises
    ------
    ValueError
        If x and y differ in length, have fewer than 4 samples or missing values. Drop these
        samples in both, or fill them.

    Examples
    --------
    1 for any increasing curve, and still visible where the correlation is 0:

    >>> from smrmr.association import projection_correlation_squared
    >>> projection_correlation_squared([1, 2, 3, 4.5], [1, 4, 9, 20.25])
    1.0
    >>> round(projection_correlation_squared([-2, -1, 0, 1, 2], [4, 1, 0, 1, 4]), 4)
    0.1768
    """
    return _cosine(ProjectionCorrelation("all"), *_pair(x, y))


def distance_covariance_squared(x: Data, y: Data) -> float:
    r"""Squared distance covariance (Szekely, Rizzo and Bakirov 2007), a V-statistic.

    .. math:: \mathrm{dCov}^2(x, y) = \frac{1}{n^2} \langle HAH, HBH \rangle,
              \quad A_{ij} = \|x_i - x_j\|, \; B_{ij} = \|y_i - y_j\|

    with H the centring matrix; different labels are at distance 1.

    Parameters
    ----------
    x, y
        Two variables of the same n samples: n numbers, n labels, or an (n, q) array of vectors.

    Returns
    -------
    float
        The covariance, at least 0, in units of x times units of y.

    Raises
    ------
    ValueError
        If x and y differ in length, have fewer than 4 samples or missing values. Drop these
        samples in both, or fill them.

    Examples
    --------
    >>> from smrmr.association import distance_covariance_squared
    >>> round(distance_covariance_squared([1, 2, 3, 4], [1, 2, 3, 4]), 10)
    0.8125
    """
    a, b = _pair(x, y)
    scale = _exponent(a) + _exponent(b)  # the measure scales columns by 2 ** -exponent
    return float(np.ldexp(_inner(DistanceCorrelation(), a, b) / a.n_rows**2, scale))


def distance_correlation_squared(x: Data, y: Data) -> float:
    r"""Squared distance correlation of two variables (Szekely, Rizzo and Bakirov 2007).

    .. math:: \mathrm{dCor}^2(x, y) = \frac{\mathrm{dCov}^2(x, y)}
              {\sqrt{\mathrm{dCov}^2(x, x)\, \mathrm{dCov}^2(y, y)}}

    0 in the population if and only if the variables are independent and have means.

    Parameters
    ----------
    x, y
        Two variables of the same n samples: n numbers, n labels, or an (n, q) array of vectors.

    Returns
    -------
    float
        In [0, 1]; 0 if a variable is constant.

    Raises
    ------
    ValueError
        If x and y differ in length, have fewer than 4 samples or missing values. Drop these
        samples in both, or fill them.

    Examples
    --------
    1 for a line, whatever its slope:

    >>> from smrmr.association import distance_correlation_squared
    >>> distance_correlation_squared([1, 2, 3, 4], [2, 4, 6, 8])
    1.0
    """
    return _cosine(DistanceCorrelation(), *_pair(x, y))


def hsic_v(
    x: Data, y: Data, *, kernel: str | Kernel = "gaussian", width: float | None = None
) -> float:
    r"""HSIC as a V-statistic, :math:`\mathrm{tr}(K H L H) / n^2`, biased by O(1/n).

    Paper: eq. (2.7), label ``hsic_v2``, with K and L the kernel matrices and H the centring matrix.

    Parameters
    ----------
    x, y
        Two variables of the same n samples: n numbers, n labels, or an (n, q) array of vectors.
    kernel, width
        As in `HSIC`, the same for both variables; labels use the delta kernel.

    Returns
    -------
    float
        The criterion, at least 0.

    Raises
    ------
    ValueError
        If x and y differ in length, have fewer than 4 samples or missing values. Drop these
        samples in both, or fill them. If `kernel` or `width` is not one that `HSIC` takes.

    Examples
    --------
    >>> from smrmr.association import hsic_v
    >>> round(hsic_v([1, 2, 3, 4], [1, 2, 3, 4], width=1.0), 6)
    0.118638
    """
    k, l = _matrices(x, y, HSIC(kernel, width))  # noqa: E741
    k = k - k.mean(axis=0)
    return float(((k - k.mean(axis=1, keepdims=True)) * l).mean())


def hsic_u(
    x: Data, y: Data, *, kernel: str | Kernel = "gaussian", width: float | None = None
) -> float:
    r"""HSIC as an unbiased U-statistic, in O(n²); it can be negative.

    .. math:: \frac{1}{n(n-3)} \Big[ \mathrm{tr}(\tilde K \tilde L)
              + \frac{1'\tilde K 1\; 1'\tilde L 1}{(n-1)(n-2)}
              - \frac{2}{n-2} 1'\tilde K \tilde L 1 \Big]

    with the diagonals of :math:`\tilde K, \tilde L` set to 0. Paper: eq. (2.8), label ``hsic_u``,
    whose sums over tuples without repetition these are.

    Parameters
    ----------
    x, y
        Two variables of the same n samples: n numbers, n labels, or an (n, q) array of vectors.
    kernel, width
        As in `HSIC`, the same for both variables; labels use the delta kernel.

    Returns
    -------
    float
        The criterion; around 0, and so often below it, for independent variables.

    Raises
    ------
    ValueError
        If x and y differ in length, have fewer than 4 samples or missing values. Drop these
        samples in both, or fill them. If `kernel` or `width` is not one that `HSIC` takes.

    Examples
    --------
    >>> from smrmr.association import hsic_u
    >>> round(hsic_u([1, 2, 3, 4], [1, 2, 3, 4], width=1.0), 6)
    0.113585
    >>> hsic_u([1, 2, 3, 4, 5, 6], [1, -1, 1, -1, 1, -1], width=1.0) < 0
    True
    """
    k, l = _matrices(x, y, HSIC(kernel, width))  # noqa: E741
    n = len(k)
    k, l = k - np.diag(np.diag(k)), l - np.diag(np.diag(l))  # noqa: E741
    quads = k.sum() * l.sum() / ((n - 1) * (n - 2))
    triples = 2 / (n - 2) * (k.sum(axis=0) @ l.sum(axis=0))
    return float(((k * l).sum() + quads - triples) / (n * (n - 3)))


def _pair(x: Data, y: Data) -> tuple[Target, Target]:
    a, b = as_variable(x, "x"), as_variable(y, "y")
    if a.n_rows != b.n_rows:
        raise ValueError(
            f"x has {a.n_rows} samples and y has {b.n_rows}. They must describe the same samples."
        )
    return a, b


def _inner(measure: Measure, x: Target, y: Target) -> float:
    parts = measure.prepare_target(x), measure.prepare_target(y)
    return float(measure.inner(*parts)[0, 0])


def _cosine(measure: Measure, x: Target, y: Target) -> float:
    parts = measure.prepare_target(x), measure.prepare_target(y)
    return float(cosines(measure, *parts)[0, 0])


def _matrices(x: Data, y: Data, measure: HSIC) -> tuple[Matrix, Matrix]:
    a, b = _pair(x, y)
    return measure.matrix(a), measure.matrix(b)


def _exponent(variable: Target) -> int:
    return 0 if variable.nominal else int(np.frexp(np.abs(variable.values).max())[1])
