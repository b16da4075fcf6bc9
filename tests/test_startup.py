"""What a first fit compiles. Oracle: numba's own events, and the signatures of its dispatchers."""

from __future__ import annotations

import gc
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba import njit
from numba.core import event

import smrmr.runs.compiled

MOST_LOOPS = 10  # of ours in a default fit of numbers, that Python can call
MOST_COMPILED = 24  # functions, with those inside others and those that numba adds

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
called = {
    f"{loop.py_func.__module__}.{loop.__name__}"
    for name, module in sys.modules.items() if name.startswith("smrmr")
    for loop in vars(module).values()
    if isinstance(loop, Dispatcher) and loop.signatures
    and not loop.targetoptions.get("no_cpython_wrapper")
}
n_compiled = sum(found.is_start for _, found in compiled.buffer)
print(json.dumps({"loops": loops, "called": sorted(called), "compiled": n_compiled}))
"""


def first_fit(**there):
    command = [sys.executable, "-W", "ignore", "-c", FIT]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=os.environ | there
    )
    return json.loads(done.stdout)


def test_a_default_fit_needs_few_loops_and_one_signature_of_each():
    """A second signature is the same loop compiled again, for another layout or type of array."""
    found = first_fit()
    assert {name: n for name, n in found["loops"].items() if n > 1} == {}
    assert 5 < len(found["called"]) <= MOST_LOOPS


@pytest.mark.slow
def test_a_first_fit_compiles_few_functions(tmp_path):
    found = first_fit(NUMBA_CACHE_DIR=str(tmp_path))
    assert len(found["loops"]) <= found["compiled"] <= MOST_COMPILED


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_is_not_searched_for_while_numba_compiles(enabled):
    """Law, of functions inside others too; afterwards it is as it was."""
    assert smrmr.runs.compiled  # which sees to it
    seen = []

    class Watch(event.Listener):
        def on_start(self, event):
            seen.append(gc.isenabled())

        on_end = on_start

    inside = njit(lambda x: x + 1)
    around = njit(lambda x: inside(x) + 1)
    if not enabled:
        gc.disable()
    try:
        with event.install_listener("numba:compile", Watch()):
            assert around(1) == 3
        assert gc.isenabled() == enabled
    finally:
        gc.enable()
    assert seen[:3] == [False] * 3


def test_where_nothing_can_be_written_each_process_compiles(tmp_path):
    """Law, of a package and a home without room for a cache, which files in its place take."""
    package = tmp_path / "smrmr"
    shutil.copytree(
        Path(smrmr.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__")
    )
    for folder in {file.parent for file in package.rglob("*.py")}:
        (folder / "__pycache__").write_text("")
    home = tmp_path / "home"
    home.write_text("")
    nowhere = {"HOME": str(home), "XDG_CACHE_HOME": str(home), "LOCALAPPDATA": str(home)}
    lines = """
import numpy as np, smrmr
from smrmr.measures.kernel_loops import exponentiate
print(smrmr.__file__, exponentiate.stats.cache_path)
row = np.zeros(2)
exponentiate(row)
print(row.sum())
"""
    there = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    there |= nowhere | {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-W", "ignore", "-c", lines]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=there)
    assert done.stdout.split() == [str(package / "__init__.py"), "None", "2.0"]
