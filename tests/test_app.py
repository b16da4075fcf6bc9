"""The local page. Oracles: `smrmr.select` on the same table, and laws of who is let in."""

from __future__ import annotations

import io
import json
import re
import shlex
import sys
import time
import zipfile
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pandas as pd
import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

import smrmr
from smrmr.app.folders import Entry, NotThere, safe_name
from smrmr.app.forms import settings_from
from smrmr.app.guard import Guard
from smrmr.app.preview import read
from smrmr.app.server import application
from smrmr.app.settings import command, python_lines, reading
from smrmr.app.site import Site
from smrmr.app.tables import EXAMPLES
from smrmr.cli.commands import app
from smrmr.data import read_data
from smrmr.runs.progress import progress_file

HOST = "http://127.0.0.1:8000"
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return Site(tmp_path_factory.mktemp("app"), max_upload=2_000_000)


@pytest.fixture(scope="module")
def guard(site):
    return Guard(application(site), ["127.0.0.1", "localhost"], 8000)


@pytest.fixture(scope="module")
def client(guard):
    """A browser that was let in."""
    with TestClient(guard, HOST, follow_redirects=True) as client:
        assert client.get(f"/?token={guard.token}").status_code == 200
        yield client


def post(client, address, fields=(), **headers):
    headers = {"origin": HOST, "content-type": "application/x-www-form-urlencoded", **headers}
    return client.post(address, content=urlencode(list(fields)), headers=headers)


def upload(client, name, content):
    return client.put("/upload", params={"name": name}, content=content, headers={"origin": HOST})


def table_of(client, name, frame):
    """The address of a table that was sent."""
    sent = upload(client, name, frame.to_csv(index=False).encode())
    assert sent.status_code == 200, sent.text
    return f"/tables/{sent.json()['table']}"


def small(n=60, p=12, seed=2):
    data = smrmr.simulate("1.a", n=n, p=p, random_state=seed)
    return pd.DataFrame(data.X).add_prefix("x").assign(y=data.y)


def finished(client, address):
    """The page of a run, once it is no longer waiting or at work."""
    for _ in range(600):
        state = client.get(f"{address}/progress").headers["x-state"]
        if state not in ("queued", "running"):
            return state
        time.sleep(0.1)
    raise AssertionError("the run does not end")


@pytest.fixture(scope="module")
def run(client):
    """The address of a finished run, with a covariate and two hostile names."""
    frame = small().assign(age=np.arange(60) % 7).rename(columns={"x3": HOSTILE})
    frame = frame.assign(**{"=1+2": np.random.default_rng(0).normal(size=60)})
    address = table_of(client, "small.csv", frame)
    fields = [("role:y", "target"), ("role:age", "covariate"), ("fdr", "0.2"), ("do", "run")]
    shown = post(client, address, fields)
    address = f"/runs/{str(shown.url).rsplit('/', 1)[1]}"
    assert finished(client, address) == "done"
    return address


def table_file(site, run):
    return site.runs.get(run.rsplit("/", 1)[1]).about["file"]


def test_the_answer_is_that_of_python(client, site, run):
    """Oracle: `smrmr.select` of the same table, all numbers of its findings."""
    data = read_data(table_file(site, run), "y", beside=["age"])
    found = smrmr.select(data.X, data.y, smrmr.Recipe(fdr=0.2), 0, covariates=data.beside)
    kept = smrmr.Selection.from_json(client.get(f"{run}/files/selection.json").text)
    pd.testing.assert_frame_equal(kept.findings(), found.findings(), check_exact=True)
    assert kept.fdr == 0.2
    assert kept.covariates == ("age",)
    assert len(kept.selected) > 0


