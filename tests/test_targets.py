"""Kinds of target: laws that hold for every kind of the registry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from smrmr import Recipe, select
from smrmr.data.target import KINDS, as_target, columns_of, kind_of, take_rows
from smrmr.data.targets.arrays import read_numbers
from smrmr.data.targets.numbers import Numbers
from smrmr.data.targets.protocol import Target

N = 60
NOTHING = np.empty((0, N))
OF_THREE = np.random.default_rng(1).integers(0, 3, N)
STAGES = pd.CategoricalDtype(["early", "middle", "late"], ordered=True)


def numbers(seed=0):
    return np.random.default_rng(seed).standard_normal(N)


def survival(change=lambda time: time):
    time, event = np.exp(numbers()).round(1), numbers(1) > -0.5
    return pd.DataFrame({"event": event, "time": change(time)})


def fields(table):
    return np.array([*table.itertuples(index=False)], dtype=[("event", bool), ("time", float)])


# of every kind: y, and the same said in ways that must not matter
EXAMPLES = {
    "continuous": (numbers(), [-3 * numbers() + 7, list(numbers()), numbers()[:, None]]),
    "multi-output": (
        np.c_[numbers(), numbers(1)],
        [np.c_[1e6 * numbers(), 2 - numbers(1)], pd.DataFrame(np.c_[numbers(), numbers(1)])],
    ),
    "classes": (
        np.array(["a", "b", "c"])[OF_THREE],
        [
            np.array(["z", "y", "x"])[OF_THREE],
            pd.Categorical.from_codes(OF_THREE, ["c", "a", "b"]),
            np.array([7, 1.5, -1])[OF_THREE],
        ],
    ),
    "ordinal": (
        OF_THREE,
        [np.exp(OF_THREE), pd.Series(pd.Categorical.from_codes(OF_THREE, dtype=STAGES))],
    ),
    "survival": (
        survival(),
        [
            survival(lambda t: 365.25 * t),
            survival(np.sqrt),
            survival()[["time", "event"]],
            fields(survival()),
        ],
    ),
}


def standardised(target):
    values = columns_of(target).values
    values = values - values.mean(axis=1, keepdims=True)
    signs = np.sign(values[:, :1])  # of an output, which may be turned over
    return signs * values / values.std(axis=1, keepdims=True)


@pytest.fixture(params=list(KINDS))
def example(request):
    return as_target(EXAMPLES[request.param][0], request.param)


@pytest.mark.parametrize("alias", KINDS)
def test_what_does_not_matter_changes_nothing(alias):
    """Law: names and order of classes, scale of numbers, any order-preserving map of the others."""
    y, same = EXAMPLES[alias]
    expected = as_target(y, alias)
    assert expected.kind == kind_of(expected).alias == alias
    for other in same:
        found = as_target(other, alias)
        assert found.kind == alias
        assert_allclose(standardised(found), standardised(expected), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("alias", ["continuous", "multi-output", "classes"])
def test_each_kind_is_known_without_being_named(alias):
    """Oracle: the examples; order has to be asked for, and so has survival that is a table."""
    assert as_target(EXAMPLES[alias][0]).kind == alias
    assert as_target(fields(survival())).kind == "survival"


def test_deriving_again_changes_nothing(example):
    """Law: values that come from comparing rows are those of the rows, however often derived."""
    once = kind_of(example).derive_values(example, NOTHING)
    assert_array_equal(once.values, example.values)
    assert_array_equal(kind_of(once).derive_values(once, NOTHING).values, once.values)


def test_rows_are_taken_as_if_there_were_no_others(example, rng):
    """Oracle: y of the chosen rows, read on its own; and rows taken in two steps."""
    rows = rng.permutation(N)[:40]
    y = pd.DataFrame(EXAMPLES[example.kind][0]).iloc[rows]
    expected = as_target(y, example.kind)
    for found in (
        take_rows(example, rows),
        take_rows(take_rows(example, np.sort(rows)), np.argsort(np.argsort(rows))),
    ):
        derived = kind_of(found).derive_values(found, NOTHING[:, :40])
        assert_allclose(derived.values, expected.values)
        assert derived.labels == expected.labels


def test_groups_of_one_row_are_the_rows(example):
    """Law: means over groups of one row, and over groups of equal rows, are those rows."""
    kind = kind_of(example)
    assert_array_equal(kind.mean(example, np.arange(N)).values, example.values)
    twice = take_rows(example, np.repeat(np.arange(N), 2))
    means = kind.mean(twice, np.repeat(np.arange(N), 2))
    assert_allclose(kind.derive_values(means, NOTHING).values, example.values)


def test_columns_are_numbers_that_vary(example):
    """Law: one value per row; of a class it says which rows are in it. Two classes are one."""
    columns = columns_of(example)
    assert len(set(columns.names)) == len(columns.names)
    assert columns.values.shape == (len(columns.names), N)
    assert columns.values.dtype == np.float64
    assert (np.ptp(columns.values, axis=1) > 0).all()
    assert (columns.is_class is not None) == example.nominal
    if example.nominal:
        assert columns.names == example.labels
        y = np.array(EXAMPLES["classes"][0])
        assert_array_equal(columns.is_class, y == np.array(columns.names)[:, None])
        assert_array_equal(columns.values, columns.is_class)
        second = columns_of(as_target(np.where(OF_THREE[0] == OF_THREE, "x", "y")))
        assert second.names == ("y",)
        assert_array_equal(second.is_class, [OF_THREE[0] != OF_THREE])


@dataclass(frozen=True)
class Angle(Numbers):
    """Degrees, which begin anew after 360."""

    alias: ClassVar[str] = "angle"

    def read(self, y):
        turn = np.radians(read_numbers(y))
        return Target(self.alias, np.column_stack([np.cos(turn), np.sin(turn)]))


@pytest.mark.parametrize("control", ["tests", "knockoffs(screening=none)"])
@pytest.mark.filterwarnings("ignore:Knockoffs. NOT exchangeable", "ignore:No features were")
def test_a_kind_of_ones_own_is_selected_by(control, rng, monkeypatch):
    """Oracle: the columns that it stands for, given as several outputs; also given covariates."""
    monkeypatch.setitem(KINDS, Angle.alias, Angle())
    X, age = rng.standard_normal((N, 12)), rng.standard_normal(N)
    y = np.degrees(X[:, 3] + 0.3 * rng.standard_normal(N)) % 360
    outputs = np.column_stack([np.cos(np.radians(y)), np.sin(np.radians(y))])
    for given in ({}, {"covariates": {"age": age}}, {"groups": np.arange(N) % 20}):
        found = select(X, y, Recipe(target="angle", control=control), 0, **given)
        expected = select(X, outputs, Recipe(control=control), 0, **given)
        assert found.target == "angle"
        assert_array_equal(found.q_values, expected.q_values)
    with pytest.raises(ValueError, match=r"target='angles' is not known.*'angle'"):
        Recipe(target="angles")
