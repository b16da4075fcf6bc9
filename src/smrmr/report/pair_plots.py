"""Describes the target over two features that act together: a grid of means."""

from __future__ import annotations

import numpy as np

from ..selection import PairGrid, Selection
from ..selection.conditional import evidence_of
from ..selection.plot_data import FEWEST_ROWS, GridSide
from ..types import Matrix, Vector
from .findings import Finding
from .marks import Plot, Tick, Tiles, short
from .shapes import target_name

TITLE = "A pair of features"
LETTERS_ACROSS = 42  # of names of levels side by side
LETTERS_BESIDE = 14  # of a level at the left
LARGE = 1e5  # numbers that are written with powers of ten
MOST_DECIMALS = 5
NEAR_MISS = "near miss"


def pair_plot(
    selection: Selection, feature: str | int | tuple[str | int, str | int] | None = None
) -> Plot:
    """The target over both features of the best pair, of all or of those that a feature is in."""
    asked = () if feature is None else feature if isinstance(feature, tuple) else (feature,)
    wanted = {_position(selection, one) for one in asked}
    for grid in selection.plot_data.pairs:
        if wanted <= set(grid.features.tolist()):
            return grid_plot(selection, grid)
    whose = " with this feature" if len(wanted) == 1 else " of these" if wanted else ""
    return Plot(TITLE, nothing=f"No pair{whose} stands out.")


def pair_figures(selection: Selection) -> list[Finding]:
    """Every pair that is drawn, smallest p-value first; a note says which are near misses."""
    if not selection.plot_data.pairs:
        return []
    evidence = evidence_of(selection)
    pairs, q_values = evidence.pairs, evidence.pairs.q_values(evidence.rule)
    numbers = {
        tuple(both): (p, q)
        for both, p, q in zip(pairs.features.tolist(), pairs.p_values, q_values, strict=True)
    }
    found = list[Finding]()
    for grid in selection.plot_data.pairs:
        p, q = numbers[tuple(grid.features.tolist())]
        said = f"{averaged(selection, grid)}; p {p:.2g}, q-value {q:.2g}"
        note = "" if q <= selection.fdr else NEAR_MISS
        name = " x ".join(short(_name(selection, k), 200) for k in grid.features.tolist())
        found.append(Finding(name, 2, said, note, grid_plot(selection, grid)))
    return found


def grid_plot(selection: Selection, grid: PairGrid) -> Plot:
    """Tiles with the mean of each cell and its rows: the first feature across, the second up."""
    first, second = (short(_name(selection, k)) for k in grid.features.tolist())
    across, up = grid.sides
    what = averaged(selection, grid)
    texts = _texts(grid)
    notes = [[f"n = {n}" if n else f"n < {FEWEST_ROWS}" for n in row] for row in grid.counts.T]
    tips = [
        [
            f"{first} {x}, {second} {y}: {f'{what} {text}, ' if text else ''}{note}"
            for x, text, note in zip(map(short, across.names), texts[j], notes[j], strict=True)
        ]
        for j, y in enumerate(map(short, up.names))
    ]
    by_row = (
        f"{second} {short(y)}: " + ", ".join(text or "not known" for text in row)
        for y, row in zip(up.names, texts, strict=True)
    )
    return Plot(
        f"{first} x {second}: {what}",
        first,
        second,
        (Tiles(_shades(grid).T, _frozen(texts), _frozen(notes), _frozen(tips)),),
        x_ticks=_ticks(across, LETTERS_ACROSS // len(across.names)),
        y_ticks=_ticks(up, LETTERS_BESIDE),
        x_limits=(-0.5, len(across.names) - 0.5),
        y_limits=(-0.5, len(up.names) - 0.5),
        summary=f"From the lowest {first} to the highest, {'; '.join(by_row)}",
    )


def averaged(selection: Selection, grid: PairGrid) -> str:
    """What the means of a grid are means of."""
    if grid.is_share:
        return f"share of class {short(grid.target)}"
    several = f", {grid.target}" if selection.plot_data.outputs else ""
    return f"mean of {target_name(selection)}{several}"


def _position(selection: Selection, one: str | int) -> int:
    """Where a feature stands, or a covariate after the last feature."""
    if one in selection.covariates and one not in selection.names:
        return selection.n_features + selection.covariates.index(str(one))
    return int(selection.leaders[selection.position(one)])


def _name(selection: Selection, k: int) -> str:
    n = selection.n_features
    return selection.names[k] if k < n else selection.covariates[k - n]


def _texts(grid: PairGrid) -> list[list[str]]:
    """Means as they are written, row by row of tiles; nothing where they are not known."""
    means = grid.means[grid.known]
    said = [f"{100 * mean:.0f}%" for mean in means] if grid.is_share else with_decimals(means)
    texts = np.full(grid.means.shape, "", dtype=object)
    texts[grid.known] = said
    return [[str(text) for text in row] for row in texts.T]


def _shades(grid: PairGrid) -> Matrix:
    """How far each mean is from that of all rows in known cells: 1 for the farthest."""
    n = np.where(grid.known, grid.counts, 0)
    middle = float(np.sum(n * grid.means) / max(n.sum(), 1))
    apart = np.where(grid.known, grid.means - middle, 0.0)
    return np.asarray(apart / (np.abs(apart).max() or 1.0))


def _ticks(side: GridSide, length: int) -> tuple[Tick, ...]:
    """Edges between tiles, or names of levels in their middle."""
    if len(side.edges):
        return tuple(Tick(i + 0.5, edge) for i, edge in enumerate(with_decimals(side.edges)))
    return tuple(Tick(float(i), short(name, length)) for i, name in enumerate(side.names))


def with_decimals(values: Vector) -> list[str]:
    """Numbers with as many decimals as it takes to tell them apart.

    >>> with_decimals(np.array([-2081.0, 2.26])), with_decimals(np.array([0.5, 0.503]))
    (['-2081', '2'], ['0.50000', '0.50300'])
    """
    size = float(np.abs(values).max(initial=0.0))
    apart = float(np.ptp(values)) if len(values) > 1 else 0.0
    decimals = max(0, 2 - int(np.floor(np.log10(apart or size or 1.0))))
    plain = size < LARGE and decimals <= MOST_DECIMALS
    return [f"{value:.{decimals}f}" if plain else f"{value:.3g}" for value in values]


def _frozen(rows: list[list[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(row) for row in rows)
