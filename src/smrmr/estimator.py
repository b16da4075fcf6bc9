"""What every selector of this package shares as a scikit-learn estimator."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from .data.columns import Columns, refuse_text
from .data.frames import in_pandas, is_frame
from .data.sources import as_source, is_sparse
from .data.study import Study, read_study
from .settings import change_strategy, nested_settings
from .types import Data, Mask


class Selector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Reads X and y as scikit-learn expects it, and answers `get_support` from `support_`.

    Settings of strategies are reached by nested names, such as ``control__penalty__b``, whether
    the strategy was given as an object or by its name.
    """

    support_: Mask
    _strategies: ClassVar[dict[str, Callable[[Any], Any]]] = {}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name.

        Parameters
        ----------
        deep
            Also those of strategies, by names such as ``control__rule``.

        Returns
        -------
        dict
            Values by name.
        """
        params: dict[str, Any] = super().get_params(deep=False)
        for name, read in self._strategies.items() if deep else ():
            with suppress(ValueError):  # a wrong setting is an error of `fit`
                inner = nested_settings(read(params[name]))
                params |= {f"{name}__{key}": value for key, value in inner.items()}
        return params

    def set_params(self, **params: Any) -> Any:
        """Set parameters, also nested ones.

        Parameters
        ----------
        **params
            Values by name, as `get_params` gives them.

        Returns
        -------
        Selector
            The selector itself.

        Raises
        ------
        ValueError
            If there is no such parameter.
        """
        nested: dict[str, dict[str, Any]] = {}
        for key in list(params):
            name, _, rest = key.partition("__")
            if rest and name in self._strategies:
                nested.setdefault(name, {})[rest] = params.pop(key)
        super().set_params(**params)
        for name, changes in nested.items():
            strategy = self._strategies[name](getattr(self, name))
            setattr(self, name, change_strategy(strategy, changes))
        return self

    def _read(self, X: Data, y: Data, target: str, **beside: Data) -> Study:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        X = in_pandas(X)
        names = getattr(X, "columns", None)
        self._labels = None if names is None else list(names)
        X = _with_text_labels(X)
        source = as_source(X)
        if source is not None or is_frame(X):  # may hold what scikit-learn would refuse
            X = X if source is None else source
            validate_data(self, X, skip_check_array=True)
        else:
            refuse_text(X)  # by name, which scikit-learn does not
            # missing values are left to as_columns, whose message names the columns
            X = validate_data(
                self, X, dtype="numeric", ensure_min_samples=4, ensure_all_finite=False
            )
        study = read_study(X, y, target, **beside)
        if names is not None:  # scikit-learn hands on other frames as bare arrays
            named = replace(study.columns, names=tuple(map(str, names)))
            study = replace(study, columns=named)
        return study

    def transform(self, X: Data) -> Any:
        """Keep the selected features.

        Sparse matrices keep their format and tables with categories their library; of sources the
        features are read. All else becomes an array, or what `set_output` asks for.

        Parameters
        ----------
        X
            Data with the columns of `fit`, in the same order.

        Returns
        -------
        ndarray, sparse matrix or table
            The columns that were selected.

        Raises
        ------
        ValueError
            If X has other columns than in `fit`.
        sklearn.exceptions.NotFittedError
            If `fit` was not called before.
        """
        if is_sparse(X):
            return super().transform(X).asformat(X.format)
        if (source := as_source(X)) is not None:
            validate_data(self, source, reset=False, skip_check_array=True)
            return Columns.bare(source).read(np.flatnonzero(self.get_support()))
        given = in_pandas(X)
        table = _with_text_labels(given)
        if is_frame(table) and "category" in map(str, table.dtypes):
            validate_data(self, table, reset=False, skip_check_array=True)
            kept = np.flatnonzero(self.get_support())
            if given is X or _get_output_config("transform", self)["dense"] != "default":
                return given.iloc[:, kept]
            return X.select([given.columns[k] for k in kept])  # as polars and pyarrow say it
        with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn adds up all of X
            kept = super().transform(table)
        # numbers beside booleans are objects to scikit-learn
        objects = isinstance(kept, np.ndarray) and kept.dtype.kind == "O"
        return kept.astype(np.float64) if objects else kept

    def get_feature_names_out(self, input_features: Data = None) -> NDArray[Any]:
        """Names of the selected features; labels of pandas that are no text stay as they are.

        Parameters
        ----------
        input_features
            Names of all features, which may only be those of `fit`; arrays have none.

        Returns
        -------
        ndarray
            Names, in the order of X.

        Raises
        ------
        ValueError
            If other names are given than in `fit`.
        sklearn.exceptions.NotFittedError
            If `fit` was not called before.
        """
        check_is_fitted(self)
        labels = getattr(self, "_labels", None)
        if input_features is not None or labels is None or _are_texts(labels):
            return np.asarray(super().get_feature_names_out(input_features))
        kept = np.empty(int(self.support_.sum()), dtype=object)  # labels may be tuples
        kept[:] = [label for label, is_kept in zip(labels, self.support_, strict=True) if is_kept]
        return kept

    def _get_support_mask(self) -> Mask:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.string = False
        tags.input_tags.sparse = True
        return tags


def _are_texts(labels: Sequence[Any]) -> bool:
    return all(isinstance(label, str) for label in labels)


def _with_text_labels(X: Data) -> Data:
    """A table with labels of several types as one whose labels are text, as scikit-learn needs."""
    if not is_frame(X) or len({type(label) for label in getattr(X, "columns", ())}) < 2:
        return X
    return X.set_axis([str(label) for label in X.columns], axis=1)
