"""Compares ways to choose lambda for knockoffs on the same data sets and the same knockoffs.

    python -m benchmarks.studies.tuning [seeds] [first seed] [measure] [sizes, as 200x600]

"cv" is cross-validation of all pairs of feature and knockoff, "weighted" that of the pairs which
have a coefficient at the end of the path of all rows, "smallest" the end of the path without
holding out rows. Printed per design: share of true features found / false discovery rate (standard
error) at three levels, how often lambda is the one that "cv" chose and how often all three
selections are, how often lambda is the smallest, the share of pairs with weight, and the seconds
that the choice took.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

import smrmr
from smrmr.paper.tuning import CrossValidation

from ..experiments.run import seed_of

DESIGNS = ("1.b", "1.d", "2.b", "2.c", "3.b")
SIZES = ((100, 100), (200, 600), (500, 500))
LEVELS = (0.1, 0.2, 0.3)


@dataclass(frozen=True)
class Weighted:
    """Cross-validation among the pairs that have a coefficient at the end of the path."""

    alias: ClassVar[str] = "weighted"

    def choose(self, problem, rng, work):
        """Feature and knockoff stay or go together, so that the swap law holds."""
        all_pairs, n_features = problem.associations, problem.pairs.n_features
        path = smrmr.paper.solution_path(all_pairs, penalty=problem.penalty)
        kept = np.flatnonzero(path.thetas[-1].reshape(2, n_features).any(axis=0))
        both = np.concatenate([kept, kept + n_features])
        fewer = smrmr.association.Associations(
            all_pairs.relevance[both], all_pairs.redundancy[np.ix_(both, both)], all_pairs.target
        )
        pairs = replace(problem.pairs, study=problem.pairs.study.take(columns=both))
        fewer = replace(problem, pairs=pairs, associations=fewer)
        tuning = CrossValidation().choose(fewer, rng, work)
        return replace(tuning, lam=float(path.lams[np.argmin(tuning.losses)]), lams=path.lams)


WAYS = {"cv": "cv", "weighted": Weighted(), "smallest": "smallest"}


def one(design, n, p, measure, seed):
    """What each way chose and selected on one data set."""
    name = f"tuning {design} {n} {p}"
    data = smrmr.simulate(design, n, p, random_state=seed_of(name, seed).generate_state(4))
    return {name: outcome(data, measure, lam, seed) for name, lam in WAYS.items()}


def outcome(data, measure, lam, seed):
    control = smrmr.paper.KnockoffFilter(measure=measure, lam=lam)
    recipe = smrmr.Recipe(control=control, target=data.target, n_jobs=1)
    found = smrmr.select(data.X, data.y, recipe, rng=seed)
    (draw,) = found.evidence.draws
    weighted = (draw.theta > 0) | (draw.theta_knockoff > 0)
    selections = [found.at(level).selected for level in LEVELS]
    sizes = [len(selected) for selected in selections]
    hits = [np.isin(selected, data.support).sum() for selected in selections]
    return {
        "selections": [selected.tolist() for selected in selections],
        "power": [hit / len(data.support) for hit in hits],
        "fdp": [1 - hit / n if n else 0.0 for hit, n in zip(hits, sizes, strict=True)],
        "lam": draw.lam,
        "weighted": weighted.mean(),
        "seconds": found.seconds["tuning"],
    }


def line(runs, name):
    """Means of one way over data sets, compared with "cv" on each of them."""
    own, cv = [run[name] for run in runs], [run["cv"] for run in runs]
    power, fdp = (np.array([run[key] for run in own]) for key in ("power", "fdp"))
    errors = fdp.std(axis=0) / np.sqrt(len(runs))
    cells = [
        f"{tpr:.2f} / {fdr:.2f} ({error:.2f})"
        for tpr, fdr, error in zip(power.mean(axis=0), fdp.mean(axis=0), errors, strict=True)
    ]
    pairs = list(zip(own, cv, strict=True))
    smallest = np.mean([run[name]["lam"] <= 1.01 * run["smallest"]["lam"] for run in runs])
    shares = [
        np.mean([np.isclose(a["lam"], b["lam"]) for a, b in pairs]),
        np.mean([a["selections"] == b["selections"] for a, b in pairs]),
        smallest,
        np.mean([run["weighted"] for run in own]),
    ]
    seconds = np.mean([run["seconds"] for run in own])
    return [name, *cells, *(f"{share:.0%}" for share in shares), f"{seconds:.3f}"]


def main(seeds=20, first=0, measure="pc", *sizes):
    warnings.simplefilter("ignore")  # one good draw in a hundred fails its diagnosis
    titles = ["design", "n, p", "lambda", *(f"level {level}" for level in LEVELS)]
    titles += ["lambda of cv", "selections of cv", "smallest", "pairs with weight", "seconds"]
    print(f"{measure}, {seeds} data sets from seed {first}: TPR / FDR (standard error)\n")
    print("| " + " | ".join(titles) + " |\n|" + "---|" * len(titles))
    for n, p in [tuple(map(int, size.split("x"))) for size in sizes] or SIZES:
        for design in DESIGNS:
            runs = [one(design, n, p, measure, seed) for seed in range(first, first + seeds)]
            for name in WAYS:
                print(f"| {design} | {n}, {p} | " + " | ".join(line(runs, name)) + " |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:])
