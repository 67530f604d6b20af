"""What a reader's departure does to the run it started: nothing, or what the host asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import orjson
import pytest
from starlette.applications import Starlette
from starlette.types import Message

from signoff.principal import Principal
from signoff_server.engine import Engine, OnDisconnect
from signoff_server.routes.native import native_routes
from support.gated_source import GatedSource
from support.protocols import by_header

pytestmark = pytest.mark.anyio

ME = Principal(id="me")


async def post_and_leave(app: Starlette, body: dict[str, Any]) -> None:
    """Post a chat body, read until the first event, and go away."""
    left = anyio.Event()
    asked = False

    async def receive() -> Message:
        nonlocal asked
        if not asked:
            asked = True
            return {"type": "http.request", "body": orjson.dumps(body), "more_body": False}
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message.get("body"):
            left.set()

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/threads/t/chat",
        "raw_path": b"/threads/t/chat",
        "query_string": b"",
        "headers": [(b"content-type", b"application/json")],
    }
    with anyio.fail_after(10):
        await app(scope, receive, send)


@pytest.mark.req("R119")
@pytest.mark.parametrize(
    ("on_disconnect", "status"), [("continue", "completed"), ("cancel", "cancelled")]
)
async def test_b89_a_departure(tmp_path: Path, on_disconnect: OnDisconnect, status: str) -> None:
    source = GatedSource()
    engine = Engine(source, store=f"sqlite:///{tmp_path / 'store.db'}", on_disconnect=on_disconnect)
    app = Starlette(routes=native_routes(engine, by_header))
    async with engine.lifespan():
        await post_and_leave(app, {"message": "wait"})
        segment = (await engine.attach(ME, "t")).segment
        if on_disconnect == "continue":
            assert segment is not None
            source.go.set()
        if segment is not None:
            with anyio.fail_after(10):
                async for _ in segment.read():
                    pass
        assert (await engine.thread(ME, "t")).status == status
