"""What all pages share: templates, forms, files to keep, and errors in one message."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache, wraps
from typing import Any, TypeAlias
from urllib.parse import parse_qsl

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import Response

from ..problems import Problem, in_python, message_of
from .folders import NotThere

REPORT_POLICY = (  # of a page within the page, which may run its own script and reach nothing
    "sandbox allow-scripts allow-downloads allow-modals; default-src 'none'; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors 'self'"
)
MOST_OF_FORM = 2**22  # bytes
GONE = "There is no such page; was it removed?"

Handler: TypeAlias = Callable[[Request], Awaitable[Response]]


class TooLarge(ValueError):  # noqa: N818 it is caught as a ValueError
    """A file is larger than uploads may be."""

    def __init__(self, name: str, most: int) -> None:
        super().__init__(
            f"{name} is larger than {in_bytes(most)}. Start smrmr app with a larger --max-upload, "
            "or use smrmr select, which reads a file where it is."
        )


@cache
def templates() -> Environment:
    """Where pages are made; names are escaped in all of them."""
    made = Environment(
        loader=PackageLoader("smrmr.app", "pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"size": in_bytes, "time_left": in_time, "comma": "{:,}".format}
    return made


def show(template: str, known: dict[str, Any], status: int = 200) -> Response:
    """A page from its template and what it needs to know."""
    text = templates().get_template(template).render(**known)
    content = text.encode("utf-8", "replace")  # names may hold lone surrogates
    return Response(content, status, media_type="text/html; charset=utf-8")


def told(handler: Handler) -> Handler:
    """A handler whose errors are one message: as text where a script asks, else as a page."""

    @wraps(handler)
    async def answered(request: Request) -> Response:
        try:
            return await handler(request)
        except NotThere:
            message, status = GONE, 404
        except TooLarge as error:
            message, status = str(error), 413
        except (ValueError, ImportError, OSError, MemoryError, RuntimeError) as error:
            message, status = in_python(message_of(error)) or type(error).__name__, 400
        if request.headers.get("x-asked-by") == "script":
            return Response(message, status, media_type="text/plain; charset=utf-8")
        return show("problem.html", {"message": message}, status)

    return answered


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
