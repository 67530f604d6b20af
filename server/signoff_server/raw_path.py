"""Routes whose ids may contain any character, a slash included.

A server decodes the path before a framework matches it, so ``/threads/a%2Fb/stream`` and
``/threads/a/b/stream`` look the same there. Here the path is matched as it was sent.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, unquote

from starlette.routing import Match, Route
from starlette.types import Scope


class RawRoute(Route):
    """A ``Route`` matched on the undecoded path; its parameters arrive decoded."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] != "http":
            return Match.NONE, {}
        match, child = super().matches({**scope, "path": _raw_route_path(scope), "root_path": ""})
        if match is not Match.NONE:
            parameters: dict[str, Any] = child["path_params"]
            for name in self.param_convertors:
                parameters[name] = unquote(str(parameters[name]))
        return match, child


def _raw_route_path(scope: Scope) -> str:
    """The path as sent, without what the application is mounted under."""
    raw: bytes = scope.get("raw_path") or quote(scope["path"]).encode()
    path = raw.partition(b"?")[0].decode("ascii", "replace")
    root: str = scope.get("root_path", "").rstrip("/")
    if not root:
        return path
    # The mount point was decoded, too: as many segments as it has are taken off, if they are it.
    pieces = path.split("/")
    depth = root.count("/") + 1
    if unquote("/".join(pieces[:depth])) != root:
        return path
    return "/" + "/".join(pieces[depth:])
