"""Times the whole fit, stage by stage, and its memory.

    make bench

The authors' public code on a machine of this kind took, at (100, 500), 139 s and 2.6 GB (PC + MCP)
and 18 s (HSIC + LASSO, 16 of them compiling), and 347 s (HSIC) at (500, 5000), where PC would need
about 78 hours. Each line here is a process of its own: warm time (second fit), peak resident memory
above what is held with the data loaded, and the share of each stage.
"""

from __future__ import annotations

import json
import sys
import warnings
from time import perf_counter

from .timing import in_own_process, report, resident

AUTHORS = {
    ("pc", 100, 500): 139.0,
    ("hsic", 100, 500): 18.0,
    ("hsic", 500, 5000): 347.0,
    ("pc", 500, 5000): 78 * 3600.0,
}
BARS = {("pc", 100, 500): ">= 500x", ("hsic", 100, 500): ">= 50x", ("hsic", 500, 5000): ">= 50x"}
PENALTIES = {"pc": "mcp", "hsic": "l1"}
ASKED = {"tests": None, "tests in groups": "auto"}  # about look-alikes
SIZES = ((100, 500), (100, 5000), (500, 5000), (187, 20000))
TESTS = {(100, 500): 0.5, (500, 5000): 10, (187, 20000): 20, (10000, 200): 30}  # at most, seconds


def measure(kind, n, p):
    """Run in a process of its own: fit twice, print the second time, the memory and the stages."""
    import smrmr

    warnings.simplefilter("ignore")
    data = smrmr.simulate("1.d", n, p, random_state=0)
    if kind in ASKED:
        selector = smrmr.SmRMR(control="tests", alike=ASKED[kind], n_jobs=2)
    else:
        control = smrmr.paper.KnockoffFilter(measure=kind, penalty=PENALTIES[kind])
        selector = smrmr.SmRMR(control=control, random_state=0)
    small = smrmr.simulate("1.d", 60, 100, random_state=0)
    selector.fit(small.X, small.y)  # loads the libraries
    before = resident("VmRSS")
    times = []
    for _ in range(3):
        start = perf_counter()
        selector.fit(data.X, data.y)
        times.append(perf_counter() - start)
    found = selector.selection_
    print(
        json.dumps(
            {
                "seconds": min(times),
                "memory": resident("VmHWM") - before,
                "stages": {
                    name: s / sum(found.seconds.values()) for name, s in found.seconds.items()
                },
            }
        )
    )


def main():
    for n, p in SIZES:
        for kind, penalty in PENALTIES.items():
            got, detail = measured(kind, n, p)
            authors = AUTHORS.get((kind, n, p))
            ratio = f"{authors / got['seconds']:.0f}x" if authors else ""
            name = f"fit, {kind} + {penalty}, n={n}, p={p:,}"
            report(name, ratio, BARS.get((kind, n, p), ""), detail)
    for (n, p), most in TESTS.items():
        alone, detail = measured("tests", n, p)
        report(f"tests, two threads, n={n}, p={p:,}", "", f"<= {most} s", detail)
        got, detail = measured("tests in groups", n, p)
        ratio = f"{got['seconds'] / alone['seconds']:.2f}x the time"
        report(f"tests in groups, n={n}, p={p:,}", ratio, "<= 1.5x", detail)


def measured(kind, n, p):
    """What `measure` printed, and the same in words."""
    got = json.loads(in_own_process(kind, n, p))
    stages = ", ".join(f"{name} {share:.0%}" for name, share in got["stages"].items())
    return got, f"{got['seconds']:.2f} s, {got['memory'] / 1e6:.0f} MB: {stages}"


if __name__ == "__main__":
    measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])) if len(sys.argv) > 1 else main()
