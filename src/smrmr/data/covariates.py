"""Turns what users pass as covariates into columns that are adjusted for and never selected."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtri

from ..problems import Problem, setting, warn
from ..types import Data, Indices, Matrix, Vector, pd
from .columns import Columns, codes_by_appearance
from .frames import in_pandas
from .messages import named, quoted, refuse_missing, refuse_other_rows
from .ranks import average_ranks, settled
from .scaling import SAME, unit_columns, unit_scale
from .sources import Which

FEW_VALUES = 5  # a covariate of no more is taken level by level
KNOTS = (-1.0, 0.0, 1.0)  # of the linear spline of a number, in normal scores
ROUNDING = 1e-7  # of a column's length, up to which its residual is rounding alone
MAX_SPLINE_SHARE = 1 / 5  # of the rows that covariates may take up before numbers become lines
LEVELS_APART = 2.0  # distance of two levels of a category, in standard deviations over root 2


@dataclass(frozen=True, eq=False)
class Term:
    """Columns that span one more effect of a covariate, or a joint one of several.

    `owners` are the covariates by number: of one it is a wave, of several a product.
    """

    owners: tuple[int, ...]
    columns: Matrix


@dataclass(frozen=True, eq=False)
class Covariates:
    """Covariates of the samples: their names, and columns that span their effects.

    `design` has a row per sample: a number is a line and a spline, a category an indicator per
    level. `owners` says which covariate each column belongs to, `levels` which level, empty for
    columns of a number. `terms` are waves and products that were found to matter.
    """

    names: tuple[str, ...]
    design: Matrix
    owners: Indices
    levels: tuple[str, ...]
    terms: tuple[Term, ...] = ()

    @property
    def columns(self) -> Matrix:
        """Columns of the design and of the terms."""
        return np.hstack([self.design, *(term.columns for term in self.terms)])

    @cached_property
    def basis(self) -> Matrix:
        """Orthonormal rows that span the columns but for a constant, (c, n)."""
        return _orthonormal(self.columns)[0]

    @property
    def form(self) -> str:
        """In which form they are adjusted for, in words."""
        kinds: dict[str, list[str]] = {"splines": [], "straight lines": [], "indicators": []}
        for k, name in enumerate(self.names):
            part = self.design[:, self.owners == k]
            line = "straight lines" if part.shape[1] == 1 else "splines"
            kinds[line if is_number(part) else "indicators"].append(name)
        known = {term.owners: [self.names[k] for k in term.owners] for term in self.terms}
        kinds["waves"] = [name for names in known.values() if len(names) == 1 for name in names]
        products = [" x ".join(names) for names in known.values() if len(names) > 1]
        kinds["products"] = sorted(products)
        return "; ".join(f"{kind} of {named(of)}" for kind, of in kinds.items() if of)

    @property
    def categories(self) -> Indices:
        """Numbers of those that are taken level by level."""
        parts = (self.design[:, self.owners == k] for k in range(len(self.names)))
        return np.array([k for k, part in enumerate(parts) if not is_number(part)], dtype=np.intp)

    @property
    def only_levels(self) -> bool:
        """Whether nothing of them can be left: one covariate, with an indicator for each level."""
        return len(self.names) == 1 and len(self.categories) == 1

    @property
    def coordinates(self) -> Matrix:
        """Where rows lie by their covariates: normal scores of numbers, indicators of levels."""
        columns, owners = self.one_by_one
        numbers = [is_number(self.design[:, self.owners == k]) for k in owners]
        return np.where(numbers, columns, LEVELS_APART * columns)

    @property
    def one_by_one(self) -> tuple[Matrix, Indices]:
        """Normal scores of numbers and indicators of levels; the covariate of each column."""
        parts = [self.design[:, self.owners == k] for k in range(len(self.names))]
        places = [normal_places(part[:, :1]) if is_number(part) else part for part in parts]
        sizes = [part.shape[1] for part in places]
        return np.hstack(places), np.repeat(np.arange(len(parts)), sizes)

    def residuals(self, values: Matrix) -> Matrix:
        """Residuals of rows of values given the covariates."""
        return np.asarray(values - (values @ self.basis.T) @ self.basis)

    def explaining(self, values: Matrix) -> list[str]:
        """Names of covariates of which one, or all together, explain columns completely."""
        scaled = unit_scale(values.T)
        centred = scaled - scaled.mean(axis=1, keepdims=True)
        for k, name in enumerate(self.names):
            if _is_explained(centred, _orthonormal(self.design[:, self.owners == k])[0]):
                return [name]
        return list(self.names) if self.names and _is_explained(centred, self.basis) else []

    def equal_to(self, columns: Columns) -> Iterator[tuple[str, str]]:
        """Pairs of a covariate and a feature that are the same up to scale.

        The features of a file are compared by their names alone, for they are not read here.
        """
        if not self.names:
            return
        if not columns.in_memory:
            known = {columns.name(k) for k in range(columns.n_columns)}
            yield from ((name, name) for name in self.names if name in known)
            return
        mine = unit_columns(self.design)
        for start, values in columns.pieces():
            same = np.argwhere(np.abs(mine.T @ unit_columns(values)) > 1 - SAME)
            yield from ((self.names[self.owners[i]], columns.name(start + int(j))) for i, j in same)

    def take(self, rows: Indices) -> Covariates:
        """The chosen rows."""
        return self._mapped(lambda columns: columns[rows])

    def joined(self, other: Covariates) -> Covariates:
        """These and others."""
        before = len(self.names)
        return Covariates(
            self.names + other.names,
            np.hstack([self.design, other.design]),
            np.concatenate([self.owners, before + other.owners]),
            self.levels + other.levels,
            (
                *self.terms,
                *(Term(tuple(before + k for k in t.owners), t.columns) for t in other.terms),
            ),
        )

    def _mapped(self, change: Callable[[Matrix], Matrix]) -> Covariates:
        """The same after a change of all columns."""
        terms = tuple(Term(term.owners, change(term.columns)) for term in self.terms)
        return replace(self, design=change(self.design), terms=terms)


@dataclass(frozen=True, eq=False)
class AdjustedColumns:
    """A source of the residuals of columns given covariates, computed when read."""

    columns: Columns
    covariates: Covariates

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.columns.n_rows, self.columns.n_columns

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns, if they have any."""
        return self.columns.names or getattr(self.columns.data, "names", None)

    def read(self, columns: Which) -> Matrix:
        """Residuals of some columns."""
        values = self.columns.read(columns).astype(np.float64)
        return np.ascontiguousarray(self.covariates.residuals(values.T).T)


