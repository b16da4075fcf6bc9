"""Tries out an installed smrmr: its command, its public names and, if asked for, its files.

Run by the Python of the environment that holds the installation: python smoke_test.py [--files]
"""

import importlib.metadata
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import smrmr
from smrmr.data import read_data

DEMO = ("demo", "--n", "100", "--p", "100", "--design", "1.d")


def run(folder: Path, *arguments: str) -> str:
    """What the installed command prints in a folder; an error if it fails."""
    command = Path(sysconfig.get_path("scripts")) / "smrmr"
    done = subprocess.run(
        [command, *arguments], cwd=folder, check=True, stdout=subprocess.PIPE, encoding="utf-8"
    )
    return done.stdout


def main(with_files: bool) -> None:
    """Stop with an error at the first thing that does not work."""
    installed = Path(smrmr.__file__)
    assert "site-packages" in installed.parts, f"{installed} is not an installation"
    assert smrmr.__version__ == importlib.metadata.version("smrmr")
    public = [name for name in dir(smrmr) if not name.startswith("_")]
    for name in public:
        getattr(smrmr, name)
    assert {"SmRMR", "select"} <= set(public)
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        assert smrmr.__version__ in run(folder, "--version")
        run(folder, *DEMO)
        report = next(folder.glob("*/report.html")).read_text(encoding="utf-8")
        assert "</html>" in report
        if with_files:
            values = np.random.default_rng(0).normal(size=(30, 3))
            table = pd.DataFrame(values, columns=["a", "b", "outcome"])
            table.to_parquet(folder / "table.parquet")
            table.to_excel(folder / "table.xlsx", index=False)
            for name in ("table.parquet", "table.xlsx"):
                assert read_data(folder / name, target="outcome").X.shape == (30, 2), name
    print(f"smrmr {smrmr.__version__} works: {len(public)} names, {' '.join(DEMO)}")


if __name__ == "__main__":
    main("--files" in sys.argv)
