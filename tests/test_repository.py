"""Files beside the package say what the package is. Oracle: one file read against another."""

from __future__ import annotations

import json
import re
import runpy
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

import smrmr

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
TESTED = ("test", "files", "app")  # extras that make test-oldest installs
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
OF_A_FILE = (  # an address of a file of the repository
    r"https://(?:img.shields.io/endpoint\?url=https://)?[\w.]+/smrmr/smrmr/"
    r"(?:(?:blob/)?main/|actions/)([^#]+?)(?:/badge.svg)?(?:#.+)?"
)
BADGES = ["tests", "docs", "PyPI", "Python", "coverage", "licence"]
COVERAGE = runpy.run_path(str(ROOT / "tools" / "coverage_badge.py"))
TOLD = [*sorted(ROOT.glob("*.md")), ROOT / ".github" / "PULL_REQUEST_TEMPLATE.md"]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def exists(path):
    """Whether there is this file; a workflow's address leaves out the folder of settings."""
    return (ROOT / path).exists() or (ROOT / ".github" / path).exists()


def bounds(operator):
    """Packages that the package and its tests need, with the version that follows an operator."""
    needed = [*PROJECT["dependencies"], *(one for extra in TESTED for one in EXTRAS[extra])]
    return {
        requirement.name: Version(specifier.version)
        for requirement in map(Requirement, needed)
        for specifier in requirement.specifier
        if specifier.operator == operator
    }


def python_versions():
    """Those that the classifiers promise, from old to new."""
    found = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    return sorted(found, key=Version)


def targets():
    """What make can be asked for."""
    return set(re.findall(r"^([a-z][\w-]*):", read("Makefile"), flags=re.MULTILINE))


def test_the_citation_is_of_this_version():
    assert re.findall(r"^version: (.+)$", read("CITATION.cff"), re.MULTILINE) == [smrmr.__version__]


def test_the_changelog_begins_with_this_version():
    versions = re.findall(r"^## (\S+)", read("CHANGELOG.md"), re.MULTILINE)
    assert versions[0] == smrmr.__version__


def test_the_r_package_has_this_version():
    found = re.findall(r"^Version: (.+)$", read("r/DESCRIPTION"), re.MULTILINE)
    assert found == [smrmr.__version__]


def test_the_readme_leads_somewhere_on_a_package_index():
    """Oracle: files of the repository, by the addresses that the build puts in."""
    hook = tomllib.loads(read("pyproject.toml"))["tool"]["hatch"]["metadata"]["hooks"]
    text = read("README.md")
    for one in hook["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(one["pattern"], one["replacement"], text)
    found = re.findall(r'(?:\]\(|src=")([^)"\s]+)', text)
    assert len(found) > 15
    for address in found:
        path = re.fullmatch(OF_A_FILE, address)
        assert address.startswith("https://")
        assert "smrmr/smrmr/" not in address or (path and exists(path[1])), address


def test_the_badges_stand_on_one_line_and_say_what_is_so():
    """Oracle: the classifiers, the licence and the limit of coverage in pyproject.toml."""
    (line,) = (line for line in read("README.md").splitlines() if "[![" in line)
    assert re.findall(r"!\[(\w+)\]", line) == BADGES
    first, last = python_versions()[0], python_versions()[-1]
    assert f"badge/python-{first}%20to%20{last}-blue" in line
    assert f"badge/licence-{PROJECT['license'].replace('-', '--')}-blue" in line
    assert f"main/{COVERAGE['WRITTEN']}" in line
    shown = json.loads(read(COVERAGE["WRITTEN"]))
    percent = int(shown["message"].removesuffix("%"))
    assert 95 <= COVERAGE["threshold"]() <= percent <= 100
    assert shown == COVERAGE["badge"](percent)


@pytest.mark.parametrize(
    ("percent", "message", "color"),
    [(94.99, "94%", "red"), (95.0, "95%", "brightgreen"), (97.6, "97%", "brightgreen")],
)
def test_the_badge_of_coverage_never_promises_too_much(percent, message, color):
    """By hand: rounded down, and red below the limit."""
    badge = COVERAGE["badge"](percent)
    assert (badge["message"], badge["color"]) == (message, color)
    assert badge["schemaVersion"] == 1


def test_the_oldest_versions_tested_are_those_promised():
    pinned = {
        one.name: Version(next(iter(one.specifier)).version)
        for line in read("constraints/oldest.txt").splitlines()
        if line and not line.startswith("#")
        for one in [Requirement(line)]
    }
    assert pinned == bounds(">=")


def test_linters_have_one_exact_version_in_one_place():
    assert set(bounds("==")) == {"ruff", "mypy"}
    for name in (".pre-commit-config.yaml", "Makefile", "constraints/oldest.txt"):
        assert not re.search(r"(ruff|mypy)[ =]*\d|\brev:", read(name)), name
    assert "entry: make lint" in read(".pre-commit-config.yaml")


def test_the_promised_pythons_are_tested():
    versions = python_versions()
    assert PROJECT["requires-python"] == f">={versions[0]}"
    assert f"Python {versions[0]}." in read("constraints/oldest.txt")
    workflow = read(".github/workflows/test.yml")
    assert re.findall(r"^ +python: (\[.+\])$", workflow, re.MULTILINE) == [json.dumps(versions)]
    assert re.findall(r"^ +- python: \"(.+)\"$", workflow, re.MULTILINE) == [versions[0]]


@pytest.mark.parametrize("path", [*WORKFLOWS, *TOLD], ids=lambda path: path.name)
def test_what_make_is_asked_for_exists(path):
    text = path.read_text(encoding="utf-8")
    asked = set(
        re.findall(r"(?:run: |entry: |`|^ *)make ([a-z][\w-]*(?:\$\{\{.*?\}\})?)", text, re.M)
    )
    if "test-${{ matrix.dependencies }}" in asked:
        asked = asked - {"test-${{ matrix.dependencies }}"} | {"test-oldest", "test-newest"}
    assert asked <= targets()
    if path in WORKFLOWS:
        assert asked


def test_windows_runs_what_make_runs():
    """There is no make there, so the options are written twice."""
    makefile = read("Makefile").replace("\\\n", " ")
    recipe = re.search(r"^test-oldest:.*\n\t\S+pytest \$\(FAST\) (.+)$", makefile, re.MULTILINE)
    fast = re.search(r"^FAST := (.+)$", makefile, re.MULTILINE)
    written = " ".join(read(".github/workflows/test.yml").split())
    assert f"pytest {fast[1]} ${{{{ matrix.options }}}}" in written
    assert f"options: >- {' '.join(recipe[1].split())} steps:" in written


def test_actions_are_pinned_by_commit():
    """A tag can be moved to other code; the version beside a commit is for people and dependabot.

    One commit and version per action.
    """
    used = {one for path in WORKFLOWS for one in re.findall(r"uses: (.+)", read(path))}
    assert len(used) == 5
    for one in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", one), one
