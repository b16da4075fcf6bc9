"""Measures what a fit holds in memory at most, stage by stage, of a table that lies in a file.

    python -m benchmarks.speed.memory ROWS COLUMNS BUDGET [FORMAT] [THREADS or dask]

as in ``60000 1500 200MB zarr``. FORMAT is npy, zarr or parquet; with ``dask`` the work goes to two
worker processes of 1 GB each, of which the peak is printed too. The table is float32, neighbouring
columns are alike (correlation 0.4), and ten columns matter: straight, bent and as a product.
Memory is what the process holds beyond files that are mapped (RssAnon), less what Python and its
libraries take up before; seconds are the processor's. Files are kept in a folder for temporary
files, from one run to the next.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import warnings
from contextlib import contextmanager, nullcontext
from hashlib import sha256
from pathlib import Path
from threading import Event, Thread

import numpy as np

import smrmr

from .timing import in_own_process, resident

ROWS_AT_ONCE = 20_000  # written together
COLUMNS_PER_CHUNK = 16  # of zarr


def planted(p):
    """The ten columns that matter."""
    return np.arange(10) * (p // 12)


def pieces(n, p, seed=0):
    """The table and its target, some rows at a time."""
    for start in range(0, n, ROWS_AT_ONCE):
        rng = np.random.default_rng([seed, start] if seed else start)
        k = min(ROWS_AT_ONCE, n - start)
        X = rng.standard_normal((k, p), dtype=np.float32)
        X[:, 1:] += 0.5 * X[:, :-1]
        x = X[:, planted(p)]
        signal = x[:, 0] + x[:, 1] - x[:, 2] + x[:, 3] + np.abs(x[:, 4]) + np.sin(2 * x[:, 5])
        signal += x[:, 6] * x[:, 7] + x[:, 8] + x[:, 9]
        yield start, X, 0.1 * signal + rng.standard_normal(k)


def write(folder, n, p, kind):
    """Write the table unless it is there; return its path and its target."""
    path, y_path = folder / f"{n}x{p}.{kind}", folder / f"{n}x{p}.y.npy"
    if not (path.exists() and y_path.exists()):
        y = np.concatenate([WRITERS[kind](path, n, p, part) for part in pieces(n, p)])
        WRITERS[kind](path, n, p, None)
        np.save(y_path, y)
    return path, np.load(y_path)


OPEN = {}


def write_npy(path, n, p, part):
    if part is None:
        OPEN.pop(path).flush()
        return None
    if path not in OPEN:
        OPEN[path] = np.lib.format.open_memmap(path, "w+", np.float32, (n, p), fortran_order=True)
    start, X, y = part
    OPEN[path][start : start + len(X)] = X
    return y


def write_zarr(path, n, p, part):
    import zarr

    if part is None:
        OPEN.pop(path)
        return None
    if path not in OPEN:
        chunks = min(n, ROWS_AT_ONCE), COLUMNS_PER_CHUNK
        OPEN[path] = zarr.create_array(
            str(path), shape=(n, p), chunks=chunks, dtype="float32", compressors=None
        )
    start, X, y = part
    OPEN[path][start : start + len(X)] = X
    return y


def write_parquet(path, n, p, part):
    import pyarrow as pa
    import pyarrow.parquet as pq

    if part is None:
        OPEN.pop(path).close()
        return None
    _, X, y = part
    names = [f"x{k}" for k in range(p)]
    table = pa.table([pa.array(column) for column in X.T.copy()], names=names)
    if path not in OPEN:
        OPEN[path] = pq.ParquetWriter(path, table.schema, use_dictionary=False)
    OPEN[path].write_table(table)
    return y


WRITERS = {"npy": write_npy, "zarr": write_zarr, "parquet": write_parquet}


class Watch:
    """What the process holds at most in each stage, asked again and again by a thread."""

    def __init__(self):
        self.before, self.peaks, self.seconds = resident("RssAnon"), {}, {}
        self.stage, self.ended = "reading", Event()
        self.last = time.process_time()
        self.thread = Thread(target=self.look, daemon=True)
        self.thread.start()

    def look(self):
        while not self.ended.wait(0.005):
            held = resident("RssAnon") - self.before
            self.peaks[self.stage] = max(held, self.peaks.get(self.stage, 0))

    def progress(self, stage, done, total):
        now = time.process_time()
        self.seconds[self.stage] = self.seconds.get(self.stage, 0) + now - self.last
        self.stage, self.last = stage, now

    def end(self):
        self.progress("after", 0, 0)
        self.ended.set()
        self.thread.join()


@contextmanager
def workers(peaks):
    """Two Dask workers of one thread and 1 GB each; at the end their peaks, if none was lost."""
    import dask
    import joblib
    from dask.distributed import Client, LocalCluster

    # arrays of a megabyte go back to the system when they are dropped, not to a heap with gaps
    given = {"MALLOC_MMAP_THRESHOLD_": 2**20}
    dask.config.set({"distributed.nanny.pre-spawn-environ": given})
    cluster = LocalCluster(2, threads_per_worker=1, memory_limit="1GB", dashboard_address=None)
    with cluster, Client(cluster) as client:
        client.wait_for_workers(2)
        before = client.run(resident, "VmRSS")
        with joblib.parallel_config(backend="dask", wait_for_workers_timeout=60):
            yield -1
        after = client.run(resident, "VmHWM")
        assert set(after) == set(before), "a worker was lost"
        peaks += after.values()


def child(path, budget, threads):
    warnings.simplefilter("ignore")
    path = Path(path)
    rng = np.random.default_rng(0)
    warm = rng.standard_normal((11_000, 20), dtype=np.float32)
    smrmr.select(warm, warm[:, 0] + warm[:, 1] ** 2 + rng.standard_normal(11_000))
    y = np.load(path.with_suffix(".y.npy"))
    source, peaks = smrmr.data.open_columns(path), []
    with workers(peaks) if threads == "dask" else nullcontext(int(threads)) as n_jobs:
        watch = Watch()
        recipe = smrmr.Recipe(max_memory=budget, n_jobs=n_jobs)
        found = smrmr.select(source, y, recipe, rng=0, progress=watch.progress)
        watch.end()
    answer = found.evidence.p_values, found.evidence.effects, found.q_values
    print(
        json.dumps(
            {
                "megabytes": {k: round(v / 1e6) for k, v in watch.peaks.items()},
                "seconds": {k: round(v, 1) for k, v in watch.seconds.items()},
                "answer": sha256(b"".join(np.asarray(a).tobytes() for a in answer)).hexdigest(),
                "selected": len(found.selected),
                "planted": int(np.isin(planted(len(found.names)), found.selected).sum()),
                "workers": [round(peak / 1e6) for peak in peaks],
            }
        )
    )


def main(n, p, budget, kind="zarr", threads="1"):
    folder = Path(tempfile.gettempdir()) / "smrmr-memory"
    folder.mkdir(exist_ok=True)
    n, p = int(n), int(p)
    path, _ = write(folder, n, p, kind)
    start = time.perf_counter()
    found = json.loads(in_own_process("child", path, budget, threads).splitlines()[-1])
    clock = time.perf_counter() - start
    megabytes, seconds = found["megabytes"], found["seconds"]
    print(f"{n:,} x {p:,} {kind}, {4 * n * p / 1e6:,.0f} MB; budget {budget}, threads: {threads}")
    for stage in megabytes:
        print(f"  {stage:<24} {megabytes[stage]:>7,} MB {seconds.get(stage, 0):>8,.1f} s")
    total = sum(seconds.values())
    print(
        f"  {'all':<24} {max(megabytes.values()):>7,} MB {total:>8,.1f} s; {clock:.0f} by the clock"
    )
    for peak in found["workers"]:
        print(f"  a worker, in all         {peak:>7,} MB")
    selected, true = found["selected"], found["planted"]
    print(f"  {selected} selected, {true} of 10 planted; answer {found['answer'][:16]}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        child(*sys.argv[2:])
    else:
        main(*sys.argv[1:])
