"""States what a way to control false discoveries gives, and names those there are.

A new controller is a folder beside `conditional` and `paper`, a line in each table here, what its
tables show in `selection`, and its words and figures in a folder of `report`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field
from typing import Any, ClassVar, Protocol

from numpy.random import Generator

from .conditional import ConditionalTests
from .conditional.evidence import ConditionalEvidence
from .data.study import Study
from .decision import Decidable
from .features.groups import Groups
from .features.marginal import MarginalTests
from .features.rank_table import RankTable
from .measures.protocol import Measure
from .paper import KnockoffFilter
from .paper.evidence import KnockoffEvidence
from .runs.work import Work
from .settings import read_strategy
from .types import Indices, Vector


class Evidence(Decidable, Protocol):
    """What a controller found about every feature, before any level is set: numbers only.

    A hypothesis is about a feature with its copies, or about a group of look-alikes.
    """

    kind: ClassVar[str]

    @property
    def relevance(self) -> Vector:
        """Association of every feature with the target."""

    @property
    def hypotheses(self) -> tuple[Indices, ...]:
        """For each partition the hypothesis that each feature belongs to, -1 if not tested."""

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of the controller, as JSON can hold them."""

    @property
    def n_features(self) -> int:
        """Number of features in X."""

    @property
    def scores(self) -> Vector:
        """What features are ranked by; the larger, the better."""

    @property
    def weighed(self) -> Indices:
        """Features that have a score of their own."""

    @property
    def representatives(self) -> Indices:
        """For each hypothesis the feature that is reported for it."""

    @property
    def ranking(self) -> Indices:
        """Representatives with some evidence, best first."""

    def at_level(self, fdr: float) -> Evidence:
        """What would have been found had another level been set beforehand."""

    def members_of(self, hypothesis: int) -> Indices:
        """Features that a hypothesis is about, its representative first."""


class Controller(Protocol):
    """A way to control how many of the selected features are false: a frozen dataclass."""

    alias: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def by_rank(self) -> bool:
        """Whether only the order of values counts, so that monotone transforms are copies."""

    @property
    def repeatable(self) -> bool:
        """Whether the settings say all there is to say."""

    @property
    def by_chance(self) -> bool:
        """Whether the result depends on a random seed."""

    @property
    def nested_groups(self) -> bool:
        """Whether groups within groups can be tested together."""

    @property
    def tests_some(self) -> bool:
        """Whether some features can be tested given all others, which are not tested."""

    @property
    def cuts(self) -> tuple[float, ...]:
        """Correlations at which features are grouped unless the user gives others."""

    @property
    def measure(self) -> Measure:
        """The association shown beside the evidence."""

    def prepare(self, study: Study) -> Study:
        """The data as this controller takes them; a ValueError for what it cannot take."""

    def relevance(self, study: Study, ranks: RankTable, work: Work) -> Vector:
        """Association of every feature with the target, adjusted for nothing."""

    def weigh(
        self,
        study: Study,
        ranks: RankTable,
        groups: Groups,
        alone: MarginalTests,
        fdr: float,
        rng: Generator,
        work: Work,
    ) -> Evidence:
        """Evidence about all features or groups; `alone` is what is known of each alone."""


CONTROLS: dict[str, Callable[..., Controller]] = {
    "auto": ConditionalTests,  # what the benchmarks support, so far whatever the data
    "tests": ConditionalTests,
    "knockoffs": KnockoffFilter,
    "paper": KnockoffFilter.paper,
}
EVIDENCE: dict[str, type[Evidence]] = {
    evidence.kind: evidence for evidence in (ConditionalEvidence, KnockoffEvidence)
}


def as_control(control: str | Controller) -> Controller:
    """The controller that a name stands for; a controller stands for itself."""
    found: Controller = read_strategy("control", control, CONTROLS, "weigh")
    return found
