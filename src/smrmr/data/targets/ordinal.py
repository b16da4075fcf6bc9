"""Stages, of which only the order counts."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ...problems import Problem
from ...types import Data, Indices, Matrix
from ..ranks import average_ranks
from .arrays import category_codes, is_category, read_array, read_numbers
from .numbers import Numbers
from .protocol import Target


@dataclass(frozen=True)
class Ordinal(Numbers):
    """Stages by their ranks, averages where they tie."""

    alias: ClassVar[str] = "ordinal"

    def read(self, y: Data) -> Target:
        """Ranks of numbers, or of the levels of an ordered category."""
        ranks = average_ranks(_stages(y))
        return Target(self.alias, ranks, derived_from=ranks[None])

    def derive_values(self, target: Target, covariates: Matrix) -> Target:
        """Ranks among the rows there are."""
        assert target.derived_from is not None
        return replace(target, values=average_ranks(target.derived_from[0]))

    def mean(self, target: Target, codes: Indices) -> Target:
        """Mean ranks per group, to be ranked anew."""
        means = super().mean(target, codes)
        return replace(means, derived_from=means.values[None])


def _stages(y: Data) -> Any:
    if not is_category(y):
        values, labelled = read_array(y)
        if labelled or values.ndim > 1:
            raise Problem(
                "an ordinal y must be one column of numbers or an ordered category: labels alone "
                "do not say which comes first."
            )
        return read_numbers(y)
    dtype: Any = y.dtype
    if not dtype.ordered:
        raise Problem(
            "y is a category without an order.",
            "Give numbers, or an ordered category: y.cat.set_categories([...], ordered=True).",
        )
    codes = category_codes(y)
    if (codes == codes[0]).all():
        raise Problem(f"y has the single value {dtype.categories[codes[0]]}.", "It must vary.")
    return codes
