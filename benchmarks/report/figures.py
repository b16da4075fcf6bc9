"""Draws figures from stored rows alone, as SVG files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator, StrMethodFormatter

from smrmr.designs import DESIGNS
from smrmr.runs.files import replacing

from ..experiments.synthetic import MAIN_LEVEL
from ..methods import REFERENCES, RELAXED, STRICT
from ..stores import read_stores
from .means import at_level, cells, fold_means, pooled
from .yardstick import ten_means

FAMILIES = {"1": "linear", "2": "non-linear", "3": "classes", "": "ours"}  # by the first letter
STYLE: dict[Any, Any] = {
    "svg.hashsalt": "smrmr",  # the same rows give the same bytes
    "svg.fonttype": "none",  # text stays text: small files that can be searched
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "lines.markeredgewidth": 0,  # edges would blur small markers into blobs
    "lines.linewidth": 0.8,
}
GREY = "#8a8f98"
MEASURES = {"PC": "#1f5fbf", "HSIC": "#d9742b"}
PENALTIES = {"none": "o", "L1": "s", "SCAD": "^", "MCP": "D"}
VARIANTS = {"knockoffs": ("#c1121f", "*"), "knockoffs (HSIC)": ("#f08fa4", "*")} | {
    f"paper ({measure}, {penalty})": (colour, marker)
    for measure, colour in MEASURES.items()
    for penalty, marker in PENALTIES.items()
}
RIVALS = {
    "SIS": ("#40444c", "X"),
    "mRMR (MID)": ("#1b7f4b", "v"),
    "mRMR (MIQ)": ("#7fc08a", "v"),
    "HSIC-LASSO": ("#6a3d9a", "P"),
    "HSIC-LASSO (blocks)": ("#b695dd", "P"),
    "Boruta": ("#2f9e9e", "d"),
    "LASSO knockoffs": ("#8c6d46", "h"),
    "MLR knockoffs": ("#c9a66b", "h"),
    "d0CRT": ("#1b7f4b", "v"),
    "d0CRT (logistic)": ("#7fc08a", "v"),
    "CRT-logit": ("#b7dcbd", "v"),
    "GCM": ("#6a3d9a", "P"),
    "T-Rex": ("#d9742b", "d"),
    "SIS + BH": ("#40444c", "X"),
    "smrmr": ("#a3218e", "*"),
    "smrmr (BY)": ("#dd9ad2", "*"),
}
LINES: dict[str, Any] = dict(zip(REFERENCES, ("-", ":"), strict=True))
KNOCKOFFS = ("knockoffs", "knockoffs (HSIC)")
# of the paper's penalties one stands for all: they cost the same
TIMED = (*KNOCKOFFS, "paper (PC, MCP)", "paper (HSIC, MCP)", *RIVALS)


def draw_figures(folder: Path, to: Path | None = None) -> list[Path]:
    """The files drawn from the stores of a folder, in a subfolder ``figures`` of it or of `to`."""
    written = []
    with rc_context(STYLE):
        for name, draw in figures_of(read_stores(folder)):
            path = (to or folder) / "figures" / f"{name}.svg"
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as unfinished:
                draw().savefig(unfinished, format="svg", metadata={"Date": None})
            written.append(path)
    return written


def figures_of(stores: dict[str, Any]) -> Iterator[tuple[str, Callable[[], Figure]]]:
    """The names of the figures that rows allow, each with a function that draws it."""
    table, timed = cells(stores["synthetic"]), cells(stores["speed"])
    table = table[table["seeds"] > 0]
    usual = at_level(table, MAIN_LEVEL)
    for family in FAMILIES.values():
        part = usual[usual["design"].map(_family) == family]
        is_relaxed = part["method"].astype(str).str.endswith(RELAXED)
        for rule, left_out in (("strict", is_relaxed), ("relaxed", part["method"].isin(STRICT))):
            shown = part[~left_out]
            if not shown["method"].isin(REFERENCES).all():
                yield f"{family}-{rule}", partial(_panels, shown, f"{family}, level {MAIN_LEVEL}")
    levels = table.groupby("method")["level"].transform("nunique")
    if (levels > 1).any():
        yield "fdr", partial(_fdr, table[levels > 1])
    fixed = _fixed_p(usual[usual["method"].isin([*KNOCKOFFS, *RIVALS]) & usual["tpr"].notna()])
    if len(fixed):
        yield "power", partial(_power, fixed)
    timed = at_level(timed[(timed["seeds"] > 0) & timed["method"].isin(TIMED)], MAIN_LEVEL)
    if len(timed):
        yield "speed", partial(_speed, timed)
    listed = ten_means(cells(stores["yardstick"], measured=("tpr", "fdr", "n_selected")))
    if len(listed):
        yield "yardstick", partial(_yardstick, listed)
    real = fold_means(stores["real"])
    if len(real):
        yield "real", partial(_real, real)


def _family(design: str) -> str:
    return FAMILIES.get(design[0], FAMILIES[""])


def _panels(table: Any, title: str) -> Figure:
    """The paper's figure: one column per design, one row per quantity, sizes along x."""
    designs = list(table["design"].unique())
    sizes = sorted(set(zip(table["n"], table["p"], strict=True)))
    rows = {"tpr": "TPR", "fdr": "FDR", "fpr": "FPR", "n_selected": "N", "score": None}
    width = max(1.7, 0.85 * len(sizes))
    size = 2.6 + width * len(designs), 10
    figure, axes = _axes(size, len(rows), len(designs), sharex=True)
    methods = list(table["method"].unique())
    for design, column in zip(designs, axes.T, strict=True):
        column[0].set_title(design)
        part = table[table["design"] == design]
        place = part[["n", "p"]].apply(tuple, axis=1).map(sizes.index)
        for what, ax in zip(rows, column, strict=True):
            _scale(ax, what, DESIGNS[design].target if design in DESIGNS else "continuous")
            _panel(ax, part, what, place, methods)
        if part["tpr"].isna().all():
            column[0].text(0.5, 0.5, "no true features", ha="center", transform=column[0].transAxes)
        _name_places(column, [f"n={n}\np={p}" for n, p in sizes])
    for ax, label in zip(axes[:-1, 0], rows.values(), strict=False):
        ax.set_ylabel(label)
    _legend(figure, methods, title)
    return figure


