"""AnnData in, answers written into it: what a DataFrame of the same values gives."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from pandas.testing import assert_frame_equal
from scipy import sparse

import smrmr
from smrmr import Recipe

anndata = pytest.importorskip("anndata", reason="needs: pip install smrmr[files]")
PBMC = Path(os.environ.get("SMRMR_DATA", "")) / "singlecell" / "10x_pbmc68k_reduced.h5ad"
LEVEL = Recipe(fdr=0.2)
N = 120


def made():
    """Counts by rows, of which g3 and g8 tell the label and g5 copies g4; batches and donors."""
    rng = np.random.default_rng(3)
    X = rng.poisson(1.0, (N, 25)).astype(np.float32)
    X[:, 5] = X[:, 4]
    obs = pd.DataFrame({"batch": rng.choice(["one", "two"], N)}, index=[f"c{i}" for i in range(N)])
    told = X[:, 3] + X[:, 8] + rng.normal(size=N)
    obs["label"] = pd.Categorical(np.where(told > 2, "ill", "well"))
    obs["size"], obs["age"] = told, rng.normal(size=N)
    obs["donor"] = [f"d{i // 4}" for i in range(N)]
    adata = anndata.AnnData(
        sparse.csr_matrix(X), obs, pd.DataFrame(index=[f"g{k}" for k in range(25)])
    )
    adata.layers["twice"] = sparse.csc_matrix(2 * X)
    adata.layers["dense"] = X.copy()
    adata.raw = adata.copy()
    return adata


@pytest.fixture
def adata():
    return made()


@pytest.fixture(scope="module")
def in_memory():
    """What is found of the label, in memory."""
    return smrmr.anndata.select(made(), "label", recipe=LEVEL)


def frame_of(adata):
    return pd.DataFrame(adata.X.toarray(), columns=adata.var_names)


def assert_written(var, found, others=()):
    """What var holds is what the selection of the same values as a DataFrame holds."""
    asked = [name for name in var.index if name not in others]
    mine = var.loc[asked]
    assert list(found.names) == asked
    assert_array_equal(mine["smrmr_selected"], found.support)
    assert_array_equal(mine["smrmr_q_value"], found.table_columns()["q_value"])
    if hasattr(found.evidence, "p_values"):
        assert_array_equal(mine["smrmr_p_value"], found.table_columns()["p_value"])
        assert_array_equal(
            mine["smrmr_direction"].astype(object), found.table_columns()["direction"]
        )
    else:
        assert_array_equal(mine["smrmr_W"], found.W)
        assert "smrmr_direction" not in var
    for name in others:
        assert not var.loc[name, "smrmr_selected"]
        assert np.isnan(var.loc[name, "smrmr_q_value"])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"covariates": "batch"},
        {"covariates": ["batch", "age"], "groups": "donor"},
        {"groups": "donor", "aggregate": "mean", "target": "size"},
    ],
)
def test_var_holds_what_a_frame_gives(options, adata):
    """Oracle: `smrmr.select` on a DataFrame of the same values."""
    obs, asked = adata.obs, options.get("target", "label")
    expected = smrmr.select(
        frame_of(adata),
        obs[asked],
        LEVEL,
        covariates=obs[np.atleast_1d(options["covariates"])] if "covariates" in options else None,
        groups=obs["donor"] if "groups" in options else None,
        aggregate=options.get("aggregate"),
    )
    options = {name: value for name, value in options.items() if name != "target"}
    found = smrmr.anndata.select(adata, asked, recipe=LEVEL, **options)
    assert_written(adata.var, expected)
    assert found.selected_names == expected.selected_names
    assert {"g3", "g8"} <= set(adata.var_names[adata.var["smrmr_selected"]]) or options
    assert adata.var.loc["g4", "smrmr_group"] == ""


@pytest.mark.filterwarnings("ignore:Knockoffs. NOT exchangeable")
def test_knockoffs_write_w(adata):
    """Oracle: `smrmr.select` on a DataFrame of the same values."""
    recipe = Recipe(control="knockoffs")
    expected = smrmr.select(frame_of(adata), adata.obs["label"], recipe, rng=1)
    smrmr.anndata.select(adata, "label", recipe=recipe, rng=1)
    assert_written(adata.var, expected)
    assert adata.uns["smrmr"]["rule"] == expected.decision.rule


def test_groups_of_look_alikes_are_named(adata):
    """Oracle: g8 and its noisy copies, of which none can be told from the others."""
    rng = np.random.default_rng(0)
    X = adata.X.toarray()
    X[:, 20:24] = X[:, [8]] + 0.15 * rng.normal(size=(N, 4))
    adata.X = sparse.csr_matrix(X)
    found = smrmr.anndata.select(adata, "label", recipe=LEVEL)
    (lead,) = {"g8", "g20", "g21", "g22", "g23"} & set(found.selected_names)
    together = adata.var_names[adata.var["smrmr_group"] == lead]
    assert {"g20", "g21", "g22", "g23"} <= set(together) | {lead}


@pytest.mark.parametrize(("layer", "use_raw"), [("twice", False), ("dense", False), (None, True)])
def test_layers_and_raw(layer, use_raw, adata, in_memory):
    """Oracle: X, of which the layers are monotone transforms and raw is a copy."""
    adata.X = sparse.csr_matrix((N, 25), dtype=np.float32)
    smrmr.anndata.select(adata, "label", layer=layer, use_raw=use_raw, recipe=LEVEL)
    assert_written(adata.raw.var if use_raw else adata.var, in_memory)
    assert ("smrmr_selected" in adata.var) != use_raw
    assert adata.uns["smrmr"]["matrix"] == (layer or "raw")


def test_a_feature_may_be_target_or_covariate(adata):
    """Oracle: the column taken out of the frame by hand."""
    frame = frame_of(adata)
    with pytest.warns(UserWarning, match="columns g5 of X say the same as y"):
        expected = smrmr.select(frame.drop(columns="g4"), frame["g4"], target="continuous")
    with pytest.warns(UserWarning, match="columns g5 of X say the same as y"):
        smrmr.anndata.select(adata, "g4", recipe=Recipe(target="continuous"))
    assert_written(adata.var, expected, others=["g4"])
    assert adata.var.loc["g5", "smrmr_selected"]
    rest = frame.drop(columns=["g8"])
    expected = smrmr.select(rest, adata.obs["label"], LEVEL, covariates={"g8": frame["g8"]})
    found = smrmr.anndata.select(adata, "label", covariates=["g8"], recipe=LEVEL)
    assert_written(adata.var, expected, others=["g8"])
    assert found.covariates == ("g8",)


def test_several_columns_are_several_outputs(adata):
    """Oracle: the two columns of obs themselves."""
    expected = smrmr.select(frame_of(adata), adata.obs[["size", "age"]])
    smrmr.anndata.select(adata, ["size", "age"])
    assert_written(adata.var, expected)
    assert adata.uns["smrmr"]["target"] == "size and age"


@pytest.mark.parametrize("control", ["tests", "knockoffs(n_draws=2)"])
@pytest.mark.filterwarnings("ignore:Knockoffs. NOT exchangeable")
def test_everything_survives_a_file(control, adata, tmp_path):
    """Oracle: what was written."""
    recipe = Recipe(fdr=0.2, control=control, alike=0.7, always_keep=["g1"])
    found = smrmr.anndata.select(adata, "label", covariates=["batch"], recipe=recipe, rng=0)
    adata.write_h5ad(tmp_path / "a.h5ad")
    again = anndata.read_h5ad(tmp_path / "a.h5ad")
    assert_written(again.var, found)
    there, here = again.uns["smrmr"], adata.uns["smrmr"]
    assert there.keys() == here.keys()
    for name in ("level", "rule", "statement", "methods", "settings", "versions", "target"):
        assert there[name] == here[name]
    assert there["selected"].tolist() == found.selected_names
    assert there["level"] == 0.2
    assert "Features were selected with SmRMR" in there["methods"]
    assert "label" in there["statement"] or there["target"] == "label"


def test_a_check_is_written_beside_the_answer(adata, tmp_path):
    """Oracle: `smrmr.check` of the same values in a frame, with the same covariates and groups."""
    how = {"n_fits": 3, "strengths": 0.5, "n_effects": 1}
    found = smrmr.anndata.select(
        adata, "size", covariates=["batch"], groups="donor", recipe=LEVEL, check=how
    )
    about = {"covariates": adata.obs[["batch"]], "groups": adata.obs["donor"]}
    ours = smrmr.check(frame_of(adata), adata.obs["size"], LEVEL, **about, **how)
    assert_array_equal(found.table_check.outcomes, ours.outcomes)
    adata.write_h5ad(tmp_path / "a.h5ad")
    there = anndata.read_h5ad(tmp_path / "a.h5ad").uns["smrmr"]
    assert there["check"] == str(found.table_check)
    for name, table in (("power", ours.to_frame()), ("levels", ours.levels())):
        assert_frame_equal(there[f"check_{name}"].reset_index(drop=True), table, check_dtype=False)
    assert "Level and power were measured on the same table, in 3 fits" in there["methods"]


@pytest.mark.parametrize(
    ("mode", "form", "copies"),
    [
        ("r+", sparse.csr_matrix, 3),
        pytest.param("r", sparse.csr_matrix, 10**9, marks=pytest.mark.slow),
        ("r+", sparse.csc_matrix, 10**9),  # as if the file were large
        pytest.param("r", sparse.csr_matrix.toarray, 3, marks=pytest.mark.slow),
    ],
)
def test_files_are_read_where_they_lie(mode, form, copies, adata, in_memory, tmp_path, monkeypatch):
    """Oracle: the same in memory."""
    adata.X = form(adata.X)
    adata.write_h5ad(tmp_path / "a.h5ad")
    backed = anndata.read_h5ad(tmp_path / "a.h5ad", backed=mode)
    monkeypatch.setattr(smrmr.anndata, "COPIES", copies)
    smrmr.anndata.select(backed, "label", recipe=LEVEL)
    assert_written(backed.var, in_memory)
    assert backed.isbacked
    for wrong, options in ((backed[:50], {}), (backed, {"copy": True})):
        with pytest.raises(ValueError, match=r"to_memory\(\)"):
            smrmr.anndata.select(wrong, "label", **options)
    smrmr.anndata.select(backed, "label", use_raw=True, recipe=LEVEL)
    assert_written(backed.raw.var, in_memory)
    backed.file.close()


def test_copies_and_views(adata):
    """Oracle: the rows as an object of their own."""
    copy = smrmr.anndata.select(adata, "label", recipe=LEVEL, copy=True)
    assert "smrmr" not in adata.uns
    assert "smrmr_selected" in copy.var
    view = adata[10:110]
    expected = smrmr.anndata.select(view.copy(), "label", recipe=LEVEL)
    smrmr.anndata.select(view, "label", recipe=LEVEL)
    assert_written(view.var, expected)
    assert "smrmr_selected" not in adata.var
    view = adata[10:110]
    smrmr.anndata.select(view, "label", use_raw=True, recipe=LEVEL)
    assert_written(view.raw.var, expected)
    assert "smrmr_selected" not in adata.raw.var


def test_dask_in_anndata(adata, in_memory):
    """Oracle: the same in memory."""
    array = pytest.importorskip("dask.array", reason="needs: pip install smrmr[dask]")
    adata.X = array.from_array(adata.X.toarray(), chunks=(40, 25)).map_blocks(sparse.csr_matrix)
    smrmr.anndata.select(adata, "label", recipe=LEVEL)
    assert_written(adata.var, in_memory)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "lable"}, "target 'lable' is neither a column of obs.*Did you mean 'label'"),
        ({"covariates": ["bach"]}, "covariates 'bach' is neither.*Did you mean 'batch'"),
        ({"groups": "Donor"}, "groups 'Donor' is neither.*Did you mean 'donor'"),
        ({"layer": "twise"}, "no layer 'twise'.*Did you mean 'twice'"),
        ({"layer": "twice", "use_raw": True}, "layer and use_raw name two matrices"),
    ],
)
def test_what_is_not_there_is_named(options, message, adata):
    with pytest.raises(ValueError, match=message):
        smrmr.anndata.select(adata, **({"target": "label"} | options))


def test_bad_objects_are_told_what_to_change(adata):
    with pytest.raises(TypeError, match=r"adata is a DataFrame.*read_h5ad.*smrmr\[files\]"):
        smrmr.anndata.select(adata.obs, "label")
    adata.obs.loc["c3", "label"] = None
    with pytest.raises(ValueError, match=r"missing in 1 of 120 rows.*obs\['label'\]\.notna"):
        smrmr.anndata.select(adata, "label")
    bare = anndata.AnnData(obs=adata.obs, layers={"counts": adata.X}, var=adata.var)
    with pytest.raises(ValueError, match=r"no X. Name a layer: it has counts"):
        smrmr.anndata.select(bare, "size")
    del adata.raw
    with pytest.raises(ValueError, match="adata has no raw"):
        smrmr.anndata.select(adata, "size", use_raw=True)
    adata.var_names = ["g0", *adata.var_names[:-1]]
    with pytest.raises(ValueError, match=r"var_names_make_unique.*'g0' appear more than once"):
        smrmr.anndata.select(adata, "size")


@pytest.fixture(scope="module")
def labelled():
    """Cells of three labels, one of them with a slash; g0 and g1 mark two, g2 is low in one."""
    rng = np.random.default_rng(4)
    labels = np.repeat(["CD4+/CD25", "B", "NK"], 60)
    X = rng.poisson(2.0, (180, 20)).astype(np.float32)
    X[labels == "CD4+/CD25", 0] += 4
    X[labels == "B", 1] += 4
    X[labels != "NK", 2] += 3
    adata = anndata.AnnData(
        sparse.csr_matrix(X),
        pd.DataFrame({"label": pd.Categorical(labels)}, index=[f"c{i}" for i in range(180)]),
        pd.DataFrame(index=[f"g{k}" for k in range(20)]),
    )
    return adata, smrmr.anndata.select(adata, "label", recipe=LEVEL)


def test_markers_are_written_by_class(labelled, tmp_path):
    """Oracle: how the cells were made, the tables of the selection, and the file read back."""
    adata, found = labelled
    adata.write_h5ad(tmp_path / "a.h5ad")
    for one in (adata, anndata.read_h5ad(tmp_path / "a.h5ad")):
        for column in ("higher_in", "lower_in"):
            written = one.var[f"smrmr_{column}"].astype(object)
            assert_array_equal(written, found.table_columns()[column])
        assert one.var.loc["g0", "smrmr_higher_in"] == "CD4+/CD25"
        assert "NK" in one.var.loc["g2", "smrmr_lower_in"]
        marked = found.markers().query("direction == 'higher'").groupby("class")["feature"]
        written = one.uns["smrmr"]["markers"]
        assert set(written) == {"CD4+|CD25", "B", "NK"}
        for label in ("CD4+/CD25", "B", "NK"):
            expected = marked.agg(list).to_dict().get(label, [])
            assert written[label.replace("/", "|")].tolist() == expected
        assert written["CD4+|CD25"][0] == "g0"
        assert written["B"][0] == "g1"
        assert "rising_outputs" not in " ".join(one.var)


@pytest.mark.parametrize("use_raw", [False, True])
def test_answers_of_two_questions_stand_beside_each_other(use_raw, adata, in_memory):
    """Law: an answer takes the place of an earlier one of its name alone, and leaves none of it."""
    holder = adata.raw if use_raw else adata
    adata.obs["third"] = np.tile(["I", "II", "III"], N // 3)
    smrmr.anndata.select(adata, "third", use_raw=use_raw)
    smrmr.anndata.select(adata, "label", use_raw=use_raw, key_added="by_label", fdr=0.2)
    assert "smrmr_higher_in" in holder.var
    assert (adata.uns["smrmr"]["target"], adata.uns["by_label"]["target"]) == ("third", "label")
    before = [name for name in holder.var if name.startswith("smrmr_")]
    smrmr.anndata.select(adata, "label", use_raw=use_raw, recipe=LEVEL)
    assert_written(holder.var, in_memory)
    after = {name.removeprefix("smrmr_") for name in holder.var if name.startswith("smrmr_")}
    assert after == {name.removeprefix("by_label_") for name in holder.var if "by_l" in name}
    assert "smrmr_higher_in" in before
    assert "higher_in" not in after


def test_numbers_have_no_markers(adata, in_memory):
    """Oracle: the target: two classes have markers, and no columns of their own; numbers none."""
    smrmr.anndata.select(adata, "label", recipe=LEVEL)
    assert "smrmr_higher_in" not in adata.var
    by_class = {label: set(genes) for label, genes in adata.uns["smrmr"]["markers"].items()}
    assert set(by_class) == {"ill", "well"}
    assert by_class["ill"] | by_class["well"] <= set(in_memory.selected_names)
    assert {"g3", "g8"} <= by_class["ill"]
    smrmr.anndata.select(adata, "size", recipe=LEVEL)
    assert "markers" not in adata.uns["smrmr"]


@pytest.mark.skipif(not PBMC.exists(), reason="needs the pbmc68k file below SMRMR_DATA")
@pytest.mark.filterwarnings("ignore::anndata.OldFormatWarning", "ignore::FutureWarning")
def test_real_cells(tmp_path):
    """Oracle: a DataFrame of the same cells."""
    adata = anndata.read_h5ad(PBMC)
    adata.obs["monocyte"] = adata.obs["bulk_labels"].astype(str).str.contains("Monocyte")
    cells = adata.raw.to_adata()[::2]
    common = np.flatnonzero(np.asarray((cells.X > 0).sum(axis=0)).ravel() >= 20)
    raw = cells[:, common[:40]].copy()
    assert sparse.issparse(raw.X)
    expected = smrmr.select(frame_of(raw), raw.obs["monocyte"], LEVEL)
    found = smrmr.anndata.select(raw, "monocyte", recipe=LEVEL)
    assert_written(raw.var, expected)
    assert found.selected.size
    raw.write_h5ad(tmp_path / "cells.h5ad")
    assert_written(anndata.read_h5ad(tmp_path / "cells.h5ad").var, found)
