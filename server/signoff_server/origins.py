"""Which pages may use this server: its own, and those on a list."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from signoff.errors import ConfigurationError, Forbidden

from .replies import problem

_LOG = logging.getLogger("signoff")

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})


class OriginGuard:
    """Refuses what a page of another site makes a browser send.

    Cookies travel with such requests, so an approval could be given in a person's name. A request
    without ``Origin`` and ``Sec-Fetch-Site`` comes from a program, which could say anything; it
    passes.

    Args:
        app: what is guarded. Plain ASGI, so that streams and disconnects pass as they are (B93).
        allowed_origins: other pages that may, such as ``https://chat.example``.
        allowed_hosts: the names this server answers to, without port; empty for any. A loopback
            server needs them: a foreign name may resolve to it, and its pages look like its own.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        allowed_origins: Iterable[str] = (),
        allowed_hosts: Iterable[str] = (),
    ) -> None:
        self._app = app
        self._origins = frozenset(origin.rstrip("/").lower() for origin in allowed_origins)
        self._hosts = frozenset(host.lower() for host in allowed_hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._judge(scope) if scope["type"] == "http" else None
        if refusal is None:
            await self._app(scope, receive, send)
        else:
            origin = Headers(scope=scope).get("origin", "-")
            _LOG.warning(
                "Refused a request of another site. origin=%.200r host=%.200r. Pages of other "
                "origins are named in allowed_origins (SIGNOFF_ALLOWED_ORIGINS).",
                origin,
                Headers(scope=scope).get("host", ""),
            )
            await problem(refusal)(scope, receive, send)

    def _judge(self, scope: Scope) -> Forbidden | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "").lower()
        if self._hosts and _without_port(host) not in self._hosts:
            return Forbidden("This server does not answer to that name.")
        if scope["method"] in _SAFE_METHODS or self._same_site(headers, host):
            return None
        return Forbidden("Requests from other sites are not taken.")

    def _same_site(self, headers: Headers, host: str) -> bool:
        origin = headers.get("origin", "").lower()
        if origin in self._origins:
            return True
        if origin and _authority(origin) != host:
            return False
        return headers.get("sec-fetch-site", "none") in ("same-origin", "none")


def check_origins(origins: Iterable[str]) -> list[str]:
    """The origins, each a scheme, a host and perhaps a port.

    Raises:
        ConfigurationError: something else, such as ``*``: with cookies it would let every site read
            every thread.
    """
    checked = [origin.rstrip("/").lower() for origin in origins]
    for origin in checked:
        parts = urlsplit(origin)
        if parts.scheme not in ("http", "https") or f"{parts.scheme}://{parts.netloc}" != origin:
            raise ConfigurationError(
                f"{origin!r} is not an origin. Name each, as https://chat.example; there is no '*'."
            )
        if not parts.hostname or "*" in parts.netloc or "@" in parts.netloc:
            raise ConfigurationError(f"{origin!r} names no host. There are no patterns.")
    return checked


def _authority(origin: str) -> str | None:
    """What stands behind the scheme; None where that is no address at all."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host
