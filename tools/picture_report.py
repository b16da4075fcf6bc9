"""Takes the pictures of a report and of a check that README and site show.

Needs chromium and Pillow.

python tools/picture_report.py
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
from PIL import Image

import smrmr

STATIC = Path(__file__).parents[1] / "docs" / "_static"
WIDTH, HEIGHT, COLOURS = 1000, 900, 64


def take_picture() -> None:
    table = smrmr.load_example()
    found = smrmr.SmRMR(accuracy=True).fit(table.drop(columns="response"), table["response"])
    with TemporaryDirectory() as folder:
        page = found.selection_.report(Path(folder) / "report.html")
        taken = Path(folder) / "report.png"
        quiet = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
        offline = ("--disable-background-networking", "--disable-sync", "--no-first-run")
        size = (f"--window-size={WIDTH},{HEIGHT}", "--force-device-scale-factor=1.5")
        where = (f"--user-data-dir={folder}/profile", f"--screenshot={taken}", page.as_uri())
        subprocess.run(["chromium", *quiet, *offline, *size, *where], check=True)
        Image.open(taken).convert("RGB").quantize(COLOURS).save(
            STATIC / "report.png", optimize=True
        )


def draw_check() -> None:
    """Power on the example table."""
    table = smrmr.load_example()
    X, y = table.drop(columns="response"), table["response"]
    found = smrmr.check(X, y, smrmr.Recipe(n_jobs=2), forms=("line", "bend"), n_fits=200)
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    found.plot(axes)
    figure.savefig(STATIC / "check.png", dpi=130)
    print(found)


if __name__ == "__main__":
    take_picture()
    draw_check()
