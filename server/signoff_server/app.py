"""The whole server as one ASGI application. Its route lists can also be mounted one by one."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match

from signoff.errors import ConfigurationError, NotFound
from signoff.policy import Gate
from signoff.sources.base import RunSource
from signoff.vercel_ai import Sdk

from .auth import SignedCookie
from .engine import Engine
from .http import Authenticate, Limits
from .origins import OriginGuard, check_origins
from .pages import page_routes
from .replies import MethodNotAllowed, problem
from .routes.ag_ui import ag_ui_routes
from .routes.copilotkit import copilotkit_routes
from .routes.native import native_routes
from .routes.ops import ops_routes
from .routes.vercel_ai import vercel_ai_routes


def create_app(
    sources: Engine | RunSource | Mapping[str, RunSource],
    *,
    authenticate: Authenticate,
    store: str = "sqlite:///signoff.db",
    gate: Gate | None = None,
    sdk: Sdk = 7,
    limits: Limits | None = None,
    allowed_origins: Sequence[str] = (),
    allowed_hosts: Sequence[str] = (),
    pages: bool = False,
    suggestions: Sequence[str] = (),
) -> Starlette:
    """Every protocol over one engine.

    Args:
        sources: what drives the agents, by name; or an engine, which then has its own store and
            gate.
        authenticate: who is asking. There is no default: threads belong to who it returns.
        store: ``sqlite:///FILE``.
        gate: who is asked before a call runs.
        sdk: the pages' generation of the AI SDK; no request tells.
        limits: bounds on bodies.
        allowed_origins: other sites whose pages may use this server, such as
            ``https://chat.example``.
        allowed_hosts: the names it answers to; empty for any.
        pages: serve the demo's pages. They need ``SignedCookie`` as ``authenticate``.
        suggestions: words to try, for the start page.

    Raises:
        ConfigurationError: pages without the cookie they change, or an origin that is none.
    """
    engine = sources if isinstance(sources, Engine) else Engine(sources, store=store, gate=gate)
    limits = limits or Limits()
    routes: list[BaseRoute] = [
        *ops_routes(engine),
        *native_routes(engine, authenticate, limits=limits),
        *ag_ui_routes(engine, authenticate, limits=limits),
        *vercel_ai_routes(engine, authenticate, limits=limits, sdk=sdk),
        *copilotkit_routes(engine, authenticate, limits=limits),
    ]
    if pages:
        if not isinstance(authenticate, SignedCookie):
            raise ConfigurationError("The demo's pages need SignedCookie as authenticate.")
        routes += page_routes(authenticate, suggestions=suggestions)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        async with engine.lifespan():
            yield

    return Starlette(
        routes=routes,
        middleware=_middleware(allowed_origins, allowed_hosts),
        exception_handlers={404: _not_found, 405: _method_not_allowed},
        lifespan=lifespan,
    )


def _middleware(allowed_origins: Sequence[str], hosts: Sequence[str]) -> list[Middleware]:
    origins = check_origins(allowed_origins)
    guard = Middleware(OriginGuard, allowed_origins=origins, allowed_hosts=hosts)
    if not origins:
        return [guard]
    cross_origin = Middleware(
        CORSMiddleware,
        allow_origins=origins,
        allow_credentials=True,
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=["*"],
        expose_headers=["retry-after", "x-vercel-ai-ui-message-stream"],
    )
    return [cross_origin, guard]


async def _not_found(request: Request, error: Exception) -> Response:
    return problem(NotFound())


async def _method_not_allowed(request: Request, error: Exception) -> Response:
    reply = problem(MethodNotAllowed())
    # Starlette's own header names the methods of one route; here several share a path.
    if methods := _methods_of(request):
        reply.headers["allow"] = ", ".join(sorted(methods))
    return reply


def _methods_of(request: Request) -> set[str]:
    """What the routes that stand at the request's path take."""
    app: Starlette = request.app
    at_path = [route for route in app.routes if route.matches(request.scope)[0] is Match.PARTIAL]
    return {name for route in at_path for name in getattr(route, "methods", None) or ()}
