"""The README and the docs run as printed, hold what the stored rows say, and lead somewhere."""

from __future__ import annotations

import re
import runpy
from functools import cache
from pathlib import Path

import pytest
from bed_reader import to_bed

from benchmarks.report.figures import figures_of
from doc_blocks import FENCE, RUN, commands_in, run_blocks, run_command
from smrmr import load_example, simulate
from smrmr.example_table import STUDIES

ROOT = Path(__file__).parents[1]
FILL = runpy.run_path(str(ROOT / "docs" / "fill.py"))
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
AT_ONCE = ("README.md", "index.md", "start.md")  # the others take minutes: make docs runs them
TABLES_WRITTEN = ("path:_static/summary.md", "path:_static/yardstick.md")  # by make figures
# languages of blocks beside those run; make test-r runs those of R
NOT_RUN = {"console", "text", "toml", "json", "bibtex", "r", "yaml", "groovy"}


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.name, marks=[] if page.name in AT_ONCE else pytest.mark.slow)
        for page in PAGES
    ],
)
def test_blocks_run_as_printed(page, tmp_path, monkeypatch):
    """Oracle: the output that the page tells."""
    monkeypatch.chdir(tmp_path)
    run_blocks(page.read_text(encoding="utf-8"), page.name)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_say_what_they_are(page):
    languages = {block[1] for block in FENCE.finditer(page.read_text(encoding="utf-8"))}
    assert languages <= {*RUN, *NOT_RUN}


def test_commands_in_lines_of_the_readme_run(tmp_path, monkeypatch):
    """Oracle: the exit code, in a folder with the files that they name."""
    monkeypatch.chdir(tmp_path)
    table = load_example().assign(sample=[f"s{row}" for row in range(120)])
    table[["sample", "response"]].to_csv("clinic.csv", index=False)
    table.drop(columns="response").set_index("sample").T.to_csv("genes.tsv", sep="\t")
    genotypes = simulate("genotypes", 120, 100, random_state=0).X
    to_bed("snps.bed", genotypes, properties={"iid": table["sample"].tolist()})
    studies = [f"smrmr example {study} > {study}.csv" for study in STUDIES]
    commands = re.findall(r"`(smrmr [^`]+)`", (ROOT / "README.md").read_text(encoding="utf-8"))
    commands = [one for one in commands if one != "smrmr app"]  # which serves until it is ended
    assert len(commands) > 8
    for place, command in enumerate(["smrmr example > table.csv", *studies, *commands]):
        folder = f" --out answer{place}" if " select " in command else ""
        fits = " --fits 1" if command.startswith(("smrmr check", "smrmr plan")) else ""
        run_command(command + folder + fits)  # one of all fits, to save time


def test_tables_are_those_of_the_stored_rows():
    """Oracle: the tables made again from results/; docs/fill.py puts them there."""
    for name, opening in (
        ("README.md", "against -->"),
        ("docs/reproducing.md", "claims -->\n| claim |"),
        ("docs/power_tables.md", "yardstick -->"),
        ("docs/ablation_tables.md", "groups -->"),
        ("docs/settings.md", "sizes -->"),
        ("docs/power.md", "sizes -->"),
        ("docs/speed.md", "commits -->"),
    ):
        page = (ROOT / name).read_text(encoding="utf-8")
        assert opening in page
        assert FILL["filled"](page) == page
        spoilt = page.replace("<!-- end -->", "spoilt\n<!-- end -->", 1)
        assert FILL["filled"](spoilt) == page


@pytest.mark.parametrize("name", ["power.md", "ablations.md", "method.md"])
def test_pages_that_lead_to_appendices_take_five_minutes(name):
    """Law: at 240 words a minute, those of tables included, those of formulas not."""
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    words = re.sub(r"\$\$.*?\$\$|<!--.*?-->|\]\([^)]*\)", " ", page, flags=re.DOTALL).split()
    assert sum(any(c.isalnum() for c in word) for word in words) <= 5 * 240


def links_of(page):
    """Where the links of a page lead, code aside, each with its anchor apart."""
    prose = re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text(encoding="utf-8")))
    targets = re.findall(r"\]\(([^)\s]+)\)", prose)
    return [target.partition("#")[::2] for target in targets if "://" not in target]


def anchors_of(page):
    """Anchors of the headings that MyST numbers: those of GitHub, down to the third level."""
    prose = FENCE.sub("", page.read_text(encoding="utf-8"))
    titles = re.findall(r"^#{1,3} (.+)$", prose, flags=re.MULTILINE)
    slugs = [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]
    return {f"{slug}-{slugs[:k].count(slug)}".removesuffix("-0") for k, slug in enumerate(slugs)}


@cache
def figures_drawn():
    """The figures that `make figures` draws from the stored rows."""
    return {f"_static/figures/{name}.svg" for name, _ in figures_of(FILL["stored"]())}


def source_of(page, path):
    """The file that a link leads to; some are made from stored rows, the gallery from examples."""
    if path in TABLES_WRITTEN or (path.startswith("_static/figures/") and path in figures_drawn()):
        return ROOT / "results"
    if not path.startswith("gallery/"):
        return page.parent / path if path else page
    name = path.removeprefix("gallery/")
    return ROOT / "examples" / ("README.rst" if name == "index" else f"{name}.py")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    """Oracle: the files, and their headings."""
    for path, anchor in links_of(page):
        source = source_of(page, path)
        assert source.exists(), path
        assert not anchor or anchor in anchors_of(source), f"{path}#{anchor}"


def commands_of(page):
    """The commands in code blocks, each with the name of the program apart."""
    blocks = FENCE.finditer(page.read_text(encoding="utf-8"))
    blocks = [block for block in blocks if block[1] in ("sh", "console")]
    lines = "\n".join(line for block in blocks for line in commands_in(block[2]))
    return re.findall(r"^(smrmr|python -m benchmarks) (.+)$", lines, flags=re.MULTILINE)


def test_commands_of_the_docs_have_options_that_exist():
    """Oracle: the help pages."""
    from typer.testing import CliRunner

    from benchmarks.__main__ import app as benchmarks
    from smrmr.cli.commands import app as smrmr

    lines = [line for page in PAGES for line in commands_of(page)]
    assert {program for program, _ in lines} == {"smrmr", "python -m benchmarks"}
    for program, line in lines:
        words = line.split("#")[0].split()
        app = smrmr if program == "smrmr" else benchmarks
        help_page = CliRunner().invoke(app, [words[0], "--help"], env={"COLUMNS": "200"})
        assert help_page.exit_code == 0, line
        for option in (word for word in words if word.startswith("--")):
            assert option in help_page.stdout, line
