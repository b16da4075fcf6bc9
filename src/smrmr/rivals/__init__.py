"""Other ways to select features, as scikit-learn selectors: SIS, mRMR and HSIC-LASSO."""

from .hsic_lasso import HSICLasso
from .rankings import MRMR, SIS

__all__ = ["MRMR", "SIS", "HSICLasso"]
