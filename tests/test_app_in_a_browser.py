"""The local page in a real browser, from a file to a report. Oracles: `smrmr.select`, and laws."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager

import anndata
import numpy as np
import pandas as pd
import pytest

import smrmr
from smrmr.data import read_data

pytestmark = pytest.mark.slow
LONG = 90_000  # milliseconds that a run may take
GO = "Which features matter?"


def serving(folder):
    """The page in a process of its own, and its address."""
    command = [sys.executable, "-m", "smrmr", "app", "--folder", str(folder), "--no-browser"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    return server, re.search(r"http://\S+", server.stdout.readline())[0]


def ended(server):
    """How a server ended that was asked to."""
    server.send_signal(signal.SIGINT)
    server.communicate(timeout=30)
    return server.returncode


@pytest.fixture
def app(tmp_path):
    server, address = serving(tmp_path / "runs")
    yield address
    assert ended(server) == 0


@contextmanager
def window(browser, address, **how):
    """A window that was let in; nothing may go wrong in it, or lead elsewhere."""
    context = browser.new_context(**how)
    page, faults = context.new_page(), []
    watched(page, faults, address)
    page.goto(address)
    yield page
    context.close()
    assert faults == []


def watched(page, faults, address):
    home = address.split("?")[0]
    page.set_default_timeout(LONG)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("dialog", lambda dialog: dialog.accept())
    page.on(
        "console",
        lambda said: faults.append(said.text) if said.type in ("error", "warning") else None,
    )
    page.on(
        "request",
        lambda asked: (
            None if asked.url.startswith((home, "blob:", "data:")) else faults.append(asked.url)
        ),
    )


def large(n=150, p=900):
    """A table whose fit takes some seconds."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    y = X[:, :3] @ [2.0, -2.0, 2.0] + rng.normal(size=n)
    return pd.DataFrame(X).add_prefix("x").round(4).assign(y=y)


def small():
    data = smrmr.simulate("1.a", n=80, p=20, random_state=2)
    return pd.DataFrame(data.X).add_prefix("x").round(5).assign(y=data.y.round(5))


def written(path, frame):
    if path.suffix == ".h5ad":
        obs = pd.DataFrame({"y": frame["y"].to_numpy()}, index=[f"c{k}" for k in range(len(frame))])
        features = frame.drop(columns="y")
        var = pd.DataFrame(index=features.columns)
        anndata.AnnData(features.to_numpy(), obs=obs, var=var).write_h5ad(path)
    elif path.suffix == ".xlsx":
        frame.to_excel(path, index=False)
    else:
        frame.to_csv(path, index=False)
    return path


def send(page, *paths):
    page.set_input_files("#files", [str(path) for path in paths])
    page.wait_for_url("**/tables/**")


def choose_target(page, name="y"):
    page.get_by_label(f"Role of {name}", exact=True).select_option("target")
    page.locator(f"text=The target {name} was read as").wait_for()


def run(page):
    page.get_by_role("button", name=GO).click()
    page.wait_for_url("**/runs/**")


def listed(page):
    return page.locator("#answer [data-feature]").all_inner_texts()


