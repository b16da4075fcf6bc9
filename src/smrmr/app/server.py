"""Answers the browser: pages, what their forms send, files; see `guard` for who is let in."""

from __future__ import annotations

import json
import zipfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import wraps
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from ..problems import Problem, full_disk, in_python, message_of
from .folders import (
    Entries,
    Entry,
    NotThere,
    check_format,
    files_of,
    safe_name,
    size_of,
)
from .forms import role_of, settings_from
from .messages import LIMITS, MISSING
from .preview import preview
from .queue import ANSWER, SAID, WAITING, Queue, progress_of, warnings_of
from .settings import command, python_lines

ROLES = {
    "feature": "feature",
    "target": "target",
    "time": "target: time",
    "event": "target: event",
    "covariate": "adjust for",
    "groups": "groups of rows",
    "id": "ids of samples",
    "annotation": "describes",
    "drop": "leave out",
}
LEVELS = (0.01, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)  # that the page offers
EXAMPLES = {
    "response": ("a number: the response to a drug", {"target": "response"}),
    "disease": ("two classes: ill or well", {"target": "disease"}),
    "survival": ("survival: months until death", {"time": "months", "event": "died"}),
    "toxicity": (
        "a number, adjusted for age and plate",
        {"target": "toxicity", "covariates": ["age", "plate"]},
    ),
}
REPORT_POLICY = (  # of a page within the page, which may run its own script and reach nothing
    "sandbox allow-scripts allow-downloads allow-modals; default-src 'none'; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors 'self'"
)
MOST_OF_FORM = 2**22  # bytes
MINUTES = 5.0  # that a check takes, at most

Handler = Callable[..., Any]


