"""Recipes of tests, written flat: settings of the knockoff filter beside those of the recipe."""

from __future__ import annotations

from dataclasses import fields

from smrmr import Recipe
from smrmr.paper import KnockoffFilter

OWN = {f.name for f in fields(Recipe)}


def recipe(**settings):
    """A Recipe whose controller takes every setting that is not the recipe's own.

    Its level is that of the paper, 0.3, unless another is given: knockoffs select 1/level features
    at least, and small data sets of tests have fewer than ten true ones.
    """
    own = {"fdr": 0.3} | {name: value for name, value in settings.items() if name in OWN}
    inner = {name: value for name, value in settings.items() if name not in OWN}
    return Recipe(control=KnockoffFilter(**inner), **own)
