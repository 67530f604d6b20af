"""AG-UI, CopilotKit and native routes over the real engine, its agent telling stories."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
from starlette.applications import Starlette

from oracles.sse import JsonObject, frames_of
from signoff.principal import Principal
from signoff_server.engine import Attachment, Engine
from signoff_server.routes.ag_ui import ag_ui_routes
from signoff_server.routes.copilotkit import copilotkit_routes
from signoff_server.routes.native import native_routes
from signoff_server.routes.refusals import Refusals
from support.loopback import serving
from support.stories import Segment
from support.vercel_server import Live, Teller, principal

ME = Principal(id="me")
Stories = Mapping[str, Sequence[Segment]]


def make_app(
    engine: Engine, *, refusals: Refusals = "stream", tool_bound_interrupts: bool = False
) -> Starlette:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        async with engine.lifespan():
            yield

    routes = [
        *ag_ui_routes(
            engine, principal, refusals=refusals, tool_bound_interrupts=tool_bound_interrupts
        ),
        *copilotkit_routes(engine, principal),
        *native_routes(engine, principal),
    ]
    return Starlette(routes=routes, lifespan=lifespan)


@contextmanager
def telling(stories: Stories, store: Path, **options: Any) -> Generator[Live]:
    """A server on the loopback, for clients that block."""
    teller = Teller(stories=stories)
    engine = Engine(teller, store=f"sqlite:///{store}")
    with serving(make_app(engine, **options)) as url:
        yield Live(url=url, teller=teller, engine=engine)


class CountingEngine(Engine):
    """Counts the requests that were shown a thread: what follows reaches them, too."""

    attached = 0

    async def attach(
        self, principal: Principal, thread_id: str, *, linger: bool = False
    ) -> Attachment:
        attachment = await super().attach(principal, thread_id, linger=linger)
        self.attached += 1
        return attachment


class Server:
    """The same in this event loop, and a client that awaits whole replies."""

    def __init__(self, stories: Stories, store: Path, **options: Any) -> None:
        self.teller = Teller(stories=stories)
        self.engine = CountingEngine(self.teller, store=f"sqlite:///{store}")
        transport = httpx.ASGITransport(make_app(self.engine, **options))
        self.client = httpx.AsyncClient(transport=transport, base_url="http://test")

    async def post(self, path: str, body: Any, **headers: str) -> httpx.Response:
        return await self.client.post(path, json=body, headers=headers)

    async def run(self, *messages: JsonObject, thread: str = "t1", **more: Any) -> list[JsonObject]:
        """The frames of one request to ``/ag-ui``."""
        body = {"threadId": thread, "runId": "r1", "messages": list(messages), **more}
        reply = await self.post("/ag-ui", body)
        assert reply.status_code == 200, reply.text
        return frames_of(reply.text)

    async def say(self, text: str, message_id: str = "u1", **more: Any) -> list[JsonObject]:
        return await self.run(user(text, message_id), **more)

    async def answer(self, answers: Mapping[str, Any], **more: Any) -> list[JsonObject]:
        entries = [
            {"interruptId": call_id, "status": "resolved", "payload": payload}
            for call_id, payload in answers.items()
        ]
        return await self.run(resume=entries, **more)

    async def pending(self, thread: str = "t1") -> list[str]:
        reply = await self.client.get(f"/threads/{thread}/approvals")
        return [one["id"] for one in reply.json()]


@asynccontextmanager
async def running(stories: Stories, store: Path, **options: Any) -> AsyncGenerator[Server]:
    server = Server(stories, store, **options)
    async with server.client, server.engine.lifespan():
        yield server


def user(text: str, message_id: str = "u1") -> JsonObject:
    return {"id": message_id, "role": "user", "content": text}


def refusals_of(frames: Sequence[JsonObject]) -> list[str]:
    return [one["value"]["code"] for one in frames if one.get("name") == "signoff.refused"]


def open_ids(frames: Sequence[JsonObject]) -> list[str]:
    """The interrupts that a stream ends with."""
    return [one["id"] for one in frames[-1]["outcome"].get("interrupts", [])]


async def until(reached: Callable[[], object]) -> None:
    """Return once ``reached`` says so."""
    for _ in range(4000):
        if reached():
            return
        await anyio.sleep(0.005)
    raise AssertionError("Waited in vain.")


async def until_running(server: Server, thread: str = "t1") -> None:
    for _ in range(4000):
        if (await server.engine.thread(ME, thread)).status == "running":
            return
        await anyio.sleep(0.005)
    raise AssertionError("Waited in vain.")