def _panel(ax: Axes, part: Any, what: str, place: Any, methods: list[str]) -> None:
    """Means beside one another over each place along x; references as lines behind scores."""
    dotted = [name for name in methods if name not in LINES]
    for method, shift in zip(dotted, _shifts(dotted, min(0.42, 0.06 * len(dotted))), strict=True):
        chosen = part["method"] == method
        _dots(ax, place[chosen] + shift, part[chosen], what, method)
    for method in LINES if what in ("score", "accuracy") else ():
        mean, at = part[what][part["method"] == method], place[part["method"] == method]
        ax.hlines(mean, at - 0.5, at + 0.5, linewidth=0.8, zorder=1, **_look(method))


def _name_places(column: Any, labels: list[str]) -> None:
    """Names along x, below panels with a band behind every other place."""
    for ax in column:
        ax.set_xlim(-0.5, len(labels) - 0.5)
        for place in range(0, len(labels), 2):
            ax.axvspan(place - 0.5, place + 0.5, color="#f1f2f4", zorder=0)
    column[-1].set_xticks(range(len(labels)), labels, fontsize=7)


def _scale(ax: Axes, what: str, target: str) -> None:
    if what in ("tpr", "fdr"):
        ax.set_ylim(-0.04, 1.04)
    if what == "fdr":
        ax.axhline(MAIN_LEVEL, color="black", linestyle="--")
    if what == "fpr":  # most are below 0.01, and many 0
        ax.set_yscale("symlog", linthresh=0.001)
        ax.set_yticks([0, 0.001, 0.01, 0.1, 1], ["0", "0.001", "0.01", "0.1", "1"])
        ax.set_ylim(-0.0003, 1)
    if what == "score":
        ax.set_ylabel("accuracy" if target == "classes" else "MSE")
        if target != "classes":
            _plain_log(ax)


