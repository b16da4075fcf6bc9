"""Short steps shared out to threads: same answers, in order, on threads that are free."""

from __future__ import annotations

import threading

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from smrmr import Recipe, select
from smrmr.conditional import marginal, products
from smrmr.features import alike
from smrmr.runs.blocks import map_on_threads


@pytest.mark.parametrize("backend", [None, "threading", "loky"])
def test_two_items_at_a_time_whatever_the_backend(backend):
    """Oracle: a barrier that lets nobody pass but two threads of this process together."""
    barrier, told = threading.Barrier(2), []

    def square(k):
        barrier.wait(timeout=10)
        return k * k

    def tell(done):
        told.append((done, threading.current_thread() is threading.main_thread()))

    with joblib.parallel_config(backend) if backend else joblib.parallel_config():
        found = map_on_threads(square, range(4), 2, told=tell)
    assert found == [0, 1, 4, 9]
    assert told == [(done, True) for done in (1, 2, 3, 4)]


@pytest.mark.parametrize(("n_jobs", "at_once"), [(1, None), (None, None), (2, 1)])
def test_one_thread_is_that_of_the_caller(n_jobs, at_once):
    found = map_on_threads(lambda _: threading.get_ident(), range(3), n_jobs, at_once)
    assert found == [threading.get_ident()] * 3


def test_an_error_ends_the_rest():
    """Oracle: none of a thousand items that would follow long after the error is done."""
    done = []

    def fail_at_once(k):
        if k == 0:
            raise ValueError("the first")
        threading.Event().wait(0.01)
        done.append(k)

    with pytest.raises(ValueError, match="the first"):
        map_on_threads(fail_at_once, range(1000), 2)
    assert len(done) < 500


def test_all_that_is_said_of_features_is_the_same_on_two_threads(rng, monkeypatch):
    """Oracle: one thread. Steps are made short so that every one has several parts."""
    monkeypatch.setattr(alike, "TILE", 16)
    monkeypatch.setattr(marginal, "MAX_BLOCK", 7)
    monkeypatch.setattr(products, "BLOCK", 9)
    X = rng.standard_normal((120, 50))
    X[:, 40:] = X[:, :10] + 0.3 * rng.standard_normal((120, 10))  # look-alikes, tiles apart
    y = X[:, 0] + np.abs(X[:, 1]) + X[:, 2] * X[:, 3] + 0.5 * rng.standard_normal(120)
    for target in (y, y > np.median(y)):
        one, two = (select(X, target, Recipe(n_jobs=n_jobs), rng=0) for n_jobs in (1, 2))
        for name in ("p_of_hypotheses", "p_of_members", "effects", "neighbours", "excess"):
            assert_array_equal(getattr(one.evidence, name), getattr(two.evidence, name))
        for mine, other in zip(one.evidence.fits, two.evidence.fits, strict=True):
            assert mine.explained == other.explained
        assert_array_equal(one.alone.p, two.alone.p)
        assert_array_equal(one.alone.relevance, two.alone.relevance)
