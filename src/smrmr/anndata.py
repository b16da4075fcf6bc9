"""Selects features of an AnnData object, and writes p-values and selection into it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from . import pipeline
from .conditional.evidence import ConditionalEvidence
from .data.columns import Columns
from .data.messages import did_you_mean, named, quoted, refuse_repeated
from .data.sources import as_source, subset
from .recipe import MoreSettings, Recipe, as_recipe
from .report.words import say
from .selection import Selection
from .selection.conditional import in_shown_order
from .selection.layers import LAYERS
from .settings import parse_bytes
from .types import Indices, Progress, pd

__all__ = ["select"]

# columns of tables, as far as a selection has them
WRITTEN = (
    *("p_value", "W", "q_value", "direction", "partner"),
    *("higher_in", "lower_in", "rising_outputs", "falling_outputs"),
    *("p_value_alone", "q_value_alone", "direction_alone", "effect_alone"),
    *("higher_in_alone", "lower_in_alone", "rising_outputs_alone", "falling_outputs_alone"),
)
EVERY_COLUMN = ("selected", *LAYERS, *WRITTEN, "group")
COPIES = 3  # of a sparse matrix on disk that must fit the budget for it to be read whole


def select(
    adata: Any,
    target: str | Sequence[str],
    *,
    covariates: str | Sequence[str] = (),
    groups: str | None = None,
    aggregate: str | None = None,
    coordinates: str | Sequence[str] = (),
    layer: str | None = None,
    use_raw: bool = False,
    recipe: Recipe | None = None,
    rng: int | Generator | None = None,
    key_added: str = "smrmr",
    copy: bool = False,
    progress: Progress | bool | None = None,
    check: Mapping[str, Any] | None = None,
    **settings: Unpack[MoreSettings],
) -> Selection | Any:
    """Select features of an AnnData object that are associated with a column of its obs.

    Sparse matrices stay sparse and a backed file is read in blocks, unless its matrix is small
    against ``recipe.max_memory``. The tests work on ranks of all features, eight bytes per value.

    Parameters
    ----------
    adata
        Samples or cells in rows; a view becomes data of its own when it is written to, as ever.
    target
        The target: a column of obs, or a feature, which then is not tested itself.
        Several names are several outputs, or event and time with ``Recipe(target="survival")``.
    covariates
        Columns of obs, or features, to adjust for.
    groups
        Column of obs that says which rows belong together, such as a donor.
    aggregate
        ``"mean"`` compares groups by their means in any case.
    coordinates
        Columns of obs, or features, that say where rows are, see `smrmr.select`.
    layer
        A layer to use instead of X.
    use_raw
        Use the matrix of ``adata.raw``.
    recipe, rng, progress
        As in `smrmr.select`.
    key_added
        Under which name the answer is written, in place of ``smrmr``: two questions, two names.
        What an earlier answer of this name wrote is replaced.
    copy
        Write into a copy, and return it.
    check
        Arguments of `smrmr.check`, such as ``{"minutes": 5}``: level and power are measured too.
    **settings
        Settings of `Recipe` but for `target`, such as ``fdr=0.2``; they win over those of `recipe`.

    Returns
    -------
    Selection or AnnData
        The `smrmr.Selection`, or with `copy` the copy. Into ``var`` (``raw.var`` with `use_raw`) go
        ``smrmr_selected``, ``smrmr_p_value`` (of knockoffs ``smrmr_W``), ``smrmr_q_value``; a
        column per layer of the answer, ``smrmr_associated`` (alone), ``smrmr_own``, ``smrmr_pairs``
        and ``smrmr_panel``; what is known of features alone, in columns that end in ``_alone``; of
        tests ``smrmr_direction``, ``smrmr_partner`` (what the effect of a feature depends on, if
        such a pair is selected) and, where look-alikes were tested together, ``smrmr_group``, the
        selected feature that a feature was found with. Of more than two classes ``smrmr_higher_in``
        and ``smrmr_lower_in`` name those that a selected feature is higher or lower in (of several
        outputs ``smrmr_rising_outputs`` and ``smrmr_falling_outputs``). ``uns["smrmr"]`` says how
        it was done; its ``"markers"`` are, by class, the features that are higher in it, best
        first, as `Selection.markers` has them, and ``"markers_alone"`` those that are when each is
        looked at alone; its ``"pairs"`` are the table of pairs that act together, as
        `Selection.pairs` has them. With `check` its ``"check"`` says what was measured, and
        ``"check_power"`` and ``"check_levels"`` are tables of it. A slash in the name of a class
        becomes a bar, for names in files cannot hold it.

    Raises
    ------
    TypeError
        If `adata` is no AnnData object, or there is no such setting.
    ValueError
        If there is no such column, layer or raw matrix, a column of obs has missing values, names
        of features repeat, or a copy or view of a file on disk would have to be written to.

    Examples
    --------
    >>> import anndata, numpy as np, scipy.sparse, smrmr
    >>> counts = np.random.default_rng(0).poisson(1, (120, 30)).astype(float)
    >>> adata = anndata.AnnData(scipy.sparse.csr_matrix(counts))
    >>> adata.obs["label"] = np.where(counts[:, 3] > 1, "ill", "well")
    >>> found = smrmr.anndata.select(adata, "label")
    >>> adata.var_names[adata.var["smrmr_selected"]].tolist()
    ['3']
    """
    _check(adata, copy)
    adata = adata.copy() if copy else adata
    recipe = as_recipe(recipe, settings)
    features, names = _matrix(adata, layer, use_raw, parse_bytes(recipe.max_memory))
    outputs = [target] if isinstance(target, str) else list(target)
    beside = [covariates] if isinstance(covariates, str) else list(covariates)
    places = [coordinates] if isinstance(coordinates, str) else list(coordinates)
    asked = {"target": outputs, "covariates": beside, "groups": [groups] if groups else []}
    asked |= {"coordinates": places}
    known = {
        what: {name: _column(adata, features, names, name, what) for name in wanted}
        for what, wanted in asked.items()
    }
    used = {name for part in known.values() for name in part if name not in adata.obs}
    left = np.array([k for k, name in enumerate(names) if name not in used], dtype=np.intp)
    features = subset(features, None, left) if used else features
    if isinstance(features, np.ndarray):
        features = pd.DataFrame(features, columns=[names[k] for k in left], copy=False)
    y = known["target"]
    values = y[outputs[0]] if len(y) == 1 else pd.DataFrame(y)
    of_rows: dict[str, Any] = {
        "covariates": known["covariates"] or None,
        "groups": known["groups"][groups] if groups else None,
        "aggregate": aggregate,
        "progress": progress,
    }
    found = pipeline.select(
        features,
        values,
        recipe,
        rng,
        coordinates=pd.DataFrame(known["coordinates"]) if places else None,
        **of_rows,
    )
    if check is not None:
        found = found.check(features, values, recipe, **of_rows, **check)
    found = replace(found, source={"target column": " and ".join(outputs), **found.source})
    if adata.is_view:
        adata.var = adata.var.copy()  # by which it becomes data of its own
    values_of = _columns(found, left, len(names))
    columns = {f"{key_added}_{name}": value for name, value in values_of.items()}
    about = adata.raw.var if use_raw else adata.var
    earlier = about.columns.intersection([f"{key_added}_{name}" for name in EVERY_COLUMN])
    if use_raw:
        for name in earlier:
            del about[name]
        about[list(columns)] = pd.DataFrame(columns, about.index)
    else:
        adata.var = about.drop(columns=earlier).assign(**columns)
    adata.uns[key_added] = _account(found) | {
        "target": " and ".join(outputs),
        "covariates": np.array(beside, dtype=object),
        "groups": groups or "",
        "matrix": "raw" if use_raw else layer or "X",
    }
    return adata if copy else found


def _check(adata: Any, copy: bool) -> None:
    if isinstance(getattr(adata, "mod", None), Mapping):
        names = list(adata.mod)
        raise TypeError(
            f"adata is a MuData object of modalities {quoted(names)}, and one of them is needed: "
            f"adata[{names[0]!r}]. Columns of its obs that are of all modalities are copied by "
            "adata.push_obs()."
        )
    if not all(hasattr(adata, part) for part in ("obs", "var", "uns", "layers")):
        raise TypeError(
            f"adata is a {type(adata).__name__}, and an AnnData object is needed, such as "
            'anndata.read_h5ad(path) gives (pip install "smrmr[files]").'
        )
    if adata.isbacked and (copy or adata.is_view):
        what = "a copy of a file" if copy else "a view of a file"
        raise ValueError(
            f"{what} cannot be written to. Call adata.to_memory() first, or select from the whole "
            "file without copy."
        )


def _matrix(
    adata: Any, layer: str | None, use_raw: bool, max_memory: int
) -> tuple[Any, tuple[str, ...]]:
    """The matrix that was requested, an array or a source, and the names of its columns.

    Sparse ones of a file are read whole if they are small.
    """
    if use_raw and (layer is not None or adata.raw is None):
        what = "layer and use_raw name two matrices" if layer else "adata has no raw"
        raise ValueError(f"{what}. Use X, a layer, or use_raw where there is one.")
    if layer is not None and layer not in adata.layers:
        raise ValueError(f"adata has no layer {layer!r}.{did_you_mean(layer, adata.layers)}")
    holder = adata.raw if use_raw else adata
    X = holder.X if layer is None else adata.layers[layer]
    if X is None:
        raise ValueError(f"adata has no X. Name a layer: it has {named(adata.layers) or 'none'}.")
    names = tuple(map(str, holder.var_names))
    refuse_repeated(names, "features (adata.var_names_make_unique() names them apart)")
    if hasattr(X, "to_memory"):  # a sparse matrix that has not been read
        n_bytes = sum(X.group[part].nbytes for part in ("data", "indices"))
        X = X.to_memory() if COPIES * n_bytes <= max_memory else X
    source: Any = as_source(X)
    return np.asarray(X) if source is None else replace(source, names=names), names


def _column(adata: Any, features: Any, names: tuple[str, ...], name: str, what: str) -> Any:
    """A column of obs, or a feature."""
    if name in adata.obs:
        column = adata.obs[name]
    elif name in names:
        column = Columns.bare(features).read(np.array([names.index(name)]))[:, 0]
    else:
        known = did_you_mean(name, [*adata.obs.columns, *names])
        raise ValueError(f"{what} {name!r} is neither a column of obs nor a feature.{known}")
    gaps = int(np.sum(column.isna())) if hasattr(column, "isna") else 0
    if gaps:
        raise ValueError(
            f"{what} {name!r} is missing in {gaps} of {adata.n_obs} rows. Leave these out: "
            f"adata[adata.obs[{name!r}].notna()].copy()"
        )
    return column


def _columns(found: Selection, left: Indices, n: int) -> dict[str, Any]:
    """What goes into var, by name; features that were not tested have no numbers."""

    def spread(values: NDArray[Any], otherwise: Any) -> NDArray[Any]:
        out = np.full(n, otherwise, dtype=values.dtype)
        out[left] = values
        return out

    table = found.table_columns()
    columns: dict[str, Any] = {"selected": spread(found.support, False)}
    columns["associated"] = spread(found.associated, False)
    for name in sorted(set(LAYERS) - {"associated", "signals"}):
        own = np.isin(np.arange(found.n_features), found.layer(name).features)
        columns[name] = spread(own, False)
    for name in WRITTEN:
        if name in table:
            text = table[name].dtype.kind == "O"
            values = spread(table[name], "" if text else np.nan)
            columns[name] = pd.Categorical(values) if text else values
    if found.grouped or found.copies:
        groups = [found.names[k] if k >= 0 else "" for k in found.found_with]
        columns["group"] = pd.Categorical(spread(np.array(groups, dtype=object), ""))
    return columns


def _account(found: Selection) -> dict[str, Any]:
    """How it was done, in what files of AnnData can hold."""
    settings = {name: value for name, value in found.settings.items() if value is not None}
    plain = bool | int | float | str
    return {
        "level": found.fdr,
        "rule": found.decision.rule,
        "selected": np.array(found.selected_names, dtype=object),
        "statement": str(found),
        "methods": say(found, "methods"),
        "settings": {k: v if isinstance(v, plain) else json.dumps(v) for k, v in settings.items()},
        "versions": found.versions,
        "n_rows": found.n_rows,
        "n_features": found.n_features,
        "pairs": found.findings("pairs"),
        **_markers(found),
        **_check_of(found),
    }


def _check_of(found: Selection) -> dict[str, Any]:
    """What was measured on the table, in words and as tables; nothing if it was not."""
    checked = found.table_check
    if checked is None:
        return {}
    tables = {"check_power": checked.to_frame(), "check_levels": checked.levels()}
    return {"check": str(checked), **tables}


def _markers(found: Selection) -> dict[str, Any]:
    """By class, the features that are higher in it, smallest p-value first: given others, alone."""
    labels = found.plot_data.labels
    if not labels:
        return {}
    tables = {"markers_alone": found.markers("associated")}
    if isinstance(found.evidence, ConditionalEvidence):
        tables["markers"] = found.markers()
    return {name: _by_class(found, table) for name, table in tables.items()}


def _by_class(found: Selection, table: Any) -> dict[str, NDArray[Any]]:
    higher, labels = table[table["direction"] == "higher"], found.plot_data.labels
    by_class = {}
    for label in (labels[i] for i in in_shown_order(found, labels)):
        own = higher["feature"][higher["class"] == label]
        by_class[label.replace("/", "|")] = own.to_numpy(dtype=object)
    return by_class