def _fdr(table: Any) -> Figure:
    """FDR against the level: thin lines are designs at one p, thick ones their mean."""
    families, ns = table["design"].map(_family), sorted(table["n"].unique())
    names = [name for name in FAMILIES.values() if (families == name).any()]
    methods = list(table["method"].unique())
    size = 2.4 + 2.8 * len(names), 0.6 + 2.6 * len(ns)
    figure, axes = _axes(size, len(ns), len(names), sharex=True, sharey=True)
    for i, n in enumerate(ns):
        for j, name in enumerate(names):
            ax, part = axes[i, j], table[(families == name) & (table["n"] == n)]
            ax.set_title(f"{name}, n={n}")
            top = table["level"].max()
            ax.plot([0, top], [0, top], color="black", linestyle="--")
            for method, shift in zip(methods, _shifts(methods, 0.006), strict=True):
                _level_lines(ax, part[part["method"] == method], method, shift)
    figure.supxlabel("level")
    figure.supylabel("FDR")
    _legend(figure, methods, "thin: one design and p\nthick: their mean")
    return figure


def _level_lines(ax: Axes, part: Any, method: str, shift: float) -> None:
    for _, cell in part.groupby(["design", "p"]):
        ax.plot(cell["level"], cell["fdr"], color=_look(method)["color"], alpha=0.3, linewidth=0.6)
    mean = pooled(part, ["level"], ["fdr"])
    _dots(ax, mean["level"] + shift, mean, "fdr", method, line="-")


def _fixed_p(table: Any) -> Any:
    """The rows of the p at which most designs have several n, and of these designs."""
    ns = table.groupby(["design", "p"])["n"].transform("nunique")
    several = table[ns > 1]
    designs = several.groupby("p")["design"].nunique()
    return several[several["p"] == designs.idxmax()] if len(designs) else several


