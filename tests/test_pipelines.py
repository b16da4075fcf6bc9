"""What pipelines/ holds for Galaxy, Snakemake, Nextflow and Docker calls what exists.

Galaxy's own lint, Snakemake and Docker are not needed here; docs/pipelines.md says what was run.
"""

from __future__ import annotations

import re
import shlex
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from typer.testing import CliRunner

from smrmr import load_example
from smrmr.cli.commands import app

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "pipelines"
GALAXY = ElementTree.parse(FOLDER / "galaxy" / "smrmr_select.xml").getroot()
TABLE = FOLDER / "galaxy" / "test-data" / "table.csv"


def render(template, values):
    """The command of a template of Galaxy, which has Cheetah's #if, #else and #end if alone."""
    lines, shown = [], [True]
    for line in template.splitlines():
        if line.startswith("#if "):
            shown.append(bool(eval(line.removeprefix("#if ").replace("$", ""), vars(values))))
        elif line.startswith("#else"):
            shown[-1] = not shown[-1]
        elif line.startswith("#end if"):
            shown.pop()
        elif all(shown):
            lines.append(line.strip())
    return re.sub(r"(?<!\\)\$([\w.]+)", lambda name: value_of(values, name[1]), " ".join(lines))


def value_of(values, name):
    for part in name.split("."):
        values = getattr(values, part)
    return str(values)


class File(str):
    """A data set of Galaxy: its path, and the extension of its type."""

    ext = "csv"


def run_tool(kind, table=TABLE, **given):
    """Runs the command of the tool in the current folder."""
    values = {"fdr": 0.1, "covariates": "", "groups": "", "drop": ""} | given
    rendered = render(
        GALAXY.findtext("command"),
        SimpleNamespace(table=File(table), kind=SimpleNamespace(**kind), **values),
    )
    link, command = rendered.split(" && ")
    _, _, source, name = shlex.split(link)
    Path(name).symlink_to(source)
    program, *words = shlex.split(command.replace("\\${GALAXY_SLOTS:-1}", "1"))
    assert program == "smrmr"
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output


def test_the_table_of_the_tool_is_a_part_of_the_example():
    """Oracle: the example that comes with the package."""
    ours = pd.read_csv(TABLE)
    pd.testing.assert_frame_equal(ours, load_example("toxicity")[list(ours)], rtol=1e-12)


def test_the_tool_does_what_its_own_test_says(tmp_path, monkeypatch):
    """Oracle: the assertions in the tool, whose genes are the true ones of the example."""
    monkeypatch.chdir(tmp_path)
    (said,) = GALAXY.findall("tests/test")
    given = {one.get("name"): one.get("value") for one in said.findall("param")}
    kind = {one.get("name"): one.get("value") for one in said.findall("conditional/param")}
    assert given.pop("table") == TABLE.name
    run_tool(kind, **given)
    written = {one.get("name"): Path(one.get("from_work_dir")) for one in GALAXY.iter("data")}
    assert len(written) == int(said.get("expect_num_outputs"))
    assert all(path.is_file() for path in written.values())
    for output in said.findall("output"):
        text = written[output.get("name")].read_text(encoding="utf-8")
        for one in output.iter("has_text"):
            assert one.get("text") in text
        for one in output.iter("has_n_lines"):
            assert len(text.splitlines()) == int(one.get("n"))
    found = pd.read_csv(written["selected"])["feature"]
    assert set(found) == set(load_example("toxicity").attrs["true"])


def test_the_tool_takes_survival(tmp_path, monkeypatch):
    """Oracle: the true genes of the example."""
    monkeypatch.chdir(tmp_path)
    data = load_example("survival")
    some = [*data.attrs["true"], *data.columns[2:12]]
    data[["months", "died", *some]].to_csv("dataset_1.dat", index=False)
    run_tool({"type": "survival", "time": "months", "event": "died"}, tmp_path / "dataset_1.dat")
    found = pd.read_csv("answer/selected.csv")["feature"]
    assert set(data.attrs["true"]) <= set(found)


def test_the_tool_and_the_package_have_one_version():
    import smrmr

    assert GALAXY.find("macros/token").text == smrmr.__version__


@pytest.mark.parametrize("name", ["snakemake/smrmr.smk", "nextflow/smrmr.nf"])
def test_options_and_outputs_of_workflows_exist(name):
    """Oracle: the help page, and what Galaxy's tool, which is run, and the command write."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    help_page = CliRunner().invoke(app, ["select", "--help"], env={"COLUMNS": "200"}).stdout
    command = text[text.index("smrmr select") :]
    options = set(re.findall(r"(--[a-z-]+)", command))
    assert {"--target", "--out", "--jobs"} <= options
    assert all(option in help_page for option in options)
    outputs = set(re.findall(r"(?:answer|\{answer\})/([\w.]+)", text))
    assert {"report.html", "selected.csv"} <= outputs
    assert all(output in " ".join(help_page.split()) for output in outputs)


def test_the_image_copies_what_exists():
    """Oracle: the repository, and what the package's build reads."""
    lines = (FOLDER / "docker" / "Dockerfile").read_text(encoding="utf-8").splitlines()
    copied = [word for line in lines if line.startswith("COPY ") for word in line.split()[1:-1]]
    assert {"pyproject.toml", "README.md", "LICENSE", "src"} == set(copied)
    assert all((ROOT / one).exists() for one in copied)
    ignored = (FOLDER / "docker" / "Dockerfile.dockerignore").read_text(encoding="utf-8").split()
    assert {one.removeprefix("!") for one in ignored if one.startswith("!")} == set(copied)
    assert "/smrmr[files]" in " ".join(lines)
    assert "smrmr demo --out" in " ".join(lines)
    assert "--out" in CliRunner().invoke(app, ["demo", "--help"]).stdout
