"""Compares recipes on the same data sets: what each choice does to FDR and power.

    python -m benchmarks.studies.recipes [seeds]

Designs 1.d, 2.c and 3.b with ten true features, n=200, p=500, PC + MCP, level 0.3. Printed: share
of true features found / false discovery rate (standard error), and how often lambda was the
smallest tried by cross-validation ("smallest", the default, takes it at once: see tuning.py).
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from joblib import Parallel, delayed

import smrmr

RECIPES = {
    "cross-validated": "knockoffs(lam=cv)",
    "paper": "paper",
    "paper, debiased": "paper(lam=cv(debiased=true))",
    "debiased": "knockoffs(lam=cv(debiased=true))",
    "mvr": "knockoffs(lam=cv, knockoffs=gaussian(s=mvr))",
    "no recycling": "knockoffs(lam=cv, screening=split(recycle=false))",
    "five draws": "knockoffs(lam=cv, n_draws=5)",
}
LEVEL = 0.3  # as in the paper


def one(design, control, seed, n=200, p=500):
    warnings.simplefilter("ignore")  # one good draw in a hundred fails its diagnosis
    data = smrmr.simulate(design, n, p, random_state=[7, seed])
    found = smrmr.select(
        data.X, data.y, smrmr.Recipe(fdr=LEVEL, target=data.target, control=control), rng=seed
    )
    hits = np.isin(found.selected, data.support).sum()
    false = (len(found.selected) - hits) / max(len(found.selected), 1)
    return (
        hits / len(data.support),
        false,
        np.mean([draw.at_floor for draw in found.evidence.draws]),
    )


def main(seeds):
    for name, control in RECIPES.items():
        cells = []
        for design in ("1.d", "2.c", "3.b"):
            runs = np.array(
                Parallel(n_jobs=-1)(delayed(one)(design, control, seed) for seed in range(seeds))
            )
            power, fdr, floor = runs.mean(axis=0)
            error = runs[:, 1].std() / np.sqrt(seeds)
            cells.append(f"{power:.2f} / {fdr:.2f} ({error:.2f}), floor {floor:.0%}")
        print(f"{name:<20} {' | '.join(cells)}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
