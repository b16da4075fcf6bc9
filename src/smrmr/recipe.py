"""Defines Recipe: every choice of the method, checked when it is made."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from numbers import Real
from types import MappingProxyType
from typing import Any, TypedDict

import numpy as np

from .controllers import Controller, as_control
from .data.messages import did_you_mean
from .data.targets.registry import KINDS
from .decision import ON_EMPTY
from .features.alike import ALL_PAIRS
from .problems import Problem, setting
from .settings import check_choice, check_count, check_jobs, check_level, parse_bytes, write_setting

WORDS = ("auto", "none")  # that stand for cuts
ELSEWHERE = {"random_state": "rng", "seed": "rng", "alpha": "fdr", "level": "fdr"}


class MoreSettings(TypedDict, total=False):
    """Settings of a `Recipe` as keyword arguments, where `target` names a column."""

    fdr: float
    control: str | Controller
    on_empty: str
    n_features: int | None
    accuracy: bool
    panel_size: int | None
    alike: Any
    feature_groups: Any
    always_keep: Any
    only: Any
    partners: Any
    keep_data: bool
    max_memory: str | int
    n_jobs: int | None


class Settings(MoreSettings, total=False):
    """Settings of a `Recipe` as keyword arguments."""

    target: str


@dataclass(frozen=True)
class Recipe:
    """What to do, from checked data to a decision.

    Parameters
    ----------
    fdr
        Largest expected share of false features among those selected, in (0, 1).
    control
        How that share is controlled: ``"auto"`` (the tests, so far whatever the data), ``"tests"``,
        ``"knockoffs"``, ``"paper"`` (the paper's pipeline to the bit), or text with settings such
        as ``"knockoffs(measure=hsic, penalty=l1)"``. In Python also a `ConditionalTests` or a
        `KnockoffFilter`.
    target
        How y is read: ``"continuous"``, ``"classes"``, ``"ordinal"`` (stages, of which only the
        order counts), ``"survival"`` (events and times) or ``"auto"``.
    on_empty
        What to do when the level selects nothing: ``"none"`` (an empty selection is a result, and
        `SmRMR.transform` warns), ``"raise"`` (`SmRMR.transform` raises an error), ``"best"`` (take
        the best feature) or ``"relax"`` (raise the level until something is selected, SmRMR2 in the
        paper); the last two carry no guarantee.
    n_features
        Take so many features, best first, whatever the level, and without guarantee.
    accuracy
        Measure how well the panel predicts samples left out, by cross-validation in which
        everything is chosen anew, and choose its size so. It takes about as long as a fit.
    panel_size
        Number of features in the panel: few, relevant and not redundant. Left out, it is the
        smallest that predicts about as well as the best, with `accuracy`; else 20 at most.
    alike
        Average correlation (Spearman, absolute) from which on features are clustered and tested as
        one group: ``"auto"``, ``"none"`` (only copies), a number such as 0.7, or several. Nested
        groups, of several cuts, need tests; every finding is reported for the smallest group that
        can be resolved. ``"auto"``: 1, 0.9, 0.7 and 0.5, as far as columns of noise are not that
        correlated by chance, with tests of up to 30,000 features; only copies with knockoffs, and
        with the rules ``"by"`` and ``"holm"`` of `ConditionalTests`.
    feature_groups
        Groups of features to test instead: a name or number per feature, or a mapping from names
        of features. With ``alike=1`` single features are tested too.
    always_keep
        Names or positions of features that are adjusted for, never tested, and always kept.
    only
        Names or positions of the features of interest: these are tested given all others, and all
        others are adjusted for and not tested. Copies of a feature of interest are tested with it,
        and look-alikes are grouped among features of interest alone. Of tests only.
    partners
        What features may act together with, so that their effect depends on it: ``"all"`` other
        features and covariates, ``"none"``, or names of features and covariates. The fewer they
        are, the weaker the interactions that can be found. Of tests only.
    keep_data
        Keep values of the best features, and the target, in the result, so that figures
        can show single rows. Otherwise the result, its pickles and reports hold summaries that
        identify nobody.
    max_memory
        Budget for the work besides the data, such as ``"500MB"``; what would not fit lies in files.
    n_jobs
        Threads, as in joblib; -1 for all cores.

    Raises
    ------
    ValueError
        If a setting is not known or not possible, or two of them contradict each other: `alike` and
        `feature_groups`, groups within groups and knockoffs, `only` or `partners` and
        knockoffs, ``on_empty="relax"`` and several draws.

    Examples
    --------
    Everything is checked when it is given, and can be written down:

    >>> from smrmr import Recipe
    >>> Recipe(fdr=0.2, control="knockoffs(penalty=scad)").settings["control"]
    'knockoffs(penalty=scad)'
    >>> Recipe(fdr=20)
    Traceback (most recent call last):
    smrmr.problems.Problem: fdr=20 is not a level between 0 and 1, both excluded; 0.1 is common.
    """

    fdr: float = 0.1
    control: str | Controller = "auto"
    target: str = "auto"
    on_empty: str = "none"
    n_features: int | None = None
    accuracy: bool = False
    panel_size: int | None = None
    alike: Any = "auto"
    feature_groups: Any = None
    always_keep: Any = None
    only: Any = None
    partners: Any = "all"
    keep_data: bool = False
    max_memory: str | int = "1GB"
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        check_level(self.fdr)
        object.__setattr__(self, "control", as_control(self.control))
        check_choice("target", self.target, ("auto", *KINDS))
        check_choice("on_empty", self.on_empty, ON_EMPTY)
        if self.n_features is not None:
            check_count("n_features", self.n_features)
        check_choice("accuracy", self.accuracy, (True, False))
        if self.panel_size is not None:
            check_count("panel_size", self.panel_size)
        check_choice("keep_data", self.keep_data, (True, False))
        if min(self.cuts, default=1) < 1 and self.feature_groups is not None:
            given = f"{setting('alike', self.alike)} finds groups, but {setting('feature_groups')}"
            cure = f"Leave out one; with {setting('alike', 1)} single features are tested as well."
            raise Problem(f"{given} gives them.", cure=cure)
        n_kinds = len(self.cuts) + (self.feature_groups is not None)
        if n_kinds > 1 and not self.controller.nested_groups:
            raise Problem(
                f"groups of {n_kinds} kinds were requested, one within the other, and knockoffs "
                "take one kind.",
                f"Give one cut, such as {setting('alike', 0.7)}, or use "
                f"{setting('control', 'tests')}.",
            )
        if self.only is not None and not self.controller.tests_some:
            raise Problem(
                f"{setting('only', self.only)} asks about some features given all others, which "
                "knockoffs cannot: they compare all features.",
                cure=f"Use {setting('control', 'tests')}.",
                argument="only",
            )
        if not self.all_partners and not self.controller.tests_some:
            raise Problem(
                f"{setting('partners', self.partners)} says what features may act together with, "
                "which knockoffs do not test.",
                cure=f"Use {setting('control', 'tests')}, or leave it out.",
                argument="partners",
            )
        parse_bytes(self.max_memory)
        check_jobs(self.n_jobs)
        if self.on_empty == "relax" and getattr(self.control, "n_draws", 1) > 1:
            raise Problem(
                f"{setting('on_empty', 'relax')} chooses its level after looking, which e-values "
                "over several draws do not allow.",
                f"Use {setting('on_empty', 'best')} or 'none', or {setting('n_draws', 1)}.",
            )

    @property
    def controller(self) -> Controller:
        """What `control` stands for."""
        return as_control(self.control)

    @property
    def all_partners(self) -> bool:
        """Whether features may act together with all others and covariates, as by default."""
        return isinstance(self.partners, str) and self.partners == "all"

    @property
    def cuts(self) -> tuple[float, ...]:
        """Cuts of `alike`, the largest first; 1 stands for copies."""
        if not (self.alike is None or (isinstance(self.alike, str) and self.alike in WORDS)):
            return as_cuts(self.alike)
        if self.feature_groups is not None:
            return ()
        return tuple(self.controller.cuts) if self.alike == "auto" else (1.0,)

    def cuts_for(self, n_rows: int, n_features: int) -> tuple[float, ...]:
        r"""These cuts; of those by default only what chance does not reach.

        Of p columns of noise two correlate by :math:`\sqrt{4 \log p / n}` at most. More than 30,000
        features are grouped only on request.

        Parameters
        ----------
        n_rows, n_features
            Size of the data.

        Returns
        -------
        tuple of float
            The cuts, largest first.
        """
        if not (isinstance(self.alike, str) and self.alike == "auto"):
            return self.cuts
        chance = np.sqrt(4 * np.log(n_features) / n_rows) if n_features <= ALL_PAIRS else 1.0
        return tuple(cut for cut in self.cuts if cut == 1 or cut > chance)

    @property
    def settings(self) -> dict[str, Any]:
        """Every choice by its name, as JSON can hold it."""
        return {f.name: write_setting(getattr(self, f.name)) for f in fields(self)}


def as_cuts(alike: Any) -> tuple[float, ...]:
    """One or several cuts, as numbers or as text, the largest first.

    >>> as_cuts(0.7), as_cuts("0.5, 0.9")
    ((0.7,), (0.9, 0.5))
    """
    given = alike.split(",") if isinstance(alike, str) else np.atleast_1d(alike)
    try:
        cuts = sorted({float(cut) for cut in given}, reverse=True)
    except (TypeError, ValueError):
        cuts = []
    if not cuts or not all(0 < cut <= 1 for cut in cuts):
        raise Problem(
            f"{setting('alike', alike)} is not a cut on correlations.",
            "Give a number above 0 and up to 1, such as 0.7, several of them, 'auto' or None.",
        )
    return tuple(cuts)


def as_recipe(recipe: Any, settings: Mapping[str, Any] = MappingProxyType({})) -> Recipe:
    """The recipe, or the defaults for None, with settings that were given beside it.

    >>> as_recipe(Recipe(fdr=0.2, alike=0.7), {"fdr": 0.05}) == Recipe(fdr=0.05, alike=0.7)
    True
    """
    if not isinstance(recipe, Recipe | None):
        kind = "fdr" if isinstance(recipe, Real) else "control"
        given = recipe if isinstance(recipe, Real | str) else "knockoffs"
        cure = f"Name the setting, such as {setting(kind, given)}."
        raise Problem(f"{setting('recipe', recipe)} is not a Recipe.", cure=cure)
    known = [f.name for f in fields(Recipe)]
    for name in settings:
        if name not in known:
            its = ELSEWHERE.get(name)
            advice = f" Use {its}." if its else did_you_mean(name, known)
            raise TypeError(f"there is no argument or setting {name!r}.{advice}")
    return replace(recipe or Recipe(), **settings)
