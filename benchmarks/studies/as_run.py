"""Batches, repeated rows and survival: what adjusting costs, and what happens without.

    python -m benchmarks.studies.as_run [seeds] [first seed]

Conditional tests, alike=None, n=150, p=300. Batches: three of them shift the target and three
features, none of which is true. Repeated rows: 30 groups of 5 rows that correlate by 0.8 within a
group, with a target, or a label for whether it is above its median, per row or per group. Survival:
hazards of an exponential law, 30% or 60% censored, with the same batches. Signal: five true
features, two where the target is per group. Printed for each kind of study, TPR / FDR at levels 0.1
and 0.3 over data sets: adjusted; not adjusted; and a study with the same signal that needs no
adjusting (no batch; 150 independent rows, or 30 where the target is per group). Two processes; with
100 seeds it takes an hour.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

import smrmr

from ..experiments.run import seed_of
from ..report.means import markdown, number

N, P, N_GROUPS = 150, 300, 30
TRUE = np.arange(0, P, 60)
SIGNS = np.array([1, -1, 1, -1, 1])
SHIFTED = np.array([10, 110, 210])
LEVELS = (0.1, 0.3)


def batches(rng, signal, confounded):
    """Features, target without noise, and the batch of every row."""
    batch = rng.integers(0, 3, N)
    X = rng.standard_normal((N, P))
    shift = rng.standard_normal((3, len(SHIFTED)))
    told = signal * X[:, TRUE] @ SIGNS
    if confounded:
        X[:, SHIFTED] += 1.5 * shift[batch]
        told = told + np.array([0.0, 2.0, -2.0])[batch]
    return X, told, batch


def batch_study(rng, signal, confounded):
    X, told, batch = batches(rng, signal, confounded)
    return X, told + rng.standard_normal(N), {"covariates": {"batch": batch.astype(str)}}


def survival_study(rng, signal, confounded, censored):
    X, told, batch = batches(rng, signal, confounded)
    time = rng.exponential(np.exp(-told))
    until = rng.exponential(size=N)
    scale = np.quantile(time / until, 1 - censored)
    frame = pd.DataFrame({"event": time <= scale * until, "time": np.minimum(time, scale * until)})
    return X, frame, {"covariates": {"batch": batch.astype(str)}}


def repeated_study(rng, signal, confounded, per_group):
    """With `confounded` five rows per group, else as many independent rows as can be compared."""
    true = TRUE[:2] if per_group else TRUE
    if not confounded:
        n = N_GROUPS if per_group else N
        X = rng.standard_normal((n, P))
        return X, signal * X[:, true] @ SIGNS[: len(true)] + rng.standard_normal(n), {}
    groups = np.repeat(np.arange(N_GROUPS), N // N_GROUPS)

    def alike(*shape):
        own = np.sqrt(0.2) * rng.standard_normal((N, *shape))
        return np.sqrt(0.8) * rng.standard_normal((N_GROUPS, *shape))[groups] + own

    X = alike(P)
    if not per_group:
        return X, signal * X[:, TRUE] @ SIGNS + alike(), {"groups": groups}
    means = pd.DataFrame(X).groupby(groups).mean().to_numpy()
    means /= means.std()
    y = signal * means[:, true] @ SIGNS[: len(true)] + rng.standard_normal(N_GROUPS)
    return X, y[groups], {"groups": groups}


def labelled(study):
    """The same study with two classes: whether the target is above its median."""
    X, y, beside = study
    return X, np.where(y > np.median(y), "high", "low"), beside


STUDIES = {
    "batches": (batch_study, 0.6),
    "batches, labels": (lambda *a: labelled(batch_study(*a)), 1.0),
    "groups of rows, y per row": (lambda *a: repeated_study(*a, per_group=False), 0.6),
    "groups of rows, y per group": (lambda *a: repeated_study(*a, per_group=True), 2.0),
    "groups of rows, label per row": (
        lambda *a: labelled(repeated_study(*a, per_group=False)),
        1.0,
    ),
    "groups of rows, label per group": (
        lambda *a: labelled(repeated_study(*a, per_group=True)),
        2.0,
    ),
    "survival, 30% censored": (lambda *a: survival_study(*a, censored=0.3), 0.8),
    "survival, 60% censored": (lambda *a: survival_study(*a, censored=0.6), 0.8),
}


def one(kind, seed):
    """One row per signal, way to ask and level."""
    warnings.simplefilter("ignore")
    make, strength = STUDIES[kind]
    true = TRUE[:2] if kind.endswith("per group") else TRUE
    rows = []
    for signal in (0.0, strength):
        for asked in ("adjusted", "not adjusted", "nothing to adjust"):
            state = seed_of(f"as run {kind} {signal}", seed).generate_state(4)
            X, y, beside = make(np.random.default_rng(state), signal, asked != "nothing to adjust")
            beside = beside if asked == "adjusted" else {}
            target = "survival" if isinstance(y, pd.DataFrame) else "auto"
            recipe = smrmr.Recipe(control="tests", target=target, alike=None, n_jobs=1)
            found = smrmr.select(X, y, recipe, 0, **beside)
            for level in LEVELS:
                chosen = found.at(level).selected
                false = ~np.isin(chosen, true if signal else [])
                rows.append(
                    {
                        "study": f"{kind}, {'signal' if signal else 'noise'}",
                        "asked": asked,
                        "level": level,
                        "tpr": np.isin(true, chosen).mean() if signal else np.nan,
                        "fdr": false.mean() if len(chosen) else 0.0,
                    }
                )
    return rows


def main(seeds, first=0):
    tasks = [delayed(one)(kind, s) for s in range(first, first + seeds) for kind in STUDIES]
    rows = pd.DataFrame([row for part in Parallel(n_jobs=2)(tasks) for row in part])
    lines = {}
    for (study, asked, level), part in rows.groupby(["study", "asked", "level"], sort=False):
        fdr = number(part["fdr"].mean(), part["fdr"].sem())
        tpr = "" if part["tpr"].isna().all() else f"{number(part['tpr'].mean())} / "
        lines.setdefault(study, {"study": study})[f"{asked}, {level}"] = tpr + fdr
    print(f"{seeds} data sets per study\n")
    print(markdown(pd.DataFrame(list(lines.values()))))


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:] or ["100"]))
