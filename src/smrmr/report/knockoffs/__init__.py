"""What the report shows of a knockoff filter."""

from .checks import CHECKS
from .plots import FIGURES

__all__ = ["CHECKS", "FIGURES"]
