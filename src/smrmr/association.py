"""Builds relevance and redundancy block by block; the only place with n_jobs."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from threading import Lock
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import ThreadpoolController

from .inputs import Columns, as_columns, as_target
from .measures import as_measure
from .types import ONCE, Data, Indices, Matrix, Measure, Part, Progress, Target, Use, Vector

FEW_PARTNERS = 16  # expected of features that are asked for one at a time


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
    engine = Associator(columns, measure, n_jobs, parse_bytes(memory), progress)
    return Associations(engine.with_target(response), engine.with_each_other(), response.kind)


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
    engine = Associator(columns, measure, n_jobs, parse_bytes(memory), progress)
    return engine.with_target(response)


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
    return Associator(columns, measure, n_jobs, parse_bytes(memory), progress).with_each_other()


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


@dataclass
class Associator:
    """Runs a measure over blocks of columns with the caller's jobs, memory and progress.

    With `keep`, prepared columns are kept between calls where the memory budget allows it.
    """

    columns: Columns
    measure: Measure
    n_jobs: int | None = None
    memory: int = 10**9
    progress: Progress | None = None
    keep: bool = False

    def with_target(self, target: Target) -> Vector:
        """Association of every feature with the target."""
        if target.n_rows != self.columns.n_rows:
            raise ValueError(
                f"X has {self.columns.n_rows} rows and y has {target.n_rows}. They must describe "
                "the same samples in the same order."
            )
        tiles = self._kept_tiles if self.keep else self._tiles(self.measure.tile(target), ONCE)
        with self._pool() as pool:
            response = self.measure.prepare_target(target)
            return self._against(response, tiles, pool)

    def with_feature(self, k: int) -> Vector:
        """Association of every feature with feature `k`."""
        with self._pool() as pool:
            feature = self._prepared(k)
            return self._against(feature, self._kept_tiles, pool)

    def with_each_other(self) -> Matrix:
        """Association of every pair of features."""
        n_columns = self.columns.n_columns
        out = np.zeros((n_columns, n_columns))
        width = self.measure.tile(None)
        tiles = self._tiles(width, Use(n_columns, width))
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

    def _against(self, response: Part, tiles: list[_Tile], pool: Any) -> Vector:
        out = np.zeros(self.columns.n_columns)
        with _results(pool, (delayed(_relevance)(tile, response) for tile in tiles)) as found:
            for done, parts in enumerate(found, 1):
                for part_columns, values in parts:
                    out[part_columns] = values
                self._report("relevance", done, len(tiles))
        return out

    @cached_property
    def _kept_tiles(self) -> list[_Tile]:
        tiles = self._tiles(self.measure.tile(None), Use(FEW_PARTNERS, 1))
        kept = self.keep and sum(tile.n_bytes for tile in tiles) <= self.memory
        for tile in tiles:
            tile.kept = kept
        return tiles

    def _prepared(self, k: int) -> Part:
        (block,) = self.columns.blocks(k, k + 1)
        return self.measure.prepare(block, Use(FEW_PARTNERS, 1))[0]

    def _tiles(self, width: int, use: Use) -> list[_Tile]:
        """Blocks of at most `width` columns, fewer where a block would not fit the budget."""
        classes = self.columns.most_classes
        held = self.measure.bytes_per_column(self.columns.n_rows, use)
        held += 16 * classes * self.columns.n_rows
        width = max(1, min(width, self.memory // (2 * held)))
        return [
            _Tile(self.measure, self.columns, start, start + width, use, held * width)
            for start in range(0, self.columns.n_columns, width)
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
        """Open joblib's workers."""
        with (
            one_blas_thread(),
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
        self, measure: Measure, columns: Columns, start: int, stop: int, use: Use, n_bytes: int
    ) -> None:
        self.measure = measure
        self.n_bytes = n_bytes
        self.kept = False
        self._request = columns, start, stop, use
        self._lock = Lock()
        self._parts: list[Part] | None = None

    def __reduce__(self) -> Any:
        return _Tile, (self.measure, *self._request, self.n_bytes)

    @property
    def parts(self) -> list[Part]:
        columns, start, stop, use = self._request
        with self._lock:
            if self._parts is None:
                blocks = columns.blocks(start, stop)
                self._parts = [p for block in blocks for p in self.measure.prepare(block, use)]
            return self._parts

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
    with one_blas_thread():
        found = [(part.columns, cosines(tile.measure, part, response)[:, 0]) for part in tile.parts]
    if not tile.kept:
        tile.release()
    return found


def _redundancy(left: _Tile, right: _Tile) -> list[tuple[Indices, Indices, Matrix]]:
    found = []
    with one_blas_thread():
        for i, a in enumerate(left.parts):
            for b in left.parts[i:] if left is right else right.parts:
                values = cosines(left.measure, a, b)
                if a is b:
                    values = np.triu(values) + np.triu(values, 1).T
                found.append((a.columns, b.columns, values))
    return found


def cosines(measure: Measure, a: Part, b: Part) -> Matrix:
    """Inner products over norms; 0 where a column is constant."""
    norms = np.outer(np.sqrt(a.energies), np.sqrt(b.energies))
    products = measure.inner(a, b)
    out = np.divide(products, norms, out=np.zeros_like(products), where=norms != 0)
    return np.asarray(np.clip(out, 0.0, 1.0, out=out))


class _BlasLimit:
    """Keeps BLAS to one thread while anyone asks for it: its own threads change the last bits.

    The limit is the process's, so it is set by the first to come and lifted by the last to go.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._users = 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._users == 0:
                self._limit = _threadpools().limit(limits=1, user_api="blas")
            self._users += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._limit.restore_original_limits()


_blas_limit = _BlasLimit()


def one_blas_thread() -> _BlasLimit:
    """Return a context in which BLAS uses one thread."""
    return _blas_limit


@cache
def _threadpools() -> ThreadpoolController:
    return ThreadpoolController()
