"""The yardstick's tables from made-up rows, and targets planted in made-up tables. Fast."""

from __future__ import annotations

import gzip
from statistics import mean, stdev

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from benchmarks.data.datasets import OTHERS, SOURCES, Source, load, read_mouse, read_riboflavin
from benchmarks.data.download import File
from benchmarks.experiments import planted
from benchmarks.experiments.planted import distinct_columns, plant, run_planted
from benchmarks.report.against import against, rivals
from benchmarks.report.figures import draw_figures
from benchmarks.report.means import cells
from benchmarks.report.yardstick import (
    MEASURED,
    PAPER,
    beaten,
    calibration,
    designs_table,
    left_empty,
    ratios,
    write_yardstick,
    yardstick,
)
from benchmarks.stores import open_store, read_stores
from benchmarks.studies.calibration import one, study

FDRS = {"smrmr": [0.0, 0.2, 0.4, 0.2, 0.2, 0.2], "T-Rex": [0.5] * 6}


def row(design, method, level, seed, **values):
    key = {"design": design, "n": 100, "p": 100, "method": method, "level": level, "seed": seed}
    return {**key, "status": "ok", "version": "smrmr 9", "seconds": 2.0, **values}


def made_up():
    """Means that are known: TPR 0.5 or 1, FDR as listed; T-Rex cannot take design 3.a."""
    for design in PAPER:
        for method, fdrs in FDRS.items():
            for seed, fdr in enumerate(fdrs):
                if (design, method) == ("3.a", "T-Rex"):
                    yield row(design, method, 0.3, seed) | {"status": "ValueError: classes"}
                    continue
                tpr = 1.0 if design == "1.a" else 0.5
                null = {"null_05": 0.05 * seed, "null_01": 0.01, "null_001": 0.0}
                p_values = null if method == "smrmr" else {}
                size = 0 if design == "2.b" and method == "smrmr" else 4
                yield row(design, method, 0.3, seed, tpr=tpr, fdr=fdr, n_selected=size, **p_values)


@pytest.fixture
def folder(tmp_path):
    open_store(tmp_path, "yardstick").append(made_up())
    return tmp_path


