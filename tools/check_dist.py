"""Checks what `make dist` has built: what is in it, and that it works where it is installed.

Run from the root of a clone: python tools/check_dist.py dist
"""

import re
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
NEEDED_KINDS = {".py", ".pyi", ".typed", ".html", ".css", ".js", ".txt", ".csv"}
NEEDED_IN_SDIST = (
    *("src", "tests", "docs", "examples", "benchmarks", "results", "tools", "constraints"),
)
RELATIVE = re.compile(r'(?:\]\(|src=")(?!https://)[^)"\s]*')  # what leads nowhere on an index
NOT_IN_SDIST = ("__pycache__", ".venv", "docs/_static/figures", "results/figures")
MOST_BYTES = {"wheel": 1_000_000, "sdist": 6_000_000}  # most of it are the rows in results/


def package_files() -> set[str]:
    """Files of the package in this clone, as a wheel names them."""
    found = (ROOT / "src" / "smrmr").rglob("*")
    return {
        path.relative_to(ROOT / "src").as_posix()
        for path in found
        if path.is_file() and "__pycache__" not in path.parts
    }


def check_wheel(wheel: Path) -> None:
    """The wheel holds all of the package and, but for its own description, nothing else."""
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    expected = package_files()
    assert names == expected, f"{wheel.name} differs from src in {sorted(names ^ expected)}"
    kinds = {Path(name).suffix for name in names}
    assert kinds >= NEEDED_KINDS, f"{wheel.name} lacks {sorted(NEEDED_KINDS - kinds)}"
    check_description(wheel)
    check_size(wheel, "wheel")


def check_description(wheel: Path) -> None:
    """Links and pictures of the description lead somewhere without the files beside the README."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        description = archive.read(name).decode().partition("\n\n")[2]
    assert "# smrmr" in description, f"{wheel.name} lacks the README"
    found = RELATIVE.findall(description)
    assert not found, f"{wheel.name} has relative links: {found}"


def check_sdist(sdist: Path) -> None:
    """The sdist holds what it takes to build, test and document it, and nothing made from that."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    tops = {name.split("/")[0] for name in names}
    assert tops >= set(NEEDED_IN_SDIST), f"{sdist.name} lacks {set(NEEDED_IN_SDIST) - tops}"
    foreign = {name for name in names if any(part in name for part in NOT_IN_SDIST)}
    assert not foreign, f"{sdist.name} holds {sorted(foreign)}"
    check_size(sdist, "sdist")


def check_size(path: Path, kind: str) -> None:
    """Refuse a file that grew beyond its limit, which somebody must have meant to raise."""
    size, most = path.stat().st_size, MOST_BYTES[kind]
    assert size <= most, f"{path.name} has {size:,} bytes, more than {most:,}"
    print(f"{path.name}: {size:,} bytes")


def install(folder: Path, what: str) -> Path:
    """The Python of an environment, made unless it is there, that has `what` installed."""
    if not folder.exists():
        venv.create(folder, with_pip=True)
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    quiet = ("--quiet", "--disable-pip-version-check")
    subprocess.run([python, "-m", "pip", "install", *quiet, what], check=True)
    return python


def try_out(python: Path, folder: Path, *options: str) -> None:
    """Run the smoke test away from the clone, so that nothing of it is imported."""
    script = ROOT / "tools" / "smoke_test.py"
    subprocess.run([python, "-I", script, *options], cwd=folder, check=True)


def main(folder: Path) -> None:
    """Stop with an error at the first thing that is wrong."""
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    check_wheel(wheel)
    check_sdist(sdist)
    with tempfile.TemporaryDirectory() as text:
        away = Path(text)
        try_out(install(away / "wheel", str(wheel)), away)
        try_out(install(away / "wheel", f"{wheel}[files]"), away, "--files")
        try_out(install(away / "sdist", str(sdist)), away)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