@pytest.mark.parametrize("name", ["table.csv", "table.xlsx", "table.h5ad"])
def test_from_a_file_to_a_report(browser, app, tmp_path, name):
    """The whole walk; the findings are those of `smrmr.select`, at two levels."""
    path = written(tmp_path / name, small())
    data = read_data(path, "y")
    found = smrmr.select(data.X, data.y)
    with window(browser, app) as page:
        send(page, path)
        assert page.get_by_role("button", name=GO).is_disabled()
        choose_target(page)
        run(page)
        page.wait_for_selector("#report")
        assert listed(page) == found.selected_names
        report = page.frame_locator("#report")
        assert report.locator("#found").inner_text().startswith(str(found).split(".")[0][:30])
        page.locator("#level").fill("0.5")
        report.locator("dd", has_text=re.compile(r"^0\.5$")).wait_for()
        assert listed(page) == found.at(0.5).selected_names
        assert page.locator("#level-note").is_visible()
        page.locator("#name").fill("x1")
        page.keyboard.press("Enter")
        drawn = page.frame_locator(".picture")
        drawn.locator("svg").wait_for()
        assert page.locator("#feature-said p").inner_text() == found.at(0.5).explain("x1")
        for box in page.locator("[data-mark]").all():
            box.check()
        page.get_by_role("button", name="At least how many?").click()
        least = found.at_least(found.at(0.5).selected_names)
        page.locator(".said", has_text=f"At least {least} of these").wait_for()
        with page.expect_download() as kept:
            page.get_by_role("link", name="selection.json").click()
        saved = smrmr.Selection.from_json(kept.value.path().read_text())
        pd.testing.assert_frame_equal(saved.findings(), found.findings(), check_exact=True)
        page.goto(app.split("?")[0])
        page.get_by_role("button", name=re.compile("Remove the run")).click()
        page.wait_for_selector("text=Tables")
        page.get_by_role("button", name=re.compile("Remove the table")).click()
        page.wait_for_selector("text=Or try an example")
        assert page.locator("table").count() == 0
    left = [path.name for path in (tmp_path / "runs").rglob("*") if path.is_file()]
    assert left == [".smrmr-app.lock"]


def test_a_broken_file_is_told_and_another_works(browser, app, tmp_path):
    broken = tmp_path / "broken.xlsx"
    broken.write_bytes(b"PK\x03\x04 not a book")
    with window(browser, app) as page:
        send(page, broken)
        assert page.locator(".note.problem").count() >= 1
        assert page.get_by_role("button", name=GO).is_disabled()
        page.goto(app.split("?")[0])
        send(page, written(tmp_path / "table.csv", small()))
        choose_target(page)
        assert page.get_by_role("button", name=GO).is_enabled()


def test_a_cure_is_one_click_and_focus_stays(browser, app, tmp_path):
    frame = small()
    frame.loc[[3, 8], "x7"] = -999
    with window(browser, app) as page:
        send(page, written(tmp_path / "odd.csv", frame))
        page.get_by_label("Role of y", exact=True).focus()
        page.get_by_label("Role of y", exact=True).select_option("target")
        page.get_by_role("button", name="read -999 as missing").wait_for()
        page.locator("#choices:not([aria-busy])").wait_for()
        assert page.evaluate("document.activeElement.name") == "role:y"
        page.get_by_role("button", name="read -999 as missing").click()
        page.get_by_role("button", name="leave out rows with gaps").click()
        page.locator(".note.note", has_text="2 of 80 rows with missing values dropped").wait_for()
        assert page.get_by_role("button", name=GO).is_enabled()


def test_cancel_go_on_and_reload(browser, app, tmp_path):
    """A cancelled run keeps its work; a reload finds the run where it is."""
    with window(browser, app) as page:
        send(page, written(tmp_path / "large.csv", large()))
        choose_name(page, "y")
        run(page)
        page.locator(".stage", has_text="of").wait_for()
        page.reload()
        assert page.get_by_role("button", name="Cancel").is_visible()
        page.get_by_role("button", name="Cancel").click()
        page.locator("text=Cancelled.").wait_for()
        page.get_by_role("button", name="Go on").click()
        page.wait_for_selector("#report")
        assert {"x0", "x1", "x2"} <= {*listed(page)}


def choose_name(page, name):
    """Choose a target that is far to the right in a wide table."""
    page.locator("#more").fill(name)
    page.get_by_role("button", name="set its role").click()
    page.locator(f"text=The target {name} was read as").wait_for()


