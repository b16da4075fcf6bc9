"""Turns importances W into a decision: knockoff+, its relaxed form, q-values, e-values, bounds."""

import numpy as np

from ..decision import ROUNDING, Decision, higher_levels
from ..problems import Problem, setting
from ..settings import as_numbers, check_choice, check_level
from ..types import Data, Indices, Matrix, Vector

ONE_EACH = "One importance per feature is needed, or one row of them per draw."


def knockoff_threshold(W: Data, fdr: float) -> float:
    r"""Smallest cut-off whose estimated false discovery proportion is at most `fdr`.

    .. math:: T(\alpha) = \min\Big\{t \in \{|W_k|\} \setminus \{0\} :
              \frac{1 + \#\{W_k \le -t\}}{\#\{W_k \ge t\} \vee 1} \le \alpha\Big\}

    Paper: section 4, eq. (4.2), label ``threshold``. The leading 1 is the "+" of knockoff+.

    Parameters
    ----------
    W
        Importance of each feature, theta - theta~. Large and positive means signal.
    fdr
        Target false discovery rate, in (0, 1).

    Returns
    -------
    The threshold, or ``inf`` when no cut-off qualifies and nothing can be selected.

    Examples
    --------
    At ``fdr=0.2`` at least five positive statistics are needed, so four are not enough:

    >>> from smrmr.paper.threshold import knockoff_threshold
    >>> W = [4.0, 3.0, 2.0, 1.0, -0.5]
    >>> knockoff_threshold(W, fdr=0.25), knockoff_threshold(W, fdr=0.2)
    (1.0, inf)
    """
    cuts, estimates = _estimated_fdp(as_importances(W))
    return _first_cut(cuts, estimates, check_level(fdr))


def q_values(W: Data) -> Vector:
    """Smallest level at which `knockoff_threshold` selects each feature; 1 where W is not positive.

    ``q_values(W) <= fdr`` and ``W >= knockoff_threshold(W, fdr)`` are the same selection for every
    level below 1, up to the rounding of the level.

    Examples
    --------
    >>> from smrmr.paper.threshold import q_values
    >>> q_values([4.0, 3.0, 2.0, 1.0, -0.5]).tolist()
    [0.25, 0.25, 0.25, 0.25, 1.0]
    """
    W = as_importances(W)
    cuts, estimates = _estimated_fdp(W)
    q = np.ones(len(W))
    positive = W > 0
    smallest = np.minimum.accumulate(estimates)
    q[positive] = np.minimum(smallest[np.searchsorted(cuts, W[positive])], 1.0)
    return q


def decide(
    W: Data,
    fdr: float,
    *,
    on_empty: str = "none",
    relevance: Vector | None = None,
    inner_fdr: float | None = None,
) -> Decision:
    r"""Select by knockoff+; several draws of knockoffs are combined by e-values.

    .. math:: T(\alpha) = \min\Big\{t \in \{|W_k|\} \setminus \{0\} :
              \frac{1 + \#\{W_k \le -t\}}{\#\{W_k \ge t\} \vee 1} \le \alpha\Big\}

    and features with :math:`W_k \ge T` are selected. Paper: section 4, eq. (4.2), label
    ``threshold``; Theorem 3 says when the FDR is controlled. Of several draws, each gives
    :math:`e_k = p\, 1\{W_k \ge T\} / (1 + \#\{W \le -T\})` with T at `inner_fdr`; the mean over
    draws goes to e-BH at level `fdr`, which controls the FDR whatever the dependence between draws
    (Ren and Barber 2024).

    Parameters
    ----------
    W
        Importance of each feature, (p,); of several draws one row per draw, (K, p).
    fdr
        Target false discovery rate, in (0, 1).
    on_empty
        ``"none"``: an empty selection is an answer. ``"relax"`` (SmRMR2 in the paper, for one
        draw): try levels 0.05, 0.10, ... higher, up to 1, then take the feature of largest W. That
        answer carries no guarantee.
    relevance
        Association of each feature with the target; breaks ties between features of largest W.
    inner_fdr
        Level of each of several draws, to be fixed before looking at the data; half of `fdr`
        unless given.

    Returns
    -------
    Decision
        What is selected, with q-values and the cut-off.

    Raises
    ------
    ValueError
        If W is not one finite number per feature (and draw), or a level is not between 0 and 1. If
        ``on_empty="relax"`` comes with several draws, whose level must be fixed: use one draw.

    Examples
    --------
    At level 0.2 at least five features are selected, or none, so that three are not enough:

    >>> from smrmr.paper import decide
    >>> empty = decide([4.0, 3.0, 2.0, -0.5], fdr=0.2)
    >>> empty.selected.size, empty.n_needed, round(empty.smallest_level, 3)
    (0, 5, 0.333)
    >>> decide([4.0, 3.0, 2.0, -0.5], fdr=0.2, on_empty="relax").level
    0.35
    >>> decide([[3.0, 2.0, 2.5, -0.1], [2.0, 3.0, 2.5, -0.2]], fdr=0.8).selected.tolist()
    [0, 1, 2]
    """
    check_choice("on_empty", on_empty, ("none", "relax"))
    fdr = check_level(fdr)
    draws: Matrix = as_numbers("W", W, ONE_EACH)
    if draws.ndim == 2 and len(draws) > 1:
        if on_empty == "relax":
            raise Problem(
                f"{setting('on_empty', 'relax')} chooses its level after looking, which e-values "
                f"over several draws do not allow. Use {setting('on_empty', 'none')}, or a single "
                "draw."
            )
        inner_fdr = fdr / 2 if inner_fdr is None else check_level(inner_fdr, "inner_fdr")
        return _decide_by_e_values(draws, fdr, inner_fdr)
    single = as_importances(draws[0] if draws.ndim == 2 and len(draws) else draws)
    return _decide_by_knockoffs(single, fdr, on_empty, relevance)


