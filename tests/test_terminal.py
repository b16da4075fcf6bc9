"""How the command speaks: what it loads first, options in messages, progress, folders, quiet."""

from __future__ import annotations

import ast
import os
import pickle
import re
import subprocess
import sys
from dataclasses import fields
from inspect import signature
from pathlib import Path
from shlex import quote

import pandas as pd
import pytest
from typer.main import get_command
from typer.testing import CliRunner

import smrmr
from smrmr import Recipe, simulate
from smrmr.cli.commands import DESIGNS, app
from smrmr.cli.terminal import RENAMED, by_options, naming
from smrmr.designs import DESIGNS as KNOWN_DESIGNS
from smrmr.paper import KnockoffFilter
from smrmr.problems import DataWarning, Problem, message_of, only_in_python, setting
from smrmr.runs.progress import DRAWS, ProgressLine

pytestmark = pytest.mark.filterwarnings("ignore:Knockoffs. NOT exchangeable")

ROOT = Path(smrmr.__file__).parent
HEAVY = {"numpy", "scipy", "numba", "sklearn", "pandas", "matplotlib", "joblib", "jinja2"}
LOADED = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); "
FLAGS = {
    option.name: (option.opts[0], option.metavar or "")
    for option in get_command(app).commands["select"].params
    if option.param_type_name == "option"
}


def invoke(*arguments, **options):
    return CliRunner().invoke(app, [*map(str, arguments)], **options)


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = simulate("1.c", 60, 40, random_state=0)
    frame = pd.DataFrame(data.X).add_prefix("x").assign(y=data.y)
    frame.to_csv("table.csv", index=False)
    return "table.csv"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--help"], "select"),
        (["--version"], smrmr.__version__),
        (["select", "--help"], "--overwrite"),
        (["check", "--help"], "--plant-on"),
        (["plan", "--help"], "--n-rows"),
        (["select", "d.csv", "--colour", "red"], "--colour"),
        (["select", "d.csv", "--fdr", "low"], "Invalid value for '--fdr'"),
        (["--show-completion", "bash"], "_SMRMR_COMPLETE"),
    ],
)
def test_help_and_wrong_options_load_nothing_heavy(arguments, said):
    """Oracle: sys.modules of a process of its own. Seconds depend on the machine, this does not."""
    code = f"{LOADED} sys.argv = ['smrmr', *{arguments}]; from smrmr.cli import main; main()"
    done = run_python(code, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert said in " ".join(done.stdout.split()) + " ".join(done.stderr.split())
    assert not HEAVY & set(done.stderr.split())


def test_completion_is_right_and_loads_nothing_heavy():
    """Oracle: the options that begin so."""
    asked = {"_SMRMR_COMPLETE": "complete_bash", "COMP_WORDS": "smrmr select --ov"}
    code = f"{LOADED} sys.argv = ['smrmr']; from smrmr.cli import main; main()"
    done = run_python(code, **asked, COMP_CWORD="2")
    assert done.stdout.split() == ["--overwrite"]
    assert not HEAVY & set(done.stderr.split())


def test_importing_the_package_loads_nothing_heavy():
    assert not HEAVY & set(run_python(f"{LOADED} import smrmr").stderr.split())


def run_python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )


