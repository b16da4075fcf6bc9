"""Trials of the method on a user's own table: known effects are planted, and what is found."""

from .check import check
from .plan import plan

__all__ = ["check", "plan"]
