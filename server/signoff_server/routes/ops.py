"""Routes for whoever operates the server. They need no principal and tell nothing about one."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from signoff.errors import Unavailable
from signoff.principal import Principal

from ..engine import Engine
from ..faults import log_fault
from ..replies import json_reply, problem

# Owns nothing: reading a thread of it reaches the store and finds nothing.
_PROBE = Principal(id="readyz", tenant="\x00ops")


def ops_routes(engine: Engine) -> list[Route]:
    """``GET /healthz``: the process answers. ``GET /readyz``: its store does, too; else 503."""

    async def healthz(request: Request) -> Response:
        return json_reply({"status": "ok"})

    async def readyz(request: Request) -> Response:
        try:
            await engine.thread(_PROBE, "readyz")
        except Exception as error:  # noqa: BLE001 - whatever it is, the answer is "not ready"
            log_fault(error, doing="answering GET /readyz")
            return problem(Unavailable(retry_after_seconds=1))
        return json_reply({"status": "ok"})

    return [Route("/healthz", healthz), Route("/readyz", readyz)]
