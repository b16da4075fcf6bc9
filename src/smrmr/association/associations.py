"""Offers relevance and redundancy: all that the optimiser sees of the data."""

from dataclasses import dataclass

from ..data.columns import as_columns
from ..data.target import as_target
from ..measures import as_measure
from ..measures.protocol import Measure
from ..runs.work import Work
from ..settings import parse_bytes
from ..types import Data, Matrix, Progress, Vector
from .associator import Associator


@dataclass(frozen=True, eq=False)
class Associations:
    """All that the optimiser sees of the data.

    Attributes
    ----------
    relevance
        ``D(X_k, y)`` of every feature.
    redundancy
        ``D(X_k, X_l)`` of every pair: symmetric, positive semi-definite, 1 on the diagonal (0 for
        constant features).
    target
        How y was read: ``"continuous"``, ``"classes"`` or ``"multi-output"``.

    Examples
    --------
    Two features that are not redundant, of which the first is more relevant. The optimiser takes
    associations from anywhere:

    >>> import numpy as np
    >>> from smrmr.association import Associations
    >>> from smrmr.paper import solve
    >>> apart = Associations(np.array([0.5, 0.2]), np.eye(2), "continuous")
    >>> solve(apart, penalty="none").theta.tolist()
    [0.5, 0.2]
    """

    relevance: Vector
    redundancy: Matrix
    target: str


def associate(
    X: Data,
    y: Data,
    *,
    measure: str | Measure = "pc",
    target: str = "auto",
    n_jobs: int | None = None,
    max_memory: str | int = "1GB",
    progress: Progress | None = None,
) -> Associations:
    r"""Associations of every feature with the target and with every other feature.

    .. math:: D(a, b) = \frac{\langle A, B \rangle}{\|A\| \|B\|}

    between the centred embeddings A, B that the measure gives two variables, so
    :math:`0 \le D \le 1` and :math:`D(a, a) = 1`. A constant feature has 0 with everything.
    Paper: eq. (2.3), label ``unpen_loss``, sees the data through these numbers alone.

    Parameters
    ----------
    X
        Features, (n, p): an array of numbers, a sparse matrix, or a table of pandas, polars or
        pyarrow, whose categories are nominal unless they are ordered.
    y
        Target: n numbers or labels, or an (n, q) array of several outputs.
    measure
        ``"pc"`` squared projection correlation, ``"hsic"`` normalised HSIC, ``"dcor"`` squared
        distance correlation, ``"pearson"`` squared correlation, or an instance such as
        ``HSIC(kernel="laplacian")``.
    target
        ``"continuous"``, ``"classes"`` or ``"auto"``: strings, booleans and categories are classes,
        and so are whole numbers with at most 10 levels of at least 5 rows each (with a warning).
    n_jobs
        Number of threads, as in joblib; another joblib backend can be chosen with
        ``joblib.parallel_config``. Never changes a result.
    max_memory
        Budget for the work besides the data and the result, such as ``"500MB"``.
    progress
        Called as ``progress(stage, done, total)`` after every finished block.

    Returns
    -------
    Associations
        Its ``relevance`` (p,), ``redundancy`` (p, p), and the type of target that was taken.

    Raises
    ------
    ValueError
        If X or y has missing values, X has text, rows do not match or are fewer than 4, y is
        constant, or a setting is not known; the message says what to change.

    Examples
    --------
    Both true features, 0 and 5, have the largest relevance:

    >>> from smrmr import associate, simulate
    >>> data = simulate("1.a", n=100, p=50, random_state=0)
    >>> found = associate(data.X, data.y)
    >>> sorted(int(k) for k in found.relevance.argsort()[-2:])
    [0, 5]
    """
    work = Work(n_jobs, parse_bytes(max_memory), progress)
    engine = Associator(as_columns(X), as_measure(measure), work)
    response = as_target(y, target)
    return Associations(engine.with_target(response), engine.with_each_other(), response.kind)


def relevance(
    X: Data,
    y: Data,
    *,
    measure: str | Measure = "pc",
    target: str = "auto",
    n_jobs: int | None = None,
    max_memory: str | int = "1GB",
    progress: Progress | None = None,
) -> Vector:
    """Association of every feature with the target.

    Paper: section 2.1, the marginal utility that sure independence screening ranks by.

    Parameters
    ----------
    X, y, measure, target, n_jobs, max_memory, progress
        As in `associate`.

    Returns
    -------
    ndarray
        One number in [0, 1] for each feature; 0 for constant features.

    Raises
    ------
    ValueError
        As in `associate`.

    Examples
    --------
    Projection correlation depends on ranks alone, so a curve that rises is as good as a line:

    >>> from smrmr import relevance
    >>> x = [[1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> round(float(relevance(x, [1.0, 4.0, 9.0, 16.0, 25.0])[0]), 12)
    1.0
    """
    work = Work(n_jobs, parse_bytes(max_memory), progress)
    engine = Associator(as_columns(X), as_measure(measure), work)
    return engine.with_target(as_target(y, target))


def redundancy(
    X: Data,
    *,
    measure: str | Measure = "pc",
    n_jobs: int | None = None,
    max_memory: str | int = "1GB",
    progress: Progress | None = None,
) -> Matrix:
    """Association of every feature with every other.

    Symmetric and positive semi-definite, since associations are cosines. A matrix beyond
    `max_memory` is kept in a file that vanishes with it.

    Parameters
    ----------
    X, measure, n_jobs, max_memory, progress
        As in `associate`.

    Returns
    -------
    ndarray
        Of shape (p, p), with 1 on the diagonal; rows and columns of constant features are 0.

    Raises
    ------
    ValueError
        As in `associate`, for what concerns X.

    Examples
    --------
    Neighbours of this design correlate, and so are more alike than features far apart:

    >>> from smrmr import redundancy, simulate
    >>> D = redundancy(simulate("1.c", n=60, p=31, random_state=0).X)
    >>> D.shape, bool((D == D.T).all())
    ((31, 31), True)
    >>> bool(D[0, 1] > D[0, 30])
    True
    """
    work = Work(n_jobs, parse_bytes(max_memory), progress)
    return Associator(as_columns(X), as_measure(measure), work).with_each_other()
