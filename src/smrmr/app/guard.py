"""Lets in only the browser that was opened: by token, cookie, host and origin; and sets headers."""

from __future__ import annotations

from collections.abc import Iterable
from hmac import compare_digest
from secrets import token_urlsafe

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {  # of every answer that has none of its own
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # with none forms would have no origin
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
READS = ("GET", "HEAD")
STRANGER = (
    "This page opens only by the address that smrmr app printed, in one browser. If that was used, "
    "or smrmr app was started again, end it (Ctrl+C), start it again and use the new address."
)


class Guard:
    """Wraps the page: what does not come from the browser that was opened gets no answer.

    The token in the printed address works once, for a cookie that no script can read and no other
    site can send. Requests must name one of our hosts, against addresses of other names that lead
    here, and what changes something must come from our own page.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str], port: int) -> None:
        self.app = app
        self.token, self._session = token_urlsafe(32), token_urlsafe(32)
        self._hosts = {f"[{host}]" if ":" in host else host for host in hosts}
        self._addresses = {f"{host}:{port}" for host in self._hosts}
        self._cookie = f"smrmr-{port}"
        self._used = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        request = Request(scope)
        refused = self._refusal(request) or self._welcome(request)
        await (refused or self.app)(scope, receive, with_headers)

    def _refusal(self, request: Request) -> Response | None:
        """Why a request does not come from our page."""
        if request.headers.get("host", "").lower() not in self._addresses:
            return PlainTextResponse("This host is not served here.", 421)
        if request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return PlainTextResponse("Requests of other sites are refused.", 403)
        own = f"http://{request.headers['host']}".lower()
        if request.method not in READS and request.headers.get("origin", "").lower() != own:
            return PlainTextResponse("Requests of other origins are refused.", 403)
        return None

    def _welcome(self, request: Request) -> Response | None:
        """The cookie for the token; a refusal for those with neither; None to go on."""
        known = compare_digest(_plain(request.cookies.get(self._cookie)), self._session)
        token = request.query_params.get("token")
        if token is None or request.url.path != "/":
            return None if known else PlainTextResponse(STRANGER, 403)
        if not known and (self._used or not compare_digest(_plain(token), self.token)):
            return PlainTextResponse(STRANGER, 403)
        self._used = True
        home = RedirectResponse("/", 303)
        home.set_cookie(self._cookie, self._session, httponly=True, samesite="strict", path="/")
        return home


def _plain(text: str | None) -> str:
    """A text that can be compared in constant time, which takes ASCII alone."""
    return (text or "").encode("ascii", "replace").decode()
