"""A line of speed per commit: what is timed, what is kept, what is shown. Fast."""

from __future__ import annotations

import subprocess

import numpy as np
import pandas as pd
import pytest

from benchmarks.report.commits import commits
from benchmarks.speed.commits import keep_lines, open_lines
from benchmarks.speed.ten import CASES, N_TRUE, true_columns

CASE, REFUSED = "numbers 100x100", "survival 200x500"
PACKAGE = """
from benchmarks.speed.ten import reference

class SmRMR:
    def __init__(self, target, **settings):
        assert target == "continuous", "only numbers"

    def fit(self, X, y):
        assert (X.shape, y.shape) == ((100, 100), (100,))
        for _ in range(3):
            reference()
"""
COMMITTER = {
    **{f"GIT_{who}_NAME": "somebody" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "somebody@example.org" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_DATE": "2024-03-01T23:30:00-02:00" for who in ("AUTHOR", "COMMITTER")},
}


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A package whose fit takes three references and refuses what it was not made for."""
    for name, value in COMMITTER.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)  # it is no package of ours
    package = tmp_path / "repository" / "src" / "smrmr" / "__init__.py"
    package.parent.mkdir(parents=True)
    package.write_text(PACKAGE, encoding="utf-8")
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "One"]):
        subprocess.run(["git", *words], cwd=tmp_path / "repository", check=True)
    package.write_text("what was not committed is not timed", encoding="utf-8")
    return tmp_path / "repository"


def test_a_commit_gets_one_line_of_ratios(repository, tmp_path, capsys):
    """Oracle: the work that the package does, in references; and the day of the commit in UTC."""
    store = open_lines(tmp_path)
    keep_lines(["HEAD"], store, repository, (CASE, REFUSED))
    assert "AssertionError: only numbers" in capsys.readouterr().out
    line = store.frame().iloc[0]
    assert 2 < line[CASE] < 4.5
    assert line["reference"] > 0
    assert line["date"] == "2024-03-02T01:30:00+00:00"
    assert line.drop(["commit", "date", "reference", CASE]).isna().all()
    before = store.path.read_bytes()
    keep_lines(["HEAD"], store, repository, (CASE, REFUSED))
    assert store.path.read_bytes() == before


@pytest.mark.parametrize(("case", "n", "p"), CASES.values(), ids=CASES)
def test_targets_depend_on_ten_columns(case, n, p):
    """By hand: distinct columns, from the first to one in the last fifth of the table."""
    places = true_columns(np.arange(p)[None])[0]
    assert len(set(places)) == N_TRUE == 10
    assert places[0] == 0
    assert places[-1] >= 0.8 * p


def test_the_newest_lines_are_shown_from_old_to_new(tmp_path):
    """By hand: six lines in any order, of which the oldest is left out; a dash for no time."""
    store = open_lines(tmp_path)
    assert commits({"commits": store.frame()}) == "No commit has been timed yet."
    for day in (3, 1, 6, 2, 5, 4):
        ratio = {CASE: 10.0 + day} if day != 4 else {}
        line = {"commit": f"{day}" * 10, "date": f"2024-03-0{day}T01:30:00+00:00"}
        store.append([line | {"reference": 0.1} | ratio])
    header, _, first, *others = commits({"commits": store.frame()}).splitlines()
    assert [name.strip() for name in header.split("|")[2:-1]] == [
        f"2024-03-0{day}, {str(day) * 7}" for day in (2, 3, 4, 5, 6)
    ]
    assert first.split(" | ")[1:] == ["12", "13", "-", "15", "16 |"]
    assert len(others) == len(CASES) - 1
    assert pd.Series(others).str.endswith("| - | - | - | - | - |").all()
