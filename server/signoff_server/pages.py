"""The demo's web pages: built by Vite into ``pages/``, served with a strict content policy."""

from __future__ import annotations

import mimetypes
import secrets
from collections.abc import Awaitable, Callable, Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import TypeAlias
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from signoff.errors import InvalidBody, Refusal, TooLarge, Unauthenticated

from .auth import NOBODY_IN_PARTICULAR, SignedCookie
from .body import read_json
from .limits import Limits
from .replies import json_reply, problem

_HERE = Path(__file__).parent
BUILT_PAGES = _HERE / "pages"
PAGES = ("vercel", "copilotkit")

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src {styles}; img-src 'self' data:; "
    "font-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
# CopilotKit writes style elements; the start page has one.
_STYLES = {"vercel": "'self'", "copilotkit": "'self' 'unsafe-inline'", "": "'unsafe-inline'"}

# A machine's own table may say otherwise, and a browser runs no script of another type.
_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_IMMUTABLE = "public, max-age=31536000, immutable"

_FORM_LIMITS = Limits(body_bytes=4096)

_Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]

_NOT_BUILT = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>signoff demo: pages not built</title>
<h1>This page is not built yet</h1>
<p>Run <code>make pages</code> (or <code>make demo</code>) in the repository, then reload.</p>
<p>The server works without it: see <code>/threads/{id}</code>, <code>/ag-ui</code> and
<code>/vercel/chat</code>.</p>
</html>
"""


def page_routes(
    cookie: SignedCookie, *, suggestions: Sequence[str] = (), directory: Path = BUILT_PAGES
) -> list[Route]:
    """The start page, both chat pages, and the change of principal.

    Args:
        cookie: whose principal the start page shows and changes.
        suggestions: words to try in a chat.
        directory: where the built pages are. One that is missing is replaced by a page that says
            how to build it.
    """
    pages = _Pages(cookie, suggestions, directory)
    routes = [
        Route("/", pages.start),
        Route("/demo/principal", pages.change_principal, methods=["POST"]),
    ]
    for name in PAGES:
        routes += [
            Route(f"/{name}", pages.index(name)),
            Route(f"/{name}/", pages.index(name)),
            Route(f"/{name}/assets/{{file}}", pages.asset(name)),
        ]
    return routes


class _Pages:
    def __init__(self, cookie: SignedCookie, suggestions: Sequence[str], directory: Path) -> None:
        self._cookie = cookie
        self._suggestions = suggestions
        self._directory = directory
        self._landing = Template((_HERE / "landing.html").read_text("utf-8"))

    async def start(self, request: Request) -> Response:
        """What this is, both pages on one new thread, words to try, and who you are here."""
        known = True
        try:
            principal = (await self._cookie(request)).id
        except Unauthenticated:
            principal, known = NOBODY_IN_PARTICULAR, False
        response = HTMLResponse(
            self._landing.substitute(
                thread=f"t-{secrets.token_hex(8)}",
                suggestions="".join(f"<li>{escape(words)}</li>" for words in self._suggestions),
                no_suggestions="" if self._suggestions else "hidden",
                principal=escape(principal, quote=True),
                foreign_cookie="" if not known else "hidden",
            ),
            headers=_headers(""),
        )
        if not known:
            self._cookie.sign_out(response)
        return response

    async def change_principal(self, request: Request) -> Response:
        """``{"id": "…"}``, or the start page's form: this browser is that principal from now on."""
        try:
            form = request.headers.get("content-type", "").startswith(
                "application/x-www-form-urlencoded"
            )
            name = await (_name_of_form(request) if form else _name_of_json(request))
            response = RedirectResponse("/", status_code=303) if form else json_reply({"id": name})
            await self._cookie.sign_in(request, response, name)
        except Refusal as refusal:
            return problem(refusal)
        return response

    def index(self, name: str) -> _Endpoint:
        async def index(request: Request) -> Response:
            file = self._directory / name / "index.html"
            if not file.is_file():
                return HTMLResponse(_NOT_BUILT, status_code=404, headers=_headers(""))
            return FileResponse(file, media_type="text/html", headers=_headers(name))

        return index

    def asset(self, name: str) -> _Endpoint:
        folder = self._directory / name / "assets"

        async def asset(request: Request) -> Response:
            file = folder / request.path_params["file"]
            if file.parent != folder or not _is_file(file):
                return Response(status_code=404)
            media_type = _TYPES.get(file.suffix) or mimetypes.guess_type(file.name)[0]
            return FileResponse(
                file,
                media_type=media_type or "application/octet-stream",
                headers={"cache-control": _IMMUTABLE, "x-content-type-options": "nosniff"},
            )

        return asset


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long for any file
        return False


def _headers(page: str) -> dict[str, str]:
    return {
        "content-security-policy": _POLICY.format(styles=_STYLES[page]),
        "cache-control": "no-cache",
        "referrer-policy": "same-origin",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
    }


async def _name_of_json(request: Request) -> str:
    body = await read_json(request, _FORM_LIMITS)
    name = body.get("id") if isinstance(body, dict) else None
    if not isinstance(name, str):
        raise InvalidBody('Send {"id": "…"}.')
    return name


async def _name_of_form(request: Request) -> str:
    # Read by hand: a form of one field is no reason for another dependency.
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > _FORM_LIMITS.body_bytes:
            raise TooLarge
    fields = dict(parse_qsl(body.decode("ascii", "replace")))
    return fields.get("id", "").strip()
