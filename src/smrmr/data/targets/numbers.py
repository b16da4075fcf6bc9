"""Numbers, one per row or several."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from ...types import Data, Indices, Matrix, Vector
from ..row_groups import group_means
from .arrays import read_array, read_numbers
from .dealing import deal_by_rank, noise_of_ranks, scores_given, strength_within
from .protocol import Planting, Target, TargetColumns

TIE_BREAK = 1e-9  # of scores, beyond rounding: rows of equal scores have no order


@dataclass(frozen=True)
class Numbers:
    """One number per row. Kinds that become numbers build on it."""

    alias: ClassVar[str] = "continuous"
    within_groups: ClassVar[bool] = True

    def accepts(self, y: Data) -> bool:
        """Never: y is taken for numbers where no other kind accepts it."""
        return False

    def read(self, y: Data) -> Target:
        """Numbers that vary; the kind goes by their columns."""
        numbers = read_numbers(y)
        if numbers.ndim == 1:
            return Target(Numbers.alias, numbers)
        names = tuple(map(str, getattr(y, "columns", ())))
        return Target(Outputs.alias, numbers, outputs=names if len({*names}) == len(names) else ())

    def check(self, target: Target) -> None:
        """Take any numbers."""

    def derive_values(self, target: Target, covariates: Matrix) -> Target:
        """The numbers as they are."""
        return target

    def take(self, target: Target, rows: Indices) -> Target:
        """The chosen rows."""
        derived_from = None if target.derived_from is None else target.derived_from[:, rows]
        return replace(target, values=target.values[rows], derived_from=derived_from)

    def mean(self, target: Target, codes: Indices) -> Target:
        """Means per group."""
        means = group_means(target.values.reshape(len(codes), -1), codes)
        return replace(target, values=means.reshape(-1, *target.values.shape[1:]))

    def columns(self, target: Target) -> TargetColumns:
        """Every column of the numbers."""
        outputs = np.atleast_2d(target.values.T)
        names = target.outputs or tuple(f"output {i}" for i in range(1, len(outputs) + 1))
        return TargetColumns(names if len(outputs) > 1 else ("target",), outputs)

    def loadings(self, target: Target, rng: Generator) -> Vector:
        """A sign; of several outputs numbers of mean square 1."""
        found = rng.standard_normal(len(self.columns(target).names))
        return np.asarray(found / np.sqrt(np.mean(found**2)))

    def plant(self, target: Target, planting: Planting, rng: Generator) -> Target:
        """The numbers by rank of their scores, each output for itself.

        Noise is what covariates leave of the outputs of another row, so that these go together as
        they did. Ranks differ from scores by some noise as well, which is taken off.
        """
        outputs, strata = self.columns(target).values, planting.strata
        fitted, rest = scores_given(outputs, planting.covariates, rng)
        signal = rest.std(axis=1, keepdims=True) * planting.signal
        if strata.any() and signal.any():
            for mine, its_rest in zip(signal, rest, strict=True):
                mine *= strength_within(mine, its_rest, planting.noise, strata, rng)
        rest = rest[:, rng.permutation(target.n_rows)]
        of_ranks = noise_of_ranks(signal + planting.noise * rest)
        noise = np.sqrt(np.maximum(planting.noise**2 - of_ranks, 0.0))
        scores = fitted + signal + noise[:, None] * rest
        scores += TIE_BREAK * rng.standard_normal(scores.shape)
        dealt = [
            deal_by_rank(values, mine, strata) for values, mine in zip(outputs, scores, strict=True)
        ]
        values = np.stack(dealt, axis=1).reshape(target.values.shape)
        derived_from = None if target.derived_from is None else values[None]
        return replace(target, values=values, derived_from=derived_from)


@dataclass(frozen=True)
class Outputs(Numbers):
    """Several numbers per row."""

    alias: ClassVar[str] = "multi-output"

    def accepts(self, y: Data) -> bool:
        """Whether y has several columns."""
        return read_array(y)[0].ndim == 2