def test_select_speaks_before_it_loads_what_computes(table):
    """Oracle: Python's own log of imports, in the order in which they end."""
    command = [sys.executable, "-X", "importtime", "-m", "smrmr", "select", table, "--target", "z"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    said = done.stderr
    assert "Traceback" not in said
    loaded = re.findall(
        r"\| +([\w.]+)$|(Reading table.csv|smrmr: table.csv has no column)", said, re.M
    )
    order = [module or message for module, message in loaded]
    pandas = order.index("pandas.core.frame")  # the package itself is loaded without an import
    assert order.index("Reading table.csv") < order.index("numba") < pandas
    assert order[-1] == "smrmr: table.csv has no column"
    assert not {"sklearn", "matplotlib", "scipy.stats"} & set(order)


def test_designs_of_the_help_are_those_there_are():
    assert DESIGNS.split(", ") == list(KNOWN_DESIGNS)


@pytest.mark.parametrize(
    ("marked", "in_python", "said"),
    [
        (setting("n_jobs", 0), "n_jobs=0", "--jobs 0"),
        (setting("on_empty", "none"), "on_empty='none'", "--on-empty none"),
        (setting("alike", None), "alike=None", "--alike none"),
        (setting("penalty", "scad(a=3)"), "penalty='scad(a=3)'", "--penalty 'scad(a=3)'"),
        (setting("feature_groups"), "feature_groups", "--feature-groups"),
        (setting("keep_data", True), "keep_data=True", "--keep-data"),
        (setting("groups", ...), "groups", "--groups COLUMN"),
        (setting("aggregate", ...), "aggregate", "--aggregate"),
        (setting("target", "classes"), "target='classes'", "--target-type classes"),
        (setting("read_data.target", "y"), "target='y'", "--target y"),
        (setting("drop", ["a b", "c"]), "drop=['a b', 'c']", "--drop 'a b' --drop c"),
        (setting("control", Recipe), f"control={Recipe!r}", f"--control {quote(repr(Recipe))}"),
        (setting("guard", "x"), "guard='x'", "guard='x'"),
        (f"a{only_in_python(' or an object')}", "a or an object", "a"),
        ("n_jobs=0, target='x', on_empty", *2 * ["n_jobs=0, target='x', on_empty"]),
        ("\ue000 \ue001n_jobs\ue002", *2 * ["\ue000 \ue001n_jobs\ue002"]),
    ],
)
def test_messages_name_arguments_in_python_and_options_on_the_command_line(marked, in_python, said):
    """Oracle: sentences by hand. Only what is marked is ever changed."""
    problem = pickle.loads(pickle.dumps(Problem("It was.", f"Not {marked}.", argument="x")))
    assert str(problem) == f"It was. Not {in_python}."
    with naming(FLAGS):
        assert by_options(message_of(problem)) == f"It was. Not {said}."
    assert by_options(message_of(DataWarning(marked))) == in_python or marked.startswith("a")


def arguments_with_options():
    """Arguments of Python that an option stands for."""
    kinds = (Recipe, KnockoffFilter, smrmr.ConditionalTests)
    names = {f.name for kind in kinds for f in fields(kind)}
    names |= set(signature(smrmr.select).parameters) | set(
        signature(smrmr.data.read_data).parameters
    )
    return {name for name in names if RENAMED.get(name, name) in FLAGS} | {"random_state"}


def test_every_argument_is_said_as_its_option():
    """Law: whatever argument a message names, with whatever value, its option is named instead."""
    known = arguments_with_options()
    assert {"fdr", "alike", "n_jobs", "n_draws", "missing", "rule", "random_state"} <= known
    for name in known:
        option, _ = FLAGS[RENAMED.get(name, name)]
        for value in ("none", "it's", 0, -1.5, None, ["a", "b"], (1, 2), object()):
            with naming(FLAGS):
                said = by_options(f"{setting(name, value)} is not known.")
            assert said.startswith(f"{option} "), said
            assert f"{name}=" not in said


HOSTILE = ["n_jobs=3", "target='x'", "on_empty", "--fdr 0.2", "a=...", "missing='drop-rows'"]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_of_users_are_never_changed(name, tmp_path, monkeypatch):
    """Law: a column, a value or a file is told by its own name, whatever that looks like."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{i},{i * i % 7},t{i % 6},{i / 2}" for i in range(12)]
    for header, cell, expected in (
        (f'"{name}",b,c,y', None, f"{name}: 1"),  # a missing value
        (f'a,"{name}",c,y', "x", f"column {name!r} holds"),  # text among numbers
        (f'a,b,"{name}",y', "t", f"column {name!r} holds"),  # too many labels
        ("a,b,c,y", name, f"such as {name!r}"),
    ):
        table = [row.split(",") for row in rows]
        table[2][0 if cell is None else 1] = "" if cell is None else f'"{cell}"'
        Path("t.csv").write_text("\n".join([header, *map(",".join, table)]))
        done = invoke("select", "t.csv", "--target", "y")
        assert done.exit_code == 2
        assert expected in done.stderr
        with pytest.raises(ValueError, match=re.escape(expected)):
            smrmr.data.read_data("t.csv", "y")
    done = invoke("select", "t.csv", "--target", name)
    assert f"t.csv has no column {name!r}" in done.stderr
    done = invoke("select", "--target", "y", "--", f"{name}.csv")
    assert f"there is no file {name}.csv" in done.stderr


def texts_of(path):
    """Texts in a file that are no docstring, with a value for what is filled in."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            inside.add(id(node.value))
        elif isinstance(node, ast.JoinedStr):
            yield "".join(
                part.value if isinstance(part, ast.Constant) else "'x'" for part in node.values
            )
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in inside
        ):
            yield node.value


