"""Puts the pages together; see `guard` for who is let in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from .folders import size_of
from .queue import WAITING
from .runs import RunPages
from .site import Site
from .tables import EXAMPLES, TablePages
from .web import GONE, Handler, show, told


def application(site: Site) -> Starlette:
    """The page as an application of ASGI; runs are worked off while it is up."""
    tables, runs = TablePages(site), RunPages(site)

    async def home(_: Request) -> Response:
        """Where tables come in, and what was done before."""
        known = {
            "runs": [(run, run.about) for run in site.runs],
            "tables": [(table, table.about, size_of(table)) for table in site.tables],
            "waiting": WAITING,
            "examples": EXAMPLES,
            "folder": site.folder,
            "most": site.max_upload,
        }
        return show("home.html", known)

    @asynccontextmanager
    async def working(_: Starlette) -> AsyncIterator[None]:
        site.queue.start()
        yield
        await run_in_threadpool(site.queue.stop)

    asked: dict[str, Handler] = {
        "/": home,
        "/tables/{id}": tables.table,
        "/runs/{id}": runs.run,
        "/runs/{id}/progress": runs.progress,
        "/runs/{id}/answer": runs.answer,
        "/runs/{id}/report": runs.report,
        "/runs/{id}/feature": runs.feature,
        "/runs/{id}/picture": runs.picture,
        "/runs/{id}/files/{name}": runs.file,
    }
    sent: dict[str, Handler] = {
        "/examples/{study}": tables.example,
        "/tables/{id}": tables.change_table,
        "/tables/{id}/delete": tables.delete_table,
        "/runs/{id}/bound": runs.bound,
        "/runs/{id}/{act}": runs.act,
    }
    return Starlette(
        routes=[
            *(Route(f"/{name}", own_file) for name in ("app.js", "app.css")),
            Route("/favicon.ico", nothing),
            Route("/upload", told(tables.upload), methods=["PUT"]),
            *(Route(path, told(handler)) for path, handler in asked.items()),
            *(Route(path, told(handler), methods=["POST"]) for path, handler in sent.items()),
        ],
        lifespan=working,
        exception_handlers={404: not_there},
    )


async def own_file(request: Request) -> Response:
    """The script or the style of the page."""
    return FileResponse(Path(__file__).parent / "pages" / request.url.path.strip("/"))


async def nothing(_: Request) -> Response:
    """No picture of the page: browsers ask for one."""
    return Response(status_code=204)


async def not_there(*_: Any) -> Response:
    """A page for addresses that lead nowhere."""
    return show("problem.html", {"message": GONE}, 404)
