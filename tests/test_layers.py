"""The data flows one way: a module imports only from those before it."""

from __future__ import annotations

import ast
from pathlib import Path

import smrmr

ROOT = Path(smrmr.__file__).parent
ORDER = [
    "types",
    "atomic",
    "toml",
    "sources.protocol",
    "sources.filled",
    "sources.arrays",
    "sources.genotypes",
    "sources.opening",
    "sources",
    "checkpoints",
    "measures.compiled",
    "measures.scaling",
    "measures.projection_loops",
    "measures.contingency_loops",
    "measures.kernel_loops",
    "measures.distance_loops",
    "measures.projection",
    "measures.embedding",
    "measures.hsic",
    "measures.distance",
    "measures.pearson",
    "measures",
    "inputs",
    "targets",
    "associator",
    "association",
    "dependence",
    "penalties",
    "descent",
    "solvers",
    "lars",
    "knockoffs.decorrelation",
    "knockoffs.models",
    "knockoffs.sparse_inverse",
    "knockoffs.covariance",
    "knockoffs.fingerprints",
    "knockoffs.copies",
    "knockoffs.ties",
    "knockoffs.gaussian",
    "knockoffs.diagnose",
    "knockoffs.given",
    "knockoffs",
    "thresholds",
    "recipe",
    "identity",
    "screening",
    "tuning",
    "draws",
    "selection",
    "pipeline",
    "report.marks",
    "report.plots",
    "report.shapes",
    "report.figures",
    "report.scales",
    "report.svg",
    "report.words",
    "report.methods",
    "report.table",
    "report.html",
    "report",
    "mutual_information",
    "selector",
    "comparators",
    "hsic_lasso",
    "bars",
    "estimator",
    "simulate",
    "files.table",
    "files.delimited",
    "files.annotated",
    "files.arrays",
    "files.genotypes",
    "files.large",
    "files.missing",
    "files.dataset",
    "files",
    "outputs",
    "terminal",
    "options",
    "workers",
    "benchmark.store",
    "benchmark.measured",
    "benchmark.methods",
    "benchmark.fetch",
    "benchmark.hiv",
    "benchmark.datasets",
    "benchmark.grid",
    "benchmark.synthetic",
    "benchmark.nested",
    "benchmark.truth",
    "benchmark.real",
    "benchmark.summary",
    "benchmark.figures",
    "benchmark.tables",
    "benchmark.commands",
    "benchmark",
    "cli",
]


def imports(path):
    """Modules of the package that a file imports, as dotted names below it."""
    package = path.parent.relative_to(ROOT).parts
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            if node.module:
                yield ".".join([*base, node.module])
            else:
                yield from (".".join([*base, alias.name]) for alias in node.names)


def test_imports_follow_the_order():
    seen = set()
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name in ("", "__main__"):
            continue
        seen.add(name)
        for other in imports(path):
            assert ORDER.index(other) < ORDER.index(name), f"{name} imports {other}"
    assert seen == set(ORDER)
