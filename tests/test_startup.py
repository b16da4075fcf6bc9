"""What a first fit compiles. Oracle: numba's own events, and the signatures of its dispatchers."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

MOST_LOOPS = 19  # of ours in a default fit of numbers; those inside cached ones are not seen
MOST_COMPILED = 43  # functions, with those that numba adds

FIT = """
import json, sys
import numpy as np
from numba.core import event
from numba.core.dispatcher import Dispatcher

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 40))
with event.install_recorder("numba:compile") as compiled:
    import smrmr
    smrmr.select(X, X[:, 0] + rng.standard_normal(60))
loops = {
    f"{loop.py_func.__module__}.{loop.__name__}": len(loop.signatures)
    for name, module in sys.modules.items() if name.startswith("smrmr")
    for loop in vars(module).values() if isinstance(loop, Dispatcher) and loop.signatures
}
n_compiled = sum(found.is_start for _, found in compiled.buffer)
print(json.dumps({"loops": loops, "compiled": n_compiled}))
"""


def first_fit(**there):
    command = [sys.executable, "-W", "ignore", "-c", FIT]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=os.environ | there
    )
    return json.loads(done.stdout)


def test_a_default_fit_needs_few_loops_and_one_signature_of_each():
    """A second signature is the same loop compiled again, for another layout or type of array."""
    loops = first_fit()["loops"]
    assert {name: n for name, n in loops.items() if n > 1} == {}
    assert 5 < len(loops) <= MOST_LOOPS


@pytest.mark.slow
def test_a_first_fit_compiles_few_functions(tmp_path):
    found = first_fit(NUMBA_CACHE_DIR=str(tmp_path))
    assert len(found["loops"]) <= found["compiled"] <= MOST_COMPILED
