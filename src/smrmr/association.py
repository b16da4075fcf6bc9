"""Builds relevance and redundancy block by block; the only place with n_jobs."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import product
from threading import Lock
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import ThreadpoolController

from .inputs import Columns, as_columns, as_target
from .measures import as_measure
from .types import Data, Indices, Matrix, Measure, Part, Progress, Target, Vector

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
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
    memory: str | int = "1GB",
    progress: Progress | None = None,
) -> Associations:
    r"""Associations of every feature with the target and with every other feature.

    .. math:: D(a, b) = \frac{\langle A, B \rangle}{\|A\| \|B\|}

    between the centred embeddings A, B that the measure gives two variables, so
    :math:`0 \le D \le 1` and :math:`D(a, a) = 1`. A constant feature has 0 with everything.
    Paper: eq. (unpen_loss) sees the data through these numbers alone.

    Parameters
    ----------
    X
        Features, (n, p): an array of numbers or a pandas DataFrame, whose categoricals are nominal.
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
    memory
        Budget for the work besides the data and the result, such as ``"500MB"``.
    progress
        Called as ``progress(stage, done, total)`` after every finished block.

    Returns
    -------
    `Associations` with ``relevance`` (p,), ``redundancy`` (p, p) and the ``target`` type taken.

    Examples
    --------
    >>> from smrmr import associate, simulate
    >>> data = simulate("1.a", n=100, p=50, random_state=0)
    >>> found = associate(data.X, data.y)
    >>> sorted(int(k) for k in found.relevance.argsort()[-2:])
    [0, 5]
    """
    columns, measure = as_columns(X), as_measure(measure)
    response = as_target(y, target)
    engine = _Engine(measure, n_jobs, parse_bytes(memory), progress)
    return Associations(
        engine.relevance(columns, response), engine.redundancy(columns), response.kind
    )


def relevance(
    X: Data,
    y: Data,
    *,
    measure: str | Measure = "pc",
    target: str = "auto",
    n_jobs: int | None = None,
    memory: str | int = "1GB",
    progress: Progress | None = None,
) -> Vector:
    """Association of every feature with the target; parameters as in `associate`.

    Examples
    --------
    >>> from smrmr import relevance
    >>> x = [[1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> round(float(relevance(x, [1.0, 4.0, 9.0, 16.0, 25.0])[0]), 12)
    1.0
    """
    columns, measure = as_columns(X), as_measure(measure)
    response = as_target(y, target)
    return _Engine(measure, n_jobs, parse_bytes(memory), progress).relevance(columns, response)


def redundancy(
    X: Data,
    *,
    measure: str | Measure = "pc",
    n_jobs: int | None = None,
    memory: str | int = "1GB",
    progress: Progress | None = None,
) -> Matrix:
    """Association of every feature with every other; parameters as in `associate`.

    Examples
    --------
    >>> from smrmr import redundancy, simulate
    >>> D = redundancy(simulate("1.c", n=60, p=31, random_state=0).X)
    >>> D.shape, bool((D == D.T).all())
    ((31, 31), True)
    """
    columns, measure = as_columns(X), as_measure(measure)
    return _Engine(measure, n_jobs, parse_bytes(memory), progress).redundancy(columns)


def parse_bytes(memory: str | int) -> int:
    """Read a memory budget such as ``"1GB"``, ``"500 MB"`` or a number of bytes.

    >>> parse_bytes("1.5GB"), parse_bytes(4096)
    (1500000000, 4096)
    """
    units = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*", str(memory).lower())
    size = int(float(match[1]) * units[match[2]]) if match else 0
    if size <= 0:
        raise ValueError(f"memory={memory!r} is not a size. Give bytes, or text like '500MB'.")
    return size


@dataclass(frozen=True)
class _Engine:
    """Runs a measure over blocks of columns with the caller's jobs, memory and progress."""

    measure: Measure
    n_jobs: int | None
    memory: int
    progress: Progress | None

    def relevance(self, columns: Columns, target: Target) -> Vector:
        if target.n_rows != columns.n_rows:
            raise ValueError(
                f"X has {columns.n_rows} rows and y has {target.n_rows}. They must describe the "
                "same samples in the same order."
            )
        tiles = self._tiles(columns, self.measure.tile(target), partners=1)
        out = np.zeros(columns.n_columns)
        with self._pool() as pool:
            response = self.measure.prepare_target(target, columns.n_columns)
            tasks = (delayed(_relevance)(tile, response) for tile in tiles)
            with _results(pool, tasks) as found:
                for done, parts in enumerate(found, 1):
                    for part_columns, values in parts:
                        out[part_columns] = values
                    self._report("relevance", done, len(tiles))
        return out

    def redundancy(self, columns: Columns) -> Matrix:
        n_columns = columns.n_columns
        out = np.zeros((n_columns, n_columns))
        tiles = self._tiles(columns, self.measure.tile(None), partners=n_columns)
        done, total = 0, len(tiles) * (len(tiles) + 1) // 2
        with self._pool() as pool:
            for pairs in self._shelf_pairs(tiles):
                tasks = (delayed(_redundancy)(a, b) for a, b in pairs)
                with _results(pool, tasks) as found:
                    for parts in found:
                        for rows, others, values in parts:
                            out[np.ix_(rows, others)] = values
                            out[np.ix_(others, rows)] = values.T
                        done += 1
                        self._report("redundancy", done, total)
        diagonal = np.einsum("kk->k", out)
        diagonal[diagonal > 0] = 1.0
        return out

    def _tiles(self, columns: Columns, width: int, partners: int) -> list[_Tile]:
        return [
            _Tile(self.measure, columns, start, start + width, partners)
            for start in range(0, columns.n_columns, width)
        ]

    def _shelf_pairs(self, tiles: list[_Tile]) -> Iterator[list[tuple[_Tile, _Tile]]]:
        """Pairs of tiles, in groups that hold no more prepared tiles than the budget allows."""
        held = max(tile.n_bytes for tile in tiles)
        size = len(tiles) if held * len(tiles) <= self.memory else self.memory // (2 * held)
        shelves = [tiles[i : i + max(size, 1)] for i in range(0, len(tiles), max(size, 1))]
        for i, shelf in enumerate(shelves):
            yield _spread_pairs(shelf)
            for other in shelves[i + 1 :]:
                yield list(product(shelf, other))
                _release(other)
            _release(shelf)

    @contextmanager
    def _pool(self) -> Iterator[Any]:
        """Open joblib's workers; BLAS threads of their own would compete and change last bits."""
        with (
            _threadpools().limit(limits=1, user_api="blas"),
            Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator") as pool,
        ):
            yield pool

    def _report(self, stage: str, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress(stage, done, total)


@contextmanager
def _results(pool: Any, tasks: Iterator[Any]) -> Iterator[Iterator[Any]]:
    """Results of the tasks as they come; an error or Ctrl-C in their use cancels the rest."""
    results = pool(tasks)
    try:
        yield results
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # joblib's remark that results were left unused
            results.close()


class _Tile:
    """Neighbouring columns, prepared by the first task that needs them and kept until released."""

    def __init__(
        self, measure: Measure, columns: Columns, start: int, stop: int, partners: int
    ) -> None:
        self.measure = measure
        self._request = columns, start, stop, partners
        self._lock = Lock()
        self._parts: list[Part] | None = None

    def __reduce__(self) -> Any:
        return _Tile, (self.measure, *self._request)

    @property
    def parts(self) -> list[Part]:
        columns, start, stop, partners = self._request
        with self._lock:
            if self._parts is None:
                self._parts = self.measure.prepare(columns.block(start, stop), partners)
            return self._parts

    @property
    def n_bytes(self) -> int:
        columns, start, stop, _ = self._request
        return (stop - start) * self.measure.bytes_per_column(columns.n_rows)

    def release(self) -> None:
        self._parts = None


def _spread_pairs(tiles: list[_Tile]) -> list[tuple[_Tile, _Tile]]:
    """All pairs, first those far apart, which prepare different tiles; last the short (a, a)."""
    steps = sorted(range(len(tiles)), key=lambda step: abs(2 * step - len(tiles)))
    return [pair for step in steps for pair in zip(tiles, tiles[step:], strict=False)]


def _release(tiles: list[_Tile]) -> None:
    for tile in tiles:
        tile.release()


def _relevance(tile: _Tile, response: Part) -> list[tuple[Indices, Vector]]:
    found = [(part.columns, _cosines(tile.measure, part, response)[:, 0]) for part in tile.parts]
    tile.release()
    return found


def _redundancy(left: _Tile, right: _Tile) -> list[tuple[Indices, Indices, Matrix]]:
    found = []
    for i, a in enumerate(left.parts):
        for b in left.parts[i:] if left is right else right.parts:
            values = _cosines(left.measure, a, b)
            if a is b:
                values = np.triu(values) + np.triu(values, 1).T
            found.append((a.columns, b.columns, values))
    return found


def _cosines(measure: Measure, a: Part, b: Part) -> Matrix:
    """Inner products over norms; 0 where a column is constant."""
    norms = np.sqrt(np.outer(a.energies, b.energies))
    products = measure.inner(a, b)
    out = np.divide(products, norms, out=np.zeros_like(products), where=norms > 0)
    return np.clip(out, 0.0, 1.0, out=out)


@cache
def _threadpools() -> ThreadpoolController:
    return ThreadpoolController()
