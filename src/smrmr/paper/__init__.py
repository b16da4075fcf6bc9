"""The paper's method: screening, knockoffs, one penalised mRMR problem, knockoff+.

In the order of the work: `screening`, `gaussian` or `given` knockoffs (with `covariance`,
`decorrelation`, `ties`), `diagnose`, `pairs`, `tuning`, `solver`, `evidence` and
`threshold`; `filter` runs them.
"""

from .diagnose import Diagnosis, diagnose_knockoffs
from .filter import KnockoffFilter, draw_knockoffs
from .gaussian import Gaussian, Knockoffs
from .screening import Split
from .solver import L1, MCP, SCAD, solution_path, solve
from .threshold import decide, false_discovery_bounds
from .tuning import CrossValidation

__all__ = [
    "L1",
    "MCP",
    "SCAD",
    "CrossValidation",
    "Diagnosis",
    "Gaussian",
    "KnockoffFilter",
    "Knockoffs",
    "Split",
    "decide",
    "diagnose_knockoffs",
    "draw_knockoffs",
    "false_discovery_bounds",
    "solution_path",
    "solve",
]
