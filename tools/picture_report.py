"""Takes the picture of a report that README and site show; needs chromium and Pillow.

python tools/picture_report.py
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

import smrmr

PICTURE = Path(__file__).parents[1] / "docs" / "_static" / "report.png"
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
        Image.open(taken).convert("RGB").quantize(COLOURS).save(PICTURE, optimize=True)


if __name__ == "__main__":
    take_picture()
