"""Measures a selection from single cells: a sparse matrix of two classes, against a dense one.

    python -m benchmarks.speed.cells [cells] [genes] [form ...]

Every figure is taken in a process of its own, on one thread: seconds of work, compiling and
reading left out, and peak memory beside what Python and the compiled code take by themselves. The
matrix is log counts of which about 7% are not zero; 20 genes differ between the classes. How far a
selection has come, and its peak memory so far, go to standard error.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import warnings
from pathlib import Path
from time import process_time

import numpy as np
from scipy import sparse

import smrmr

from .timing import in_own_process

SHARE = 0.07  # of counts that are not zero
N_TRUE = 20
FORMS = ("sparse", "dense", "backed")


def draw(n, p):
    """Log counts of a gamma-Poisson law by rows, and the class of every cell."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    rate = rng.gamma(0.5, 2 * SHARE, p)
    blocks = []
    for start in range(0, n, 2000):
        some = y[start : start + 2000, None]
        lift = np.where(np.arange(p) < N_TRUE, 1 + some, 1)
        blocks.append(sparse.csr_matrix(np.log1p(rng.poisson(rate * lift)), dtype=np.float32))
    return sparse.vstack(blocks, format="csr"), y


def write_cells(path, n, p):
    """Write cells as AnnData."""
    import anndata

    X, y = draw(n, p)
    adata = anndata.AnnData(X)
    adata.obs["label"] = np.where(y == 1, "ill", "well")
    adata.write_h5ad(path)


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def child(form, path):
    import anndata

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = rng.poisson(0.3, (200, 30)).astype(np.float32)
    smrmr.select(X, X[:, 0] > 0, smrmr.Recipe(target="classes"))  # compiles
    before = peak()
    adata = anndata.read_h5ad(path, backed="r" if form == "backed" else None)
    if form == "dense":
        adata.X = adata.X.toarray()
    data = peak()
    recipe = smrmr.Recipe(fdr=0.1, max_memory="200MB", n_jobs=1)
    peaks = {}

    def watch(stage, done, total):
        peaks[stage] = round(peak() - before)
        print(f"    {process_time() - start:7.1f} s {stage} {peaks[stage]} MB", file=sys.stderr)

    start = process_time()
    found = smrmr.anndata.select(adata, "label", recipe=recipe, progress=watch)
    seconds = process_time() - start
    true = int(sum(k < N_TRUE for k in found.selected))
    about = {"seconds": seconds, "before": before, "data": data - before, "work": peak() - before}
    print(json.dumps(about | {"found": len(found.selected), "true": true, "peaks": peaks}))


def main(n, p, forms):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cells.h5ad"
        write_cells(path, n, p)
        print(f"{n:,} cells x {p:,} genes; as float64 they would take {8 * n * p / 1e6:,.0f} MB")
        for form in forms:
            found = json.loads(in_own_process("child", form, path).splitlines()[-1])
            print(
                f"  {form:<7} {found['seconds']:7.1f} s; peak {found['work']:6.0f} MB above "
                f"{found['before']:.0f} MB, of which data {found['data']:.0f} MB; found "
                f"{found['found']}, {found['true']} of {N_TRUE} true; by stage {found['peaks']}",
                flush=True,
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        child(*sys.argv[2:])
    else:
        sizes = [int(value) for value in sys.argv[1:3]] + [50_000, 2000][len(sys.argv[1:3]) :]
        main(*sizes, sys.argv[3:] or FORMS)
