"""The knockoff filter: features compete with knockoffs of themselves.

In the order of the work: `screening`, `gaussian` or `given` knockoffs (with `covariance`,
`graphical_lasso`, `correlations`, `decorrelation`, `ties`), `diagnose`, `pairs`, `folds`, `tuning`,
and `evidence`; `filter` runs them.
"""

from .diagnose import Diagnosis, diagnose_knockoffs
from .evidence import Draw, KnockoffEvidence
from .filter import KnockoffFilter, draw_knockoffs
from .gaussian import Gaussian, Knockoffs
from .given import Given
from .screening import KeepAll, Split
from .tuning import Auto, Bayes, CrossValidation, Fixed, Smallest

__all__ = [
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
    "Smallest",
    "Split",
    "diagnose_knockoffs",
    "draw_knockoffs",
]