NOT_YET = ("cli", "app", "report", "paper", "rivals", "target.py", "survival.py", "row_groups.py")


def test_only_the_command_names_options():
    """Oracle: all texts in the source. Messages mark settings, and write none of them out."""
    names = "|".join(arguments_with_options())
    written = re.compile(rf"--[a-z]{{2}}|(?<![\w(])({names})=('|\.\.\.|\d)")
    found = [
        f"{path.relative_to(ROOT)}: {text}"
        for path in ROOT.rglob("*.py")
        if not {*path.relative_to(ROOT).parts} & {*NOT_YET}
        for text in texts_of(path)
        if written.search(text)
    ]
    assert found == []


def test_every_option_has_a_help_text():
    """Oracle: the docstrings of settings, in the words of which help is written."""
    for name, command in get_command(app).commands.items():
        told = invoke(name, "--help", env={"COLUMNS": "1000"}).stdout
        for option in command.params:
            if option.param_type_name == "option" and not option.hidden:
                (line,) = re.findall(rf"^. .*{max(option.opts, key=len)} .*", told, re.M)
                assert re.search(r"[a-z]{2}.* [\w-]+.*\.", line), line
    assert "Largest expected share of false features among those selected" in told


@pytest.mark.filterwarnings("default")
def test_warnings_name_options_and_have_lines_of_their_own(table):
    """A target of few whole numbers is taken for classes, with a warning on the way."""
    frame = pd.read_csv(table)
    frame.assign(y=1 + (frame["y"] > 0).astype(int)).to_csv(table, index=False)
    done = invoke("select", table, "--target", "y")
    assert done.exit_code == 0, done.output
    first, reach, warned, last = done.stderr.splitlines()
    assert first == "Reading table.csv"
    assert reach.startswith("Level 0.1 among ")
    assert warned.startswith("Warning: y has 2 whole-numbered levels")
    assert "--target-type continuous if they are quantities" in warned
    assert "target=" not in warned
    assert re.search(r", done in [\d.]+ s\.$", last)


def test_an_earlier_answer_is_replaced_only_if_asked(table, tmp_path):
    arguments = ["select", table, "--target", "y", "--out", "out"]
    assert invoke(*arguments).exit_code == 0
    before = {path.name: path.read_bytes() for path in Path("out").iterdir()}
    Path("out/notes.txt").write_text("mine")
    done = invoke(*arguments, "--fdr", "0.9")
    assert done.exit_code == 2
    assert "out holds an earlier answer. Say --overwrite" in done.stderr
    assert "--out" in done.stderr
    assert all((Path("out") / name).read_bytes() == content for name, content in before.items())
    done = invoke(*arguments, "--fdr", "0.9", "--overwrite")
    assert done.exit_code == 0, done.output
    assert '"fdr": 0.9' in Path("out/selection.json").read_text()
    assert Path("out/notes.txt").read_text() == "mine"