def _power(table: Any) -> Figure:
    """TPR against n, one panel per design; hollow where the FDR is above the level."""
    designs, ns = list(table["design"].unique()), sorted(table["n"].unique())
    methods = list(table["method"].unique())
    n_columns = min(6, len(designs))
    n_rows = -(-len(designs) // n_columns)
    size = 2.6 + 1.9 * n_columns, 0.8 + 2.1 * n_rows
    figure, axes = _axes(size, n_rows, n_columns, sharey=True)
    for ax in axes.flat[len(designs) :]:
        ax.set_axis_off()
    for ax, design in zip(axes.flat, designs, strict=False):
        ax.set_title(design)
        ax.set_ylim(-0.04, 1.04)
        ax.set_xscale("log")
        ax.set_xticks(ns, [str(n) for n in ns])
        ax.xaxis.set_minor_locator(NullLocator())
        for method, shift in zip(methods, _shifts(methods, 0.12), strict=True):
            part = table[(table["design"] == design) & (table["method"] == method)]
            _dots(ax, part["n"] * (1 + shift), part, "tpr", method, line="-")
            false = part[part["fdr"] > MAIN_LEVEL]
            hollow = {**_look(method), "markerfacecolor": "white", "markeredgewidth": 0.8}
            ax.plot(false["n"] * (1 + shift), false["tpr"], linestyle="none", zorder=4, **hollow)
    figure.supxlabel("n")
    figure.supylabel("TPR")
    _legend(figure, methods, f"p = {table['p'].iloc[0]}\nhollow: FDR above {MAIN_LEVEL}")
    return figure


def _speed(table: Any) -> Figure:
    """Seconds and memory against p, one row of panels per n."""
    ns, methods = sorted(table["n"].unique()), list(table["method"].unique())
    table = pooled(table, ["n", "p", "method"], ["seconds", "megabytes"])  # over designs
    table["megabytes"] = table["megabytes"].clip(lower=1)
    figure, axes = _axes((9, 0.6 + 3 * len(ns)), len(ns), 2, sharex=True, sharey="col")
    labels = {"seconds": "seconds", "megabytes": "megabytes (1 if less)"}
    for n, row in zip(ns, axes, strict=True):
        for (what, label), ax in zip(labels.items(), row, strict=True):
            ax.set_title(f"n={n}")
            ax.set_xscale("log")
            _plain_log(ax)
            ax.set_ylabel(label)
            for method in methods:
                part = table[(table["n"] == n) & (table["method"] == method)]
                _dots(ax, part["p"], part, what, method, line="-")
    figure.supxlabel("p")
    _legend(figure, methods)
    return figure


def _yardstick(table: Any) -> Figure:
    """TPR, and FDR beside it, over sizes; one row per level, so that a page can show it large."""
    levels, sizes = sorted(table["level"].unique()), table[["n", "p"]].drop_duplicates()
    places = [tuple(size) for size in sizes.to_numpy().tolist()]
    methods = list(table["method"].unique())
    size = 1.2 + 2 * 0.65 * len(places), 0.6 + 2 * len(levels)
    figure, axes = _axes(size, len(levels), 2, sharex=True, sharey=True)
    for level, row in zip(levels, axes, strict=True):
        part = table[table["level"] == level]
        place = part[["n", "p"]].apply(tuple, axis=1).map(places.index)
        row[0].set_ylabel(f"level {level}")
        row[1].axhline(level, color="black", linestyle="--")
        for what, ax in zip(("tpr", "fdr"), row, strict=True):
            ax.set_ylim(-0.04, 1.04)
            _panel(ax, part, what, place, methods)
    for column, title in zip(axes.T, ("TPR", "FDR"), strict=True):
        column[0].set_title(title)
        _name_places(column, [f"n={n}\np={p}" for n, p in places])
    _legend(figure, methods, "means over ten designs")
    return figure


def _real(table: Any) -> Figure:
    """Accuracy, and number of features below it, data sets beside one another."""
    datasets, methods = list(table["dataset"].unique()), list(table["method"].unique())
    figure, axes = _axes((2.6 + 1.1 * len(datasets), 5), 2, 1, sharex=True)
    for ax, what in zip(axes.flat, ("accuracy", "n_selected"), strict=True):
        ax.set_ylabel("N" if what == "n_selected" else what)
        _panel(ax, table, what, table["dataset"].map(datasets.index), methods)
    axes[1, 0].set_ylim(bottom=0)
    _name_places(axes[:, 0], datasets)
    _legend(figure, methods)
    return figure


def _axes(
    size: tuple[float, float], n_rows: int, n_columns: int, **shared: Any
) -> tuple[Figure, Any]:
    figure = Figure(size, layout="constrained")
    return figure, figure.subplots(n_rows, n_columns, squeeze=False, **shared)


def _dots(ax: Axes, x: Any, table: Any, what: str, method: str, line: str = "none") -> None:
    """Means with standard errors."""
    mean, se = np.asarray(table[what]), np.asarray(table[f"{what}_se"])
    # on a log axis a bar looks as long below as above, and does not reach 0
    below = se * mean / (mean + se) if ax.get_yscale() == "log" else se
    # all bars in one line with gaps: those of `errorbar` make larger files
    ends = np.column_stack([mean - below, mean + se, np.full_like(mean, np.nan)]).ravel()
    look = _look(method)
    ax.plot(np.repeat(x, 3), ends, color=look["color"])
    ax.plot(x, mean, linestyle=line, **look)


def _look(method: str) -> dict[str, Any]:
    """How a method looks, whether its rule is strict or relaxed."""
    if method in LINES:
        return {"color": GREY, "linestyle": LINES[method]}
    looks = {**VARIANTS, **RIVALS}
    colour, marker = looks.get(method.removesuffix(RELAXED), ("black", "."))
    return {"color": colour, "marker": marker, "markersize": 6.5 if marker == "*" else 4}


def _shifts(methods: list[str], most: float) -> Any:
    """How far aside each method is drawn, so that dots do not hide one another."""
    return np.linspace(-most, most, len(methods)) if len(methods) > 1 else np.zeros(len(methods))


def _plain_log(ax: Axes) -> None:
    """A log axis along y, with ticks written out as numbers."""
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


def _legend(figure: Figure, methods: list[str], title: str = "") -> None:
    looks = {name: {"linestyle": "none"} | _look(name) for name in methods}
    handles = [Line2D([], [], label=name, **look) for name, look in looks.items()]
    figure.legend(handles=handles, loc="outside right upper", title=title, alignment="left")