def read_covariates(given: Data, n_rows: int) -> Covariates:
    """Check covariates: a DataFrame, a mapping of names to columns, or an array.

    Numbers, labels and categories. What adds nothing to the others is named in a warning.

    Examples
    --------
    >>> found = read_covariates({"age": range(20, 60), "batch": list("ab") * 20}, 40)
    >>> found.names, found.design.shape, found.levels[-2:]
    (('age', 'batch'), (40, 7), ('a', 'b'))
    """
    if names := _only_names(given):
        raise Problem(
            f"{setting('covariates')} is {quoted(names)}.",
            f"Give the columns themselves, such as covariates=table[{names!r}], and leave them out "
            "of X.",
        )
    columns = _named_columns(given)
    if not columns:
        raise Problem(
            f"{setting('covariates')} has no column.",
            cure="Leave it out if there is nothing to adjust for.",
        )
    for name, values in columns.items():
        refuse_other_rows(n_rows, f"covariate {name}", len(values))
    parts = [_design(name, values) for name, values in columns.items()]
    designs = [design for design, _ in parts]
    if sum(design.shape[1] for design in designs) > MAX_SPLINE_SHARE * n_rows:
        curved = [name for name, d in zip(columns, designs, strict=True) if is_number(d)]
        designs = [design[:, :1] if is_number(design) else design for design in designs]
        if curved:
            warn(
                f"there are many covariates for {n_rows} rows, so {quoted(curved)} are adjusted "
                "for as straight lines, without splines but where these are seen to matter."
            )
    owners = np.repeat(np.arange(len(designs)), [design.shape[1] for design in designs])
    levels = tuple(
        level
        for design, (_, names) in zip(designs, parts, strict=True)
        for level in names[: design.shape[1]]
    )
    found = Covariates(tuple(columns), np.hstack(designs), owners, levels)
    added = _orthonormal(found.design)[1]
    idle = [name for k, name in enumerate(columns) if (added[owners == k] <= ROUNDING).all()]
    if idle:
        warn(
            f"covariates {quoted(idle)} add nothing to the ones before them, which carry the same "
            "information."
        )
    return found


def _only_names(given: Data) -> list[str]:
    """Names where columns are needed; a list of labels is a covariate if it has a row each."""
    given = [given] if isinstance(given, str) else given
    alone = isinstance(given, list | tuple) and all(isinstance(name, str) for name in given)
    return [*given] if alone and len({*given}) == len(given) else []


def in_parts(found: Sequence[Covariates], parts: Sequence[Indices]) -> Covariates:
    """The covariates of parts of the rows together, with effects of their own in each part."""
    n_rows = sum(len(rows) for rows in parts)
    designs = []
    for given, rows in zip(found, parts, strict=True):
        own = np.zeros((n_rows, given.columns.shape[1]))
        own[rows] = given.columns - given.columns.mean(axis=0)
        designs.append(own)
    design = np.hstack(designs)
    n_columns = design.shape[1]
    return Covariates(found[0].names, design, np.zeros(n_columns, np.intp), ("",) * n_columns)