@pytest.mark.parametrize("name", ["selection.json", "selected.csv", "notes.txt"])
@pytest.mark.parametrize(
    "command", [["select", "table.csv", "--target", "y", "--overwrite"], ["demo"]]
)
def test_what_is_not_ours_is_never_written_to(table, command, name):
    """Law: a folder of other files is left as it is, whatever they are called."""
    Path("out").mkdir()
    (Path("out") / name).write_text("[1, 2]")
    done = invoke(*command, "--out", "out")
    assert done.exit_code == 2
    assert "no answer of smrmr" in done.stderr
    assert [(path.name, path.read_text()) for path in Path("out").iterdir()] == [(name, "[1, 2]")]


def test_an_empty_folder_and_the_rest_of_a_killed_run_are_no_hindrance(table):
    Path("out/.smrmr-abc").mkdir(parents=True)
    assert invoke("select", table, "--target", "y", "--out", "out").exit_code == 0


def test_quiet_prints_the_path_of_the_report_alone(table):
    done = invoke("select", table, "--target", "y", "--quiet")
    assert (done.stdout, done.stderr) == (f"{Path('smrmr-table/report.html')}\n", "")
    assert Path(done.stdout.strip()).exists()
    done = invoke("demo", "--design", "1.a", "--n", "30", "--p", "10", "--quiet")
    assert (done.stdout, done.stderr) == (f"{Path('smrmr-demo/report.html')}\n", "")
    loud = invoke("demo", "--design", "1.a", "--n", "30", "--p", "10")
    assert "done in" in loud.stderr  # being quiet is over with the command
    wrong = invoke("select", "absent.csv", "--quiet")
    assert wrong.stderr.startswith("smrmr: there is no file absent.csv.")


def test_progress_is_one_line_where_there_is_no_terminal(table):
    done = invoke("select", table, "--target", "y")
    first, _, said = done.stderr.splitlines()  # and what the level can find between them
    assert first == "Reading table.csv"
    assert re.fullmatch(r"[a-z -]+(, [a-z -]+)+, done in \d+\.\d s\.", said)
    assert {"scores", "tests"} <= set(said.split(", "))


def test_draws_are_counted(table):
    done = invoke("select", table, "--target", "y", "--draws", "3", "--lam", "0.05")
    assert done.exit_code == 0, done.output
    said = done.stderr.replace("\n", " ")
    assert re.findall(r"draw (\d) of 3", said) == ["1", "2", "3"]
    assert said.count(", knockoffs") == 1


def test_a_line_names_stages_once_and_at_most_ten_draws(capsys):
    line = ProgressLine()
    with line.stages() as show:
        for draw in range(1, 101):
            show("tuning", 1, 2)
            show("tuning", 2, 2)
            show(DRAWS, draw, 100)
    said = capsys.readouterr().err
    assert said.count("tuning") == 1
    assert re.findall(r"draw (\d+) of 100", said) == [str(10 * k) for k in range(1, 11)]
    assert said.count("\n") == 1


def test_a_resumed_run_replaces_its_own_answer_and_no_other(table):
    begun = ["select", table, "--target", "y", "--out", "out", "--run-dir", "run"]
    assert invoke(*begun).exit_code == 0
    assert invoke(*begun).exit_code == 2
    assert invoke("select", "--resume", "run").exit_code == 0
    elsewhere = ["select", "--resume", "run", "--out", "elsewhere"]
    assert invoke(*elsewhere).exit_code == 0
    assert "earlier answer" in invoke(*elsewhere).stderr
    assert invoke(*elsewhere, "--overwrite").exit_code == 0
    refused = invoke("select", table, "--resume", "run")
    assert "leave out FILE" in refused.stderr


def test_a_kill_while_it_loads_leaves_nothing(table):
    """SIGTERM at the first message: one more message, exit code 130, no folder."""
    running = subprocess.Popen(
        [sys.executable, "-m", "smrmr", "select", table, "--target", "y"], stderr=subprocess.PIPE
    )
    begun = running.stderr.read(1)
    running.terminate()
    said = (begun + running.communicate()[1]).decode()
    assert running.returncode == 130
    assert said == "Reading table.csv\nsmrmr: interrupted; nothing was written.\n"
    assert not Path("smrmr-table").exists()
