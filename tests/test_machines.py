"""Numbers hold on other processors: the numeric tests again, on other kernels of OpenBLAS.

Oracle: the tests themselves. OpenBLAS picks kernels by the processor; summing in another order,
they give other last digits, which no tolerance may notice.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
HERE = Path(__file__).parent
NUMERIC = (
    "measures",
    "association",
    "conditional",
    "recorded",
    "solvers",
    "comparators",
    "knockoffs",
)
NEEDS = {"Haswell": "avx2", "SkylakeX": "avx512f", "Prescott": "pni", "Sandybridge": "avx"}


def features_of_this_processor():
    """What Linux says the processor can do; empty on other systems."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    return set(next((line for line in lines if line.startswith("flags")), "").split())


@pytest.mark.parametrize("kernels", NEEDS)
def test_numbers_hold_on_other_kernels(kernels):
    if NEEDS[kernels] not in features_of_this_processor():
        pytest.skip(f"this processor cannot run the {kernels} kernels: no {NEEDS[kernels]}")
    files = [str(HERE / f"test_{name}.py") for name in NUMERIC]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider", *files],
        env=os.environ | {"OPENBLAS_CORETYPE": kernels},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-3000:]