def _decide_by_knockoffs(
    W: Vector, fdr: float, on_empty: str, relevance: Vector | None
) -> Decision:
    cuts, estimates = _estimated_fdp(W)
    for level in [fdr, *(higher_levels(fdr) if on_empty == "relax" else [])]:
        threshold = _first_cut(cuts, estimates, level)
        if threshold < np.inf:
            break
    rule = "relaxed" if level > fdr else "knockoff+"
    selected = np.flatnonzero(threshold <= W)
    selected = selected[np.argsort(-W[selected], kind="stable")]
    if on_empty == "relax" and not selected.size:
        ties = np.zeros(len(W)) if relevance is None else np.asarray(relevance)
        selected, rule = np.lexsort((-ties, -W))[:1], "best feature"
    return Decision(
        selected=selected,
        scores=W,
        q_values=q_values(W),
        frequency=np.isin(np.arange(len(W)), selected).astype(np.float64),
        threshold=threshold,
        fdr=fdr,
        level=level,
        rule=rule,
        n_needed=fewest_selectable(fdr),
    )


def _decide_by_e_values(draws: Matrix, fdr: float, inner_fdr: float) -> Decision:
    cuts = np.array([knockoff_threshold(W, inner_fdr) for W in draws])[:, None]
    chosen = draws >= cuts
    e = draws.shape[1] * np.mean(
        chosen / (1 + np.sum(draws <= -cuts, axis=1, keepdims=True)), axis=0
    )
    order = np.argsort(-e, kind="stable")
    with np.errstate(divide="ignore"):
        levels = len(e) / (np.arange(1, len(e) + 1) * e[order])
    q = np.empty(len(e))
    q[order] = np.minimum(np.minimum.accumulate(levels[::-1])[::-1], 1.0)
    enough = np.flatnonzero(levels <= fdr / (1 - ROUNDING))  # the largest k with k e_(k) >= p / fdr
    selected = order[: enough[-1] + 1] if enough.size else order[:0]
    return Decision(
        selected=selected,
        scores=e,
        q_values=q,
        frequency=chosen.mean(axis=0),
        threshold=float(e[selected].min(initial=np.inf)),
        fdr=fdr,
        level=fdr,
        rule="e-values",
        n_needed=fewest_selectable(inner_fdr),
    )


def false_discovery_bounds(W: Data, *, confidence: float = 0.95) -> Indices:
    r"""Most false features among the first k by W, for every k; all bounds are true together.

    With the stated confidence no prefix of the ranking holds more false features than its bound,
    so the length may be chosen after looking (Katsevich and Ramdas 2020): with negatives mirroring
    false positives, :math:`\lfloor c\,(1 + \#\{W \le -t\}) \rfloor` with
    :math:`c = \log(1 / \delta) / \log(2 - \delta)`, :math:`\delta` one less the confidence. The
    bounds hold for one draw of knockoffs under the assumptions of the FDR control.

    Parameters
    ----------
    W
        Importance of each feature, (p,), of one draw of knockoffs.
    confidence
        With which all bounds hold together, in (0, 1).

    Returns
    -------
    ndarray
        One bound for each positive W, largest W first.

    Raises
    ------
    ValueError
        If W is not one finite number per feature, or `confidence` is not between 0 and 1.

    Examples
    --------
    Among the first twenty at most four are false, with 95% confidence:

    >>> import numpy as np
    >>> from smrmr.paper import false_discovery_bounds
    >>> W = np.arange(30.0, 0.0, -1.0)
    >>> int(false_discovery_bounds(W)[19])
    4
    """
    W = as_importances(W)
    delta = 1 - check_level(confidence, "confidence")
    ranked = np.sort(W[W > 0])[::-1]
    negatives = np.sort(-W[W < 0])
    beyond = len(negatives) - np.searchsorted(negatives, ranked)
    bounds = np.floor(np.log(1 / delta) / np.log(2 - delta) * (1 + beyond) + ROUNDING)
    length = np.arange(1, len(ranked) + 1)
    # one more feature adds at most one false one, and a longer prefix bounds a shorter one
    bounds = length + np.minimum.accumulate(np.concatenate([[0.0], bounds - length]))[1:]
    return np.minimum.accumulate(bounds[::-1])[::-1].astype(np.intp)


def as_importances(W: Data) -> Vector:
    """Check importances: one finite number per feature."""
    values = as_numbers("W", W, ONE_EACH)
    if values.ndim != 1:
        raise ValueError(f"W has shape {values.shape}. {ONE_EACH}")
    if not np.isfinite(values).all():
        raise ValueError("W has missing or infinite values. Every feature needs a finite one.")
    return values


def _estimated_fdp(W: Vector) -> tuple[Vector, Vector]:
    """Every possible cut-off, ascending, and the false discovery proportion estimated there."""
    cuts = np.unique(np.abs(W[W != 0]))
    above = len(W) - np.searchsorted(np.sort(W), cuts)
    below = np.searchsorted(np.sort(W), -cuts, side="right")
    return cuts, (1 + below) / np.maximum(above, 1)


def _first_cut(cuts: Vector, estimates: Vector, level: float) -> float:
    low = np.flatnonzero(estimates <= level + ROUNDING)
    return float(cuts[low[0]]) if low.size else np.inf


def fewest_selectable(fdr: float) -> int:
    """Fewest features that knockoff+ can select at a level."""
    return int(np.ceil(1 / fdr - 1e-9))
