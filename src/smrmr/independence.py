"""Asks one question: whether a feature is independent of the target, given others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from .conditional import ConditionalTests
from .conditional.evidence import ConditionalEvidence
from .controllers import as_control
from .data.columns import Columns, as_columns
from .data.frames import frame_of, in_pandas
from .data.messages import named, refuse_other_rows
from .data.study import Study, read_study
from .data.suspicious import warn_about_index
from .features.copies import find_copies
from .features.marginal import correlation_intervals
from .pipeline import weigh_from
from .problems import Problem, setting
from .recipe import Recipe
from .runs.json_values import to_json_value
from .settings import check_level
from .types import Data, Matrix, Vector, pd

LITTLE = 0.1  # share of its own variance below which a column can hardly be tested


@dataclass(frozen=True, eq=False)
class Independence:
    """What one test of independence found; ``str()`` says it in a sentence or two.

    Arrays of two axes have a row for each column of the target (a class, an output) and a column
    for each column of x.

    Attributes
    ----------
    p_value
        That x is independent of y given the others: of all columns of x, and of y, together.
    names, targets
        What the columns of x and of the target are called.
    effects, low, high
        Partial correlations of normal scores, and the ends of their confidence intervals; of a
        category that of its strongest level, without sign and without interval.
    p_by_target
        p-value of each column of x with each column of the target.
    freedom, residual_variance
        For each column of x the degrees of freedom of its partial correlations, and the share of
        its variance that the others do not predict.
    confidence
        Of each interval.
    n_rows, n_given
        Number of rows that were compared, and of other features.
    notes
        What a reader must know, in sentences; empty if all is usual.

    Examples
    --------
    >>> import smrmr
    >>> data = smrmr.simulate("1.a", n=80, p=12, random_state=2)
    >>> found = smrmr.test(data.X[:, 5], data.y, given=data.X[:, :5])
    >>> found.names, found.n_given, found.effects.shape, bool(found.p_value < 0.01)
    (('x',), 5, (1, 1), True)
    """

    p_value: float
    names: tuple[str, ...]
    targets: tuple[str, ...]
    effects: Matrix
    low: Matrix
    high: Matrix
    p_by_target: Matrix
    freedom: Vector
    residual_variance: Vector
    confidence: float
    n_rows: int
    n_given: int
    notes: tuple[str, ...] = ()

    @property
    def effect(self) -> float:
        """The partial correlation; of several the strongest."""
        return float(self.effects[self._strongest])

    @property
    def interval(self) -> tuple[float, float]:
        """Confidence interval of `effect`, which does not allow for its choice from several."""
        return float(self.low[self._strongest]), float(self.high[self._strongest])

    @property
    def _strongest(self) -> tuple[int, int]:
        """Target and column of x whose partial correlation is largest in size."""
        q, k = divmod(int(np.argmax(np.abs(self.effects))), len(self.names))
        return q, k

    def to_frame(self) -> pd.DataFrame:
        """A pandas DataFrame with a row for each column of x and each column of the target."""
        q, k = (places.ravel() for places in np.indices(self.effects.shape))
        return frame_of(
            {
                "feature": [self.names[i] for i in k],
                "target": [self.targets[i] for i in q],
                "effect": self.effects[q, k],
                "effect_low": self.low[q, k],
                "effect_high": self.high[q, k],
                "p_value": self.p_by_target[q, k],
                "freedom": self.freedom[k],
                "residual_variance": self.residual_variance[k],
            }
        )

    def to_json(self) -> str:
        """Everything as JSON; what is unknown is null."""
        content = {
            name: _without_gaps(value) if isinstance(value, np.ndarray) else value
            for name, value in to_json_value(self).items()
        }
        return json.dumps(content, allow_nan=False)

    def __repr__(self) -> str:
        return str(self)  # a prompt and a notebook show sentences

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"

    def __str__(self) -> str:
        q, k = self._strongest
        given, interval, which = "", "", ""
        if self.n_given:
            given = f" given {self.n_given:,} other feature{'s' * (self.n_given > 1)}"
        if not np.isnan(self.low[q, k]):
            low, high = self.interval
            interval = f"{100 * self.confidence:.3g}% interval {low:.2f} to {high:.2f}, "
        if self.effects.size > 1:
            which = f" of {self.names[k]} with {self.targets[q]}, the strongest,"
        said = (
            f"Independence of {named(self.names)} and the target{given}: p = {self.p_value:.2g}. "
            f"The partial correlation{which} is {self.effect:.2f} "
            f"({interval}{self.freedom[k]:.0f} degrees of freedom)."
        )
        return " ".join([said, *self.notes])


def test(
    x: Data,
    y: Data,
    given: Data = None,
    *,
    covariates: Data = None,
    groups: Data = None,
    aggregate: str | None = None,
    target: str = "auto",
    control: str | ConditionalTests = "tests",
    confidence: float = 0.95,
    n_jobs: int | None = None,
) -> Independence:
    r"""Test whether x is independent of y given other features: one question, one p-value.

    It is the test that `select` makes of every feature, :math:`H: Y \perp x \mid Z`, asked once.
    The p-value of ``test(X[:, k], y, given=X without k)`` is that of feature k in
    ``select(X, y, Recipe(alike=None))``; nothing is allowed for other questions.

    Parameters
    ----------
    x
        The feature: a column of numbers or a category. Several columns, as a table or an array, are
        one hypothesis about all of them.
    y
        Target, as in `select`: numbers, classes, stages, survival times, several outputs.
    given
        Other features, (n, p), as `select` takes X; there may be many more than rows. None tests
        x alone.
    covariates, groups, aggregate
        What else to adjust for, and what rows belong to, as in `select`.
    target
        How y is read, as in `Recipe`.
    control
        The tests: a `ConditionalTests`, or text such as ``"tests(statistics=linear)"``.
    confidence
        Of the intervals of partial correlations, in (0, 1).
    n_jobs
        Threads, as in joblib; -1 for all cores.

    Returns
    -------
    Independence
        The p-value, partial correlations with intervals, and what they rest on.

    Raises
    ------
    ValueError
        If x is constant, or a copy of a column of `given`; if rows do not match, or values are
        missing, as in `select`; if `control` is no `ConditionalTests`.

    Notes
    -----
    The partial correlation is that of residuals of normal scores. Principal components of `given`
    that stand out from noise are taken out of both; then x is regressed on the columns most
    correlated with it, by a LASSO, and y comes from a regularised fit to all columns. What these
    fits shrink or miss makes the estimate a little smaller than the partial correlation given all
    features; docs/question.md has how often intervals hold that.

    pytest takes a function of this name for a test: in test modules write ``smrmr.test``, without
    importing the name.

    Examples
    --------
    gene011 correlates with gene010, which drives the response. Alone it looks relevant; given
    gene010 nothing is left of it:

    >>> import numpy as np, smrmr
    >>> rng = np.random.default_rng(0)
    >>> gene010 = rng.normal(size=150)
    >>> gene011 = gene010 + 0.7 * rng.normal(size=150)
    >>> response = gene010 + rng.normal(size=150)
    >>> alone = smrmr.test(gene011, response)
    >>> adjusted = smrmr.test(gene011, response, given=gene010.reshape(-1, 1))
    >>> bool(alone.p_value < 1e-6), bool(adjusted.p_value > 0.05)
    (True, True)
    >>> low, high = adjusted.interval
    >>> low < 0 < high
    True
    """
    check_level(confidence, "confidence")
    columns, n_columns = _side_by_side(x, given)
    warn_about_index(x, {"given": given, "y": y})
    recipe = Recipe(
        control=_as_tests(control),
        target=target,
        alike=None,
        feature_groups=["x"] * n_columns + [None] * (columns.n_columns - n_columns),
        only=range(n_columns),
        n_jobs=n_jobs,
    )
    study = read_study(
        columns,
        y,
        target,
        covariates=covariates,
        groups=groups,
        aggregate=aggregate,
        only=recipe.only,
    )
    _refuse_copies(study.columns, n_columns)
    evidence = weigh_from(study, recipe, None).evidence
    assert isinstance(evidence, ConditionalEvidence)
    return _found(evidence, study, n_columns, confidence)


def _as_tests(control: Any) -> ConditionalTests:
    made = as_control(control)
    if isinstance(made, ConditionalTests):
        return made
    raise Problem(
        f"{setting('control', control)} compares all features, and one is to be tested.",
        cure=f"Use {setting('control', 'tests')}.",
        argument="control",
    )


def _side_by_side(x: Data, given: Data) -> tuple[Columns, int]:
    """Columns of x, then those of the other features, and how many are of x."""
    mine = as_columns(_as_table(in_pandas(x)))
    n = mine.n_columns
    names = mine.names or tuple(f"x{k}" for k in range(n)) if n > 1 else mine.names or ("x",)
    if given is None:
        return Columns(mine.values, names, mine.nominal), n
    others = as_columns(_as_table(in_pandas(given)))
    refuse_other_rows(mine.n_rows, "given", others.n_rows)
    known = others.names or getattr(others.data, "names", None)
    names += tuple(known) if known else tuple(f"z{k}" for k in range(others.n_columns))
    values = np.column_stack([mine.values, others.values])
    return Columns(values, names, np.concatenate([mine.nominal, others.nominal])), n


def _as_table(data: Data) -> Data:
    """A table of one column where a column was given."""
    if hasattr(data, "to_frame") and not hasattr(data, "columns"):
        return data.to_frame("x" if data.name is None else data.name)
    return np.reshape(data, (-1, 1)) if np.ndim(data) == 1 else data


def _refuse_copies(columns: Columns, n: int) -> None:
    """Refuse those of the first n columns that are constant, or copied by the others."""
    copies = find_copies(columns, by_rank=True)
    for k in range(n):
        if copies.constant[k]:
            raise Problem(f"{columns.name(k)} is constant.", "A feature that varies is needed.")
        same = n + np.flatnonzero(copies.leaders[n:] == copies.leaders[k])
        if len(same):
            raise Problem(
                f"{columns.name(k)} has the same order of values as {columns.name(int(same[0]))} "
                f"in {setting('given')}, so that nothing is left of it.",
                cure=f"Leave the latter out of {setting('given')}.",
            )


def _found(evidence: ConditionalEvidence, study: Study, n: int, confidence: float) -> Independence:
    """The evidence about the first n columns, which are one hypothesis."""
    targets = [fit.target for fit in evidence.fits]
    if len(targets) == 1 and study.target.name and not study.target.labels:
        targets = [study.target.name]
    effects, freedom = evidence.effects[0][:, :n], evidence.freedom[:n]
    low, high = correlation_intervals(effects, freedom, confidence)
    unknown = np.isin(np.arange(n), evidence.categories) | (freedom < 1)
    raised = np.isin(np.arange(n), evidence.raised)
    least = np.where(raised, evidence.p_of_members[0][:n], 0.0)
    return Independence(
        p_value=float(evidence.p_of_hypotheses[0]),
        names=tuple(study.columns.name(k) for k in range(n)),
        targets=tuple(f"class {name}" if study.target.labels else name for name in targets),
        effects=effects,
        low=np.where(unknown, np.nan, low),
        high=np.where(unknown, np.nan, high),
        p_by_target=np.maximum(evidence.p_by_target[0][:, :n], least),
        freedom=freedom,
        residual_variance=evidence.residual_variance[:n],
        confidence=confidence,
        n_rows=study.columns.n_rows,
        n_given=study.columns.n_columns - n,
        notes=tuple(_notes(evidence, study.columns, n)),
    )


def _notes(evidence: ConditionalEvidence, columns: Columns, n: int) -> Iterator[str]:
    """What a reader must know of each column."""
    for k in range(n):
        name, own = columns.name(k), evidence.residual_variance[k]
        if own < LITTLE:
            untested = evidence.p_of_members[0][k] == 1
            so = "it cannot be tested" if untested else "the test has little power"
            yield (
                f"Other features predict {name} almost completely "
                f"({100 * (1 - own):.3g}% of its variance), so {so}."
            )
        if k in evidence.raised:
            yield (
                f"The p-value of {name} was raised by a more conservative test, the generalised "
                "covariance measure, because its residual still depends on another feature."
            )


def _without_gaps(values: Any) -> Any:
    """An array as lists, with None for what is unknown."""
    found = values.astype(object)
    found[np.isnan(values)] = None
    return found.tolist()
