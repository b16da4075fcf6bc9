"""What the yardstick compares: tests and rivals that promise a level, from one fit. Fast."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import version

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.linear_model import Lasso, LassoCV

import oracles
import smrmr
from benchmarks import rivals
from benchmarks.experiments.synthetic import levels_of, null_shares, run_grid, scored_rows, select
from benchmarks.grids.read import Cell, Grid, read_grid
from benchmarks.methods import KNOCKOFFS, METHODS, RANKINGS, TESTS, YARDSTICK
from benchmarks.stores import NULL, open_store, read_stores
from smrmr import Recipe, simulate
from smrmr.designs import DESIGNS, Simulation

LEVELS = (0.1, 0.2, 0.3)


def keys_of(*names):
    return [{"method": name, "level": level, "seed": 3} for name in names for level in LEVELS]


@pytest.fixture(scope="module")
def drawn():
    return simulate("1.d", 60, 95, random_state=2)


@pytest.mark.parametrize(("name", "rule"), [("smrmr", "bh"), ("smrmr (BY)", "by")])
def test_tests_are_those_of_the_library_at_every_level(drawn, name, rule):
    """Oracle: the library, fitted with that rule and asked at each level."""
    whole = smrmr.select(drawn.X, drawn.y, Recipe(control=f"tests(rule={rule})", alike=None), rng=3)
    for level, features in zip(LEVELS, select(drawn, keys_of(name))[0], strict=True):
        assert_array_equal(features, np.sort(whole.at(level).selected))


def test_features_alone_are_selected_by_benjamini_hochberg(drawn):
    """Oracle: a loop over the p-values of features alone."""
    alone = smrmr.select(drawn.X, drawn.y, Recipe(control="tests"), rng=3).alone.p
    adjusted = oracles.smallest_levels(alone, "bh")
    found, _, p_values = select(drawn, keys_of("SIS + BH"))
    assert_array_equal(p_values[0], alone)
    for level, features in zip(LEVELS, found, strict=True):
        assert_array_equal(features, np.flatnonzero(adjusted <= level))
    assert len(found[-1])


def test_null_shares_by_hand():
    p = np.array([0.0001, 0.05, 0.01, 0.0005, 0.2])  # of which the first is true
    assert null_shares(p, np.array([0])) == {"null_05": 0.75, "null_01": 0.5, "null_001": 0.25}
    assert null_shares(p, np.array([], dtype=int))["null_001"] == 0.4
    assert list(NULL.values()) == ["null_05", "null_01", "null_001"]


def test_rows_of_one_fit_share_its_cost(drawn):
    rows = list(scored_rows(keys_of("smrmr", "smrmr (BY)", "SIS + BH", "SIS"), drawn))
    assert len({row["seconds"] for row in rows[:9]}) == 1
    assert rows[0]["null_05"] == rows[3]["null_05"]  # BH and BY have the same p-values
    assert "null_05" not in rows[-1]


def test_versions_are_those_of_the_package_or_of_our_code():
    assert METHODS["smrmr"].version == METHODS["SIS + BH"].version == TESTS
    assert METHODS["knockoffs"].version == METHODS["knockoffs, relaxed"].version == KNOCKOFFS
    assert METHODS["smrmr"].package is None
    pytest.importorskip("knockpy", reason="needs: pip install smrmr[bench]")
    assert METHODS["MLR knockoffs"].version == f"knockpy {version('knockpy')}"


def test_a_raised_version_is_computed_again_and_shown_alone(tmp_path, monkeypatch):
    """Oracle: the rows that the first version left, and the number of rows of each version."""
    grid = Grid((Cell("1.a", 40, 12, 2),), ("smrmr", "SIS"), (0.3,))
    store = open_store(tmp_path, "yardstick")
    run_grid(grid, store, predict=False)
    run_grid(grid, store, predict=False)
    before = store.path.read_bytes()
    assert before.count(b"\n") == 1 + 4
    monkeypatch.setitem(METHODS, "smrmr", replace(METHODS["smrmr"], source="tests 10"))
    run_grid(grid, store, predict=False)
    assert store.path.read_bytes().startswith(before)
    counts = store.frame().groupby(["method", "version"]).size().to_dict()
    assert counts == {("smrmr", TESTS): 2, ("smrmr", "tests 10"): 2, ("SIS", RANKINGS): 2}
    shown = read_stores(tmp_path)["yardstick"]
    assert dict(zip(shown["method"], shown["version"], strict=True)) == {
        "smrmr": "tests 10",
        "SIS": RANKINGS,
    }
    assert len(shown) == 4
    older = {"method": "smrmr", "version": "tests 9", "seed": 5}
    store.append([row | older for row in shown.to_dict("records")[:1]])
    assert len(read_stores(tmp_path)["yardstick"]) == 4  # 9 comes before 10


def test_rivals_refuse_what_they_cannot_take():
    """By hand: more than two classes, and so many features that a fit takes minutes."""
    X, y = np.zeros((4, 3)), np.array([5.0, 9.0, 9.0, 5.0])
    nothing = np.array([], dtype=int)
    assert rivals.as_numbers(Simulation(X, y, nothing, "continuous"))[1].tolist() == y.tolist()
    assert rivals.as_numbers(Simulation(X, y, nothing, "classes"))[1].tolist() == [0, 1, 1, 0]
    three = Simulation(X, np.array([0, 1, 2, 2]), nothing, "classes")
    wide = Simulation(np.zeros((4, 1001)), y, nothing, "continuous")
    of_classes = (rivals.logistic_d0crt, rivals.crt_logit)
    of_numbers = (rivals.lasso_knockoffs, rivals.mlr_knockoffs, rivals.d0crt, rivals.gcm)
    for fit in of_classes:
        with pytest.raises(ValueError, match="left out with a target of numbers"):
            fit(Simulation(X, y, nothing, "continuous"), 0)
    for fit in of_numbers + of_classes:
        with pytest.raises(ValueError, match="left out with 3 classes"):
            fit(three, 0)
        with pytest.raises(ValueError, match="left out beyond 1000 features"):
            fit(wide, 0)
    probit = Simulation(np.zeros((4, 201)), y, nothing, "classes")
    with pytest.raises(ValueError, match="left out beyond 200 features"):
        rivals.mlr_knockoffs(probit, 0)


def test_gcm_is_the_formula_of_its_paper(rng):
    """Oracle: every feature left out of both fits, and T from sums of products (eq. 3 there)."""
    pytest.importorskip("sklearn", "1.7", reason="the benchmarks need scikit-learn 1.7")
    X = rng.normal(size=(80, 6)) * [1, 5, 1, 1, 1, 1] + 3
    X[:, 3] = 1.0  # constant
    y = X[:, 0] + 0.3 * X[:, 1] + rng.normal(size=80) + 7
    found = rivals.gcm(Simulation(X, y, np.array([0, 1]), "continuous"), 0)
    sd = np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    Z = (X - X.mean(axis=0)) / sd
    alpha = LassoCV(alphas=50, eps=0.003, tol=1e-3).fit(Z, y).alpha_
    for k in (0, 1, 2, 4, 5):
        others = np.delete(Z, k, axis=1)
        e = y - Lasso(alpha, tol=1e-8).fit(others, y).predict(others)
        node = LassoCV(alphas=20, eps=0.03, tol=1e-3).fit(others, Z[:, k])
        R = e * (Z[:, k] - node.predict(others))
        T = R.sum() / np.sqrt(80) / np.sqrt((R**2).mean() - R.mean() ** 2)
        assert_allclose(found[k], 2 * stats.norm.sf(abs(T)), rtol=0.05)
    assert found[3] == 1
    assert found[:2].max() < 1e-4 < found[[2, 4, 5]].min()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow  # three fits of seconds
def test_likelihood_ratios_are_the_same_again(drawn):
    """Law: the same data and seed give the same W, though knockpy draws from two generators."""
    pytest.importorskip("knockpy", reason="needs: pip install smrmr[bench]")
    W, again, other = (rivals.mlr_knockoffs(drawn, seed).W for seed in (3, 3, 4))
    assert_array_equal(W, again)
    assert (other != W).any()


@pytest.mark.slow  # a fit takes seconds
@pytest.mark.parametrize(
    ("name", "design"),
    [
        *((name, design) for name in ("d0CRT", "GCM", "T-Rex") for design in ("1.d", "3.b")),
        *((name, "3.b") for name in ("d0CRT (logistic)", "CRT-logit")),
        *((name, "1.d") for name in ("LASSO knockoffs", "MLR knockoffs")),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_rivals_find_what_is_easy(name, design):
    """Oracle: the ten true features; the share of false ones in a single draw is left wide."""
    if package := METHODS[name].package:
        pytest.importorskip(package, reason="needs: pip install smrmr[bench]")
    data = simulate(design, 300, 95, random_state=1)
    found = select(data, keys_of(name))[0][1]
    assert np.isin(data.support, found).sum() >= 8
    assert np.isin(found, data.support).mean() >= 0.5


def test_cells_may_have_methods_of_their_own(tmp_path):
    file = tmp_path / "own.toml"
    file.write_text(
        'methods = ["smrmr"]\nlevels = [0.1, 0.3]\ndesigns = ["1.a", "3.a"]\n'
        "[[cells]]\nn = [50]\np = [20]\nseeds = 2\n"
        '[[cells]]\nmethods = ["SIS", "smrmr"]\ndesigns = ["1.a"]\nn = [50]\np = [20]\nseeds = 1\n'
    )
    grid = read_grid(str(file))
    assert [(c.design, seed, c.methods) for c, seed in grid.draws()] == [
        ("1.a", 0, ("smrmr", "SIS")),
        ("3.a", 0, ("smrmr",)),
        ("1.a", 1, ("smrmr",)),
        ("3.a", 1, ("smrmr",)),
    ]
    assert levels_of("smrmr", grid.levels) == (0.1, 0.3)
    part = [(c.design, seed, c.methods) for c, seed in grid.only(["SIS"]).draws()]
    assert part == [("1.a", 0, ("SIS",))]
    with pytest.raises(ValueError, match="this grid does not run GCM, but smrmr, SIS"):
        grid.only(["GCM"])
    assert levels_of("SIS", grid.levels) == (None,)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("levels = 0.3", "levels = 0.3 must list numbers between 0 and 1"),
        ("levels = [0.3, 1.0]", "must list numbers between 0 and 1"),
        ('designs = ["9.z"]', "'9.z' is not one of 1.a"),
        ("", "needs designs, n, p, seeds"),
    ],
)
def test_bad_lines_of_a_grid_are_refused(tmp_path, line, fault):
    file = tmp_path / "grid.toml"
    file.write_text(f"{line}\n[[cells]]\nn = [50]\np = [100]\nseeds = 2\n")
    with pytest.raises(ValueError, match="grid") as raised:
        read_grid(str(file))
    assert fault in str(raised.value)


def test_the_yardstick_holds_what_it_promises():
    """By hand: seeds of the tests and of the rivals at every size; every design at each."""
    grid = read_grid("yardstick")
    assert grid.levels == LEVELS
    sizes = {(100, 100), (100, 500), (200, 600), (500, 500), (500, 2000), (100, 5000)}
    beside = {
        *(("three classes", 200, 300), ("six classes", 200, 300)),
        *(("weak", 200, 200), ("logistic", 200, 200)),
    }
    everywhere = {(d, *s) for d in DESIGNS for s in sizes}
    assert {(c.design, c.n, c.p) for c in grid.cells} == everywhere | beside
    fast, slow = {}, {}
    for cell in grid.cells:
        (slow if "d0CRT" in cell.methods else fast)[cell.n, cell.p] = cell.seeds
    assert [fast[size] for size in ((100, 100), (100, 500), (200, 600))] == [100, 50, 50]
    assert [fast[size] for size in ((500, 500), (500, 2000), (100, 5000))] == [20, 20, 20]
    assert fast[200, 200] == 50
    assert slow == dict.fromkeys(sizes, 10) | {(200, 200): 20}
    run = {name for cell in grid.cells for name in cell.methods or grid.methods}
    assert run == {*YARDSTICK, "knockoffs", "paper (PC, MCP)", "LASSO knockoffs"}


def test_rows_of_the_yardstick_are_resumed_and_added_to(tmp_path):
    """Oracle: the rows of a run that knew from the start what another was told in two steps."""
    few = Grid((Cell("1.a", 40, 12, 1),), ("smrmr",), (0.1, 0.3))
    more = Grid(
        (Cell("1.a", 40, 12, 1), Cell("null", 40, 12, 2, ("SIS + BH",))), ("smrmr",), LEVELS
    )
    grown, whole = (open_store(tmp_path / name, "yardstick") for name in "ab")
    run_grid(few, grown, predict=False)
    before = grown.path.read_bytes()
    run_grid(more, grown, predict=False)
    run_grid(more, whole, predict=False)
    assert grown.path.read_bytes().startswith(before)

    def rows(store):
        return store.frame().sort_values(list(store.key)).drop(columns="seconds").values.tolist()

    assert str(rows(grown)) == str(rows(whole))
    assert len(rows(whole)) == 3 + 2 * 3
    assert set(whole.frame()["status"]) == {"ok"}
