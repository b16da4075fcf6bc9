from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

os.environ["ANNDATA_ALLOW_WRITE_NULLABLE_STRINGS"] = "1"  # which pandas 3 makes of all strings
STORED = Path(__file__).parent / "reference" / "association-values.json"


@pytest.fixture
def rng():
    return np.random.default_rng(20260101)


@pytest.fixture(scope="session")
def stored_cases():
    """Literal evaluations of the paper's formulas, made outside this project."""
    return json.loads(STORED.read_text())["cases"]
