from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

STORED = Path(__file__).parent / "reference" / "association-values.json"


@pytest.fixture
def rng():
    return np.random.default_rng(20260101)


@pytest.fixture(scope="session")
def stored_cases():
    """Literal evaluations of the paper's formulas, made outside this project."""
    return json.loads(STORED.read_text())["cases"]
