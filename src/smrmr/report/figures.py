"""Draws the figures of a selection on matplotlib axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..selection import Selection
from ..settings import one_of
from .axes import draw_axes
from .features import redundancy_plot
from .html import ACCOUNTS
from .marks import Plot
from .shapes import shape_plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_w(selection: Selection, ax: Axes | None = None) -> Axes:
    """W by size, with the threshold and its mirror image below zero.

    A feature is selected if its W reaches the threshold; those that reach the mirror image from
    above show how many false ones to expect among them. Paper: section 4, eq. (4.2).

    Parameters
    ----------
    selection
        What `smrmr.select` returned.
    ax
        Where to draw; a new figure unless given.

    Returns
    -------
    matplotlib.axes.Axes
        Where it was drawn.

    Raises
    ------
    ValueError
        If the selection was not made by knockoffs, which alone have this figure.

    Examples
    --------
    >>> from smrmr import Recipe, select, simulate
    >>> from smrmr.report import plot_w
    >>> data = simulate("1.a", n=100, p=20, random_state=0)
    >>> found = select(data.X, data.y, Recipe(control="knockoffs"), rng=0)
    >>> plot_w(found).get_ylabel()
    'W'
    """
    return draw_axes(_own(selection, "importance"), ax)


def plot_fdp(selection: Selection, ax: Axes | None = None) -> Axes:
    """Estimated share of false features against the number selected, and its 95% bound.

    The bound, of `smrmr.paper.false_discovery_bounds`, holds for all numbers together. Over several
    draws: the level at which each number of features would be selected.

    Parameters
    ----------
    selection
        What `smrmr.select` returned.
    ax
        Where to draw; a new figure unless given.

    Returns
    -------
    matplotlib.axes.Axes
        Where it was drawn.

    Raises
    ------
    ValueError
        If the selection was not made by knockoffs, which alone have this figure.

    Examples
    --------
    >>> from smrmr import Recipe, select, simulate
    >>> from smrmr.report import plot_fdp
    >>> data = simulate("1.a", n=100, p=20, random_state=0)
    >>> found = select(data.X, data.y, Recipe(control="knockoffs"), rng=0)
    >>> plot_fdp(found).get_title()
    'False features among the first k'
    """
    return draw_axes(_own(selection, "fdp"), ax)


def plot_relevance(selection: Selection, ax: Axes | None = None) -> Axes:
    """Relevance of every feature by rank; those that passed the screen and the selected marked.

    Parameters
    ----------
    selection
        What `smrmr.select` returned.
    ax
        Where to draw; a new figure unless given.

    Returns
    -------
    matplotlib.axes.Axes
        Where it was drawn.

    Examples
    --------
    >>> from smrmr import select, simulate
    >>> from smrmr.report import plot_relevance
    >>> data = simulate("1.a", n=80, p=12, random_state=2)
    >>> found = select(data.X, data.y)
    >>> plot_relevance(found).get_xlabel()
    'rank'
    """
    return draw_axes(_own(selection, "relevance"), ax)


def plot_redundancy(selection: Selection, ax: Axes | None = None) -> Axes:
    """Associations between the features that stand out most, clustered; selected ones in bold.

    Parameters
    ----------
    selection
        What `smrmr.select` returned.
    ax
        Where to draw; a new figure unless given.

    Returns
    -------
    matplotlib.axes.Axes
        Where it was drawn.

    Examples
    --------
    >>> from smrmr import select, simulate
    >>> from smrmr.report import plot_redundancy
    >>> data = simulate("1.a", n=80, p=12, random_state=2)
    >>> found = select(data.X, data.y)
    >>> plot_redundancy(found).get_title()
    'How much features repeat each other'
    """
    return draw_axes(redundancy_plot(selection), ax)


def plot_shape(selection: Selection, feature: str | int, ax: Axes | None = None) -> Axes:
    """A feature against the target, group of rows by group of rows.

    Medians with bands from 25% to 75% and from 10% to 90% of the rows in each bin; boxes if the
    target has classes or the feature few levels. Single rows are drawn if the data were kept. Of
    several outputs, the one that differs most along the feature.

    Parameters
    ----------
    selection
        What `smrmr.select` returned.
    feature
        Its name, or its position in X.
    ax
        Where to draw; a new figure unless given.

    Returns
    -------
    matplotlib.axes.Axes
        Where it was drawn.

    Raises
    ------
    ValueError
        If there is no such feature; the message names those that are spelt alike.

    Examples
    --------
    >>> from smrmr import select, simulate
    >>> from smrmr.report import plot_shape
    >>> data = simulate("1.a", n=80, p=12, random_state=2)
    >>> found = select(data.X, data.y)
    >>> plot_shape(found, "x5").get_xlabel()
    'x5'
    """
    return draw_axes(shape_plot(selection, feature), ax)


def plot_lambda(selection: Selection, ax: Axes | None = None) -> Axes:
    """Held-out loss along the path of lambda, with the lambda that was chosen.

    Paper: section 5.1.2, step 3.

    Parameters
    ----------
    selection
        What `smrmr.select` returned.
    ax
        Where to draw; a new figure unless given.

    Returns
    -------
    matplotlib.axes.Axes
        Where it was drawn.

    Raises
    ------
    ValueError
        If the selection was not made by knockoffs, which alone have this figure.

    Examples
    --------
    Only some ways to choose lambda hold out rows; of the others the figure says so.

    >>> from smrmr import Recipe, select, simulate
    >>> from smrmr.report import plot_lambda
    >>> data = simulate("1.a", n=100, p=20, random_state=0)
    >>> found = select(data.X, data.y, Recipe(control="knockoffs(lam=cv)"), rng=0)
    >>> plot_lambda(found).get_title()
    'Choice of lambda'
    """
    return draw_axes(_own(selection, "lambda"), ax)


def plot_diagnosis(selection: Selection, ax: Axes | None = None) -> Axes:
    """P-values of the tests whether knockoffs can be told from features, one dot per draw.

    These are the tests of `smrmr.paper.diagnose_knockoffs`.

    Parameters
    ----------
    selection
        What `smrmr.select` returned.
    ax
        Where to draw; a new figure unless given.

    Returns
    -------
    matplotlib.axes.Axes
        Where it was drawn.

    Raises
    ------
    ValueError
        If the selection was not made by knockoffs, which alone have this figure.

    Examples
    --------
    >>> from smrmr import Recipe, select, simulate
    >>> from smrmr.report import plot_diagnosis
    >>> data = simulate("1.a", n=100, p=20, random_state=0)
    >>> found = select(data.X, data.y, Recipe(control="knockoffs"), rng=0)
    >>> plot_diagnosis(found).get_xlabel()
    'p-value of the test'
    """
    return draw_axes(_own(selection, "diagnosis"), ax)


def plot_p_values(selection: Selection, ax: Axes | None = None) -> Axes:
    """p-values of the best 40 features with the cut-off; bars go down where the effect is negative.

    Parameters
    ----------
    selection
        What `smrmr.select` returned.
    ax
        Where to draw; a new figure unless given.

    Returns
    -------
    matplotlib.axes.Axes
        Where it was drawn.

    Raises
    ------
    ValueError
        If the selection was not made by tests, which alone have this figure.

    Examples
    --------
    >>> from smrmr import select, simulate
    >>> from smrmr.report import plot_p_values
    >>> data = simulate("1.a", n=80, p=12, random_state=2)
    >>> found = select(data.X, data.y)
    >>> plot_p_values(found).get_title()
    'The smallest p-values'
    """
    return draw_axes(_own(selection, "best"), ax)


def plot_histogram(selection: Selection, ax: Axes | None = None) -> Axes:
    """How many p-values fall where; if no feature mattered, all bars would be about as high.

    Parameters
    ----------
    selection
        What `smrmr.select` returned.
    ax
        Where to draw; a new figure unless given.

    Returns
    -------
    matplotlib.axes.Axes
        Where it was drawn.

    Raises
    ------
    ValueError
        If the selection was not made by tests, which alone have this figure.

    Examples
    --------
    >>> from smrmr import select, simulate
    >>> from smrmr.report import plot_histogram
    >>> data = simulate("1.a", n=80, p=12, random_state=2)
    >>> found = select(data.X, data.y)
    >>> plot_histogram(found).get_ylabel()
    'features'
    """
    return draw_axes(_own(selection, "histogram"), ax)


def plot_alone(selection: Selection, ax: Axes | None = None) -> Axes:
    """p-value of every feature alone against that given all others, as numbers of zeros.

    Parameters
    ----------
    selection
        What `smrmr.select` returned.
    ax
        Where to draw; a new figure unless given.

    Returns
    -------
    matplotlib.axes.Axes
        Where it was drawn.

    Raises
    ------
    ValueError
        If the selection was not made by tests, which alone have this figure.

    Examples
    --------
    >>> from smrmr import select, simulate
    >>> from smrmr.report import plot_alone
    >>> data = simulate("1.a", n=80, p=12, random_state=2)
    >>> found = select(data.X, data.y)
    >>> plot_alone(found).get_title()
    'Alone and given all others'
    """
    return draw_axes(_own(selection, "alone"), ax)


def plot_fits(selection: Selection, ax: Axes | None = None) -> Axes:
    """Share of the target's variance that each fit explains on rows left out.

    Parameters
    ----------
    selection
        What `smrmr.select` returned.
    ax
        Where to draw; a new figure unless given.

    Returns
    -------
    matplotlib.axes.Axes
        Where it was drawn.

    Raises
    ------
    ValueError
        If the selection was not made by tests, which alone have this figure.

    Examples
    --------
    >>> from smrmr import select, simulate
    >>> from smrmr.report import plot_fits
    >>> data = simulate("1.a", n=80, p=12, random_state=2)
    >>> found = select(data.X, data.y)
    >>> plot_fits(found).get_xlabel()
    'share explained on rows left out'
    """
    return draw_axes(_own(selection, "fits"), ax)


def _own(selection: Selection, name: str) -> Plot:
    """A figure that not every controller has."""
    kind = selection.evidence.kind
    figures = ACCOUNTS[kind].FIGURES
    if name not in figures:
        raise ValueError(f"a selection by {kind} has no figure {name!r}. It has {one_of(figures)}.")
    plot: Plot = figures[name](selection)
    return plot
