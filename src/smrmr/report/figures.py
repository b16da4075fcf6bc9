"""Draws the figures of a selection on matplotlib axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ..problems import Problem
from ..selection import Selection
from ..settings import one_of
from . import conditional, knockoffs
from .axes import draw_axes
from .checks import Checks
from .features import Figures
from .pair_plots import pair_plot
from .shapes import shape_plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ReportParts(Protocol):
    """Checks and figures of one kind of evidence; words.txt and captions.html say the rest."""

    CHECKS: Checks
    FIGURES: Figures


REPORT_PARTS: dict[str, ReportParts] = {"tests": conditional, "knockoffs": knockoffs}


def plot(
    selection: Selection,
    figure: str = "associated",
    ax: Axes | None = None,
    *,
    feature: str | int | tuple[str | int, str | int] | None = None,
) -> Axes:
    """Draw one of the figures of the report.

    Of every selection: ``"relevance"`` of all features by rank, ``"redundancy"`` between the best,
    clustered, ``"shape"``, a feature against the target, ``"adjusting"``, relevance before and
    after covariates were adjusted for, ``"associated"``, effects and p-values of all features
    alone, ``"carriers"`` of groups, the ``"panel"``, and ``"power"`` against the strength of
    planted effects, if `smrmr.Selection.check` measured it.

    Of conditional tests: ``"best"``, the smallest p-values with the cut-off; ``"histogram"`` of all
    p-values; ``"alone"``, marginal p-values against those given all other features; ``"fits"``, the
    share of the target's variance that each fit explains on rows left out; ``"pair"``, the mean of
    the target over two features that act together.

    Of knockoffs: ``"importance"``, W with the threshold and its mirror image (section 4, eq. (4.2)
    of the paper); ``"fdp"``, the estimated false discovery proportion against the number selected,
    with its 95% bound (`smrmr.paper.false_discovery_bounds`), or the level needed over several
    draws; ``"lambda"``, held-out loss along its path; ``"diagnosis"``, the p-values of
    `smrmr.paper.diagnose_knockoffs`.

    Parameters
    ----------
    selection
        What `smrmr.select` returned.
    figure
        Name of the figure; effects and p-values of all features alone unless given.
    ax
        Where to draw; a new figure of pyplot unless given.
    feature
        Of ``"shape"``: name of the feature, or its position in X. Medians with bands from 25% to
        75% and from 10% to 90% of the rows in each bin; boxes if the target has classes or the
        feature few levels. Single rows are drawn if the data were kept.
        Of ``"pair"``: one or two of its features, or covariates; the best pair unless given. A
        tile per bin or level of both, with the mean of the target, or the share of a class, and
        the number of rows; of fewer than five rows there is no mean.

    Returns
    -------
    matplotlib.axes.Axes
        Where it was drawn.

    Raises
    ------
    ValueError
        If there is no such figure of this kind of evidence, or no such feature.

    Examples
    --------
    >>> from smrmr import select, simulate
    >>> from smrmr.report import plot
    >>> data = simulate("1.a", n=80, p=12, random_state=2)
    >>> found = select(data.X, data.y)
    >>> plot(found, "relevance").get_xlabel(), plot(found, "shape", feature="x5").get_xlabel()
    ('rank', 'x5')
    """
    figures = REPORT_PARTS[selection.evidence.kind].FIGURES
    if figure == "shape":
        if feature is None or isinstance(feature, tuple):
            raise Problem("figure 'shape' is about one feature.", cure="Say feature=...")
        return draw_axes(shape_plot(selection, feature), ax)
    if figure not in figures:
        raise Problem(
            f"a selection by {selection.evidence.kind} has no figure {figure!r}.",
            f"It has {one_of([*figures, 'shape'])}.",
            argument="figure",
        )
    if figure == "pair":
        return draw_axes(pair_plot(selection, feature), ax)
    return draw_axes(figures[figure](selection), ax)
