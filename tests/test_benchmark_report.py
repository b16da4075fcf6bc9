"""From stored rows to numbers, tables and figures. Fast, but for the figures."""

from __future__ import annotations

import math
import random
from statistics import mean, stdev
from xml.etree import ElementTree

import pandas as pd
import pytest

from benchmarks.report import figures
from benchmarks.report.figures import draw_figures
from benchmarks.report.means import (
    MEASURED,
    cells,
    failures,
    fold_means,
    markdown,
    pooled,
    violations,
)
from benchmarks.report.tables import claims, write_tables
from benchmarks.stores import open_store, read_stores

METHODS = [
    *(("knockoffs", level) for level in (0.1, 0.2, 0.3, 0.4, 0.5)),
    ("knockoffs, relaxed", 0.3),
    ("paper (PC, none)", 0.3),
    ("HSIC-LASSO", None),
    ("LASSO knockoffs", 0.3),
    ("all features", None),
    ("no features", None),
]
FIGURES = {
    *("linear-strict", "linear-relaxed", "classes-strict", "classes-relaxed", "ours-strict"),
    *("ours-relaxed", "fdr", "power", "speed", "real"),
}


def row(method, level, seed, design="1.a", n=100, p=100, **values):
    key = {"design": design, "n": n, "p": p, "method": method, "level": level, "seed": seed}
    return {**key, "status": "ok", **values}


def made_up(design, n, p, seeds):
    """Rows of numbers that mean nothing; LASSO knockoffs fail where p is large."""
    draw = random.Random(f"{design} {n} {p}")
    for seed in range(seeds):
        for method, level in METHODS:
            made = row(method, level, seed, design, n, p, seconds=draw.uniform(0.1, 9))
            if method == "LASSO knockoffs" and p > 100:
                yield made | {"status": f"ValueError: seed {seed} | too large"}
                continue
            size = draw.randint(0, 9)
            yield made | {
                "tpr": None if design == "null" else draw.random(),
                "fpr": draw.random() / 10,
                "fdr": draw.random() * (size > 0),
                "n_selected": size,
                "recall": draw.random(),
                "score": draw.uniform(0.5, 1),
                "megabytes": draw.uniform(0, 50),
            }


def synthetic_rows():
    places = [("1.a", 100, 100), ("1.a", 500, 100), ("3.a", 100, 100), ("null", 100, 500)]
    return [made for place in places for made in made_up(*place, seeds=6)]


def real_rows():
    """Accuracies 0.6 and 0.8 on the two folds of both repeats; HSIC-LASSO takes 3 times as many."""
    for method, size in (
        ("paper (PC, MCP), relaxed", 10),
        ("HSIC-LASSO (blocks)", 30),
        ("no features", 0),
    ):
        for repeat in range(2):
            for fold, accuracy in enumerate((0.6, 0.8)):
                yield {
                    **{"dataset": "TOX_171", "method": method, "repeat": repeat, "fold": fold},
                    **{"status": "ok", "n_selected": size, "accuracy": accuracy, "seconds": 1.0},
                }


def truth_rows():
    """Per seed 4 and 6 true positions for one drug, 8 and 8 for another; 1 false one."""
    for dataset, counts in (("HIV APV", (4, 6)), ("HIV ATV", (8, 8)), ("Madelon", (5, 5))):
        for seed, n_true in enumerate(counts):
            key = {"dataset": dataset, "method": "knockoffs", "level": 0.2, "seed": seed}
            yield {**key, "status": "ok", "n_selected": n_true + 1, "n_true": n_true, "n_false": 1}


def fill(folder, rows):
    open_store(folder, "synthetic").append(rows)
    speed = [made for p in (100, 1000) for made in made_up("1.d", 100, p, seeds=2)]
    open_store(folder, "speed").append(speed)
    open_store(folder, "real").append(real_rows())
    open_store(folder, "truth").append(truth_rows())


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    fill(folder, synthetic_rows())
    return folder


