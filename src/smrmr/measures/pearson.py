"""Embeds a column by itself: squared correlation, see `Pearson`."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..data.columns import Block
from ..data.scaling import unit_scale
from ..data.target import Target
from ..types import Matrix
from .embedding import LowRankPart, centred, class_parts, inner
from .protocol import ONCE, Measure, Part, Use


@dataclass(frozen=True)
class Pearson(Measure):
    r"""Squared Pearson correlation, ``"pearson"`` for short.

    .. math:: r^2(x, y) = \frac{\langle Hx, Hy \rangle^2}{\|Hx\|^2 \|Hy\|^2}

    This is normalised HSIC with the linear kernel. Classes are one-hot vectors, and so is a
    multi-output target a vector: then the value is the RV coefficient.

    Examples
    --------
    It detects lines, and misses a curve that rises as much as it falls:

    >>> import numpy as np
    >>> from smrmr import relevance
    >>> from smrmr.measures import Pearson
    >>> x = np.linspace(-1, 1, 21)
    >>> relevance(np.stack([x, x**2], 1), x, measure=Pearson()).round(12).tolist()
    [1.0, 0.0]
    """

    alias: ClassVar[str] = "pearson"

    def prepare(self, block: Block, use: Use) -> list[Part]:
        """Centre the columns; classes become one row per class."""
        if block.nominal:
            return [*class_parts(block, block.n_rows)]
        columns = centred(unit_scale(block.values))
        constant = block.values.max(axis=1) == block.values.min(axis=1)
        columns[constant] = 0.0  # not what rounding left of them
        return [LowRankPart.of(block.columns, None, [*columns[:, None]])]

    def prepare_target(self, target: Target) -> Part:
        """Embed the target."""
        if target.several:
            rows = centred(unit_scale(target.vectors)[0])
            return LowRankPart.of(np.zeros(1, np.intp), None, [rows])
        return self.prepare(target.block(), ONCE)[0]

    def inner(self, a: Any, b: Any) -> Matrix:
        """Squared inner products of centred columns."""
        return inner(a, b)

    def bytes_per_column(self, n_rows: int, use: Use) -> int:
        """The centred column, twice while it is packed."""
        return 16 * n_rows