def no_covariates(n_rows: int) -> Covariates:
    """Nothing to adjust for."""
    return Covariates((), np.empty((n_rows, 0)), np.empty(0, np.intp), ())


def category(name: str, codes: Vector | Indices) -> Covariates:
    """One covariate that is taken level by level, its levels named by their codes."""
    levels = np.unique(codes)
    design = np.equal.outer(codes, levels).astype(np.float64)
    names = tuple(f"{level:.4g}" for level in levels)
    return Covariates((name,), design, np.zeros(len(levels), np.intp), names)


def _named_columns(given: Data) -> dict[str, Any]:
    if isinstance(given, Mapping):
        return {str(name): in_pandas(values) for name, values in given.items()}
    given = in_pandas(given)
    if not hasattr(given, "iloc"):
        values = np.asarray(given)
        if values.ndim not in (1, 2):
            raise Problem(
                f"{setting('covariates')} is {given!r}, or has no rows and columns.",
                "Give the columns themselves, such as covariates=table[['age', 'batch']], and "
                "leave them out of X.",
            )
        if not values.size:
            return {}
        given = pd.DataFrame(values).add_prefix("covariate ")
        given.columns = given.columns if values.ndim == 2 else ["covariate"]
    elif not hasattr(given, "columns"):
        given = given.to_frame("covariate" if given.name is None else given.name)
    return {str(name): given.iloc[:, k] for k, name in enumerate(given.columns)}


def _design(name: str, column: Any) -> tuple[Matrix, tuple[str, ...]]:
    """Columns that span what a covariate may do, and the level of each, empty for numbers."""
    series = pd.Series(np.asarray(column, dtype=object) if not hasattr(column, "iloc") else column)
    refuse_missing(series.isna().to_numpy(), f"covariate {name}")
    labelled = str(series.dtype) == "category"
    numbers = None if labelled else pd.to_numeric(series, errors="coerce")
    if numbers is not None and numbers.dtype.kind == "c":
        raise Problem(f"covariate {name} holds complex numbers.", "Give it real ones.")
    if numbers is None or numbers.isna().any() or series.map(type).eq(str).any():
        labels = series.astype(str)
        design, _ = _levels(name, codes_by_appearance(labels.to_numpy())[0])
        return design, tuple(labels.drop_duplicates())
    values = numbers.to_numpy(dtype=np.float64)
    refuse_missing(~np.isfinite(values), f"covariate {name}")
    values = settled(values)
    if len(np.unique(values)) <= FEW_VALUES:
        return _levels(name, values)
    values = unit_scale(values[None])[0]  # squares of large numbers overflow
    scores = normal_places(values)
    spline = [np.maximum(scores - knot, 0.0) for knot in KNOTS]
    columns = [(values - values.mean()) / values.std(), scores, *spline]
    return np.stack(columns, axis=1), ("",) * len(columns)


def normal_places(values: Matrix | Vector) -> Matrix:
    """Normal scores of the ranks down every column."""
    return np.asarray(ndtri((average_ranks(values, axis=0) - 0.5) / len(values)))


def is_number(design: Matrix) -> bool:
    """Whether the columns of a covariate are a line and its spline, not indicators."""
    return not np.isin(design, (0, 1)).all()


def _levels(name: str, codes: Vector) -> tuple[Matrix, tuple[str, ...]]:
    levels = np.unique(codes)
    if len(levels) == 1:
        raise Problem(f"covariate {name} is the same for all samples.", cure="Leave it out.")
    if len(levels) == len(codes):
        raise Problem(
            f"covariate {name} has a level of its own for every sample, so it looks like sample "
            "ids.",
            cure=f"Leave it out; rows that belong together are {setting('groups')}.",
        )
    found = category(name, codes)
    return found.design, found.levels


def _is_explained(centred: Matrix, basis: Matrix) -> bool:
    """Whether the residuals of these rows are all rounding."""
    left = centred - (centred @ basis.T) @ basis
    lengths = np.linalg.norm(centred, axis=1)
    return bool((np.linalg.norm(left, axis=1) <= ROUNDING * lengths).all())


def _orthonormal(design: Matrix) -> tuple[Matrix, Vector]:
    """Orthonormal rows in the span of centred columns, and what each column adds to the first.

    That is the share of its length.
    """
    n, size = design.shape
    rows, n_kept = np.empty((min(size, n), n)), 0
    added = np.zeros(size)
    for k, column in enumerate((design - design.mean(axis=0)).T):
        before = np.linalg.norm(column)
        for _ in range(2):  # twice is enough
            column = column - (rows[:n_kept] @ column) @ rows[:n_kept]
        after = np.linalg.norm(column)
        added[k] = after / before if before > 0 else 0.0
        if added[k] > ROUNDING and n_kept < len(rows):
            rows[n_kept] = column / after
            n_kept += 1
    return rows[:n_kept], added