@pytest.fixture(scope="module")
def drawn(filled):
    return {path.stem: path for path in draw_figures(filled)}


def test_cells_are_means_with_standard_errors(filled):
    """Oracle: a plain loop over the rows that were made up, rounded as the store rounds."""
    table = cells(open_store(filled, "synthetic").frame())
    key = ["design", "n", "p", "method", "level"]
    assert len(table) == 4 * len(METHODS)
    assert list(table["method"].unique()) == list(dict(METHODS))  # as the package lists them
    for record in table.to_dict("records"):
        level = None if math.isnan(record["level"]) else record["level"]
        place = [record[name] for name in key[:-1]] + [level]
        rows = [r for r in synthetic_rows() if [r[name] for name in key] == place]
        good = [r for r in rows if r["status"] == "ok"]
        assert (record["seeds"], record["failures"]) == (len(good), len(rows) - len(good))
        if good:
            assert record["empty"] == pytest.approx(mean(r["n_selected"] == 0 for r in good))
        for name in MEASURED:
            values = [r[name] for r in good if r[name] is not None]
            if values:
                assert record[name] == pytest.approx(mean(values), rel=1e-4)
                se = stdev(values) / len(values) ** 0.5
                assert record[f"{name}_se"] == pytest.approx(se, rel=1e-3, abs=1e-9)
            else:
                assert math.isnan(record[name])


def fdrs(method, level, values):
    return [row(method, level, seed, fdr=value, n_selected=1) for seed, value in enumerate(values)]


@pytest.mark.parametrize(
    ("values", "above_2", "above_3"),
    [
        ([0.0] * 6, False, False),
        ([0.5] * 6, True, True),  # all draws agree, on too many
        ([0.3] * 6, False, False),  # exactly the level, but for rounding
        ([1.0] * 4, False, False),  # four seeds are too few to judge
        ([0.2, 0.6] * 3, False, False),  # 0.4, SE 0.089: 1.1 SE above
        ([0.3, 0.5] * 3, True, False),  # 0.4, SE 0.045: 2.2 SE above
        ([0.35, 0.45] * 3, True, True),  # 0.4, SE 0.022: 4.5 SE above
    ],
)
def test_violations_by_hand(tmp_path, values, above_2, above_3):
    store = open_store(tmp_path, "synthetic")
    store.append(fdrs("paper (PC, L1)", 0.3, values))
    store.append(fdrs("paper (PC, L1), relaxed", 0.3, [1.0] * 6))  # promises nothing
    store.append(fdrs("SIS", None, [1.0] * 6))
    table = cells(store.frame())
    assert len(violations(table, 2)) == above_2
    assert len(violations(table, 3)) == above_3
    assert set(violations(table, 2)["method"]) <= {"paper (PC, L1)"}


def test_failures_that_differ_in_numbers_are_one(filled):
    """By hand: LASSO knockoffs fail on the six draws with p = 500."""
    table = failures(open_store(filled, "synthetic").frame())
    assert table.values.tolist() == [["LASSO knockoffs", 6, "ValueError: seed 0 | too large"]]


def test_repeats_do_not_shrink_the_error_of_folds(filled):
    """By hand: the deviation of 0.6, 0.8, 0.6, 0.8 over the root of 2 folds."""
    table = fold_means(open_store(filled, "real").frame()).set_index("method")
    ours = table.loc["paper (PC, MCP), relaxed"]
    assert ours["accuracy"] == pytest.approx(0.7)
    assert ours["accuracy_se"] == pytest.approx((4 * 0.1**2 / 3) ** 0.5 / 2**0.5)
    assert (ours["n_selected"], ours["n_selected_se"], ours["fits"]) == (10, 0, 4)


