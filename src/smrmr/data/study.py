"""Defines Study: features, target and what is adjusted for, of the same samples, checked once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ..problems import Problem, setting
from ..settings import check_choice
from ..types import Data, Indices
from .columns import Columns, as_columns
from .covariates import AdjustedColumns, Covariates, no_covariates, read_covariates
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
from .suspicious import warn_about_index, warn_about_repeated_ids, warn_about_repeats
from .target import Target, as_outputs, as_target, columns_of, kind_of, take_rows

MAX_COVARIATES = 1 / 3  # share of the rows that covariates may take up


@dataclass(frozen=True, eq=False)
class Study:
    """Features and target of the same samples, what is adjusted for, and groups of rows."""

    columns: Columns
    target: Target
    covariates: Covariates | None = None
    row_groups: RowGroups = INDEPENDENT_ROWS
    always_kept: Indices = field(default_factory=lambda: np.empty(0, np.intp))  # and adjusted for

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
    always_keep: Sequence[str | int] | None = None,
) -> Study:
    """Check features, target, covariates and groups of rows, and that all have the same rows.

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
    warn_about_index(X, {"y": y, "covariates": covariates, **each, "groups": groups})
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
        warn_about_repeats(study.columns.data.shape, study.columns.read)
    refuse_same(study)
    study = _keeping(study, always_keep or ())
    refuse_explained(study)
    return replace(study, target=replace(study.derived_target, name=_name_of(y)))


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
        warn_if_constant(values, codes)
        return replace(study, row_groups=RowGroups("within", n_groups, codes))
    warn_if_few(n_groups, n_rows)
    if covariates is not None:
        covariates = replace(covariates, design=group_means(covariates.design, codes))
    return Study(
        mean_columns(study.columns, codes),
        kind.mean(study.target, codes),
        covariates,
        RowGroups("means", n_groups),
    )


def _keeping(study: Study, always_keep: Sequence[str | int]) -> Study:
    """Features that are always kept become covariates."""
    if not len(always_keep):
        return study
    asked = [always_keep] if isinstance(always_keep, str) else list(always_keep)
    columns = study.columns
    names = [columns.name(k) for k in range(columns.n_columns)]
    kept = np.unique([position_of(name, names, "always_keep") for name in asked])
    values = columns.read(kept)
    given = {
        names[k]: column.astype(str) if columns.nominal[k] else column
        for k, column in zip(kept, values.T, strict=True)
    }
    study = study.adjusting_for(read_covariates(given, columns.n_rows))
    return replace(study, always_kept=kept)


def adjusted(study: Study, parts: Sequence[Indices]) -> Study:
    """Residuals of features and target given covariates, in each part of the rows alone.

    So no part uses rows of another one. The target becomes its columns of numbers. Without
    covariates a study stays as it is, but for values that come from comparing rows.
    """
    target, given = _derived_within(study, parts), study.adjustment
    if not given.names:
        return replace(study, target=target)
    given = given.per_part(parts)
    left = as_outputs(columns_of(target).values)
    left = replace(left, values=np.ascontiguousarray(given.residuals(left.values.T).T))
    source = AdjustedColumns(study.columns, given)
    data = source.read(slice(None)) if study.columns.in_memory else source
    return replace(study, columns=replace(study.columns, data=data), target=left, covariates=None)


def _derived_within(study: Study, parts: Sequence[Indices]) -> Target:
    """The target, of which each part of the rows has been derived from its own rows alone."""
    target = study.target
    if target.derived_from is None:
        return target
    values = target.values.copy()
    for rows in filter(len, parts):
        values[rows] = study.take(rows).derived_target.values
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