def test_the_python_lines_give_the_same(client, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    known = {}
    exec(client.get(f"{run}/files/again.py").text, known)
    kept = smrmr.Selection.from_json(client.get(f"{run}/files/selection.json").text)
    pd.testing.assert_frame_equal(kept.findings(), known["found"].findings(), check_exact=True)
    assert (tmp_path / "report.html").exists()


def test_the_command_gives_the_same(client, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = re.search(r"<pre id=\"command\"[^>]*>(.*?)</pre>", client.get(run).text, re.DOTALL)[1]
    program, *typed = shlex.split(shown.replace("&#39;", "'"))
    assert program == "smrmr"
    done = CliRunner().invoke(app, [*typed, "--out", "out", "--quiet"])
    assert done.exit_code == 0, done.output
    written = (tmp_path / "out" / "selected.csv").read_bytes()
    assert written == client.get(f"{run}/files/selected.csv").content


@pytest.mark.slow
@pytest.mark.parametrize(
    ("study", "more"),
    [("survival", {}), ("toxicity", {"covariates": ["age"], "groups": "plate"}), ("disease", {})],
)
def test_the_command_and_the_lines_agree(study, more, tmp_path, monkeypatch):
    """Oracle: the command that is shown; survival, covariates and groups of rows."""
    monkeypatch.chdir(tmp_path)
    smrmr.load_example(study).to_csv("table.csv", index=False)
    settings, known = {**EXAMPLES[study][1], **more, "fdr": 0.15}, {}
    typed = shlex.split(command("select", Path("table.csv"), settings))[1:]
    done = CliRunner().invoke(app, [*typed, "--out", "out", "--quiet"])
    assert done.exit_code == 0, done.output
    exec(python_lines("select", Path("table.csv"), settings), known)
    kept = smrmr.Selection.from_json((tmp_path / "out" / "selection.json").read_text())
    pd.testing.assert_frame_equal(kept.findings(), known["found"].findings(), check_exact=True)
    assert str(kept) == str(known["found"])  # which says how well the panel predicts


def test_the_lines_of_a_check_name_what_was_asked():
    settings = {"time": "t", "event": "e", "covariates": ["a'b"], "groups": "g", "minutes": 5.0}
    lines = python_lines("check", Path("x.csv"), settings)
    compile(lines, "again.py", "exec")
    assert 'found.check(data.X, y, recipe, covariates=data.beside[["a\'b"]]' in lines
    assert lines.count("minutes=5.0") == 1


def test_another_level_needs_no_fit(client, run):
    """Oracle: `Selection.at`."""
    kept = smrmr.Selection.from_json(client.get(f"{run}/files/selection.json").text)
    for level in (0.01, 0.5):
        shown = client.get(f"{run}/answer", params={"level": level}).text
        names = re.findall(r'data-feature="([^"]*)"', shown)
        assert names == [str(name) for name in kept.at(level).selected_names]
        report = client.get(f"{run}/report", params={"level": level}).text
        assert f"<dd>{level:g}</dd>" in report


def test_any_feature_is_explained_and_drawn(client, run):
    """Oracle: `Selection.explain`; the picture of a feature that the report does not draw."""
    kept = smrmr.Selection.from_json(client.get(f"{run}/files/selection.json").text)
    shown = client.get(f"{run}/feature", params={"name": "x1"}).text
    assert f"<p>{kept.explain('x1')}</p>" in shown
    unknown = client.get(f"{run}/feature", params={"name": "X1x"}, headers={"x-asked-by": "script"})
    assert unknown.status_code == 400
    assert "there is no feature" in unknown.text
    assert "<svg" in client.get(f"{run}/picture", params={"name": "x1"}).text


def test_a_set_has_a_bound(client, run):
    """Oracle: `Selection.at_least`."""
    kept = smrmr.Selection.from_json(client.get(f"{run}/files/selection.json").text)
    names = ["x0", "x1", "x5"]
    for layer in ("associated", "own"):
        fields = [("features", "\r\n".join(names)), ("layer", layer)]
        said = post(client, f"{run}/bound", fields).text
        assert f"At least {kept.at_least(names, layer=layer)} of these 3 are" in said


def test_downloads_are_those_of_the_command(client, run):
    packed = zipfile.ZipFile(io.BytesIO(client.get(f"{run}/files/all.zip").content))
    assert {"report.html", "selection.json", "selected.csv"} <= {*packed.namelist()}
    assert "smrmr" in client.get(f"{run}/files/methods.txt").text
    for name in ("about.json", "..%2fabout.json", "%2e%2e/about.json", "said.txt"):
        assert client.get(f"{run}/files/{name}").status_code == 404


def test_names_are_escaped_everywhere(client, run):
    for address in (run, f"{run}/report", f"{run}/answer?level=0.5", "/"):
        assert HOSTILE not in client.get(address).text
    table = re.search(r"/tables/[\w-]+", client.get(run).text)[0]
    shown = client.get(table).text
    assert HOSTILE not in shown
    assert "&lt;img src=x" in shown
    asked = client.get(f"{run}/feature", params={"name": HOSTILE}).text
    assert HOSTILE not in asked
    assert "&lt;img" in asked


def test_strangers_are_refused(client, guard, run):
    """Law: without cookie, with a used token, another host, origin or site: no answer."""
    stranger = TestClient(guard, HOST)
    addresses = ["/", run, f"{run}/report", f"{run}/files/selection.json", "/app.js", "/nowhere"]
    for address in addresses:
        assert stranger.get(address).status_code == 403
    for token in (guard.token, "", "é", "x" * 43):
        assert stranger.get("/", params={"token": token}).status_code == 403
    assert stranger.get("/", headers={"cookie": "smrmr-8000=é".encode()}).status_code == 403
    assert client.get(run, headers={"host": "evil.example:8000"}).status_code == 421
    assert client.get(run, headers={"host": "127.0.0.1:9000"}).status_code == 421
    for site in ("cross-site", "same-site"):
        assert client.get(run, headers={"sec-fetch-site": site}).status_code == 403
    for origin in ("http://evil.example", "null", "http://127.0.0.1:9000", ""):
        assert post(client, f"{run}/delete", origin=origin).status_code == 403
        sent = client.put("/upload?name=a.csv", content=b"a", headers={"origin": origin})
        assert sent.status_code == 403
    assert client.get(run).status_code == 200


def test_what_the_browser_may_do(client, run):
    """Law: our page runs our script alone; a report within it reaches nothing."""
    for address in ("/", run, "/app.js", "/nowhere"):
        answer = client.get(address)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
    for address in (f"{run}/report", f"{run}/picture?name=x0"):
        policy = client.get(address).headers["content-security-policy"]
        assert policy.startswith("sandbox ")
        assert "allow-same-origin" not in policy
        assert "connect-src" not in policy
    assert not re.search(r"<script(?! src=)|<[^>]*\s(on\w+|style)=|https?://", client.get("/").text)


def test_the_cookie_is_for_this_page_alone(site):
    guard = Guard(application(site), ["127.0.0.1"], 8000)
    welcomed = TestClient(guard, HOST).get(f"/?token={guard.token}", follow_redirects=False)
    assert welcomed.status_code == 303
    cookie = welcomed.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


@pytest.mark.parametrize(
    "name", ["../../x.csv", "/etc/passwd.csv", "..\\x.csv", "a/b.csv", "x\0y.csv", ".x.csv"]
)
def test_uploads_stay_in_their_folder(client, site, name):
    sent = upload(client, name, b"a,y\n1,2\n")
    assert sent.status_code == 200
    (path,) = (site.tables.get(sent.json()["table"]).path / "files").iterdir()
    assert path.name == safe_name(name)
    assert path.is_relative_to(site.folder)
    assert not path.name.startswith(".")


def test_uploads_have_a_limit(client, site):
    """Law: neither an announced nor an unannounced size gets by, and nothing is left on disk."""
    before = len(list(site.tables))

    def unannounced():
        for _ in range(30):
            yield b"1," * 50_000

    for content in (b"1" * 2_000_001, unannounced()):
        sent = client.put("/upload?name=a.csv", content=content, headers={"origin": HOST})
        assert sent.status_code == 413
        assert "larger than 2 MB" in sent.text
    assert len(list(site.tables)) == before


def test_files_that_cannot_be_read_are_refused_before_they_are_sent(client):
    asked = {"origin": HOST, "x-asked-by": "script"}
    sent = client.put("/upload?name=a.docx", content=b"x", headers=asked)
    assert sent.status_code == 400
    assert "the format 'docx' is not known" in sent.text


@pytest.mark.parametrize("identity", ["x", "20200101-000000-aaaaaa", "a%2fb"])
def test_there_are_no_other_folders(client, identity):
    assert client.get(f"/tables/{identity}").status_code == 404
    assert client.get(f"/runs/{identity}/report").status_code == 404
    assert post(client, f"/runs/{identity}/delete").status_code in (404, 405)


def test_second_files_are_those_that_were_sent(client, site, tmp_path):
    """Law: no other file of the disk can be joined."""
    secret = tmp_path / "secret.csv"
    secret.write_text("id,y\n1,2\n")
    address = table_of(client, "small.csv", small(20, 6))
    post(client, address, [("reading", "1"), ("pheno", str(secret)), ("pheno_sheet", "")])
    cure = json.dumps({"name": "pheno", "value": str(secret)})
    post(client, address, [("cure", cure)])
    post(client, address, [("cure", json.dumps({"name": "out", "value": "/tmp/x"}))])
    settings = site.tables.get(address.rsplit("/", 1)[1]).about["settings"]
    assert not settings.keys() & {"pheno", "out"}


def odd():
    """A table with a mark of missing values, a gap and a column of ids of runs of rows."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(40, 4)), columns=list("abcd")).round(3)
    frame.loc[[3, 8], "b"] = -999
    frame["note"] = [f"n{k % 37}" for k in range(40)]
    return frame.assign(y=rng.normal(size=40).round(3))


def kept(tmp_path, name, content, **settings):
    """A table as uploads leave it."""
    table = Entry(tmp_path)
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / name).write_bytes(content)
    table.update(file=name, settings=settings)
    return table


def cures_of(found):
    return {cure["label"]: cure for note in found["notes"] for cure in note["cures"]}


def test_oddities_have_buttons_for_their_cures(tmp_path):
    """Oracle: with the proposed changes nothing is left to mend, and 38 rows have no gap."""
    table = kept(tmp_path, "odd.csv", odd().to_csv(index=False).encode())
    table.update(settings=settings_from([("role:y", "target")], table))
    for step in ("read -999 as missing", "leave out note", "leave out rows with gaps"):
        cure = cures_of(read(table))[step]
        table.update(settings=settings_from([("cure", json.dumps(cure))], table))
    found = read(table)
    assert found["ready"]
    assert found["tested"] == 4
    assert [note["kind"] for note in found["notes"]] == ["note", "note"]
    data = read_data(tmp_path / "files" / "odd.csv", **reading(table.about["settings"]))
    assert len(data.y) == 38


def test_features_in_rows_are_turned_by_a_button(tmp_path):
    frame = small(40, 6).T.rename_axis("feature")
    table = kept(tmp_path, "turned.csv", frame.to_csv().encode(), target="y")
    assert not read(table)["ready"]
    cure = cures_of(read(table))["features are in rows"]
    table.update(settings=settings_from([("cure", json.dumps(cure))], table))
    found = read(table)
    assert found["ready"]
    assert (found["tested"], found["rows"]) == (6, 40)


def test_two_files_that_are_sent_together_are_joined(client, site):
    """Oracle: `read_data` of both; rows that are shown are those of the same sample."""
    frame = small(30, 6).assign(sample=[f"s{k}" for k in range(30)])
    clinic = frame[["sample", "y"]][::-1].to_csv(index=False).encode()
    genes = frame.drop(columns="y").set_index("sample").T.rename_axis("gene").to_csv().encode()
    address = table_of(client, "genes.csv", pd.DataFrame({"a": [1, 2]}))
    entry = site.tables.get(address.rsplit("/", 1)[1])
    for name, content in (("genes.csv", genes), ("clinic.csv", clinic)):
        query = {"name": name, "table": entry.id}
        client.put("/upload", params=query, content=content, headers={"origin": HOST})
    settings = {**entry.about["settings"], "transpose": True, "target": "y"}
    entry.update(settings=settings)
    found = read(entry)
    assert found["ready"], found["notes"]
    data = read_data(entry.path / "files" / "genes.csv", **reading(settings))
    shown = {column["name"]: column["first"] for column in found["columns"]}
    assert shown["y"] == [f"{value:.6g}" for value in data.y[:6]]
    assert shown["x0"] == [f"{value:.6g}" for value in data.X["x0"][:6]]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b""),
        ("a.csv", b"\x00\xff\xfe garbage \x80" * 50),
        ("a.xlsx", b"PK\x03\x04 not really"),
        ("a.h5ad", b"\x89HDF\r\n\x1a\n broken"),
        ("a.zip", b"PK"),
        ("a.bed", b"l\x1b\x01"),
    ],
)
def test_broken_files_are_messages(tmp_path, name, content):
    found = read(kept(tmp_path, name, content))
    assert [note["kind"] for note in found["notes"]][:1] == ["problem"]
    assert not found["ready"]
    assert str(tmp_path) not in found["notes"][0]["text"]


def test_a_broken_file_is_a_message_on_the_page(client):
    """By way of the process that reads it; nothing can be run."""
    address = f"/tables/{upload(client, 'a.xlsx', b'PK not really').json()['table']}"
    shown = client.get(address)
    assert shown.status_code == 200
    assert "note problem" in shown.text
    assert "Traceback" not in shown.text
    assert "disabled" in re.search(r'<button class="main"[^>]*>', shown.text)[0]


def test_no_name_leads_out_of_the_folder(site):
    """Not even where there is what an entry has."""
    (site.folder / "about.json").write_text("{}")
    for name in ("..", ".", "", "../tables", "/etc", "20200101-000000-aaaaaa/.."):
        with pytest.raises(NotThere):
            site.runs.get(name)


def test_tables_and_runs_are_removed_when_asked(client, site):
    address = table_of(client, "gone.csv", small(20, 6))
    entry = site.tables.get(address.rsplit("/", 1)[1])
    post(client, f"{address}/delete")
    assert not entry.path.exists()
    with pytest.raises(NotThere):
        site.tables.get(entry.id)


def test_programs_read_progress_from_a_file(tmp_path):
    """Law: a stage that begins is there at once, whole, with what is done of it."""
    path = tmp_path / "progress.json"
    with progress_file(path) as show:
        for stage, done, total in (("ranks", 0, 4), ("ranks", 2, 4), ("tests", 1, 2)):
            show(stage, done, total)
            known = json.loads(path.read_text())
            assert known["stage"] == stage
        assert (known["done"], known["total"]) == (1, 2)
        assert known["seconds"] >= 0
    assert [one.name for one in tmp_path.iterdir()] == ["progress.json"]


def test_the_command_says_what_it_needs(tmp_path, monkeypatch):
    """Without the extra: one message that names it."""
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    done = CliRunner().invoke(app, ["app", "--folder", str(tmp_path / "runs")])
    assert done.exit_code == 2
    assert done.stderr.endswith('Install them: pip install "smrmr[app]"\n')
    assert not (tmp_path / "runs").exists()
