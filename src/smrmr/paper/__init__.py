"""The paper's method: screening, knockoffs, one penalised mRMR problem, knockoff+.

In the order of the work: `screening`, `gaussian` or `given` knockoffs (with `covariance`,
`graphical_lasso`, `correlations`, `decorrelation`, `ties`), `diagnose`, `pairs`, `folds`, `tuning`,
`solver`, `evidence` and `threshold`; `filter` runs them.
"""

from .diagnose import Diagnosis, diagnose_knockoffs
from .evidence import Draw, KnockoffEvidence
from .filter import KnockoffFilter, draw_knockoffs
from .gaussian import Gaussian, Knockoffs
from .given import Given
from .screening import KeepAll, Split
from .solver import L1, MCP, SCAD, NoPenalty, Solution, SolutionPath, solution_path, solve
from .threshold import decide, false_discovery_bounds
from .tuning import Auto, Bayes, CrossValidation, Fixed, Smallest

__all__ = [
    "L1",
    "MCP",
    "SCAD",
    "Auto",
    "Bayes",
    "CrossValidation",
    "Diagnosis",
    "Draw",
    "Fixed",
    "Gaussian",
    "Given",
    "KeepAll",
    "KnockoffEvidence",
    "KnockoffFilter",
    "Knockoffs",
    "NoPenalty",
    "Smallest",
    "Solution",
    "SolutionPath",
    "Split",
    "decide",
    "diagnose_knockoffs",
    "draw_knockoffs",
    "false_discovery_bounds",
    "solution_path",
    "solve",
]