def test_pooled_means_by_hand():
    """Errors 0.03 and 0.04 of two means make 0.05 / 2."""
    table = pd.DataFrame({"n": [1, 1, 2], "fdr": [0.1, 0.3, 0.7], "fdr_se": [0.03, 0.04, None]})
    result = pooled(table, ["n"], ["fdr"])
    assert result["fdr"].tolist() == pytest.approx([0.2, 0.7])
    assert result["fdr_se"][0] == pytest.approx(0.025)
    assert math.isnan(result["fdr_se"][1])


def test_markdown_by_hand():
    table = pd.DataFrame(
        {
            "name": ["a|b", "c\nd"],
            "n": [100, 5000],
            "x": [0.581, 123456.0],
            "x_se": [0.0349, 1000.0],
            "y": [12.34, float("nan")],
            "z": [4434.0, -0.5],
        }
    )
    assert markdown(table).splitlines() == [
        "| name | n | x | y | z |",
        "|---|---|---|---|---|",
        "| a\\|b | 100 | 0.58 (0.03) | 12.3 | 4434 |",
        "| c d | 5000 | 1.23e+05 (1e+03) | - | -0.50 |",
    ]


@pytest.mark.slow
def test_figures_are_svg_with_the_names_of_their_methods(filled, drawn):
    """Oracle: the names of the methods that were made up, read back as text of parsed XML."""
    assert set(drawn) == FIGURES
    assert {path.stem for path in (filled / "figures").iterdir()} == FIGURES  # nothing unfinished
    assert not any(b"<dc:date>" in path.read_bytes() for path in drawn.values())
    said = {name: set(ElementTree.parse(path).getroot().itertext()) for name, path in drawn.items()}
    for family in ("linear", "classes", "ours"):
        strict, relaxed = said[f"{family}-strict"], said[f"{family}-relaxed"]
        assert {"knockoffs", "paper (PC, none)"} <= strict - relaxed
        assert "knockoffs, relaxed" in relaxed - strict
        assert {"HSIC-LASSO", "all features", "no features", "TPR", "FDR"} <= strict & relaxed
    assert ("accuracy" in said["classes-strict"], "MSE" in said["classes-strict"]) == (True, False)
    assert "LASSO knockoffs" in said["linear-strict"]
    assert "LASSO knockoffs" not in said["ours-strict"]  # failed on all its draws
    assert "knockoffs" in said["fdr"]
    assert "paper (PC, none)" not in said["fdr"]  # has one level
    assert {"knockoffs", "HSIC-LASSO", "1.a"} <= said["power"]
    assert "3.a" not in said["power"]  # has one n
    assert {"knockoffs", "LASSO knockoffs", "seconds"} <= said["speed"]
    assert {"paper (PC, MCP), relaxed", "HSIC-LASSO (blocks)", "no features", "TOX_171"} <= said[
        "real"
    ]


def shuffled():
    rows = synthetic_rows()
    random.Random(0).shuffle(rows)
    return rows


@pytest.mark.slow
def test_same_rows_in_any_order_give_the_same_figures(drawn, tmp_path):
    """Oracle: what the same rows, stored in another order, gave; for speed of one design alone."""
    open_store(tmp_path, "synthetic").append([r for r in shuffled() if r["design"] == "1.a"])
    again = {path.stem: path for path in draw_figures(tmp_path)}
    for name in ("linear-strict", "linear-relaxed", "power"):
        assert again[name].read_bytes() == drawn[name].read_bytes()


def test_same_rows_in_any_order_give_the_same_tables(filled, tmp_path):
    """Oracle: what the same rows, stored in another order, gave."""
    fill(tmp_path, shuffled())
    assert write_tables(tmp_path).read_text() == write_tables(filled).read_text()


