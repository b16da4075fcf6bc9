"""Numbers hold on other processors: the numeric tests again, on other kernels and instructions.

Oracle: the tests themselves. OpenBLAS picks kernels by the processor, NumPy and the compiled loops
the instructions that they use, and threads share sums out; adding and taking logarithms in another
way, they give other last digits, which no tolerance may notice.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow
HERE = Path(__file__).parent
NUMERIC = (
    "ties",
    "measures",
    "association",
    "conditional",
    "recorded",
    "solvers",
    "comparators",
    "knockoffs",
)
PAGE = "test_docs.py::test_blocks_run_as_printed[recipes.md]"
NEEDS = {"Haswell": "avx2", "SkylakeX": "avx512f", "Prescott": "pni", "Sandybridge": "avx"}


def features_of_this_processor():
    """What Linux says the processor can do; empty on other systems."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    return set(next((line for line in lines if line.startswith("flags")), "").split())


def features_of_numpy(*beginnings):
    """Instructions that NumPy may be told to leave out, and that this processor has."""
    old, new = (f"numpy.{core}._multiarray_umath" for core in ("core", "_core"))
    compiled = sys.modules[new if int(np.__version__[0]) > 1 else old]
    return " ".join(
        name
        for name in compiled.__cpu_dispatch__
        if compiled.__cpu_features__[name] and name.startswith(beginnings)
    )


def passes(files, **environment):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files],
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-3000:]


def numeric(**environment):
    files = [str(HERE / f"test_{name}.py") for name in NUMERIC]
    passes(["-m", "not slow", *files], **environment)
    passes([str(HERE / PAGE)], **environment)


@pytest.mark.parametrize("kernels", NEEDS)
def test_numbers_hold_on_other_kernels(kernels):
    if NEEDS[kernels] not in features_of_this_processor():
        pytest.skip(f"this processor cannot run the {kernels} kernels: no {NEEDS[kernels]}")
    numeric(OPENBLAS_CORETYPE=kernels)


@pytest.mark.parametrize("left_out", [("AVX512", "X86_V4"), ("AVX", "X86_V3", "X86_V4")])
def test_numbers_hold_with_other_instructions(left_out):
    names = features_of_numpy(*left_out)
    if not names:
        pytest.skip("this processor has none of these")
    numeric(NPY_DISABLE_CPU_FEATURES=names)


def test_numbers_hold_with_loops_compiled_for_any_processor(tmp_path):
    numeric(NUMBA_CPU_NAME="generic", NUMBA_CACHE_DIR=str(tmp_path))


def test_numbers_hold_on_two_threads():
    numeric(OPENBLAS_NUM_THREADS="2", OMP_NUM_THREADS="2")
