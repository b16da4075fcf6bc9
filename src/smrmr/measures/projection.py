r"""Counts concordance around anchors: the squared projection correlation without n^3.

For scalars the angle at anchor r is :math:`\arccos(s_i s_l) = \frac{\pi}{2}(1 - s_i s_l)` with
:math:`s_i = \mathrm{sign}(x_i - x_r)`, so the centred slice of the arccos tensor at r is

.. math:: \mathcal{K}_{\cdot\cdot r} = \tfrac{\pi}{2} \big( H e_r e_r' H - H Q_r H \big),

with :math:`Q_r = s s'` for numbers and, for classes as one-hot vectors,
:math:`Q_r = \tfrac23 \sum_a 1_a 1_a' - \tfrac13 1_c 1_c'`, c the class of r. Hence

.. math:: \mathrm{Pcov}^2(x, y) = \frac{\pi^2}{4 n^5} \Big[ n(n-1)^2 - u_x - u_y + \sum_r
          n^2 \langle H Q^x_r H, Q^y_r \rangle \Big], \quad u_x = \sum_r n^2 e_r' H Q^x_r H e_r .

The bracket is what `inner` returns, the sum over r comes from `projection_loops`. If r runs over
some samples only, the anchors, n(n-1)^2 is (n-1)^2 times their number, and the rest stays.
Paper: section 2.4.1, eq. (pc_etim_2); ties have the angle pi/2.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..data.columns import Block
from ..data.ranks import begins_run
from ..data.scaling import unit_scale
from ..data.target import Target
from ..settings import check_choice, check_count
from ..types import Indices, Matrix
from . import projection_loops as loops
from .coding_loops import code_small_integers
from .contingency import Coded
from .projection_parts import Angles, Ranked, bracket, spread_anchors
from .protocol import ONCE, Measure, Part, Use

TABLE_LEVELS = 16  # up to here a contingency table beats sorting
BIT_SET_SIGNS = 2**23  # of rows around anchors: up to here bit sets beat the sweep,
BIT_SET_ANCHORS = 1280  # of no more anchors than these,
BIT_SET_PARTNERS = 16  # once they are used this often,
BIT_SET_ROWS = 256  # and with so few rows however often, so that the sweep is not compiled
ALL_ROWS = 4096  # rows up to which "auto" takes all as anchors,
AUTO_ANCHORS = 512  # and anchors beyond


@dataclass(frozen=True)
class ProjectionCorrelation(Measure):
    r"""Squared projection correlation :math:`\mathrm{PC}^2` (Zhu et al. 2017), ``"pc"`` for short.

    Zero in the population if and only if the variables are independent, no moment conditions, and
    for numbers a function of ranks alone: strictly increasing transforms change nothing. Exact
    integer counts, by bit sets of n / 8 bytes per anchor where rows and anchors are few and by
    sweeps of all samples beyond. Paper: section 2.4.1, eq. (2.5), label ``pc_etim_2``; the formula
    for two variables is that of `smrmr.association.projection_correlation_squared`.

    Parameters
    ----------
    anchors
        Samples r around which angles are taken, the same for all columns. ``"all"`` is the paper's
        statistic. A number takes so many, one out of each of as many strata of neighbouring rows:
        still a cosine, zero in the population under independence alone, and as well estimated as
        the mean over so many anchors is. ``"auto"``: all up to 4096 rows, 512 beyond.

    Raises
    ------
    ValueError
        If `anchors` is neither ``"auto"`` nor ``"all"`` nor a whole number of 1 or more.

    Examples
    --------
    Ten anchors give nearly the same as all fifty rows:

    >>> from smrmr import relevance, simulate
    >>> from smrmr.measures import ProjectionCorrelation
    >>> data = simulate("1.a", n=50, p=6, random_state=0)
    >>> full = relevance(data.X, data.y)
    >>> some = relevance(data.X, data.y, measure=ProjectionCorrelation(anchors=10))
    >>> bool(abs(full - some).max() < 0.1), int(full.argmax()) == int(some.argmax()) == 5
    (True, True)
    """

    alias: ClassVar[str] = "pc"
    by_rank: ClassVar[bool] = True
    pair_tile: ClassVar[int] = 64  # whose bit sets stay in cache, with those of another
    target_tile: ClassVar[int] = 512  # calls must be worth their cost

    anchors: int | str = "auto"

    def __post_init__(self) -> None:
        if isinstance(self.anchors, str):
            check_choice("anchors", self.anchors, ("auto", "all"))
        else:
            check_count("anchors", self.anchors)

    def prepare(self, block: Block, use: Use) -> list[Part]:
        """Sort the columns into classes, few levels, ranks without ties and ranks with ties."""
        anchors = self._anchors(block.n_rows)
        if block.nominal:
            codes: NDArray[Any] = block.values.astype(
                np.uint8 if block.values.max() < 256 else np.int32
            )
            return [Coded(block.columns, codes, nominal=True, anchors=anchors)]
        few = use.partners <= self.pair_tile
        return _numeric_parts(block, anchors, self._bit_sets(block.n_rows, use), few)

    def prepare_target(self, target: Target) -> Part:
        """Embed the target; a multi-output one keeps its vectors."""
        if target.several:
            return Angles(unit_scale(target.vectors)[0].T, self._anchors(target.n_rows))
        return self.prepare(target.block(), ONCE)[0]

    def inner(self, a: Any, b: Any) -> Matrix:
        """Brackets of the module's formula for all pairs of columns of two parts."""
        if isinstance(b, Angles):
            return b.inner(a).T
        if isinstance(a, Angles):
            return a.inner(b)
        if a.key > b.key:  # one direction for a pair, or its last bit would depend on the blocks
            return self.inner(b, a).T
        out = np.zeros((len(a.columns), len(b.columns)))
        a.cross(b, out)
        return bracket(out, a.u[:, None], b.u[None, :], a.n_rows, len(a.anchors))

    def bytes_per_column(self, n_rows: int, use: Use) -> int:
        """Order, below and through as 32-bit integers; two bit sets per anchor or a bin."""
        bit_sets = len(self._anchors(n_rows)) // 4 + 8 if self._bit_sets(n_rows, use) else 2
        return n_rows * (12 + bit_sets)

    def _bit_sets(self, n_rows: int, use: Use) -> bool:
        """Whether prepared columns are met by bit sets rather than by sweeps."""
        if n_rows <= BIT_SET_ROWS:
            return True
        n_anchors, often = len(self._anchors(n_rows)), use.partners >= BIT_SET_PARTNERS
        return often and n_anchors <= min(BIT_SET_ANCHORS, BIT_SET_SIGNS // n_rows)

    def _anchors(self, n_rows: int) -> Indices:
        if isinstance(self.anchors, str):
            few = self.anchors == "auto" and n_rows > ALL_ROWS
            return spread_anchors(n_rows, AUTO_ANCHORS if few else n_rows)
        return spread_anchors(n_rows, int(self.anchors))


def _numeric_parts(block: Block, anchors: Indices, bit_sets: bool, meets_few: bool) -> list[Part]:
    """Columns with few levels coded, others ranked: without ties, and with ties."""
    n = block.n_rows
    codes, counts, levels = code_small_integers(block.values, TABLE_LEVELS)
    few, rest = levels > 0, np.flatnonzero(levels == 0)
    parts: list[Part] = []
    if rest.size:
        values = np.ascontiguousarray(block.values[rest], dtype=np.float64)
        order = np.argsort(values, axis=1)
        starts = begins_run(np.take_along_axis(values, order, axis=1))
        order = order.astype(np.int32)
        below, through, distinct = loops.rank_rows(starts, order)
        many = distinct > min(TABLE_LEVELS, n - 1)
        for k, ranks in zip(rest[~many], below[~many], strict=True):
            _, codes[k], sizes = np.unique(ranks, return_inverse=True, return_counts=True)
            few[k], levels[k], counts[k, : len(sizes)] = True, len(sizes), sizes
        for tied, rows in ((False, many & (distinct == n)), (True, many & (distinct < n))):
            if rows.any():
                ranked = order[rows], below[rows], through[rows]
                parts.append(
                    Ranked(block.columns[rest[rows]], ranked, tied, anchors, bit_sets, meets_few)
                )
    if few.any():
        columns, n_levels = block.columns, int(levels.max())
        if not few.all():
            columns, codes, counts = columns[few], codes[few], counts[few]
        parts.append(Coded(columns, codes, False, anchors, counts[:, :n_levels]))
    return parts
