from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

# Tests run beside each other, a process per core: more threads of BLAS would only wait for a core.
# numpy reads these once, when it is loaded, so nothing may load it before.
for kind in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{kind}_NUM_THREADS", "1")
os.environ["ANNDATA_ALLOW_WRITE_NULLABLE_STRINGS"] = "1"  # which pandas 3 makes of all strings
STORED = Path(__file__).parent / "reference" / "association-values.json"


@pytest.fixture
def rng():
    import numpy as np

    return np.random.default_rng(20260101)


@pytest.fixture(scope="session")
def stored_cases():
    """Literal evaluations of the paper's formulas, made outside this project."""
    return json.loads(STORED.read_text())["cases"]
