from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

# Tests run beside each other, a process per core: more threads of BLAS would only wait for a core.
# numpy reads these once, when it is loaded, so nothing may load it before.
for kind in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{kind}_NUM_THREADS", "1")
os.environ["ANNDATA_ALLOW_WRITE_NULLABLE_STRINGS"] = "1"  # which pandas 3 makes of all strings
os.environ["MPLBACKEND"] = "agg"  # no windows
STORED = Path(__file__).parent / "reference" / "association-values.json"


@pytest.fixture(autouse=True)
def no_figures_left():
    """Close figures of pyplot, which holds them until it is told, and warns of many."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def rng():
    import numpy as np

    return np.random.default_rng(20260101)


@pytest.fixture(scope="session")
def stored_cases():
    """Literal evaluations of the paper's formulas, made outside this project."""
    return json.loads(STORED.read_text())["cases"]


@pytest.fixture(scope="module")
def browser():
    from report_looks import start

    playwright = pytest.importorskip("playwright.sync_api", reason="needs: pip install playwright")
    with playwright.sync_playwright() as driver:
        started = start(driver)
        if started is None:
            pytest.skip("needs chromium: apt-get install chromium")
        yield started
        started.close()
