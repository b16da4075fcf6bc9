"""Writes the methods paragraph of a paper, with what it cites."""

from __future__ import annotations

from typing import Any

from ...selection import Selection
from ..phrases import count

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
    "bayes": "chosen by a Bayesian search over held-out loss",
}


def methods(selection: Selection) -> str:
    """A paragraph for the methods section of a paper."""
    evidence = selection.evidence
    first, settings = evidence.draws[0], evidence.settings
    measure = settings["measure"]
    parts = [
        f"Features were selected with SmRMR [1] (smrmr {selection.versions.get('smrmr', '')}), "
        f"from {selection.n_features:,} features and {selection.n_rows:,} samples. Associations "
        f"were measured by {MEASURES.get(measure, measure)}."
    ]
    if first.n_screen:
        parts.append(
            f"{first.n_screen} samples served to screen: {len(first.shortlisted)} features by "
            f"relevance, of these {len(first.kept)} by penalised mRMR; the other "
            f"{first.n_select} samples served to select."
        )
    parts.append(_about_knockoffs(first.covariance, settings))
    penalty = PENALTIES.get(first.penalty, first.penalty)
    lam = LAMBDAS.get(settings["lam"].split("(")[0], "fixed beforehand")
    if settings.get("lam__debiased"):
        lam += " with debiased associations"
    lams = sorted({draw.lam for draw in evidence.draws})
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
    several = len(selection.evidence.draws) > 1
    return [PAPER, KNOCKOFFS, *([DERANDOMISED] if several else [])]


def _about_knockoffs(covariance: str, settings: dict[str, Any]) -> str:
    if not covariance:
        return "Knockoffs [2] were supplied by the user."
    given = covariance == "given"
    copula = settings["knockoffs__copula"]
    kind = "Gaussian copula" if (not given if copula == "auto" else copula) else "Gaussian"
    source = "a covariance given by the user" if given else f"covariance estimate '{covariance}'"
    return (
        f"{kind} knockoffs [2] of the kept features were drawn with {source} and s by "
        f"'{settings['knockoffs__s']}'."
    )


def _about_decision(selection: Selection) -> str:
    decision, features = selection.decision, count(len(selection.selected), "feature")
    if decision.rule == "e-values":
        return (
            f"{len(selection.evidence.draws)} random splits and draws of knockoffs were combined "
            f"by e-values [3]; at FDR level {selection.fdr:g} they selected {features}."
        )
    if decision.rule == "best feature":
        return (
            f"The knockoff+ threshold selected nothing at FDR level {selection.fdr:g} nor at any "
            "higher level; the feature of largest W was taken, without control of the FDR."
        )
    if decision.rule == "relaxed":
        return (
            f"The knockoff+ threshold selected nothing at FDR level {selection.fdr:g}; the level "
            f"was raised in steps of 0.05 to {decision.level:g}, which selected {features}, "
            "without control of the FDR."
        )
    return f"The knockoff+ threshold at FDR level {selection.fdr:g} selected {features}."
