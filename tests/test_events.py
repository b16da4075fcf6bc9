"""Events of survival, as people write them."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from typer.testing import CliRunner

from smrmr.cli.commands import app
from smrmr.data.target import as_target


def survival(rng, n=200):
    """Times, and where the event happened by then."""
    return rng.exponential(size=n).round(3), rng.random(n) < 0.6


WORDS = {  # for what happened, and what did not
    "numbers": (1, 0), "floats": (1.0, 0.0), "booleans": (True, False), "texts": ("1", "0"),
    "dead": ("dead", "alive"), "capitals": (" DEAD ", "Alive"), "yes": ("yes", "no"),
    "true": ("TRUE", "FALSE"), "R's TRUE": ("T", "F"), "living": ("DECEASED", "LIVING"),
    "cBioPortal": ("1:DECEASED", "0:LIVING"), "relapse": ("relapse", "none"),
    "censored": ("event", "censored"), "floats in text": ("1.0", "0.0"),
}  # fmt: skip


@pytest.mark.parametrize("kind", [object, "category", "string", None])
@pytest.mark.parametrize("what", WORDS)
def test_events_in_words(what, kind, rng):
    """Oracle: the same events as booleans."""
    time, event = survival(rng)
    words = np.array(WORDS[what], dtype=object)[1 - event.astype(int)]
    y = pd.DataFrame({"months": time, "state": words.tolist()})
    y = y if kind is None else y.astype({"state": kind})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_array_equal(as_target(y, "survival").derived_from, [time, event])


@pytest.mark.parametrize("as_text", [True, False])
def test_events_as_r_counts_them(as_text, rng):
    """Oracle: 2 is dead and 1 censored, as in ?survival::Surv; this is said."""
    time, event = survival(rng)
    codes = pd.Series(1 + event.astype(int))
    y = pd.DataFrame({"status": codes.astype(str) if as_text else codes, "time": time})
    with pytest.warns(UserWarning, match=r"'status' is 1 and 2: as in R, 2 is read as the event"):
        assert_array_equal(as_target(y, "survival").derived_from, [time, event])
    with pytest.warns(UserWarning, match="the event is 1 and 2"):  # as the command calls it
        as_target(y.rename(columns={"status": "event"}), "survival")


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (
            ["dead", "alive", "moved"],
            r"the event 'state' holds 'dead', 'alive', 'moved'\. Events are",
        ),
        (["dead", None], r"the event 'state' has \d+ missing"),
        ([0, 1, 2], r"the event 'state' holds 0, 1, 2"),
        ([True, None], r"the event 'state' has \d+ missing"),
    ],
)
def test_events_that_are_not_clear_are_refused(state, words, rng):
    """Oracle: the values, which the message shows."""
    time, _ = survival(rng)
    y = pd.DataFrame({"state": (state * 200)[:200], "time": time})
    with pytest.raises(ValueError, match=f"cannot be told apart|{words}"):
        as_target(y, "survival")
    with pytest.raises(ValueError, match=words.replace("state", "status")):
        as_target(y.rename(columns={"state": "status"}), "survival")


def test_times_of_text_are_refused(rng):
    _, event = survival(rng)
    y = pd.DataFrame({"dead": event, "day": [f"2020-01-{d % 28 + 1:02d}" for d in range(200)]})
    for table in (y, y.astype({"day": "datetime64[ns]"})):
        with pytest.raises(
            ValueError, match=r"the time 'day' holds text or dates\. Times are numbers"
        ):
            as_target(table, "survival")


def test_words_on_the_command_line(rng, tmp_path, monkeypatch):
    """Oracle: the same table with 1 and 0."""
    monkeypatch.chdir(tmp_path)
    time, event = survival(rng, 60)
    frame = pd.DataFrame(rng.normal(size=(60, 5)).round(3)).add_prefix("gene")
    answers = []
    for name, words in (("a", [0, 1]), ("b", ["alive", "dead"]), ("c", ["0:LIVING", "1:DECEASED"])):
        table = frame.assign(state=np.array(words, dtype=object)[event.astype(int)], months=time)
        table.to_csv(f"{name}.csv", index=False)
        asked = [f"{name}.csv", "--time", "months", "--event", "state", "--json"]
        done = CliRunner().invoke(app, ["select", *asked, "--no-accuracy"])
        assert done.exit_code == 0, done.output
        answers.append(json.loads(done.stdout)["evidence"])
    assert answers[0] == answers[1] == answers[2]
