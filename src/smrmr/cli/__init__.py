"""Offers the command `smrmr`."""

from .commands import main

__all__ = ["main"]
