"""The examples of the README and of docs/method.md run as printed, given a table.csv.

Oracle: the exit code, and that they print something.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from smrmr import simulate

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", "docs/method.md"])
def test_python_blocks_run(page, tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL)
    assert blocks
    data = simulate("3.b", n=200, p=300, random_state=0)
    table = pd.DataFrame(data.X).add_prefix("gene")
    table.assign(disease=np.where(data.y > 0, "ill", "well")).to_csv(
        tmp_path / "table.csv", index=False
    )
    for block in blocks:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", block],
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout
