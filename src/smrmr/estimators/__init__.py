"""SmRMR and its rivals as scikit-learn selectors."""

from .hsic_lasso import HSICLasso
from .rankings import MRMR, SIS
from .smrmr import SmRMR

__all__ = ["MRMR", "SIS", "HSICLasso", "SmRMR"]
