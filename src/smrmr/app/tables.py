"""Pages of tables: how they come in, what was read of them, what is chosen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from ..problems import full_disk
from .folders import Entry, NotThere, check_format, files_of, safe_name
from .forms import role_of, settings_from
from .messages import LIMITS, MISSING
from .preview import preview
from .queue import WAITING
from .site import LEVELS, Site
from .web import TooLarge, form, show

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
EXAMPLES: dict[str, tuple[str, dict[str, Any]]] = {
    "response": ("a number: the response to a drug", {"target": "response"}),
    "disease": ("two classes: ill or well", {"target": "disease"}),
    "survival": ("survival: months until death", {"time": "months", "event": "died"}),
    "toxicity": (
        "a number, adjusted for age and plate",
        {"target": "toxicity", "covariates": ["age", "plate"]},
    ),
}


class TablePages:
    """Answers what is asked about tables."""

    def __init__(self, site: Site) -> None:
        self.site = site

    async def upload(self, request: Request) -> Response:
        """Write a file to disk as it comes."""
        name = safe_name(request.query_params.get("name", ""))
        check_format(name)
        announced = int(request.headers.get("content-length") or 0)
        if announced > self.site.max_upload:
            raise TooLarge(name, self.site.max_upload)
        known = request.query_params.get("table")
        table = (
            self.site.tables.get(known) if known else self.site.tables.new(file=name, settings={})
        )
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
        first, *others = files_of(table) or [path]
        table.update(file=first.name)
        if len(others) == 1:  # sent together, they belong together
            table.update(settings={**table.about["settings"], "pheno": str(others[0])})
        return JSONResponse({"table": table.id})

    async def _write(self, request: Request, path: Path) -> None:
        n_bytes = 0
        with path.open("wb") as file:
            async for chunk in request.stream():
                n_bytes += len(chunk)
                if n_bytes > self.site.max_upload:
                    raise TooLarge(path.name, self.site.max_upload)
                file.write(chunk)

    async def example(self, request: Request) -> Response:
        """A table that comes with the package, with its target chosen."""
        from ..example_table import load_example

        study = request.path_params["study"]
        if study not in EXAMPLES:
            raise NotThere(study)
        table = self.site.tables.new(file=f"{study}.csv", settings=EXAMPLES[study][1])
        (table.path / "files").mkdir()
        text = load_example(study).to_csv(index=False, lineterminator="\n")
        (table.path / "files" / f"{study}.csv").write_text(text, encoding="utf-8")
        return RedirectResponse(f"/tables/{table.id}", 303)

    async def table(self, request: Request) -> Response:
        """What was read of a table, what is odd about it, and what to choose."""
        table = self.site.tables.get(request.path_params["id"])
        found = await run_in_threadpool(previewed, table)
        about, files = table.about, [path.name for path in files_of(table)]
        settings = about["settings"]
        names = [column["name"] for column in found["columns"]]
        known = {
            "table": table,
            "about": about,
            "settings": settings,
            "found": found,
            "roles": {name: role_of(name, settings) for name in names},
            "all_roles": ROLES,
            "files": files,
            "second": Path(settings.get("pheno", "").partition(":")[0]).name,
            "levels": LEVELS,
            "missing": MISSING,
            "limits": LIMITS,
        }
        return show("table.html", known)

    async def change_table(self, request: Request) -> Response:
        """Keep what was chosen for a table; look again, or run."""
        table, fields = self.site.tables.get(request.path_params["id"]), await form(request)
        said = dict(fields)
        table.update(settings=settings_from(fields, table))
        if said.get("file") in [path.name for path in files_of(table)]:
            table.update(file=said["file"])
        if said.get("do") != "run":
            return RedirectResponse(f"/tables/{table.id}", 303)
        found = await run_in_threadpool(previewed, table)
        if not found["ready"]:
            return RedirectResponse(f"/tables/{table.id}#notes", 303)
        run = self.site.new_run("select", table.about, table, target=found["target"])
        return RedirectResponse(f"/runs/{run.id}", 303)

    async def delete_table(self, request: Request) -> Response:
        """Remove a table, unless a run needs it now."""
        table = self.site.tables.get(request.path_params["id"])
        abouts = [run.about for run in self.site.runs]
        if any(one["table"] == table.id and one["state"] in WAITING for one in abouts):
            raise ValueError("a run of this table is waiting or at work. Cancel it first.")
        table.delete()
        return RedirectResponse("/", 303)


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
