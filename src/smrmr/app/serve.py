"""Starts the page of `smrmr app` and opens the browser."""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import Callable
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any

from ..problems import Problem, setting
from ..settings import parse_bytes

LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::", "")
LOCK = ".smrmr-app.lock"
NEEDED = 'smrmr app needs starlette and uvicorn. Install them: pip install "smrmr[app]"'


def serve(
    folder: Path,
    port: int = 0,
    host: str = "127.0.0.1",
    browser: bool = True,
    max_upload: str = "4GB",
    say: Callable[[str], Any] = print,
) -> None:
    """Serve the page until it is interrupted."""
    try:
        import uvicorn

        from .guard import Guard
        from .server import application
        from .site import Site
    except ImportError as error:
        if (error.name or "").split(".")[0] not in ("starlette", "uvicorn", "anyio"):
            raise
        raise ImportError(NEEDED) from None
    if host in EVERYWHERE:
        raise Problem(
            f"{setting('host', host)} is every address at once.",
            cure="Name the one that browsers will use.",
        )
    most = parse_bytes(max_upload)
    folder = _made(folder)
    with _alone_in(folder), _listening(host, port) as listener:
        port = listener.getsockname()[1]
        guard = Guard(application(Site(folder, most)), {host, *LOOPBACK}, port)
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{port}/?token={guard.token}"
        if host not in LOOPBACK:
            say(
                f"Warning: {host} is no address of this computer alone. Whoever can reach it and "
                "learns the address below reads your tables, which travel unencrypted."
            )
        say(f"The page: {address}")
        say(f"The address works once, in one browser. Tables and runs are in {folder}.")
        say("End with Ctrl+C; a run at work goes on when the page is started again.")
        config = uvicorn.Config(
            guard, log_level="error", access_log=False, server_header=False, lifespan="on",
            timeout_graceful_shutdown=2, ws="none",
        )  # fmt: skip
        if browser:
            Thread(target=webbrowser.open, args=[address], daemon=True).start()
        with suppress(KeyboardInterrupt):  # that is how it ends
            uvicorn.Server(config).run(sockets=[listener])


def _made(folder: Path) -> Path:
    folder = folder.absolute()
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"--folder {folder} is a file. Name a folder, which is made if need be.")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


@contextmanager
def _listening(host: str, port: int) -> Any:
    """A socket at an address, before anything is said of it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            listener.listen()  # browsers that are faster than the server wait for it
        except (OSError, OverflowError) as error:
            found = f"{host}:{port} cannot be listened at: {getattr(error, 'strerror', error)}."
            raise Problem(found, cure=f"Leave out {setting('port')} for a free one.") from None
        yield listener


@contextmanager
def _alone_in(folder: Path) -> Any:
    """Refuse a folder that another page works in, for as long as this one does."""
    with (folder / LOCK).open("a+") as file:
        try:
            _lock(file)
        except OSError:
            raise ValueError(
                f"another smrmr app works in {folder}. Use its page, or name another --folder."
            ) from None
        yield


def _lock(file: Any) -> None:
    """Lock a file until it is closed, or the process ends in any way."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
