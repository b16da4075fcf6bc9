"""Takes the pictures of the page of `smrmr app` that the site shows.

Needs chromium, playwright and Pillow.

python tools/picture_app.py
"""

from __future__ import annotations

import io
import re
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

import smrmr

STATIC = Path(__file__).parents[1] / "docs" / "_static"
COLOURS = 64


def keep(page: Any, name: str) -> None:
    taken = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    taken.quantize(COLOURS).save(STATIC / name, optimize=True)


def take_pictures(address: str, table: Path) -> None:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1100, "height": 620})
        page.goto(address)
        page.set_input_files("#files", str(table))
        page.wait_for_url("**/tables/**")
        page.get_by_label("Role of response", exact=True).select_option("target")
        page.locator("#choices:not([aria-busy]) th.target").wait_for()
        page.evaluate("document.activeElement.blur()")
        page.locator("#status:empty").wait_for(state="attached")
        keep(page, "app-table.png")
        page.get_by_role("button", name="read -999 as missing").click()
        page.get_by_role("button", name="fill gaps with the median").click()
        page.get_by_role("button", name="Which features matter?").click()
        page.wait_for_selector("#report", timeout=120_000)
        page.frame_locator("#report").locator("#found").wait_for()
        page.set_viewport_size({"width": 1300, "height": 760})
        page.reload()
        page.frame_locator("#report").locator("#found").wait_for()
        keep(page, "app-answer.png")


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        table = smrmr.load_example()
        table.loc[[3, 50], "gene002"] = -999
        file = Path(folder) / "patients.csv"
        table.to_csv(file, index=False)
        command = [sys.executable, "-m", "smrmr", "app", "--no-browser", "--folder"]
        server = subprocess.Popen([*command, f"{folder}/runs"], stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        found = re.search(r"http://\S+", server.stdout.readline())
        assert found is not None
        take_pictures(found[0], file)
        server.send_signal(signal.SIGINT)
        server.wait()
