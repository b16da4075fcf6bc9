"""Small pieces of sentences."""

from __future__ import annotations


def count(n: int, noun: str) -> str:
    """A number with its noun.

    >>> count(1, "feature"), count(1200, "feature")
    ('1 feature', '1,200 features')
    """
    return f"{n:,} {noun}{'s' * (n != 1)}"


def percent(level: float) -> str:
    """A level as a percentage."""
    return f"{100 * level:.3g}%"
