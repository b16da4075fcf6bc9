"""Conditional tests, the default: what a feature adds given all others.

`preparing` and `model_columns` put features on the scale of the tests, `distillers` fit the target,
`residuals` adjust features for their neighbours, `statistics` compare residuals, `combine` and
`calibration` make one p-value of several, `first_pass` and `second_pass` run it all, `rules` turn
p-values into a decision; `controller` puts them together and `evidence` is what comes out.
"""

from .controller import ConditionalTests
from .distillers import (
    Blend,
    Distilled,
    FitProblem,
    FromEstimator,
    Kernel,
    Lasso,
    Logistic,
    Ridge,
    Shape,
)
from .rules import BenjaminiHochberg, BenjaminiYekutieli, Holm
from .statistics import (
    Absolute,
    DistanceCorrelation,
    Interaction,
    Joint,
    JointAbsolute,
    KernelIndependence,
    Linear,
    Permutation,
    ProjectionCorrelation,
    ResidualPairs,
    Spread,
)

__all__ = [
    "Absolute",
    "BenjaminiHochberg",
    "BenjaminiYekutieli",
    "Blend",
    "ConditionalTests",
    "DistanceCorrelation",
    "Distilled",
    "FitProblem",
    "FromEstimator",
    "Holm",
    "Interaction",
    "Joint",
    "JointAbsolute",
    "Kernel",
    "KernelIndependence",
    "Lasso",
    "Linear",
    "Logistic",
    "Permutation",
    "ProjectionCorrelation",
    "ResidualPairs",
    "Ridge",
    "Shape",
    "Spread",
]