def lines(text):
    """Rows of a table, by their first entry."""
    split = (line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|"))
    return {first: rest for first, *rest in split}


def test_designs_and_what_they_come_to_by_hand(folder):
    """By hand: FDR 0.2 with its error; ten of them have an error smaller by the root of ten."""
    table = designs_table(cells(open_store(folder, "yardstick").frame(), measured=MEASURED))
    said = lines(table)
    se = stdev(FDRS["smrmr"]) / 6**0.5
    assert said["design"] == ["smrmr", "T-Rex"]  # as the package lists them
    ours, rival = 0, 1
    assert mean(FDRS["smrmr"]) == pytest.approx(0.2)
    assert said["1.a"][ours] == f"1.00 / 0.20 ({se:.2f})"
    assert said["3.a"][rival] == "- / -"
    assert said["mean of the paper's"][ours] == f"0.55 / 0.20 ({se / 10**0.5:.2f})"
    assert said["mean of the paper's"][rival] == "0.56 / 0.50 (0.00), 9 of 10"
    assert said["cells above by 2 SE, 3 SE"][ours] == "0, 0 of 10"
    assert said["cells above by 2 SE, 3 SE"][rival] == "9, 9 of 9"
    assert said["empty answers"][ours] == "0.10"


def test_null_p_values_are_counted_by_data_set(folder):
    """By hand: shares 0, 0.05, ..., 0.25 of 0.05 are 2.5 on average; one fit counts once."""
    store = open_store(folder, "yardstick")
    extra = [dict(r, level=0.1) for r in made_up() if r["method"] == "smrmr"]
    store.append(extra)
    store.append(dict(r, method="smrmr (BY)") for r in extra)
    said = lines(calibration(store.frame()))
    assert list(said) == ["method", "---|---|---|---|---|---", "smrmr"]
    error = stdev([0, 1, 2, 3, 4, 5] * 10) / 60**0.5
    assert said["smrmr"] == ["100", "60", f"2.50 ({error:.2f})", "1.00 (0.00)", "0.00 (0.00)"]


def test_rivals_that_find_more_are_named(folder):
    """By hand: knockoffs find 0.9 of 1.b, T-Rex more but above its level, ours 0.5 and 1."""
    store = open_store(folder, "yardstick")
    better = {"1.a": 1.05, "1.b": 0.9}
    knockoffs = [
        row(design, "LASSO knockoffs", 0.3, seed, tpr=tpr, fdr=0.1, n_selected=3)
        for design, tpr in better.items()
        for seed in range(6)
    ]
    frame = pd.concat([store.frame(), pd.DataFrame(knockoffs)], ignore_index=True)
    frame.loc[frame["method"] == "T-Rex", "tpr"] = 1.0
    table = beaten(cells(frame, measured=MEASURED))
    entries = ["100", "100", "0.30", "0.50", "LASSO knockoffs", "0.90", "0.10"]
    assert lines(table)["1.b"] == entries
    assert not {"1.a", *PAPER[2:]} & set(lines(table))
    assert "No rival" in beaten(cells(frame[frame["design"] == "1.a"], measured=MEASURED))
    assert beaten(cells(frame[frame["method"] == "smrmr"], measured=MEASURED)) == ""


def test_empty_answers_count_where_a_rival_finds_something(folder):
    """By hand: ours is empty on 2.b, one of the nine designs that T-Rex takes."""
    frame = open_store(folder, "yardstick").frame()
    assert lines(left_empty(frame))["100"] == ["100", "0.30", "54", "0.11"]
    frame.loc[frame["design"] == "2.b", "tpr"] = 0.0
    assert lines(left_empty(frame))["100"] == ["100", "0.30", "48", "0.00"]
    assert left_empty(frame[frame["method"] == "smrmr"]) == ""


def test_the_table_of_rivals_has_those_that_took_all_designs(folder):
    """By hand: d0CRT took nine designs of ten, so that its mean would be of other designs."""
    store = open_store(folder, "yardstick")
    store.append([dict(r, level=0.1) for r in made_up() if r["method"] == "smrmr"])
    store.append([dict(r, level=0.1, method="d0CRT") for r in made_up() if r["method"] == "T-Rex"])
    ranked = [row(design, "mRMR (MID)", None, 0, tpr=0.5, fdr=0.75) for design in PAPER]
    open_store(folder, "synthetic").append(ranked)
    said = lines(rivals(read_stores(folder)))
    assert said["**smrmr**"] == ["0.55 / 0.20 (0.02)", "-", "2.00"]
    assert said["d0CRT"] == ["-", "-", "-"]
    assert said["mRMR"] == ["0.50 / 0.75", "-", "2.00"]
    said = lines(against(read_stores(folder)))
    assert said["**smrmr**"][:2] == ["0.55", "0.20"]
    assert said["d0CRT"][:2] == ["-", "-"]
    heads = against(read_stores(folder)).splitlines()[0]
    assert all(ability in heads for ability in ("pairs", "layers", "own-table check"))


def test_figures_are_drawn_of_methods_that_took_all(folder):
    drawn = {path.name for path in draw_figures(folder)}
    assert drawn == {"yardstick.svg"}


def test_the_files_say_what_was_run(folder, tmp_path):
    text = write_yardstick(folder).read_text()
    said = lines(text)
    assert "### n=100, p=100, level 0.3" in text
    assert said["smrmr"][0] == "100"  # of the last table with such a row, null p-values
    assert "| T-Rex | smrmr 9 | 9 | 9 | 9 | 0.00 | 1 | 2.00 |" in text
    assert "| smrmr | smrmr 9 | 10 | 0 | 0 | 0.10 | 0 | 2.00 |" in text
    docs = yardstick(read_stores(folder))
    assert "### Designs at level 0.3, `smrmr`\n\n| design |" in docs
    assert "| 2.a | 0.50 / 0.20" in docs
    empty = tmp_path / "empty"
    assert write_yardstick(empty) is None
    assert yardstick(read_stores(empty)) == "not run"


# --- planted targets ---


def test_columns_that_nobody_can_tell_apart_count_once(rng):
    """By hand: a constant, a copy, a mirror image and a rescaled column are left out."""
    a, b = rng.normal(size=(2, 40))
    coin = np.tile([0.0, 1.0], 20)
    X = np.column_stack([np.full(40, 1e6), a, b, a, 3 - 2 * a, 7 * b + 1, coin, 1 - coin, a + b])
    assert distinct_columns(X).tolist() == [1, 2, 6, 8]


def test_planted_targets_are_made_of_their_ten_features(rng):
    """Oracles: least squares on the true features, and the rule that makes classes."""
    X = rng.normal(size=(3000, 40)) * 5 + 2
    linear = plant(X, "any", "linear", 0)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    slopes = np.linalg.lstsq(np.column_stack([Z, np.ones(3000)]), linear.y, rcond=None)[0][:-1]
    assert len(set(linear.support.tolist())) == 10
    assert_allclose(np.abs(slopes[linear.support]), 1, atol=0.1)
    assert_allclose(np.delete(slopes, linear.support), 0, atol=0.1)
    assert len(set(np.sign(slopes[linear.support]))) == 2
    assert_allclose((linear.y - Z @ slopes).std(), 1, atol=0.05)
    binary = plant(X, "any", "binary", 0)
    assert (binary.target, binary.y.sum()) == ("classes", 1500)
    signs = np.sign(np.corrcoef(binary.y, Z[:, binary.support], rowvar=False)[0, 1:])
    total = Z[:, binary.support] @ signs
    assert_array_equal(binary.y, total > np.median(total))


def test_half_of_a_non_linear_target_bends(rng):
    """Oracle: correlation with 2 tanh(2x) for five of the features, with 2|x| for the others."""
    X = rng.normal(size=(5000, 30))
    data = plant(X, "any", "non-linear", 1)
    steps = np.corrcoef(data.y, np.tanh(2 * X), rowvar=False)[0, 1:]
    bends = np.corrcoef(data.y, np.abs(X), rowvar=False)[0, 1:]
    assert_array_equal(np.flatnonzero((steps > 0.15) | (bends > 0.15)), data.support)
    assert [(steps > 0.15).sum(), (bends > 0.15).sum()] == [5, 5]
    again, other = plant(X, "any", "non-linear", 1), plant(X, "any", "non-linear", 2)
    assert_array_equal(again.y, data.y)
    assert other.support.tolist() != data.support.tolist()


@pytest.mark.parametrize("r2", [0.3, 0.7])
def test_planted_noise_leaves_the_share_in_the_name_to_the_signal(rng, r2):
    """Oracles: R2 of least squares on the true features; the latent sum of a planted class."""
    X = rng.normal(size=(20_000, 20)) @ np.triu(np.full((20, 20), 0.3)) + 2
    linear = plant(X, "any", f"linear, R2 {r2}", 0)
    x = np.column_stack([X[:, linear.support], np.ones(20_000)])
    left = linear.y - x @ np.linalg.lstsq(x, linear.y, rcond=None)[0]
    assert_allclose(1 - left.var() / linear.y.var(), r2, atol=0.02)
    bent = plant(X, "any", f"non-linear, R2 {r2}", 0)
    z = stats.zscore(X[:, bent.support])
    z = np.column_stack([np.tanh(2 * z), np.abs(z), np.ones(20_000)])
    left = bent.y - z @ np.linalg.lstsq(z, bent.y, rcond=None)[0]
    assert_allclose(1 - left.var() / bent.y.var(), r2, atol=0.02)
    binary = plant(X, "any", f"binary, R2 {r2}", 0)
    assert (binary.target, binary.y.sum()) == ("classes", 10_000)
    x = stats.zscore(X[:, binary.support])
    slopes = np.linalg.lstsq(x, binary.y - 0.5, rcond=None)[0]
    # a median split of a normal sum keeps 2 / pi of its R2
    assert_allclose((x @ slopes).var() / 0.25, r2 * 2 / np.pi, atol=0.02)
    assert_allclose(np.abs(slopes) / np.abs(slopes).mean(), 1, atol=0.2)


def r_vector(values):
    """A vector of numbers as R writes it."""
    return len(values).to_bytes(4, "big") + np.asarray(values, ">f8").tobytes()


@pytest.fixture
def tables(tmp_path, monkeypatch, rng):
    """A made-up table of the size of riboflavin, and the smallest PLINK files."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("SMRMR_DATA", str(folder))
    X, y = rng.normal(size=(71, 4088)), rng.normal(size=71)
    content = b"RDX2 head" + r_vector(y) + b"between" + r_vector(X.T.ravel()) + b"tail"
    (folder / "small.RData").write_bytes(gzip.compress(content, 1))
    bed = bytes([0x6C, 0x1B, 0x01, 0b11_10_01_00, 0b00_00_10_11])  # 2, missing, 1, 0
    for name, part in (
        ("m.bed", bed),
        ("m.bim", b"1 rs1 0 5 A C\n1 rs2 0 6 A C\n"),
        ("m.fam", b"".join(b"f i%d 0 0 1 %d.5\n" % (k, k) for k in range(4))),
    ):
        (folder / f"{name}.gz").write_bytes(gzip.compress(part))
    forms = tuple((File(f"m.{ending}.gz"),) for ending in ("bed", "bim", "fam"))
    monkeypatch.setitem(SOURCES, "m", Source("m", forms, 4, 2, read_mouse))
    small = Source("small", ((File("small.RData"),),), 71, 4088, read_riboflavin)
    monkeypatch.setitem(SOURCES, "small", small)
    return X, y


def test_tables_of_r_and_plink_are_read(tables):
    """Oracles: what was written; the bits of PLINK by hand, a missing genotype the median."""
    X, y = tables
    assert_array_equal(load("small").X, X)
    assert_array_equal(load("small").y, y)
    genotypes = load("m")
    assert genotypes.X.tolist() == [[2, 0], [1, 1], [1, 2], [0, 2]]
    assert genotypes.y.tolist() == [0.5, 1.5, 2.5, 3.5]
    assert genotypes.names == ("rs1", "rs2")


def test_a_table_without_an_address_says_where_to_put_it(tmp_path, monkeypatch):
    monkeypatch.delenv("SMRMR_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert set(planted.DATASETS) <= set(SOURCES)
    for source in OTHERS:
        with pytest.raises(FileNotFoundError, match=r"\.\w+ has no address.*SMRMR_DATA"):
            load(source.name)


def test_rows_of_planted_targets_are_kept(tables, tmp_path, monkeypatch):
    """Oracle: what the first run wrote; a second one adds a seed and computes nothing again."""
    monkeypatch.setattr(planted, "DATASETS", ("small", "nowhere"))
    monkeypatch.setattr(planted, "COMPARED", ("paper (PC, MCP)",))
    monkeypatch.setitem(SOURCES, "nowhere", Source("nowhere", ((File("x"),),), 1, 1, read_mouse))
    out, few = tmp_path / "out", ("linear", "binary, R2 0.9")
    with pytest.warns(UserWarning, match="data sets left out: nowhere"):
        run_planted(out, 1, responses=few)
    store = open_store(out, "planted")
    before = store.path.read_bytes()
    frame = store.frame()
    assert len(frame) == 3 * 2
    assert set(frame["response"]) == set(few)
    assert set(frame["level"]) == {0.1, 0.2, 0.3}
    assert set(frame["status"]) == {"ok"}
    run_planted(out, 1, ["small"], responses=few)
    assert store.path.read_bytes() == before
    run_planted(out, 2, ["small"], responses=few)
    assert store.path.read_bytes().startswith(before)
    assert len(store.frame()) == 2 * 3 * 2
    assert "| small | linear | 0.10 |" in write_yardstick(out).read_text()
    with pytest.raises(ValueError, match="no data set GLIOMAS for planted targets"):
        run_planted(out, 1, ["GLIOMAS"])
    with pytest.raises(ValueError, match="no method SIS for planted targets"):
        run_planted(out, 1, ["small"], ["SIS"])
    with pytest.raises(ValueError, match=r"no response linear, R2 0\.4 .*; linear, R2 0\.5"):
        run_planted(out, 1, responses=["linear, R2 0.4"])
    with pytest.raises(ValueError, match="seeds=0 must be a positive integer"):
        run_planted(out, 0)


# --- the study of calibration ---


def test_ratios_by_hand():
    """Shares 0.05 and 0.15 of 0.05: ratios 1 and 3, so 2 with a standard error of 1."""
    fits = pd.DataFrame({"n": [5, 5], "null_05": [0.05, 0.15], "null_01": 0.01, "null_001": 0.0})
    table = ratios(fits, ["n"])
    assert table["data sets"].tolist() == [2]
    assert_allclose(table[["0.05", "0.05_se", "0.01", "0.001_se"]].iloc[0], [2, 1, 1, 0])


def test_the_study_runs_every_design_and_seed_once():
    rows = study([0, 1], designs=("null", "3.a"), rows=(20,), jobs=1)
    assert rows.groupby(["design", "n"]).size().to_dict() == {("3.a", 20): 2, ("null", 20): 2}
    assert one("null", 20, 1) == rows[rows["design"] == "null"].iloc[1].to_dict()
