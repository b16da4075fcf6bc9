"""What the scripts share: best times, one line per result, memory, processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter


def best(*functions, repeat=5, clock=perf_counter):
    """Best time of each function, alternating between them."""
    times = [[] for _ in functions]
    for _ in range(repeat):
        for function, found in zip(functions, times, strict=True):
            start = clock()
            function()
            found.append(clock() - start)
    return [min(found) for found in times]


def report(name, value, bar, detail):
    """Print one line: what was compared, the ratio, the bar it should reach, both times."""
    print(f"{name:<58} {value:>9}   {bar:<16} {detail}", flush=True)


def resident(field):
    """Resident bytes of this process: now (VmRSS) or at the peak (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(field)).split()[1])


def in_own_process(*arguments, **environment):
    """What the running script prints when it is run again with `arguments`.

    `environment` are variables that differ in the new process.
    """
    script = sys.modules["__main__"].__spec__.name
    command = [sys.executable, "-m", script, *map(str, arguments)]
    variables = os.environ | environment
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=variables)
    return run.stdout
