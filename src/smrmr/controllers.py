"""Ways to control how many of the selected features are false: one folder per controller.

A controller is a strategy with `prepare` (refuse what it cannot take), `by_rank` (what counts as a
copy), `repeatable`, `by_chance` (whether a seed matters), `nested_groups` (whether it can ask about
groups within groups), `cuts` (those it does) and `weigh`, which turns checked data into evidence.
Evidence knows how to `decide` at a level, what its `scores` are, which features were `weighed`,
their `ranking`, the `order` of its hypotheses, what another level would have found (`asked_at`),
and the `columns` of a table, of which the `shown` fit a terminal and one is `measured`. A new
controller is a folder beside `knockoffs`, a line in each table here, and words and figures in a
folder of `report`.
"""

from collections.abc import Callable
from typing import Any

from .conditional import ConditionalTests, TestEvidence
from .paper import KnockoffEvidence, KnockoffFilter
from .settings import read_strategy

CONTROLS: dict[str, Callable[..., Any]] = {
    "auto": ConditionalTests,  # what the benchmarks support, so far whatever the data
    "tests": ConditionalTests,
    "knockoffs": KnockoffFilter,
    "paper": KnockoffFilter.paper,
}
EVIDENCE: dict[str, type[Any]] = {
    evidence.kind: evidence for evidence in (TestEvidence, KnockoffEvidence)
}


def as_control(control: Any) -> Any:
    """The controller that a name stands for; a controller stands for itself."""
    return read_strategy("control", control, CONTROLS, "weigh")
