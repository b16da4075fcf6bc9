"""Offers SmRMR, the method as one scikit-learn selector."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .controllers import as_control
from .data.frames import in_pandas
from .data.impute import CHANGED, CHOICES, Imputer
from .data.sources import as_source, is_sparse
from .docstrings import taking_over
from .estimator import Selector
from .paper import KnockoffFilter
from .pipeline import select_cached
from .problems import Problem, setting, warn
from .recipe import Recipe
from .runs.progress import progress_bars
from .selection import Selection
from .selection.layers import LAYERS, Layer
from .settings import check_choice
from .types import Data, Indices, Vector

logger = logging.getLogger(__name__)

FILLING = ("refuse", *CHOICES[3:])


@taking_over(Recipe)
@dataclass(eq=False, repr=False)
class SmRMR(Selector):
    r"""Sparse minimum redundancy maximum relevance, with a controlled false discovery rate.

    Every feature is tested given all others: its residual is compared with that of the target, and
    p-values become a selection by Benjamini-Hochberg; see `ConditionalTests`. That the share of
    false features stays within `fdr` is empirical.

    ``control="knockoffs"`` and ``"paper"`` are the paper's way (section 5.1, Theorem 3). Features
    are screened on some rows; on the others every kept feature gets a knockoff, a synthetic copy
    that correlates with all others as the original does but is independent of the target given the
    features. Features and knockoffs compete in one penalised mRMR problem, and features that beat
    their knockoff by enough are selected. The expected share of false features among them is at
    most `fdr`, given that the screen kept every true feature, that knockoffs are exchangeable with
    features, and that rows are independent.

    Single settings of `control` can be reached by names such as ``control__rule``, of
    knockoffs ``control__screening__share`` and so on, in grid searches too. Where no feature was
    selected `transform` warns, says what to do, and returns no columns.

    Parameters
    ----------
    answer
        The layer of the answer that `transform` keeps: ``"signals"`` (features and groups that add
        to all others), ``"associated"`` (features that depend on the target, each alone), ``"own"``
        (single features that add to all others, look-alikes among these), ``"pairs"`` (features
        that act together with another one or with a covariate) or ``"panel"`` (few, relevant, not
        redundant, to predict with). All of them are in `selection_`.
    n_features
        Take so many features of that layer, best first, whatever the level, and without guarantee;
        of the panel, whose size is otherwise chosen by cross-validation, this is the size.
    keep
        What `transform` keeps of a selected group: its ``"representative"``, or ``"all"`` members.
    missing
        What to do about missing values of X: ``"refuse"``, or fill each column with what its known
        values in `fit` give: ``"impute-median"``, ``"impute-mean"`` or ``"impute-mode"``;
        `transform` fills with the same values.
    memory
        Folder, or `joblib.Memory`, that keeps fits. A fit that differs from one in it by `fdr`,
        `on_empty`, `n_features` or `keep` alone is read and decided again, so that a grid search
        over levels costs one fit per fold. It holds what `selection_` does and is yours to delete.
    random_state
        Seed; the same seed gives the same answer, whatever `n_jobs`, for rows and columns in the
        same order.
    verbose
        1 shows a progress bar for each stage.

    Attributes
    ----------
    selection_
        The whole `Selection`: what became of all features, ``at(fdr=...)``, ``explain(...)``.
    support_, selected_
        Mask and positions (best first) of the features that `transform` keeps.
    pvalues_, q_values_, scores_
        Of every feature in the layer that `answer` names: its p-value (of knockoffs NaN), the
        smallest level that selects it, and what features are ranked by. Importances of knockoffs
        are the property `W_`.

    Examples
    --------
    Of these 12 features 0 and 5 are true:

    >>> from smrmr import SmRMR, simulate
    >>> data = simulate("1.a", n=80, p=12, random_state=2)
    >>> selector = SmRMR().fit(data.X, data.y)
    >>> selector.transform(data.X).shape, selector.get_support(indices=True).tolist()
    ((80, 2), [0, 5])

    Another level needs no other fit, and single settings are reached by their names:

    >>> len(selector.selection_.at(fdr=0.01).selected)
    2
    >>> SmRMR(control="knockoffs").set_params(control__measure="hsic").control.measure.alias
    'hsic'
    """

    _strategies: ClassVar[dict[str, Callable[[Any], Any]]] = {"control": as_control}

    fdr: float = 0.1
    _: KW_ONLY
    answer: str = "signals"
    control: Any = "auto"
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
    keep: str = "representative"
    missing: str = "refuse"
    keep_data: bool = False
    max_memory: str | int = "1GB"
    memory: Any = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    @classmethod
    def paper(
        cls,
        fdr: float = 0.1,
        *,
        measure: Any = "pc(anchors=all)",
        penalty: Any = "mcp",
        **settings: Any,
    ) -> SmRMR:
        """The paper's pipeline, whatever the defaults become; see `KnockoffFilter.paper`.

        Parameters
        ----------
        fdr
            Largest expected share of false features among those selected. The paper's experiments
            used 0.3.
        measure, penalty
            Those of `KnockoffFilter`.
        **settings
            Other parameters of `SmRMR`, such as ``random_state``.

        Returns
        -------
        SmRMR
            A selector that is not fitted yet.
        """
        return cls(fdr, control=KnockoffFilter.paper(measure=measure, penalty=penalty), **settings)

    def fit(
        self,
        X: Data,
        y: Data,
        *,
        covariates: Data = None,
        groups: Data = None,
        aggregate: str | None = None,
        coordinates: Data = None,
        **unknown: Any,
    ) -> SmRMR:
        """Select features of X that are associated with y.

        Parameters
        ----------
        X, y
            Features and target.
        covariates
            What to adjust for and never select: a DataFrame, a mapping of names to columns or an
            array, of numbers and labels.
        groups
            What rows belong to, such as a patient, plate or family, see `smrmr.select`.
        aggregate
            ``"mean"``: compare groups by their means whatever y and X are.
        coordinates
            Where rows are, in time or space, see `smrmr.select`.
        **unknown
            Refused; ``sample_weight`` with the reason.

        Returns
        -------
        SmRMR
            The selector itself, with `selection_` and the other attributes of the class.

        Raises
        ------
        ValueError
            If a setting is not possible, X or y has missing values or text, or rows do not match;
            the message names columns and says what to change.
        TypeError
            If there is another keyword argument.
        """
        if "sample_weight" in unknown:
            raise ValueError(
                "sample_weight is not supported: the level of the tests rests on rows that count "
                "once each. Leave it out; rows that belong together are groups."
            )
        if unknown:
            raise TypeError(f"fit() got an unexpected keyword argument {next(iter(unknown))!r}")
        check_choice("answer", self.answer, tuple(LAYERS))
        check_choice("keep", self.keep, ("representative", "all"))
        check_choice("missing", self.missing, FILLING)
        X = self._filled(X, learn=True)
        recipe = self._recipe()
        beside = {"covariates": covariates, "groups": groups, "aggregate": aggregate}
        beside |= {"coordinates": coordinates, "always_keep": self.always_keep, "only": self.only}
        beside |= {"partners": self.partners}
        study = self._read(X, y, self.target, **beside)
        if logger.isEnabledFor(logging.INFO):
            # takes longer to load than a small fit takes
            from .report.words import detectable_effect

            logger.info(detectable_effect(recipe, study.columns.n_columns))
        with progress_bars() if self.verbose else nullcontext() as progress:
            found = select_cached(study, recipe, self.random_state, progress, self.memory)
        if self.missing != "refuse":
            filled = f"missing values filled with the column {self.missing.removeprefix('impute-')}"
            found = replace(found, source={**found.source, CHANGED: filled})
        self.selection_: Selection = found
        layer = found.layer(self.answer)
        self.selected_: Indices = self._kept(layer)
        kept = np.concatenate([self.selected_, found.always_kept])
        self.support_ = np.isin(np.arange(found.n_features), kept)
        self.pvalues_: Vector = layer.p_values
        self.q_values_: Vector = layer.q_values
        self.scores_: Vector = layer.scores
        return self

    def _recipe(self) -> Recipe:
        """What to do; a number of features is one of signals, or of the layer that is kept."""
        settings = {f.name: getattr(self, f.name) for f in fields(Recipe)}
        if self.answer != "signals":
            settings["n_features"] = None
        if self.answer == "panel":
            size = self.panel_size if self.n_features is None else self.n_features
            settings |= {"panel_size": size, "accuracy": self.accuracy or size is None}
        return Recipe(**settings)

    def _kept(self, layer: Layer) -> Indices:
        """Features of the layer, or all members of their groups; as many as were requested."""
        found, features = self.selection_, layer.features
        if self.n_features is not None and layer.name in ("associated", "own", "pairs"):
            order = np.lexsort((-found.relevance[layer.tested], layer.p_values[layer.tested]))
            features = layer.tested[order][: self.n_features]
        if self.keep == "representative":
            return features
        groups = found.members
        if layer.name != "signals":
            groups = tuple(np.flatnonzero(found.leaders == k) for k in features)
        return np.concatenate([np.empty(0, np.intp), *groups])

    def transform(self, X: Data) -> Any:
        """Keep the selected features and those always kept, missing values filled as in `fit`.

        Parameters
        ----------
        X
            Data with the columns of `fit`, in the same order.

        Returns
        -------
        ndarray, sparse matrix or table
            The columns that were selected; without any where nothing was, with a warning that says
            what to do.

        Raises
        ------
        ValueError
            If nothing was selected and `on_empty` is ``"raise"``. If X has other columns than in
            `fit`.
        """
        check_is_fitted(self)
        if self.support_.any():
            return super().transform(self._filled(X))
        from .report import statement  # takes longer to load than a small fit takes

        why = statement(self.selection_, name_near_misses=False)
        said = (
            f"no feature was selected, so that no column is left. {why} What to do: "
            'on_empty="best", or a number for n_features, keeps the best, without guarantee; '
            "print(selector.selection_) names near misses."
        )
        if self.on_empty == "raise":
            raise ValueError(said)
        warn(said)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "No features were selected")  # says the same, briefly
            return super().transform(self._filled(X))

    def _filled(self, X: Data, learn: bool = False) -> Data:
        """X without missing values, if they are to be filled."""
        if self.missing == "refuse":
            return X
        X = in_pandas(X)
        if is_sparse(X) or as_source(X) is not None:
            raise Problem(
                f"{setting('missing', self.missing)} fills arrays and tables.",
                "Sparse matrices must have no missing values; of a source that is read in blocks, "
                "say so when it is opened, by `open_columns`.",
            )
        if learn:
            self.imputer_ = Imputer.learned(X, self.missing)
        elif np.shape(X)[1:] != (self.n_features_in_,):
            return X  # which scikit-learn refuses with its own message
        return self.imputer_.fill(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "refuse"
        return tags

    @property
    def W_(self) -> Vector:  # noqa: N802 the paper's letter
        """Importance of every feature, of knockoffs alone."""
        return self.selection_.W
