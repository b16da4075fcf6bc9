"""Rows that are not independent: what they cost, whether they are warned of, what cures them.

    python -m benchmarks.studies.dependent_rows levels [data sets] [name of a case ...]
    python -m benchmarks.studies.dependent_rows alarms [data sets]
    SMRMR_DATA=/data python -m benchmarks.studies.dependent_rows real

`levels`: the share of data sets with a finding at level 0.1, which is the FDR because no feature
has to do with the target, 100 rows and 100 features; that of associated features; how often the
first sentences of the answer warn; and the same with the cure that the warning names. `alarms`: how
often designs with independent rows are warned of, as they are drawn and sorted by the target.
`real`: what is measured on tables of samples.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np

from smrmr import Recipe, select, simulate
from smrmr.data.study import read_study
from smrmr.rows.checks import check_rows
from smrmr.runs.work import Work

N, P, LEVEL = 100, 100, 0.1
DESIGNS = (
    *("1.a", "1.c", "1.d", "2.a", "2.b", "2.c", "3.a", "3.b", "3.c", "heavy", "equicorrelated"),
    *("blocks", "genotypes", "many classes"),
)
TABLES = ("TOX_171", "GLIOMA", "alon", "gravier", "khan", "riboflavin", "cells")


def autoregressive(rng, n, p, rho):
    """Columns of rows in order that each depend on the last, of variance 1."""
    Z = rng.standard_normal((n, p))
    for i in range(1, n):
        Z[i] = rho * Z[i - 1] + np.sqrt(1 - rho**2) * Z[i]
    return Z


def blocks(n, size=5):
    """Groups of rows that follow one another, compared by their means."""
    return {"groups": np.arange(n) // size, "aggregate": "mean"}


def independent(rng):
    return rng.standard_normal((N, P)), rng.standard_normal(N), {}, {}


def rare_binary(rng):
    """Few 0/1 columns, whose rows repeat by chance."""
    return (rng.random((N, 5)) < 0.1).astype(float), rng.integers(0, 2, N), {}, {}


def each_row_twice(rng):
    rows = np.repeat(np.arange(N // 2), 2)
    X, y = rng.standard_normal((N // 2, P)), rng.standard_normal(N // 2)
    return X[rows], y[rows], {}, {"groups": rows}


def each_row_twice_few_columns(rng):
    X, y, beside, cure = each_row_twice(rng)
    return X[:, :5], y, beside, cure


def in_time(rho):
    def case(rng):
        Z = autoregressive(rng, N, P + 1, rho)
        return Z[:, 1:], Z[:, 0], {}, blocks(N)

    return case


def lagged(rng):
    """Features are the last values of a series that the target, another one, does not know of."""
    series = autoregressive(rng, N + P, 2, 0.9)
    X = np.stack([series[P - k : P - k + N, 0] for k in range(P)], axis=1)
    return X, series[P:, 1], {}, blocks(N)


def in_space(rng):
    """Rows in a square, in random order, alike by their distance; the cure is 16 cells."""
    places = rng.random((N, 2))
    distances = np.linalg.norm(places[:, None] - places, axis=2)
    root = np.linalg.cholesky(np.exp(-distances / 0.2) + 1e-9 * np.eye(N))
    Z = root @ rng.standard_normal((N, P + 1))
    cells = np.floor(4 * places) @ [4, 1]
    cure = {"groups": cells, "aggregate": "mean"}
    return Z[:, 1:], Z[:, 0], {"coordinates": places}, cure


def populations(n, p, apart):
    """Genotypes of five populations of different means; the cure is four components."""

    def case(rng):
        population = rng.integers(0, 5, n)
        common = rng.uniform(0.1, 0.9, p)
        odds = (1 - apart) / apart
        shares = rng.beta(common * odds, (1 - common) * odds, (5, p)).clip(0.02, 0.98)
        X = rng.binomial(2, shares[population]).astype(float)
        y = 1.5 * rng.standard_normal(5)[population] + rng.standard_normal(n)
        X = X[:, X.std(axis=0) > 0]
        scaled = (X - X.mean(axis=0)) / X.std(axis=0)
        return X, y, {}, {"covariates": np.linalg.svd(scaled)[0][:, :4]}

    return case


CASES = {
    "independent": independent,
    "five rare 0/1 columns": rare_binary,
    "each row twice": each_row_twice,
    "each row twice, five columns": each_row_twice_few_columns,
    "AR(.3) in row order": in_time(0.3),
    "AR(.5) in row order": in_time(0.5),
    "AR(.9) in row order": in_time(0.9),
    "lags of an unrelated AR(.9)": lagged,
    "in space, coordinates given": in_space,
    "five populations, Fst .1, 100 by 100": populations(100, 100, 0.1),
    "five populations, Fst .1, 200 by 300": populations(200, 300, 0.1),
}


def findings(X, y, **beside):
    """Whether anything is selected, anything associated, and anything warned of in the answer."""
    found = select(X, y, Recipe(fdr=LEVEL, accuracy=False), **beside)
    return len(found.selected) > 0, found.associated.any(), bool(found.row_checks.found)


def share(values):
    return f"{np.mean(values):.2f} ({np.std(values) / np.sqrt(len(values)):.2f})"


def levels(n_sets, names):
    print("| rows | FDR | FDR alone | warned of | FDR, cured | alone, cured | still warned of |")
    print("|---|---|---|---|---|---|---|")
    for name in names or CASES:
        before, after = [], []
        for seed in range(n_sets):
            X, y, beside, cure = CASES[name](np.random.default_rng([seed, 8]))
            before.append(findings(X, y, **beside))
            if cure:
                after.append(findings(X, y, **beside | cure))
        told = [share(column) for part in (before, after) for column in zip(*part, strict=True)]
        told += ["-"] * (6 - len(told))
        print(f"| {name} | {' | '.join(told)} |", flush=True)


def alarms(n_sets):
    print("| design | as drawn | sorted by the target | of these by components |")
    print("|---|---|---|---|")
    cases = [(design, 100, 100) for design in DESIGNS] + [("genotypes", 200, 500)]
    for design, n, p in [*cases, ("1.d", 200, 500), ("blocks", 200, 500)]:
        rows = []
        for seed in range(n_sets):
            data = simulate(design, n=n, p=p, random_state=1000 + seed)
            order = np.argsort(data.y, kind="stable")
            made = [
                check_rows(read_study(X, y, data.target), Work(n_jobs=1))
                for X, y in ((data.X, data.y), (data.X[order], data.y[order]))
            ]
            of_components = made[0].structure is not None and made[0].structure.found
            rows.append([*(bool(one.found) for one in made), of_components])
        told = " | ".join(map(share, zip(*rows, strict=True)))
        print(f"| {design} ({n}, {p}) | {told} |", flush=True)


def real():
    from ..data.datasets import load

    for name in TABLES:
        data = load(name)
        made = check_rows(read_study(data.X, data.y), Work(n_jobs=1))
        print(name, data.X.shape, made.found or "nothing found")
        for part in (made.repeats, *made.dependence, made.structure):
            print(
                "  ", part and {k: round(v, 4) if v != str(v) else v for k, v in vars(part).items()}
            )


def main(part="levels", n_sets="50", *names):
    warnings.simplefilter("ignore")
    {"levels": lambda: levels(int(n_sets), names), "alarms": lambda: alarms(int(n_sets))}.get(
        part, real
    )()


if __name__ == "__main__":
    main(*sys.argv[1:])
