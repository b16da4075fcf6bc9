"""A process of the page's own: it runs the command, and ends when the server does."""

from __future__ import annotations

import os
import runpy
import signal
import subprocess
import sys
from pathlib import Path
from threading import Thread
from time import sleep
from typing import IO

SECONDS_TO_END = 10  # after which a process that was asked to end is ended
PROGRESS = "SMRMR_PROGRESS"


def start_command(arguments: list[str], progress: Path, said: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start `smrmr` with these arguments; its progress goes to a file, what it says to another."""
    return subprocess.Popen(
        [sys.executable, "-m", __name__, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=said,
        env={**os.environ, PROGRESS: str(progress), "PYTHONIOENCODING": "utf-8"},
    )


def _end_with_server() -> None:
    """End this process when its standard input does: the server is gone, or asks for it."""
    while os.read(0, 1024):  # not by sys.stdin, which cannot be closed while a thread waits for it
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    sleep(SECONDS_TO_END)
    os._exit(1)


if __name__ == "__main__":
    Thread(target=_end_with_server, daemon=True).start()
    sys.argv[0] = "smrmr"
    runpy.run_module("smrmr", run_name="__main__")