def test_dots_stand_at_means_and_bars_at_errors():
    """By hand; on a log axis both ends are the same factor away from the mean."""
    table = pd.DataFrame({"x": [4.0], "x_se": [1.0]})
    ax = figures.Figure().subplots()
    figures._dots(ax, pd.Series([2]), table, "x", "SIS")
    ax.set_yscale("log")
    figures._dots(ax, pd.Series([2]), table, "x", "SIS")
    bar, dot, log_bar, log_dot = (line.get_ydata() for line in ax.lines)
    assert list(dot) == list(log_dot) == [4]
    assert list(bar[:2]) == [3, 5]
    assert log_bar[:2] == pytest.approx([4 / 1.25, 4 * 1.25])


def test_tables_by_hand(filled):
    text = write_tables(filled).read_text()
    assert "| synthetic | 264 | 44 | 6-6 | 6 |" in text
    assert "| synthetic | LASSO knockoffs | 6 | ValueError: seed 0 \\| too large |" in text
    # true positions: (5 (1) + 8 (0)) / 2, and 5 (0)
    assert "| HIV | knockoffs | 0.20 | 6.50 (0.50) | 1.00 (0.00) | 7.50 (0.50) | 2 |" in text
    assert "| Madelon | knockoffs | 0.20 | 5.00 (0.00) | 1.00 (0.00)" in text
    assert "| TOX_171 | paper (PC, MCP), relaxed | 0.70 (0.08) | 10.0 (0.0) | 4 |" in text
    place = ("1.a", 500, "HSIC-LASSO")
    good = [r for r in synthetic_rows() if (r["design"], r["n"], r["method"]) == place]
    means = [(mean(r[x] for r in good), stdev(r[x] for r in good)) for x in ("tpr", "fdr")]
    entry = " / ".join(f"{m:.2f} ({sd / 6**0.5:.2f})" for m, sd in means)
    assert entry in next(line for line in text.splitlines() if line.startswith("| HSIC-LASSO |"))


def test_claims_stand_beside_our_numbers(tmp_path):
    """By hand: scores 3 and 5 have the mean 4 and the standard error 1."""
    rows = [
        row("paper (PC, none), relaxed", 0.3, seed, score=s) for seed, s in enumerate((3.0, 5.0))
    ]
    open_store(tmp_path, "synthetic").append(rows)
    open_store(tmp_path, "real").append(real_rows())
    lines = claims(read_stores(tmp_path)).splitlines()[2:]
    parts = (line.strip("| ").split(" | ") for line in lines)
    said = {claim: (paper, ours) for claim, paper, ours in parts}
    assert said["MSE on 1.a, n=100, p=100, PC without penalty"] == (
        "3.8",
        "paper (PC, none), relaxed: 4.00 (1.00), 2 seeds",
    )
    assert said["MSE on 1.a, n=100, p=500, PC without penalty"] == ("6.7", "not run")
    ratio = "paper (PC, MCP), relaxed: 3.00, 1 data sets"
    assert said["features of HSIC-LASSO for one of ours, real data"] == ("about 3", ratio)
    assert "paper (PC, MCP), relaxed: 0.70 (0.08), 4 fits" in said["accuracy on TOX_171"][1]
    assert said["accuracy on orlraws10P"][1] == "not run"
    open_store(tmp_path, "truth").append(truth_rows())
    line = next(x for x in claims(read_stores(tmp_path)).splitlines() if "findings in HIV" in x)
    assert "knockoffs: 6.50 (0.50) / 1.00 (0.00)" in line


def test_without_rows_there_is_nothing_to_draw(tmp_path):
    assert draw_figures(tmp_path) == []
    text = write_tables(tmp_path).read_text()
    assert text.count("not run") == 6 + len(claims(read_stores(tmp_path)).splitlines()) - 2


def test_failures_alone_are_counted_and_not_drawn(tmp_path):
    failed = row("SIS", None, 0, status="MemoryError: no", seconds=1.0)
    open_store(tmp_path, "synthetic").append([failed])
    assert draw_figures(tmp_path) == []
    text = write_tables(tmp_path).read_text()
    assert "| synthetic | 1 | 1 | 0 | 1 |" in text
    assert "| synthetic | SIS | 1 | MemoryError: no |" in text
