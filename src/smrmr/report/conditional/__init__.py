"""What the report shows of conditional tests."""

from .checks import CHECKS
from .plots import FIGURES

__all__ = ["CHECKS", "FIGURES"]
