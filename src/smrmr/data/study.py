"""Defines Study: features, target and what is adjusted for, of the same samples, checked once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Integral

import numpy as np

from ..problems import Problem, setting
from ..settings import check_choice
from ..types import Data, Indices, Matrix
from .columns import Columns, as_columns
from .coordinates import read_coordinates
from .covariate_terms import choose_terms
from .covariates import AdjustedColumns, Covariates, in_parts, no_covariates, read_covariates
from .messages import named, position_of, quoted, refuse_other_rows
from .row_groups import (
    INDEPENDENT_ROWS,
    RowGroups,
    features_vary_within,
    group_means,
    mean_columns,
    read_row_groups,
    vary_within,
    warn_if_constant,
    warn_if_few,
)
from .suspicious import warn_about_index, warn_about_repeated_ids, warn_about_target
from .target import Target, as_outputs, as_target, columns_of, kind_of, take_rows

MAX_VALUES = 2**22  # of features whose dependence on covariates is asked; of more a part is read
MAX_COVARIATES = 1 / 3  # share of the rows that covariates may take up


@dataclass(frozen=True, eq=False)
class Study:
    """Features and target of the same samples, what is adjusted for, and groups of rows.

    `coordinates` say where rows are, in time or space, (n, d).
    """

    columns: Columns
    target: Target
    covariates: Covariates | None = None
    row_groups: RowGroups = INDEPENDENT_ROWS
    always_kept: Indices = field(default_factory=lambda: np.empty(0, np.intp))  # and adjusted for
    of_interest: Indices | None = None  # features that are tested, None for all
    coordinates: Matrix | None = None
    partners: Indices | None = None  # features, then covariates, that others may act together with

    def take(self, rows: Indices | None = None, columns: Indices | None = None) -> Study:
        """The chosen rows and columns."""
        if rows is None:
            return replace(self, columns=self.columns.take(None, columns))
        return Study(
            self.columns.take(rows, columns),
            take_rows(self.target, rows),
            self.covariates and self.covariates.take(rows),
            self.row_groups.take(rows),
            self.always_kept,
            self.of_interest,
            None if self.coordinates is None else self.coordinates[rows],
            self.partners,
        )

    @cached_property
    def adjustment(self) -> Covariates:
        """All that is adjusted for: covariates, and groups where rows are compared within them."""
        covariates = (
            no_covariates(self.target.n_rows) if self.covariates is None else self.covariates
        )
        return self.row_groups.joined(covariates)

    @property
    def derived_target(self) -> Target:
        """The target, with values that come from comparing rows computed from these rows."""
        return kind_of(self.target).derive_values(self.target, self.adjustment.basis)

    def adjusting_for(self, more: Covariates) -> Study:
        """The same with more covariates."""
        return replace(self, covariates=self.covariates.joined(more) if self.covariates else more)


def read_study(
    X: Data,
    y: Data,
    target: str = "auto",
    *,
    covariates: Data = None,
    groups: Data = None,
    aggregate: str | None = None,
    coordinates: Data = None,
    always_keep: Sequence[str | int] | None = None,
    only: Sequence[str | int] | None = None,
    partners: str | Sequence[str | int] | None = "all",
) -> Study:
    """Check features, target, covariates, groups and places of rows: all have the same rows.

    Examples
    --------
    >>> import numpy as np
    >>> study = read_study(np.random.default_rng(0).normal(size=(30, 4)), ["ill", "well"] * 15)
    >>> study.columns.n_columns, study.target.labels
    (4, ('ill', 'well'))
    """
    study = Study(as_columns(X), as_target(y, target))
    kind_of(study.target).check(study.target)
    refuse_other_rows(study.columns.n_rows, "y", study.target.n_rows)
    several = covariates if isinstance(covariates, Mapping) else {}
    each = {f"covariates[{name!r}]": column for name, column in several.items()}
    warn_about_index(
        X, {"y": y, "covariates": covariates, **each, "groups": groups, "coordinates": coordinates}
    )
    if study.columns.in_memory:
        warn_about_target(study.columns.found_by, study.target.as_given, study.target.nominal)
    if coordinates is not None:
        study = replace(study, coordinates=read_coordinates(coordinates, study.columns.n_rows))
    if covariates is not None:
        study = study.adjusting_for(read_covariates(covariates, study.columns.n_rows))
    if groups is not None:
        study = in_groups(study, read_row_groups(groups, study.columns.n_rows), aggregate)
    elif aggregate is not None:
        raise Problem(
            f"{setting('aggregate')} needs {setting('groups')}: which rows belong together."
        )
    elif study.columns.in_memory:
        warn_about_repeated_ids(study.columns.found_by)
    refuse_same(study)
    study = _keeping(study, always_keep or ())
    study = study if only is None else _asking_about(study, only)
    study = _with_partners(study, partners)
    refuse_explained(study)
    return with_target(study, replace(study.target, name=_name_of(y)))


def with_target(study: Study, target: Target) -> Study:
    """The same features with this target; what depends on it is derived anew."""
    study = with_terms(replace(study, target=target))
    return replace(study, target=study.derived_target)


def with_terms(study: Study) -> Study:
    """The study, adjusted for waves and products of its covariates where these matter.

    They are chosen by its own rows, whatever was chosen before.
    """
    if study.covariates is None:
        return study
    plain = replace(study, covariates=replace(study.covariates, terms=()))
    columns = study.columns
    asked = np.flatnonzero(~columns.nominal)
    asked = asked[:: 1 + len(asked) * columns.n_rows // MAX_VALUES]
    terms = choose_terms(
        study.covariates,
        plain.adjustment.basis,
        columns_of(plain.derived_target).values,
        columns.read(asked).T.astype(np.float64),
    )
    return replace(study, covariates=replace(study.covariates, terms=terms))


def _name_of(y: Data) -> str:
    """The name of a column of a table, as text; arrays have none."""
    is_column = type(y).__module__.split(".")[0] in ("pandas", "polars")
    name = getattr(y, "name", None) if is_column else None
    return name if isinstance(name, str) else ""


def in_groups(study: Study, codes: Indices, aggregate: str | None = None) -> Study:
    """A study whose rows can be taken for independent.

    Where target or features are the same for all rows of a group, groups are what was sampled:
    the study is one of their means. Elsewhere rows are compared within groups: what differs between
    groups is adjusted for.
    """
    check_choice("aggregate", aggregate, (None, "mean"))
    n_rows, n_groups = len(codes), int(codes.max()) + 1
    if n_groups == n_rows:
        return study
    kind, values, covariates = kind_of(study.target), study.target.values, study.covariates
    varies = kind.within_groups and vary_within(values, codes)
    if aggregate is None and varies and features_vary_within(study.columns, codes):
        _refuse_constant_outputs(study.target, codes)
        warn_if_constant(values, codes)
        return replace(study, row_groups=RowGroups("within", n_groups, codes))
    warn_if_few(n_groups, n_rows)
    if covariates is not None:
        covariates = replace(covariates, design=group_means(covariates.design, codes))
    places = study.coordinates
    return Study(
        mean_columns(study.columns, codes),
        kind.mean(study.target, codes),
        covariates,
        RowGroups("means", n_groups),
        coordinates=None if places is None else group_means(places, codes),
    )


def _refuse_constant_outputs(target: Target, codes: Indices) -> None:
    """Refuse outputs that rows of a group do not differ in, beside others that they do."""
    outputs = columns_of(target)
    named_values = zip(outputs.names, outputs.values, strict=True)
    same = [name for name, values in named_values if not vary_within(values, codes)]
    if target.several and same:
        raise Problem(
            f"rows are compared within groups, and {quoted(same)} of y are the same for all rows "
            "of each group.",
            f"Ask about them apart from the others, or use {setting('aggregate', 'mean')}.",
        )


def _keeping(study: Study, always_keep: Sequence[str | int]) -> Study:
    """Features that are always kept become covariates."""
    if not len(always_keep):
        return study
    columns, kept = study.columns, positions_of(study.columns, always_keep, "always_keep")
    values = columns.read(kept)
    given = {
        columns.name(k): column.astype(str) if columns.nominal[k] else column
        for k, column in zip(kept, values.T, strict=True)
    }
    study = study.adjusting_for(read_covariates(given, columns.n_rows))
    return replace(study, always_kept=kept)


def _asking_about(study: Study, only: Sequence[str | int]) -> Study:
    """Features of interest are tested; all others are adjusted for."""
    of_interest = positions_of(study.columns, only, "only")
    if not len(of_interest):
        raise Problem(
            f"{setting('only', only)} names no feature.", cure="Name one, or leave it out."
        )
    if both := [study.columns.name(k) for k in np.intersect1d(of_interest, study.always_kept)]:
        raise Problem(
            f"{setting('only')} and {setting('always_keep')} both name {quoted(both)}.",
            "What is kept is adjusted for and not tested.",
            cure="Leave it out of one of them.",
        )
    return replace(study, of_interest=of_interest)


def _with_partners(study: Study, partners: str | Sequence[str | int] | None) -> Study:
    """What features may act together with: all features and covariates, some, or nothing."""
    if isinstance(partners, str) and partners == "all":
        return study
    if partners is None or (isinstance(partners, str) and partners == "none"):
        return replace(study, partners=np.empty(0, np.intp))
    found = positions_of(study.columns, partners, "partners", study.covariates)
    if not len(found):
        raise Problem(
            f"{setting('partners', partners)} names no partner.",
            cure=f"Name features or covariates, or use {setting('partners', 'none')}.",
        )
    kept = study.always_kept
    if len(kept) and study.covariates is not None:  # these are the last covariates, in order
        first = study.columns.n_columns + len(study.covariates.names) - len(kept)
        found = np.where(np.isin(found, kept), first + np.searchsorted(kept, found), found)
    return replace(study, partners=np.unique(found))


def positions_of(
    columns: Columns,
    features: Sequence[str | int],
    argument: str,
    covariates: Covariates | None = None,
) -> Indices:
    """Positions of features by their names or positions, in order; `argument` gave them.

    Covariates, if any may be named, follow after the last feature.
    """
    asked = [features] if isinstance(features, str | Integral) else list(features)
    if any(isinstance(one, bool | np.bool_) for one in asked):  # 0 and 1 are positions
        raise Problem(f"{setting(argument)} is a mask.", "Names or positions are needed.")
    names = [columns.name(k) for k in range(columns.n_columns)]
    place = {name: k for k, name in reversed([*enumerate(names)])}  # the first of each name
    what = "feature"
    if covariates is not None:
        place |= {name: len(names) + k for k, name in enumerate(covariates.names)}
        names, what = [*names, *covariates.names], "feature or covariate"
    numbers = [k for k in asked if isinstance(k, Integral) and 0 <= k < len(names)]
    clear = {k: int(k) for k in numbers if place.get(str(k), k) == k}  # names of no other feature
    known = place | clear
    found = [
        known[one] if one in known else position_of(one, names, argument, what) for one in asked
    ]
    return np.unique(found).astype(np.intp)


def adjusted(study: Study, parts: Sequence[Indices]) -> Study:
    """Residuals of features and target given covariates, in each part of the rows alone.

    So no part uses rows of another one, nor do its terms. The target becomes its columns of
    numbers. Without covariates a study stays as it is, but for values that come from comparing
    rows.
    """
    if not study.adjustment.names and study.target.derived_from is None:
        return study
    parts = [rows for rows in parts if len(rows)]
    pieces = [study.take(rows) for rows in parts]
    if len(parts) > 1:
        pieces = [with_terms(piece) for piece in pieces]
    target = _derived_within(study.target, pieces, parts)
    if not study.adjustment.names:
        return replace(study, target=target)
    given = in_parts([piece.adjustment for piece in pieces], parts)
    left = as_outputs(columns_of(target).values)
    left = replace(left, values=np.ascontiguousarray(given.residuals(left.values.T).T))
    source = AdjustedColumns(study.columns, given)
    data = source.read(slice(None)) if study.columns.in_memory else source
    return replace(study, columns=replace(study.columns, data=data), target=left, covariates=None)


def _derived_within(target: Target, pieces: Sequence[Study], parts: Sequence[Indices]) -> Target:
    """The target, of which each part of the rows has been derived from its own rows alone."""
    if target.derived_from is None:
        return target
    values = target.values.copy()
    for piece, rows in zip(pieces, parts, strict=True):
        values[rows] = piece.derived_target.values
    return replace(target, values=values)


def refuse_same(study: Study) -> None:
    """Refuse covariates that are features as well."""
    for name, feature in study.adjustment.equal_to(study.columns):
        raise Problem(
            f"covariate {name} is the feature {feature}.",
            cure="Leave it out of one of them: what is adjusted for cannot be selected.",
        )


def refuse_explained(study: Study) -> None:
    """Refuse covariates that explain the target completely, or that take up most rows."""
    given, target, groups = study.adjustment, study.target, study.row_groups
    columns = {"y": target.values.reshape(target.n_rows, -1)}
    if target.nominal:
        classes = columns_of(target)
        columns = {
            f"class {name!r}": values[:, None]
            for name, values in zip(classes.names, classes.values, strict=True)
        }
    for what, values in columns.items():
        if explained := given.explaining(values):
            raise Problem(
                f"covariates {quoted(explained)} explain {what} completely, so that no feature is "
                "associated with it given them.",
                cure="Leave them out, or choose another target.",
            )
    # groups take up rows by design
    taken_by_groups = groups.n_groups - 1 if groups.comparison == "within" else 0
    if study.covariates is not None:
        taken, n_rows = len(given.basis) - taken_by_groups, study.columns.n_rows - taken_by_groups
        if taken > MAX_COVARIATES * n_rows:
            raise Problem(
                f"covariates {named(study.covariates.names)} take up {taken} of {n_rows} rows: a "
                "number takes 5, a category its levels but one.",
                f"Use fewer, merge rare levels, or give what repeats as {setting('groups')}.",
            )
