"""Tables larger than `max_memory`: scores lie in files, the answer is the same, nothing is left.

Oracles: the answer of the same table in memory, to the last bit; a limit that the system sets on
the memory of a process.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from smrmr import Recipe, pipeline, select, simulate
from smrmr.conditional import first_pass, second_pass
from smrmr.conditional.components import CommonPart, Components
from smrmr.conditional.partner_products import all_products
from smrmr.conditional.products import find_products, scaled_scores
from smrmr.conditional.residuals import find_neighbours
from smrmr.conditional.results import Shared
from smrmr.conditional.scores import standardised
from smrmr.data import open_columns, sources
from smrmr.problems import Problem
from smrmr.runs.stored_rows import room_for, row_blocks, span, take_columns


@pytest.fixture
def matrix(rng):
    return rng.normal(size=(50, 33))


@pytest.fixture
def room(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with room_for(2, max_memory=1) as room:
        yield room


WHICH = [
    slice(None),
    slice(7, 3),
    np.array([3, 4, 9, 0, 3]),
    np.arange(50) % 3 == 1,
    -2,
    (slice(2, 9), slice(3, 7)),
    (np.array([3, 1]), slice(3, 7)),
    (slice(5), np.array([3, 1])),
]


@pytest.mark.parametrize("which", WHICH, ids=str)
@pytest.mark.parametrize("first", [0, 6])
def test_rows_in_a_file_are_indexed_like_an_array(which, first, matrix, room):
    """Oracle: NumPy."""
    stored = room.rows((50 + first, 33), float)
    stored[first:] = matrix
    found = pickle.loads(pickle.dumps(stored.span(first, 50 + first)))
    assert_array_equal(found[which], matrix[which])


def test_columns_are_taken_row_by_row(matrix, room):
    """Oracle: an index of NumPy; each row lies together, whatever it is taken from."""
    which = np.array([30, 2, 2, 7])
    for rows in (matrix, room.gather(iter([matrix]))):
        found = take_columns(rows, which)
        assert_array_equal(found, matrix[:, which])
        assert found.flags.c_contiguous


def test_rows_are_written_and_gathered(matrix, room):
    """Oracle: NumPy."""
    stored = room.gather(iter([matrix[:20], matrix[20:]]))
    assert_array_equal(np.stack(list(stored)), matrix)
    stored[np.array([7, 3])], stored[10:12] = matrix[:2], 0.5
    matrix[[7, 3]], matrix[10:12] = matrix[:2].copy(), 0.5
    assert_array_equal(stored[:], matrix)
    with pytest.raises(TypeError, match="at once"):
        stored[np.arange(2), np.arange(2)]


def table(rng, n=220, p=40):
    X = rng.normal(size=(n, p))
    X[:, 20:] += X[:, :1]  # which these have in common
    X[:, 5] = X[:, 6] + 0.2 * rng.normal(size=n)
    signal = X[:, 1] + np.abs(X[:, 2]) + X[:, 3] * X[:, 4] + X[:, 6]
    return X, signal + 0.5 * rng.normal(size=n)


def answers(found):
    evidence, alone = found.evidence, found.alone
    shown = [evidence.p_values, *evidence.effects, *evidence.p_by_target, evidence.pairs.p_values]
    shown += [evidence.similarity, evidence.residual_variance, alone.p, found.q_values]
    return [*shown, evidence.neighbours, found.selected, found.panel.features]


TARGETS = {
    "numbers": lambda y: y,
    "classes": lambda y: np.where(y > np.median(y), "a", "b"),
    "three classes": lambda y: np.digitize(y, np.quantile(y, [0.3, 0.7])).astype(str),
}


@pytest.mark.parametrize("refitted", [4000, 100], ids=["together", "one by one"])
@pytest.mark.parametrize("kind", TARGETS)
def test_the_answer_is_that_in_memory(kind, refitted, rng, tmp_path, monkeypatch):
    monkeypatch.setattr(second_pass, "MAX_REFITTED_ROWS", refitted)
    X, y = table(rng)
    given = {"covariates": pd.DataFrame({"age": rng.normal(size=len(y))})}
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folders = []
    first = first_pass.first_pass
    monkeypatch.setattr(
        "smrmr.conditional.controller.first_pass",
        lambda inputs, *rest: folders.append(inputs.room.folder) or first(inputs, *rest),
    )
    y = TARGETS[kind](y)
    inside = select(X, y, Recipe(max_memory="1GB"), rng=0, **given)
    monkeypatch.setattr(first_pass, "MAX_KEPT_VECTORS", 0)
    outside = select(X, y, Recipe(max_memory="1kB"), rng=0, **given)
    assert folders[0] is None
    assert folders[1].parent == tmp_path
    for one, other in zip(answers(inside), answers(outside), strict=True):
        assert_array_equal(one, other)
    assert list(tmp_path.iterdir()) == []


def test_few_hypotheses_are_tested_again_together_where_components_are_large(rng, monkeypatch):
    X, y = table(rng)
    seen = []
    monkeypatch.setattr(
        "smrmr.conditional.controller.refits",
        lambda *given: seen.append(given) or second_pass.refits(*given),
    )
    select(X, y, rng=0)
    n_values = seen[0][0].components.vectors.size
    assert n_values >= len(y)
    every = second_pass.refits(*seen[0])
    assert max(map(len, every)) > 2
    monkeypatch.setattr(second_pass, "MAX_TASK_VALUES", 2 * n_values + 1)
    few = second_pass.refits(*seen[0])
    assert max(map(len, few)) == 2
    assert [h.tolist() for task in few for h in task] == [h.tolist() for t in every for h in t]


def test_workers_are_sent_scores_and_columns_once(rng, monkeypatch):
    """Oracle: the bytes of both. Much else workers make again, and come to the same p-values."""
    drawn, sent, tested = simulate("1.d", n=100, p=3000, random_state=rng), [], []
    second = second_pass.second_pass

    def send_before(inputs, distillation, results, *rest):
        sent.append((pickle.dumps(Shared(inputs, distillation, results)), *rest))
        tested.append((inputs, second(inputs, distillation, results, *rest)))
        return tested[0][1]

    monkeypatch.setattr("smrmr.conditional.controller.second_pass", send_before)
    select(drawn.X, drawn.y, rng=0)
    ((inputs, expected),) = tested
    ((shared, *rest),) = sent
    assert len(shared) < 2 * (inputs.Z.nbytes + inputs.problems[0].regressors.columns.nbytes)
    there = pickle.loads(shared)
    found = second(there.inputs, there.distillation, there.results, *rest)
    assert_array_equal(found.p, expected.p)
    assert (found.p != there.results.p).any()


def test_nothing_is_left_after_an_error(rng, tmp_path, monkeypatch):
    X, y = table(rng)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    seen = []

    def fail(*_):
        seen.extend(tmp_path.rglob("rows-*"))
        raise ArithmeticError

    monkeypatch.setattr("smrmr.conditional.controller.first_pass", fail)
    with pytest.raises(ArithmeticError):
        select(X, y, Recipe(max_memory="1kB"))
    assert len(seen) >= 4
    assert list(tmp_path.iterdir()) == []


def test_a_run_keeps_scores_in_its_own_folder(rng, tmp_path, monkeypatch):
    X, y = table(rng)
    elsewhere, run = tmp_path / "elsewhere", tmp_path / "run"
    elsewhere.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(elsewhere))
    seen = []
    first = first_pass.first_pass
    monkeypatch.setattr(
        "smrmr.conditional.controller.first_pass",
        lambda *given: seen.extend(run.rglob("rows-*")) or first(*given),
    )
    select(X, y, Recipe(max_memory="1kB"), rng=0, run_dir=run)
    (run / ".smrmr-scores-killed").mkdir()  # as a killed run leaves it
    select(X, y, Recipe(max_memory="1kB"), rng=0, run_dir=run)
    assert seen
    assert not [path for path in run.iterdir() if path.is_dir()]


def test_a_worker_that_does_not_see_the_files_says_so(matrix, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with room_for(2, max_memory=1) as room:
        stored = room.gather(iter([matrix]))
    with pytest.raises(Problem, match=r"does not see it.*run_dir"):
        stored[3]


@pytest.mark.parametrize("gaps", [False, True])
def test_parquet_is_read_by_columns(gaps, rng, tmp_path):
    """Oracle: pandas."""
    frame = pd.DataFrame(rng.normal(size=(70, 4)).astype(np.float32), columns=list("abcd"))
    frame["count"] = pd.array(range(70), dtype="Int32")
    if gaps:
        frame.loc[3, "count"] = None
    frame.to_parquet(tmp_path / "x.parquet", row_group_size=30)
    source = pickle.loads(pickle.dumps(open_columns(tmp_path / "x.parquet", missing="impute-mean")))
    expected = frame.astype(float)
    expected = expected.fillna(expected.mean()).to_numpy()
    assert source.shape == (70, 5)
    assert source.names == tuple(frame.columns)
    for which in (slice(1, 3), np.array([4, 0, 4])):
        assert_array_equal(source.read(which), expected[:, which])
    frame["text"] = "a"
    frame.to_parquet(tmp_path / "x.parquet")
    with pytest.raises(ValueError, match="'text' hold no numbers"):
        open_columns(tmp_path / "x.parquet")


def test_only_blocks_are_in_memory(rng, room, monkeypatch):
    """Oracle: what Python and NumPy allocate, far below the size of the matrix."""
    for place in ("runs.stored_rows", "conditional.partner_products"):
        monkeypatch.setattr(f"smrmr.{place}.MAX_BLOCK_VALUES", 2**17)
    p, n = 2000, 2000
    Z = room.rows((p, n), np.float32)
    Z[:] = standardised(rng.standard_normal((p, n), dtype=np.float32))
    E, nothing = rng.standard_normal((1, n)), np.empty((0, 2), int)

    def work_on(Z):
        hypotheses = np.arange(len(Z))
        common = CommonPart(np.empty((0, n)), np.ones(len(Z)))
        near = find_neighbours(Z, Z, hypotheses, hypotheses[:9], [common] * 9, nothing)
        scores = room.gather(scaled_scores(Z[block]) for block in row_blocks(Z.shape))
        pairs = find_products(span(Z, 0, 300), Z[:1], span(scores, 0, 300))
        products = all_products(E, scores, hypotheses, room)
        found = products.compare(Z[:5], hypotheses[:5], hypotheses, np.full(5, len(Z) - 1), 3)
        return len(near.linear), len(pairs), found.partners.shape

    work_on(Z.span(0, 400))  # compiles
    tracemalloc.start()
    assert work_on(Z) == (9, 0, (5, 3))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 0.6 * 4 * p * n


LIMITED = """
import resource, sys, warnings
import numpy as np
import smrmr

