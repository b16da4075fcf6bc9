"""Defines Target, what was read as y, and TargetKind, what every kind of target has to answer."""

import re
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ...types import Data, Indices, Mask, Matrix, Vector
from ..columns import Block
from ..ranks import settled

GUMBEL_SPREAD = np.pi / np.sqrt(6)  # standard deviation of the noise in logits and log-hazards
LEAST_NOISE = 1e-3  # below which noise is as good as none


@dataclass(frozen=True, eq=False)
class Target:
    """The target y as numbers, columns of numbers, or classes.

    Attributes
    ----------
    kind
        Short name of its kind, see `KINDS`.
    values
        Numbers, (n,) or (n, q) for several outputs, or numbers of classes in order of appearance.
    labels
        Names of the classes; none for numbers.
    derived_from
        What values are derived from by comparing rows, (k, n); None if they are as given.
    categories
        Names of classes in the user's own order, where y is a category.
    name
        That of y, if it has one.
    outputs
        Names of several outputs, where y is a table that names each differently.
    """

    kind: str
    values: Vector
    labels: tuple[str, ...] = ()
    derived_from: Matrix | None = None
    categories: tuple[str, ...] = ()
    name: str = ""
    outputs: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return int(self.values.shape[0])

    @property
    def nominal(self) -> bool:
        """Whether values are numbers of classes."""
        return bool(self.labels)

    @property
    def several(self) -> bool:
        """Whether every sample has several numbers."""
        return self.values.ndim == 2

    @property
    def as_given(self) -> Matrix:
        """What was given of the samples, (q, n): outputs, numbers of classes, times and events."""
        if self.derived_from is not None:
            return self.derived_from
        return self.values.reshape(self.n_rows, -1).T

    @property
    def vectors(self) -> NDArray[np.float64]:
        """The samples as one set of points, (1, q, n), tied numbers made equal."""
        return np.ascontiguousarray(settled(self.values.reshape(self.n_rows, -1).T))[None]

    @property
    def order(self) -> Indices:
        """Class numbers in the order to show them: that of categories, of numbers, or by name."""
        place = {name: i for i, name in enumerate(self.categories)}
        keys = [(place.get(label, len(place)), _sortable(label)) for label in self.labels]
        return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.intp)

    def block(self) -> Block:
        """The target as a block of one column; it must not have several."""
        return Block(self.values[None, :], np.zeros(1, np.intp), self.nominal)


@dataclass(frozen=True, eq=False)
class TargetColumns:
    """The target as columns of numbers that say all about it: outputs, or a column per class.

    Attributes
    ----------
    names
        What each of the q columns is called.
    values
        Numbers, (q, n).
    is_class
        Of classes: which rows are in each, (q, n).
    """

    names: tuple[str, ...]
    values: Matrix
    is_class: Mask | None = None


@dataclass(frozen=True, eq=False)
class Planting:
    """Known effects that decide which row gets which value of a target.

    The latent score of a row is the sum of its effects and of noise, with variance 1. Its values
    are those of the target itself, handed out anew: the rows of the highest scores get the highest
    numbers, or a class, or the earliest events.

    Attributes
    ----------
    signal
        Sum of all effects on each score, (q, n); see `TargetKind.loadings` for q.
    noise
        Standard deviation of the noise, 1 without any effect.
    covariates
        Orthonormal rows of what is adjusted for; what these predict of the target is kept.
    strata
        Number of the stratum of each row: values stay in their stratum.
    """

    signal: Matrix
    noise: float
    covariates: Matrix
    strata: Indices


class TargetKind(Protocol):
    """How one kind of target is read, averaged over groups of rows, and put into columns."""

    alias: ClassVar[str]
    within_groups: ClassVar[bool]  # whether rows of one group can be compared with each other

    def accepts(self, y: Data) -> bool:
        """Whether ``target="auto"`` takes y for this kind; warns where that is in doubt."""

    def read(self, y: Data) -> Target:
        """Check y and read it."""

    def check(self, target: Target) -> None:
        """Refuse a target that can be measured but that nothing can be selected by."""

    def derive_values(self, target: Target, covariates: Matrix) -> Target:
        """Values that come from comparing rows, from the rows there are; others as they are.

        `covariates` are orthonormal rows, maybe none.
        """

    def take(self, target: Target, rows: Indices) -> Target:
        """The target in fewer rows; nothing is derived anew."""

    def mean(self, target: Target, codes: Indices) -> Target:
        """The target per group of rows, or a refusal."""

    def columns(self, target: Target) -> TargetColumns:
        """Columns of numbers that say all about the target, not standardised."""

    def loadings(self, target: Target, rng: Generator) -> Vector:
        """How an effect of variance 1 acts on each latent score of a planting, drawn at random."""

    def plant(self, target: Target, planting: Planting, rng: Generator) -> Target:
        """The values of the target, handed out anew to rows by their latent scores."""


def _sortable(label: str) -> tuple[tuple[int, float, str], ...]:
    """What puts "stage 2" before "stage 10", and numbers before words."""
    if re.fullmatch(r"-?\d+(\.\d+)?", label):
        return ((0, float(label), ""),)
    parts = re.split(r"(\d+(?:\.\d+)?)", label)  # text, number, text, ...
    return tuple(
        (0, float(part), "") if i % 2 else (1, 0.0, part.casefold()) for i, part in enumerate(parts)
    )
