"""Running an ASGI application under uvicorn, so that what a user did wrong is one sentence."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import logging
import socket
from collections.abc import Awaitable, Callable

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from signoff.errors import ConfigurationError, SignoffError, Unavailable

from .replies import problem

STOP_SECONDS = 2
"""How long a stop waits for open requests. Streams end by themselves before (B104): the engine
ends their runs, and what streams even after that is closed (``streaming.STOP_SECONDS``)."""


def run(
    app: ASGIApp,
    *,
    host: str,
    port: int,
    announce: Callable[[str], None],
    before_stop: Callable[[], Awaitable[None]] | None = None,
) -> None:
    """Serve until a signal says stop.

    Args:
        app: what to serve.
        host: address or name to listen on.
        port: port to listen on, 0 for any free one.
        announce: told the URL once it answers.
        before_stop: awaited when a signal came, while clients are still connected: the last chance
            to tell them anything.

    Raises:
        ConfigurationError: the address cannot be used, or the application did not start.
    """
    listener = listen(host, port)
    guarded = _Start(app)
    config = uvicorn.Config(
        guarded,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=STOP_SECONDS,
    )
    server = _Server(config, lambda: announce(url_of(host, listener.getsockname()[1])), before_stop)
    # What uvicorn adds to a failed start is less than what we are about to say of it.
    logging.getLogger("uvicorn.error").addFilter(lambda _: guarded.failure is None)
    try:
        with listener:
            server.run(sockets=[listener])
    except KeyboardInterrupt:
        return
    except SystemExit:
        if guarded.failure is None:
            raise
    if guarded.failure is not None:
        raise guarded.failure
    if not server.started:
        raise ConfigurationError("The application did not start.")


def listen(host: str, port: int) -> socket.socket:
    """A listening socket.

    Raises:
        ConfigurationError: the port is taken or not permitted, or the host has no such address.
    """
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family)
    except OSError as error:
        raise ConfigurationError(_why_not(error, host, port)) from None


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach ``host``."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def url_of(host: str, port: int) -> str:
    """The address for a browser on this machine; a wildcard is reached by loopback."""
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - read, not bound
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def _why_not(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} is taken. Stop what uses it, or choose another one with --port."
    if error.errno == errno.EACCES:
        return f"Port {port} is not permitted. Choose one from 1024 on with --port."
    return f"{host}: {error.strerror or 'this address cannot be used'}."


class _Server(uvicorn.Server):
    def __init__(
        self,
        config: uvicorn.Config,
        announce: Callable[[], None],
        before_stop: Callable[[], Awaitable[None]] | None,
    ) -> None:
        super().__init__(config)
        self._announce = announce
        self._before_stop = before_stop

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._announce()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._before_stop is not None:
            await self._before_stop()
        await super().shutdown(sockets)


class _Start:
    """Keeps why an application did not start, which uvicorn would print with its whole stack."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.failure: SignoffError | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(scope, receive, send)
        else:
            await self._answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        except asyncio.CancelledError:
            # Only a stop does this, to a request that never ends, such as half a body. Passed on,
            # each would be printed with its whole stack. A reply that has begun takes no other.
            with contextlib.suppress(RuntimeError):
                await problem(Unavailable())(scope, receive, send)

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        failed: list[Message] = []

        async def hold_failures(message: Message) -> None:
            if message["type"] == "lifespan.startup.failed":
                failed.append(message)
            else:
                await send(message)

        try:
            await self._app(scope, receive, hold_failures)
        except SignoffError as error:
            self.failure = error
            await send({"type": "lifespan.startup.failed", "message": ""})
        except BaseException:
            for message in failed:
                await send(message)
            raise