warnings.simplefilter("ignore")
path, limit, budget = sys.argv[1], int(float(sys.argv[2])), sys.argv[3]
rng = np.random.default_rng(0)
warm = rng.standard_normal((10_100, 20))
smrmr.select(warm, warm[:, 0] * warm[:, 1] + rng.standard_normal(len(warm)))
held = 1024 * int(open("/proc/self/status").read().split("VmData:")[1].split()[0])
resource.setrlimit(resource.RLIMIT_DATA, (held + limit, held + limit))
source, y = smrmr.data.open_columns(path), np.load(path.replace(".npy", ".y"))
found = smrmr.select(source, y, smrmr.Recipe(max_memory=budget))
print(sorted(found.selected.tolist()))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are set as on Linux")
def test_a_fit_keeps_to_a_limit_of_the_system(tmp_path):
    """Oracle: RLIMIT_DATA. The same fit in memory does not keep to it."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30_000, 1200), dtype=np.float32)
    np.save(tmp_path / "x.npy", np.asfortranarray(X))
    with (tmp_path / "x.y").open("wb") as file:
        np.save(file, X[:, :3].sum(axis=1) + 5 * rng.standard_normal(len(X)))

    def run(budget):
        command = [sys.executable, "-c", LIMITED, str(tmp_path / "x.npy"), "8e8", budget]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    kept, broken = run("200MB"), run("10GB")
    assert kept.returncode == 0, kept.stderr
    assert kept.stdout.strip().startswith("[0, 1, 2")
    assert broken.returncode != 0
    assert "emory" in broken.stderr


def test_components_without_features_take_little_memory(rng, monkeypatch):
    """Oracle: QR of the same rows, which holds them several times."""
    monkeypatch.setattr("smrmr.runs.stored_rows.MAX_BLOCK_VALUES", 2**14)
    p, n, own = 60, 40_000, np.array([3, 40])
    Z = standardised(
        rng.normal(size=(p, n)) + 2 * rng.normal(size=(p, 4)) @ rng.normal(size=(4, n))
    )
    components = Components.of(Z, n)
    tracemalloc.start()
    found = components.without(own, Z[own])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found.vectors) == 4
    assert most < 3 * found.vectors.nbytes
    loadings = components.loadings[own]
    others = np.diag(components.values) @ components.vectors - loadings.T @ Z[own] / n
    expected = np.linalg.qr(others.T)[0].T
    assert_allclose(found.vectors @ found.vectors.T, np.eye(4), atol=1e-12)
    assert_allclose(np.abs(np.linalg.det(found.vectors @ expected.T)), 1, rtol=1e-10)
    assert_array_equal(found.lengths, components.lengths_without(own))


def test_ranks_lie_in_files_where_scores_do(rng, monkeypatch):
    """Oracle: ranks, of 4 bytes each, are held in memory where scores are and nowhere else."""
    X, y = table(rng)
    seen = []
    first = first_pass.first_pass
    find = pipeline.find_groups
    monkeypatch.setattr(
        "smrmr.pipeline.find_groups", lambda ranks, *rest: seen.append(ranks) or find(ranks, *rest)
    )
    monkeypatch.setattr(
        "smrmr.conditional.controller.first_pass",
        lambda inputs, *rest: seen.append(inputs) or first(inputs, *rest),
    )
    for budget in ("150kB", "1GB"):  # ranks alone, 35 kB, would fit into both
        select(X, y, Recipe(max_memory=budget), rng=0)
        ranks, inputs = seen[-2:]
        assert isinstance(ranks.kept, np.ndarray) == (inputs.room.folder is None)
        assert (inputs.room.folder is None) == (budget == "1GB")


@pytest.mark.parametrize("which", [slice(2, 9), np.array([8, 1, 3, 3, 0])], ids=str)
@pytest.mark.parametrize("columns", [None, np.arange(32, -1, -3)], ids=["all", "some"])
def test_few_rows_are_taken_of_few_columns_at_a_time(which, columns, matrix, monkeypatch):
    """Oracle: NumPy."""
    monkeypatch.setattr(sources, "MAX_VALUES_READ", 3 * len(matrix))
    widths = []

    class Source:
        shape, names = matrix.shape, None

        def read(self, columns):
            found = matrix[:, columns]
            widths.append(found.shape[1])
            return found

    rows = np.array([4, 4, 1])
    found = sources.Subset(Source(), rows, columns).read(which)
    expected = matrix if columns is None else matrix[:, columns]
    assert_array_equal(found, expected[rows][:, which])
    assert max(widths) == 3
