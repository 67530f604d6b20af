"""What every route is made of: who asks, what they sent, and how refusals leave.

A route is ``guarded(handler, authenticate)``. Its handler reads the body (``read_json``), calls the
engine, and replies by ``json_reply`` or ``stream``; it raises a ``Refusal`` where it cannot.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import TypeAlias, cast

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from signoff.errors import ConfigurationError, Refusal, Unauthenticated
from signoff.principal import Principal

from .body import read_json
from .faults import log_fault
from .limits import Limits
from .raw_path import RawRoute
from .replies import InternalError, json_reply, problem
from .streaming import stream

__all__ = [
    "Authenticate",
    "Handler",
    "Limits",
    "RawRoute",
    "guarded",
    "json_reply",
    "problem",
    "read_json",
    "stream",
]

Authenticate: TypeAlias = Callable[[Request], Principal | Awaitable[Principal]]
"""Who is asking. Raises ``Unauthenticated`` (or Starlette's ``HTTPException``) for nobody."""

Handler: TypeAlias = Callable[[Request, Principal], Awaitable[Response]]


def guarded(
    handler: Handler, authenticate: Authenticate
) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint that authenticates first, whatever the body says (B76, R125).

    A ``Refusal`` leaves as problem JSON. Anything else that is raised leaves as a neutral 500, and
    is logged without its text. ``HTTPException`` passes, so that an authenticator written for
    another framework keeps its own answers.
    """

    async def endpoint(request: Request) -> Response:
        try:
            principal = await _principal(authenticate, request)
            return await handler(request, principal)
        except Refusal as refusal:
            return problem(refusal)
        except HTTPException:
            raise
        except ClientDisconnect:
            return Response(status_code=400)
        except Exception as error:  # noqa: BLE001 - what is unexpected must not reach a client
            log_fault(error, doing=f"answering {request.method} {_route_of(request)}")
            return problem(InternalError())

    return endpoint


async def _principal(authenticate: Authenticate, request: Request) -> Principal:
    found = authenticate(request)
    given = await found if inspect.isawaitable(found) else found
    # Whatever the types say: one that forgets to refuse returns None, or somebody without a name.
    principal = cast("object", given)
    if principal is not None and not isinstance(principal, Principal):
        raise ConfigurationError(
            f"authenticate returned {type(principal).__name__}, which is no Principal."
        )
    if principal is None or not principal.id:
        raise Unauthenticated
    return principal


def _route_of(request: Request) -> str:
    route: object = request.scope.get("route")
    return str(getattr(route, "path", "a route"))