def test_two_windows_share_a_line(browser, app, tmp_path):
    """One fit at a time: the second waits, and both end."""
    with window(browser, app) as page:
        send(page, written(tmp_path / "large.csv", large()))
        choose_name(page, "y")
        other, faults = page.context.new_page(), []
        watched(other, faults, app)
        other.goto(app.split("?")[0])
        send(other, written(tmp_path / "table.csv", small()))
        choose_target(other)
        run(page)
        page.locator(".stage").wait_for()
        run(other)
        other.locator("text=In line behind 1 other").wait_for()
        page.wait_for_selector("#report")
        other.wait_for_selector("#report")
        assert len(listed(other)) > 0
        assert faults == []


def test_a_killed_server_goes_on(browser, tmp_path):
    """Law: the child ends with its server; another takes up the run and gives the same answer."""
    folder = tmp_path / "runs"
    path = written(tmp_path / "large.csv", large())
    server, address = serving(folder)
    with window(browser, address) as page:
        send(page, path)
        choose_name(page, "y")
        run(page)
        page.locator(".stage", has_text="of").wait_for()
        where = page.url.split("/runs/")[1]
    os.kill(server.pid, signal.SIGKILL)
    server.communicate(timeout=30)
    server, address = serving(folder)
    try:
        with window(browser, address) as page:
            page.goto(f"{address.split('?')[0]}runs/{where}")
            page.wait_for_selector("#report")
            data = read_data(path, "y")
            assert listed(page) == smrmr.select(data.X, data.y).selected_names
    finally:
        assert ended(server) == 0


def test_the_check_of_the_own_table(browser, app):
    with window(browser, app) as page:
        page.get_by_role("button", name="two classes").click()
        run(page)
        page.wait_for_selector("#report")
        page.get_by_role("button", name="Check this table").click()
        page.locator(".stage", has_text="trials").wait_for()
        page.wait_for_selector("#report", timeout=2 * LONG)
        report = page.frame_locator("#report")
        report.locator("#power").wait_for()
        with page.expect_download():
            page.get_by_role("link", name="check.csv").click()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_scrolls_down_alone_and_all_is_labelled(browser, app, scheme):
    """Laws: nothing is wider than 400 px; every field and button has a name; Tab reaches GO."""
    with window(browser, app, viewport={"width": 400, "height": 800}, color_scheme=scheme) as page:
        fits(page)
        page.get_by_role("button", name="a number: the response").click()
        page.wait_for_url("**/tables/**")
        fits(page)
        page.get_by_role("button", name=GO).focus()
        page.keyboard.press("Enter")
        page.wait_for_selector("#report")
        fits(page)


def fits(page):
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    unnamed = """() => [...document.querySelectorAll("button, input, select, textarea, iframe, a")]
      .filter((one) => one.type !== "hidden" && !one.ariaHidden && !one.labels?.length
        && !(one.ariaLabel || one.title || one.textContent.trim())).map((one) => one.outerHTML)"""
    assert page.evaluate(unnamed) == []


def test_every_control_is_reached_by_keys(browser, app):
    with window(browser, app) as page:
        page.get_by_role("button", name="a number: the response").click()
        page.wait_for_url("**/tables/**")
        reached = set()
        for _ in range(40):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("document.activeElement.textContent.trim().slice(0, 40)"))
        assert {"Skip to the content", "smrmr", "How the file is read", GO} <= reached


def test_the_terminal_says_what_is_wrong(tmp_path):
    """A folder in use, a file for a folder, every address at once: a message, no traceback."""
    server, _ = serving(tmp_path / "runs")
    (tmp_path / "file").write_text("x")
    cases = {
        ("--folder", str(tmp_path / "runs")): "another smrmr app works in",
        ("--folder", str(tmp_path / "file")): "is a file",
        ("--host", "0.0.0.0"): "every address at once",
        ("--max-upload", "many"): "many",
        ("--port", "99999999"): "cannot be listened at",
    }
    try:
        for options, said in cases.items():
            command = [sys.executable, "-m", "smrmr", "app", "--no-browser", *options]
            done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60)
            assert done.returncode == 2, options
            assert done.stderr.startswith("smrmr: ")
            assert said in done.stderr
            assert "Traceback" not in done.stderr
    finally:
        assert ended(server) == 0
