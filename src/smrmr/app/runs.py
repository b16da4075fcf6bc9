"""Pages of runs: progress, the answer and what is asked of it, files to keep."""

from __future__ import annotations

import zipfile
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response

from .folders import Entry, NotThere
from .queue import ANSWER, progress_of, warnings_of
from .settings import command, python_lines
from .site import LEVELS, Site
from .web import attached, form, show, within_page

if TYPE_CHECKING:
    from ..selection import Selection

MINUTES = 5.0  # that a check takes, at most
MOST_NAMES = 2000  # of features that the page proposes


class RunPages:
    """Answers what is asked about runs; what shows answers takes long to load, so it comes late."""

    def __init__(self, site: Site) -> None:
        self.site = site

    async def run(self, request: Request) -> Response:
        """A run: its progress, or its answer."""
        run = self._run_of(request)
        about = run.about
        if about["state"] != "done":
            return show("waiting.html", self._state(run))
        from .answers import listed, selection_of

        found = await run_in_threadpool(selection_of, run)
        answer = await run_in_threadpool(listed, found)
        asked = about["kind"], _near(about["file"]), about["settings"]
        known = {
            "run": run,
            "about": about,
            "answer": answer,
            "levels": LEVELS,
            "files": sorted(path.name for path in (run.path / ANSWER).glob("*")),
            "names": found.names[:MOST_NAMES],
            "said": warnings_of(run),
            "minutes": MINUTES,
            "has_table": Path(about["file"]).exists(),
            "tests": found.evidence.kind == "tests",
            "command": command(*asked),
            "python": python_lines(*asked),
        }
        return show("run.html", known)

    def _state(self, run: Entry) -> dict[str, Any]:
        before = self.site.queue.waiting_before(run)
        return {"run": run, "about": run.about, "at": progress_of(run), "before": before}

    async def progress(self, request: Request) -> Response:
        """How far a run is, as a part of its page."""
        known = self._state(self._run_of(request))
        response = show("progress.html", known)
        response.headers["x-state"] = known["about"]["state"]
        return response

    async def answer(self, request: Request) -> Response:
        """What another level selects, without a new fit."""
        from .answers import listed

        found = await run_in_threadpool(self._at_level, request)
        return show("answer.html", {"answer": await run_in_threadpool(listed, found)})

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

    def _at_level(self, request: Request) -> Selection:
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
        return show("feature.html", {"run": self._run_of(request), "name": name, "text": text})

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
        return show("said.html", {"text": text})

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
            await run_in_threadpool(self.site.queue.cancel, run)
        elif act == "again" and about["state"] in ("cancelled", "failed"):
            self.site.queue.add(run)
        elif act == "check":
            table = self.site.tables.get(about["table"])
            asked = {**about["settings"], "minutes": MINUTES}
            known = {"file": about["name"], "settings": asked}
            run = self.site.new_run("check", known, table, target=about["target"])
        elif act == "delete":
            await run_in_threadpool(self.site.queue.cancel, run)
            run.delete()
            return RedirectResponse("/", 303)
        return RedirectResponse(f"/runs/{run.id}", 303)

    def _run_of(self, request: Request) -> Entry:
        return self.site.runs.get(request.path_params["id"])


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
