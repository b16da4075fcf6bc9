"""Defines Study: features, target and what is adjusted for, of the same samples, checked once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..settings import check_choice
from ..types import Data, Indices
from .columns import Columns, as_columns
from .covariates import AdjustedColumns, Covariates, category, read_covariates, refuse_too_many
from .messages import position_of, quoted
from .row_groups import (
    INDEPENDENT_ROWS,
    ROW_GROUPS,
    RowGroups,
    features_vary_within,
    mean_columns,
    mean_covariates,
    mean_target,
    read_row_groups,
    vary_within,
    warn_if_constant,
    warn_if_few,
)
from .suspicious import warn_about_index, warn_about_repeated_ids, warn_about_repeats
from .target import Target, as_target, check_same_rows, recomputed, take_rows


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
            None if self.covariates is None else self.covariates.take(rows),
            self.row_groups.take(rows),
            self.always_kept,
        )

    def adjusting_for(self, more: Covariates) -> Study:
        """The same with more covariates."""
        known = self.covariates
        return replace(self, covariates=more if known is None else known.joined(more))


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
    check_same_rows(study.columns, study.target)
    several = covariates if isinstance(covariates, Mapping) else {}
    each = {f"covariates[{name!r}]": column for name, column in several.items()}
    warn_about_index(X, {"y": y, "covariates": covariates, **each, "groups": groups})
    if covariates is not None:
        study = study.adjusting_for(read_covariates(covariates, study.columns.n_rows))
    if groups is not None:
        study = in_groups(study, read_row_groups(groups, study.columns.n_rows), aggregate)
    elif aggregate is not None:
        raise ValueError("aggregate needs groups: say which rows belong together.")
    elif study.columns.in_memory:
        columns = study.columns
        warn_about_repeated_ids(columns.pieces(), columns.nominal, columns.name)
        warn_about_repeats((columns.n_rows, columns.n_columns), columns.read)
    refuse_same(study)
    study = _keeping(study, always_keep or ())
    refuse_explained(study)
    basis = None if study.covariates is None else study.covariates.basis
    named = replace(recomputed(study.target, basis), name=_name_of(y))
    return replace(study, target=named)


def _name_of(y: Data) -> str:
    """The name of a column of a table, as text; arrays have none."""
    is_column = type(y).__module__.split(".")[0] in ("pandas", "polars")
    name = getattr(y, "name", None) if is_column else None
    return name if isinstance(name, str) else ""


def in_groups(study: Study, codes: Indices, aggregate: str | None = None) -> Study:
    """A study whose rows can be taken for independent.

    Where target or features are the same for all rows of a group, groups are what was sampled:
    the study is one of their means. Elsewhere rows are compared within groups: what differs between
    groups is adjusted for, as by a covariate.
    """
    check_choice("aggregate", aggregate, (None, "mean"))
    n_rows, n_groups = len(codes), int(codes.max()) + 1
    if n_groups == n_rows:
        return study
    told_within = study.target.survival is None and vary_within(study.target.values, codes)
    if aggregate is None and told_within and features_vary_within(study.columns, codes):
        warn_if_constant(study.target.values, codes)
        given = category(ROW_GROUPS, codes.astype(np.float64))
        return replace(study.adjusting_for(given), row_groups=RowGroups("within", n_groups, codes))
    warn_if_few(n_groups, n_rows)
    covariates = study.covariates
    return Study(
        mean_columns(study.columns, codes),
        mean_target(study.target, codes),
        None if covariates is None else mean_covariates(covariates, codes),
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
    given = read_covariates(
        {
            names[k]: column.astype(str) if columns.nominal[k] else column
            for k, column in zip(kept, values.T, strict=True)
        },
        columns.n_rows,
    )
    return replace(study.adjusting_for(given), always_kept=kept)


def adjusted(study: Study, parts: Sequence[Indices]) -> Study:
    """What covariates leave of features and target, as numbers, in each part of the rows alone.

    So no part knows anything of another one. Classes become an indicator each, of two only the
    second. Without covariates a study stays as it is, but for targets that compare rows: those of
    survival, and ranks of stages.
    """
    covariates, target = study.covariates, _within_parts(study, parts)
    if covariates is None:
        return replace(study, target=target)
    covariates = covariates.per_part(parts)
    values = target.values
    if target.kind == "classes":
        values = np.equal.outer(values, np.arange(len(target.labels))).astype(np.float64)
        values = values[:, 1] if len(target.labels) == 2 else values
    kind = "continuous" if values.ndim == 1 else "multi-output"
    left = Target(kind, np.ascontiguousarray(covariates.residuals(values.T).T))
    source = AdjustedColumns(study.columns, covariates)
    data = source.read(slice(None)) if study.columns.in_memory else source
    return replace(study, columns=replace(study.columns, data=data), target=left, covariates=None)


def _within_parts(study: Study, parts: Sequence[Indices]) -> Target:
    """The target, of which each part of the rows has been computed from its own rows alone."""
    target = study.target
    if not target.stands_for:
        return target
    values = target.values.copy()
    for rows in filter(len, parts):
        part = study.take(rows)
        basis = None if part.covariates is None else part.covariates.basis
        values[rows] = recomputed(part.target, basis).values
    return replace(target, values=values)


def refuse_same(study: Study) -> None:
    """Refuse covariates that are features as well."""
    same = () if study.covariates is None else study.covariates.equal_to(study.columns)
    for name, feature in same:
        raise ValueError(
            f"covariate {name} is the feature {feature}. Leave it out of X, or of the covariates: "
            "what is adjusted for cannot be selected."
        )


def refuse_explained(study: Study) -> None:
    """Refuse covariates that leave nothing of the target, or that take up most rows."""
    covariates, target = study.covariates, study.target
    if covariates is None:
        return
    columns = {"y": target.values.reshape(target.n_rows, -1)}
    if target.kind == "classes":
        columns = {
            f"class {label!r}": target.values[:, None] == code
            for code, label in enumerate(target.labels)
        }
    for what, values in columns.items():
        if explained := covariates.explaining(values):
            raise ValueError(
                f"covariates {quoted(explained)} explain {what} completely: what is left of it is "
                "the same for all rows, so no feature can tell anything beyond. Leave them out, or "
                "ask about another target."
            )
    taken, n_rows = len(covariates.basis), study.columns.n_rows
    if study.row_groups.comparison == "within":  # groups take up rows by design
        taken, n_rows = (
            taken - study.row_groups.n_groups + 1,
            n_rows - study.row_groups.n_groups + 1,
        )
    refuse_too_many(covariates.names, taken, n_rows)
