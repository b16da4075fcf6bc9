"""Answers stay what they were. Oracle: selections stored before the code was rebuilt.

Projection correlation counts, so its W are the same bits on every machine. The other measures sum
in an order that BLAS chooses, so theirs are held to 1e-12. p-values of the tests are held to 1e-10,
which other kernels of BLAS come close to where residuals nearly vanish;
``python tests/recorded_tests.py compare`` prints by how much they differ on one machine.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

import recorded
import recorded_tests

NEAR = {"hsic": (1e-8, 1e-7)}  # absolute, relative: NumPy 1.25 with SciPy 1.10 moves it by 1e-9
LEAST = 1e-290  # smaller p-values hang on whether one of those combined is cut off at 1e-300


@pytest.fixture(scope="module")
def stored():
    return json.loads(recorded.STORED.read_text())


@pytest.fixture(scope="module")
def stored_tests():
    return json.loads(recorded_tests.STORED.read_text())


@pytest.mark.parametrize("case", recorded_tests.CASES)
def test_recorded_p_values(case, stored_tests, tmp_path):
    found, expected = recorded_tests.computed(case, tmp_path), stored_tests[case]
    assert found["selected"] == expected["selected"]
    for name in ("p", "alone", "q"):
        near, alike = NEAR.get(case, (1e-10, 1e-9))
        np.testing.assert_allclose(found[name], expected[name], rtol=0, atol=near)
        above = [np.maximum(p, LEAST) for p in (found[name], expected[name])]
        np.testing.assert_allclose(*above, rtol=alike)


@pytest.mark.parametrize("case", recorded.CASES)
def test_recorded_selections(case, stored, tmp_path):
    found, expected = recorded.computed(case, tmp_path), stored[case]
    assert found["selected"] == expected["selected"]
    assert found["W"].keys() == expected["W"].keys()
    for name in ("W", "lam"):
        values = [
            np.array([float.fromhex(v) for v in (part.values() if name == "W" else part)])
            for part in (found[name], expected[name])
        ]
        np.testing.assert_allclose(*values, rtol=0, atol=1e-12)  # of any processor
