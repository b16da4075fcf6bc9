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


def measure(kind, n, p):
    """Run in a process of its own: fit twice, print the second time, the memory and the stages."""
    import smrmr

    warnings.simplefilter("ignore")
    penalty = "mcp" if kind == "pc" else "l1"
    data = smrmr.simulate("1.d", n, p, random_state=0)
    control = smrmr.KnockoffFilter(measure=kind, penalty=penalty)
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
    for n, p in ((100, 500), (100, 5000), (500, 5000), (187, 20000)):
        for kind in ("pc", "hsic"):
            got = json.loads(in_own_process(kind, n, p))
            authors = AUTHORS.get((kind, n, p))
            ratio = f"{authors / got['seconds']:.0f}x" if authors else ""
            stages = ", ".join(f"{name} {share:.0%}" for name, share in got["stages"].items())
            detail = f"{got['seconds']:.2f} s, {got['memory'] / 1e6:.0f} MB: {stages}"
            penalty = "MCP" if kind == "pc" else "LASSO"
            name = f"fit, {kind} + {penalty}, n={n}, p={p:,}"
            report(name, ratio, BARS.get((kind, n, p), ""), detail)


if __name__ == "__main__":
    measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])) if len(sys.argv) > 1 else main()
