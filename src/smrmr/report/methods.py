"""Writes the methods paragraph of a paper, with what it cites."""

from __future__ import annotations

from ..control.decision import Decision
from ..selection import Selection
from .words import count

PAPER = (
    "P. Naylor, B. Poignard, H. Climente-González, M. Yamada. Sparse minimum redundancy maximum "
    "relevance for feature selection. arXiv:2508.18901, 2025."
)
KNOCKOFFS = (
    "E. Candès, Y. Fan, L. Janson, J. Lv. Panning for gold: 'model-X' knockoffs for high "
    "dimensional controlled variable selection. Journal of the Royal Statistical Society B 80, "
    "551-577, 2018."
)
DERANDOMISED = (
    "Z. Ren, R. F. Barber. Derandomised knockoffs: leveraging e-values for false discovery rate "
    "control. Journal of the Royal Statistical Society B 86, 122-154, 2024."
)
MEASURES = {
    "pc": "squared projection correlation",
    "hsic": "the normalised Hilbert-Schmidt independence criterion",
    "dcor": "squared distance correlation",
    "pearson": "squared Pearson correlation",
}
PENALTIES = {"mcp": "MCP", "scad": "SCAD", "l1": "LASSO", "none": "no"}
LAMBDAS = {
    "cv": "chosen by cross-validation",
    "cv-debiased": "chosen by cross-validation with debiased associations",
    "bayes": "chosen by a Bayesian search over held-out loss",
}


def methods(selection: Selection) -> str:
    """A paragraph for the methods section of a paper."""
    first, settings = selection.draws[0], selection.settings
    measure = settings.get("measure", "pc")
    parts = [
        f"Features were selected with SmRMR [1] (smrmr {selection.versions.get('smrmr', '')}), "
        f"from {selection.n_features:,} features and {selection.n_rows:,} samples. Associations "
        f"were measured by {MEASURES.get(str(measure), str(measure))}."
    ]
    if first.n_screen:
        parts.append(
            f"{first.n_screen} samples served to screen: {len(first.shortlisted)} features by "
            f"relevance, of these {len(first.kept)} by penalised mRMR; the other "
            f"{first.n_select} samples served to select."
        )
    parts.append(_about_knockoffs(selection))
    penalty = PENALTIES.get(first.penalty, first.penalty)
    how = settings.get("lam", "cv")
    lam = LAMBDAS.get(str(how), "fixed beforehand")
    lams = sorted({draw.lam for draw in selection.draws})
    value = f"{lams[0]:.3g}" if len(lams) == 1 else f"{lams[0]:.3g} to {lams[-1]:.3g}"
    parts.append(
        f"Features and knockoffs competed in one mRMR problem with {penalty} penalty, lambda "
        f"{lam} ({value})."
    )
    parts.append(_about_decision(selection))
    seed = selection.seed
    parts.append("The random seed was not recorded." if seed is None else f"Random seed: {seed}.")
    return " ".join(parts)


def references(selection: Selection) -> list[str]:
    """Works that the methods paragraph cites, in order."""
    return [PAPER, KNOCKOFFS, *([DERANDOMISED] if len(selection.draws) > 1 else [])]


def _about_knockoffs(selection: Selection) -> str:
    first, settings = selection.draws[0], selection.settings
    if first.covariance == "given":
        return "Knockoffs [2] were supplied by the user."
    copula = settings.get("copula", "auto")
    normal = isinstance(settings.get("covariance", "auto"), str) and not str(
        settings.get("covariance")
    ).startswith("array")
    kind = "Gaussian copula" if (normal if copula == "auto" else copula) else "Gaussian"
    return (
        f"{kind} knockoffs [2] of the kept features were drawn with covariance estimate "
        f"'{first.covariance}' and s by '{settings.get('s', 'equi')}'."
    )


def _about_decision(selection: Selection) -> str:
    n = len(selection.selected)
    decision = selection.decision
    if not isinstance(decision, Decision):
        return (
            f"{len(selection.draws)} random splits and draws of knockoffs were combined by "
            f"e-values [3] at FDR level {selection.fdr:g}; {count(n, 'feature')} were selected."
        )
    if decision.rule == "best feature":
        return (
            f"The knockoff+ threshold selected nothing at FDR level {selection.fdr:g} nor at any "
            "higher level; the feature of largest W was taken, without control of the FDR."
        )
    if decision.rule == "relaxed":
        return (
            f"The knockoff+ threshold selected nothing at FDR level {selection.fdr:g}; the level "
            f"was raised in steps of 0.05 to {decision.level:g}, which selected "
            f"{count(n, 'feature')}, without control of the FDR."
        )
    return f"The knockoff+ threshold at FDR level {selection.fdr:g} selected {count(n, 'feature')}."