class Page:
    """The tables and runs of a folder, as a browser sees them."""

    def __init__(self, folder: Path, max_upload: int) -> None:
        self.folder, self.max_upload = folder, max_upload
        self.tables, self.runs = Entries(folder / "tables"), Entries(folder / "runs")
        self.queue = Queue(self.runs)
        self.texts = Environment(
            loader=PackageLoader("smrmr.app", "pages"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.texts.filters |= {"size": in_bytes, "time_left": in_time, "comma": "{:,}".format}

    def application(self) -> Starlette:
        """The page as an application of ASGI."""
        return Starlette(
            routes=[
                Route("/", told(self.home)),
                Route("/app.js", self.own_file),
                Route("/app.css", self.own_file),
                Route("/favicon.ico", self.nothing),
                Route("/upload", told(self.upload), methods=["PUT"]),
                Route("/examples/{study}", told(self.example), methods=["POST"]),
                Route("/tables/{id}", told(self.table)),
                Route("/tables/{id}", told(self.change_table), methods=["POST"]),
                Route("/tables/{id}/delete", told(self.delete_table), methods=["POST"]),
                Route("/runs/{id}", told(self.run)),
                Route("/runs/{id}/progress", told(self.progress)),
                Route("/runs/{id}/answer", told(self.answer)),
                Route("/runs/{id}/report", told(self.report)),
                Route("/runs/{id}/feature", told(self.feature)),
                Route("/runs/{id}/picture", told(self.picture)),
                Route("/runs/{id}/bound", told(self.bound), methods=["POST"]),
                Route("/runs/{id}/files/{name}", told(self.file)),
                Route("/runs/{id}/{act}", told(self.act), methods=["POST"]),
            ],
            lifespan=self._working,
            exception_handlers={404: self._not_there},
        )

    @asynccontextmanager
    async def _working(self, _: Starlette) -> AsyncIterator[None]:
        self.queue.start()
        yield
        await run_in_threadpool(self.queue.stop)

    def show(self, template: str, status: int = 200, **known: Any) -> Response:
        """A page from its template."""
        text = self.texts.get_template(template).render(**known)
        content = text.encode("utf-8", "replace")  # names may hold lone surrogates
        return Response(content, status, media_type="text/html; charset=utf-8")

    async def _not_there(self, *_: Any) -> Response:
        return self.show("problem.html", 404, message="There is no such page; was it removed?")

    async def own_file(self, request: Request) -> Response:
        """The script or the style of the page."""
        return FileResponse(Path(__file__).parent / "pages" / request.url.path.strip("/"))

    async def nothing(self, _: Request) -> Response:
        """No picture of the page: browsers ask for one."""
        return Response(status_code=204)

    async def home(self, _: Request) -> Response:
        """Where tables come in, and what was done before."""
        runs = [(run, run.about) for run in self.runs]
        tables = [(table, table.about, size_of(table)) for table in self.tables]
        known = {"examples": EXAMPLES, "folder": self.folder, "most": self.max_upload}
        return self.show("home.html", runs=runs, tables=tables, waiting=WAITING, **known)

    async def upload(self, request: Request) -> Response:
        """Write a file to disk as it comes."""
        name = safe_name(request.query_params.get("name", ""))
        check_format(name)
        announced = int(request.headers.get("content-length") or 0)
        if announced > self.max_upload:
            raise TooLarge(name, self.max_upload)
        known = request.query_params.get("table")
        table = self.tables.get(known) if known else self.tables.new(file=name, settings={})
        path = table.path / "files" / name
        try:
            with full_disk(path, "start smrmr app with another --folder"):
                path.parent.mkdir(exist_ok=True)
                await self._write(request, path)
        except BaseException:
            path.unlink(missing_ok=True)
            if not known:
                table.delete()
            raise
        table.update(file=files_of(table)[0].name if files_of(table) else name)
        return JSONResponse({"table": table.id})

    async def _write(self, request: Request, path: Path) -> None:
        n_bytes = 0
        with path.open("wb") as file:
            async for chunk in request.stream():
                n_bytes += len(chunk)
                if n_bytes > self.max_upload:
                    raise TooLarge(path.name, self.max_upload)
                file.write(chunk)

    async def example(self, request: Request) -> Response:
        """A table that comes with the package, with its target chosen."""
        from ..example_table import load_example

        study = request.path_params["study"]
        if study not in EXAMPLES:
            raise NotThere(study)
        table = self.tables.new(file=f"{study}.csv", settings=EXAMPLES[study][1])
        (table.path / "files").mkdir()
        text = load_example(study).to_csv(index=False, lineterminator="\n")
        (table.path / "files" / f"{study}.csv").write_text(text, encoding="utf-8")
        return RedirectResponse(f"/tables/{table.id}", 303)

    async def table(self, request: Request) -> Response:
        """What was read of a table, what is odd about it, and what to choose."""
        table = self.tables.get(request.path_params["id"])
        found, about = await run_in_threadpool(previewed, table), table.about
        roles = {column["name"]: role_of(column["name"], about["settings"]) for column in found["columns"]}
        known = {"files": [path.name for path in files_of(table)], "levels": LEVELS}
        known |= {"second": Path(about["settings"].get("pheno", "").partition(":")[0]).name}
        settings, known["missing"], known["limits"] = about["settings"], MISSING, LIMITS
        return self.show(
            "table.html", table=table, about=about, found=found, roles=roles, all_roles=ROLES,
            settings=settings, **known,
        )  # fmt: skip

    async def change_table(self, request: Request) -> Response:
        """Keep what was chosen for a table; look again, or run."""
        table, fields = self.tables.get(request.path_params["id"]), await form(request)
        said = dict(fields)
        table.update(settings=settings_from(fields, table))
        if said.get("file") in [path.name for path in files_of(table)]:
            table.update(file=said["file"])
        if said.get("do") != "run":
            return RedirectResponse(f"/tables/{table.id}", 303)
        found = await run_in_threadpool(previewed, table)
        if not found["ready"]:
            return RedirectResponse(f"/tables/{table.id}#notes", 303)
        run = self._new_run("select", table.about, table, target=found["target"])
        return RedirectResponse(f"/runs/{run.id}", 303)

    def _new_run(self, kind: str, about: dict[str, Any], table: Entry, **more: Any) -> Entry:
        file = (table.path / "files" / about["file"]).absolute()
        known = {"kind": kind, "file": str(file), "name": about["file"], "table": table.id}
        run = self.runs.new(**known, settings=about["settings"], state="cancelled", **more)
        self.queue.add(run)
        return run

    async def delete_table(self, request: Request) -> Response:
        """Remove a table, unless a run needs it now."""
        table = self.tables.get(request.path_params["id"])
        abouts = [run.about for run in self.runs]
        if any(one["table"] == table.id and one["state"] in WAITING for one in abouts):
            raise ValueError("a run of this table is waiting or at work. Cancel it first.")
        table.delete()
        return RedirectResponse("/", 303)

    async def run(self, request: Request) -> Response:
        """A run: its progress, or its answer."""
        run = self._run_of(request)
        about = run.about
        if about["state"] != "done":
            return self.show("waiting.html", run=run, about=about, **self._state(run))
        from .answers import listed, selection_of

        found = await run_in_threadpool(selection_of, run)
        answer = await run_in_threadpool(listed, found)
        lines = {
            "command": command(about["kind"], _near(about["file"]), about["settings"]),
            "python": python_lines(about["kind"], _near(about["file"]), about["settings"]),
        }
        files = sorted(path.name for path in (run.path / ANSWER).iterdir() if path.is_file())
        return self.show(
            "run.html", run=run, about=about, answer=answer, levels=LEVELS, files=files,
            names=found.names[:2000], said=warnings_of(run), minutes=MINUTES,
            has_table=Path(about["file"]).exists(), tests=found.evidence.kind == "tests", **lines,
        )  # fmt: skip

    def _state(self, run: Entry) -> dict[str, Any]:
        return {"at": progress_of(run), "before": self.queue.waiting_before(run)}

    async def progress(self, request: Request) -> Response:
        """How far a run is, as a part of its page."""
        run = self._run_of(request)
        about = run.about
        response = self.show("progress.html", run=run, about=about, **self._state(run))
        response.headers["x-state"] = about["state"]
        return response

    async def answer(self, request: Request) -> Response:
        """What another level selects, without a new fit."""
        from .answers import listed

        found = await run_in_threadpool(self._at_level, request)
        return self.show("answer.html", answer=await run_in_threadpool(listed, found))

    async def report(self, request: Request) -> Response:
        """The report, at another level if one is asked for."""
        from ..report import render
        from .answers import selection_of

        run = self._run_of(request)
        found = await run_in_threadpool(self._at_level, request)
        if found is selection_of(run):
            text = (run.path / ANSWER / "report.html").read_text(encoding="utf-8")
        else:
            text = await run_in_threadpool(render, found)
        return within_page(text)

    def _at_level(self, request: Request) -> Any:
        from .answers import at_level

        level = request.query_params.get("level")
        return at_level(self._run_of(request), float(level) if level else None)

    async def feature(self, request: Request) -> Response:
        """What became of a feature, and why."""
        from ..report import explain

        found = await run_in_threadpool(self._at_level, request)
        name = request.query_params.get("name", "").strip()
        text = await run_in_threadpool(explain, found, name)
        name = found.names[found.position(name)]
        return self.show("feature.html", run=self._run_of(request), name=name, text=text)

    async def picture(self, request: Request) -> Response:
        """A feature against the target."""
        from .answers import selection_of
        from .picture import picture_of

        run = self._run_of(request)
        found = await run_in_threadpool(selection_of, run)
        name = request.query_params.get("name", "")
        return within_page(await run_in_threadpool(picture_of, run, found, name))

    async def bound(self, request: Request) -> Response:
        """At least how many features of a set are true."""
        from .answers import bound

        fields = dict(await form(request))
        found = await run_in_threadpool(self._at_level, request)
        layer = "own" if fields.get("layer") == "own" else "associated"
        text = await run_in_threadpool(bound, found, fields.get("features", ""), layer)
        return self.show("said.html", text=text)

    async def file(self, request: Request) -> Response:
        """A file of an answer, to keep."""
        run, name = self._run_of(request), request.path_params["name"]
        about = run.about
        folder = run.path / ANSWER
        if name == "all.zip":
            return attached(await run_in_threadpool(zipped, folder), name, "application/zip")
        if name == "methods.txt":
            from .answers import methods, selection_of

            found = await run_in_threadpool(selection_of, run)
            return attached(f"{methods(found)}\n".encode(), name, "text/plain; charset=utf-8")
        if name == "again.py":
            lines = python_lines(about["kind"], Path(about["file"]), about["settings"])
            return attached(lines.encode(), name, "text/x-python; charset=utf-8")
        if name not in [path.name for path in folder.glob("*") if path.is_file()]:
            raise NotThere(name)
        return FileResponse(folder / name, filename=name)

    async def act(self, request: Request) -> Response:
        """Cancel, go on with, check or remove a run."""
        run, act = self._run_of(request), request.path_params["act"]
        about = run.about
        if act == "cancel":
            await run_in_threadpool(self.queue.cancel, run)
        elif act == "again" and about["state"] in ("cancelled", "failed"):
            self.queue.add(run)
        elif act == "check":
            table = self.tables.get(about["table"])
            asked = {**about["settings"], "minutes": MINUTES}
            known = {"file": about["name"], "settings": asked}
            run = self._new_run("check", known, table, target=about["target"])
        elif act == "delete":
            await run_in_threadpool(self.queue.cancel, run)
            run.delete()
            return RedirectResponse("/", 303)
        return RedirectResponse(f"/runs/{run.id}", 303)

    def _run_of(self, request: Request) -> Entry:
        return self.runs.get(request.path_params["id"])


class TooLarge(ValueError):
    """A file is larger than uploads may be."""

    def __init__(self, name: str, most: int) -> None:
        super().__init__(
            f"{name} is larger than {in_bytes(most)}. Start smrmr app with a larger --max-upload, "
            "or use smrmr select, which reads a file where it is."
        )


def told(handler: Handler) -> Handler:
    """A handler whose errors are one message: as text where a script asks, else as a page."""

    @wraps(handler)
    async def answered(request: Request) -> Response:
        try:
            response: Response = await handler(request)
            return response
        except NotThere:
            message, status = "There is no such page; was it removed?", 404
        except TooLarge as error:
            message, status = str(error), 413
        except (ValueError, ImportError, OSError, MemoryError, RuntimeError) as error:
            message, status = in_python(message_of(error)) or type(error).__name__, 400
        if request.headers.get("x-asked-by") == "script":
            return Response(message, status, media_type="text/plain; charset=utf-8")
        page: Page = handler.__self__  # type: ignore[attr-defined]
        return page.show("problem.html", status, message=message)

    return answered


def previewed(table: Entry) -> dict[str, Any]:
    """What is read of a table; it is read again only once something changed."""
    about, kept = table.about, table.path / "preview.json"
    asked = [about["file"], about["settings"], [path.name for path in files_of(table)]]
    if kept.exists():
        before: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
        if before["asked"] == asked:
            return before
    found = {**preview(table), "asked": asked}
    kept.write_text(json.dumps(found), encoding="utf-8")
    return found


async def form(request: Request) -> list[tuple[str, str]]:
    """The fields of a form."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_OF_FORM:
            raise Problem("the form holds too much.", "Fewer names are needed.")
    return parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True)


def within_page(text: str) -> Response:
    """A page that is shown within ours, and cannot reach out of it."""
    content = text.encode("utf-8", "replace")
    headers = {"content-security-policy": REPORT_POLICY}
    return Response(content, media_type="text/html; charset=utf-8", headers=headers)


def attached(content: bytes, name: str, kind: str) -> Response:
    """A file to keep."""
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=kind, headers=headers)


def zipped(folder: Path) -> bytes:
    """All files of an answer in one."""
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.iterdir()):
            if path.is_file():
                archive.write(path, path.name)
    return packed.getvalue()


def _near(file: str) -> Path:
    """A path as it is typed here."""
    path = Path(file)
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def in_bytes(n_bytes: int) -> str:
    """A number of bytes in words.

    >>> in_bytes(1234567), in_bytes(4_000_000_000)
    ('1.2 MB', '4 GB')
    """
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:.1f}".removesuffix(".0") + f" {name}"
    return f"{n_bytes} bytes"


def in_time(seconds: float) -> str:
    """Seconds in words.

    >>> in_time(4.2), in_time(200)
    ('5 seconds', '4 minutes')
    """
    return f"{seconds // 1 + 1:.0f} seconds" if seconds < 90 else f"{seconds // 60 + 1:.0f} minutes"
