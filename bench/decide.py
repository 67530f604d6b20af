"""From the click to the first frame of the continuation, SQLite with ``synchronous=FULL``.

The application is driven through ASGI, without a socket. The agent takes no time of its own: its
model answers at once and its tool does nothing, so all of it is signoff's and the disk's. Wall
clock, and beside it the CPU time of the process, which a busy machine does not lengthen as much.
"""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import orjson
from starlette.types import ASGIApp, Message, Scope

from signoff.function_tools import tool
from signoff.messages import ToolResultMessage
from signoff.principal import Principal
from signoff.sources.models.base import ModelCall, ModelEvent, ModelRequest, ModelText
from signoff.sources.tool_loop import ToolLoop
from signoff_server.app import create_app

from .measure import Row, Table, at_most, row_of

REPEATS = 31
EARLIER_RUNS = 50
BUDGET_MS = 10.0

_DISK = "floor: one small commit on this disk"


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """How a page of one protocol asks, answers, and is told that its call began.

    Attributes:
        name: for the table.
        path: where it posts, from a thread's id.
        ask: the body of a message, from a thread's id and a message's.
        answer: the body that approves a call, from a thread's id and the call's.
        first: in the first frame that the agent causes.
    """

    name: str
    path: Callable[[str], str]
    ask: Callable[[str, str], object]
    answer: Callable[[str, str], object]
    first: bytes


PROTOCOLS = (
    Protocol(
        name="native",
        path=lambda thread: f"/threads/{thread}/chat",
        ask=lambda thread, message: {"message": "go", "id": message},
        answer=lambda thread, call: {"decisions": {call: "approve"}},
        first=b"event: tool_call_started",
    ),
    Protocol(
        name="AG-UI",
        path=lambda thread: "/ag-ui",
        ask=lambda thread, message: _run_input(
            thread, messages=[{"id": message, "role": "user", "content": "go"}]
        ),
        answer=lambda thread, call: _run_input(
            thread,
            resume=[{"interruptId": call, "status": "resolved", "payload": {"approved": True}}],
        ),
        first=b'"TOOL_CALL_START"',
    ),
    Protocol(
        name="Vercel",
        path=lambda thread: "/vercel/chat",
        ask=lambda thread, message: {
            "id": thread,
            "trigger": "submit-message",
            "messages": [
                {"id": message, "role": "user", "parts": [{"type": "text", "text": "go"}]}
            ],
        },
        answer=lambda thread, call: {
            "id": thread,
            "trigger": "submit-message",
            "messages": [
                {
                    "id": "answer",
                    "role": "assistant",
                    "parts": [
                        {
                            "type": "tool-pay",
                            "toolCallId": call,
                            "state": "approval-responded",
                            "input": {"amount": 100},
                            "approval": {"id": call, "approved": True},
                        }
                    ],
                }
            ],
        },
        # The stream begins with the answer itself, as soon as that is committed; the begin of the
        # call has no frame here, so this waits for its result.
        first=b'"tool-output-available"',
    ),
)


def table() -> Table:
    with tempfile.TemporaryDirectory() as directory:
        return asyncio.run(_table(Path(directory)))


async def _table(directory: Path) -> Table:
    rows = [_commits(directory / "floor.db")]
    app = create_app(
        ToolLoop(_Asks(), tools=[pay]),
        authenticate=lambda request: Principal(id="bench"),
        store=f"sqlite:///{directory / 'bench.db'}",
    )
    async with app.router.lifespan_context(app):
        for protocol in PROTOCOLS:
            clicks = [
                await _click(app, protocol, f"{protocol.name}-{number}", number)
                for number in range(REPEATS)
            ]
            rows += [
                row_of(f"{protocol.name}: first byte", [click.first_byte for click in clicks]),
                row_of(f"{protocol.name}: first frame", [click.first_frame for click in clicks]),
                row_of(
                    f"{protocol.name}: CPU up to it", [click.first_frame_cpu for click in clicks]
                ),
            ]
        long = [
            await _click(app, PROTOCOLS[0], "long", number)
            for number in range(EARLIER_RUNS + REPEATS)
        ]
        name = f"native: first frame, after {EARLIER_RUNS} runs in the thread"
        rows.append(row_of(name, [click.first_frame for click in long[EARLIER_RUNS:]]))
    return Table(
        name="decide",
        title="From a decision to the first frame of the continuation",
        unit="ms",
        rows=tuple(rows),
        ratios=tuple(
            at_most(BUDGET_MS, f"ms, {row.name}", row.median)
            for row in rows
            if row.name.endswith(": first frame")
        ),
    )


@tool(approval="It moves money.")
def pay(amount: int) -> str:
    """Pay."""
    return "paid"


class _Asks:
    """A model that calls ``pay`` once for every message, and then says so."""

    async def respond(self, request: ModelRequest, /) -> AsyncIterator[ModelEvent]:
        if isinstance(request.history[-1], ToolResultMessage):
            yield ModelText(delta="Done.")
        else:
            yield ModelCall(
                id=f"call_{len(request.history)}", name="pay", arguments='{"amount":100}'
            )


@dataclass(slots=True)
class _Exchange:
    """One request, and when what of its response came: wall clock and this process's CPU, in ms."""

    marker: bytes
    begun: float = 0.0
    begun_cpu: float = 0.0
    first_byte: float = 0.0
    first_frame: float = 0.0
    first_frame_cpu: float = 0.0
    body: list[bytes] = field(default_factory=list[bytes])

    async def send(self, message: Message) -> None:
        chunk: bytes = message.get("body", b"")
        if not chunk:
            return
        now = (time.perf_counter() - self.begun) * 1000
        self.first_byte = self.first_byte or now
        if not self.first_frame and self.marker in chunk:
            self.first_frame = now
            self.first_frame_cpu = (time.process_time() - self.begun_cpu) * 1000
        self.body.append(chunk)


async def _click(app: ASGIApp, protocol: Protocol, thread: str, number: int) -> _Exchange:
    asked = await _post(app, protocol.path(thread), protocol.ask(thread, f"m{number}"), b"call_")
    call = _call_in(b"".join(asked.body))
    answer = protocol.answer(thread, call)
    told = await _post(app, protocol.path(thread), answer, protocol.first)
    if not told.first_frame:
        raise RuntimeError(f"No frame of the agent: {b''.join(told.body)!r}")
    return told


async def _post(app: ASGIApp, path: str, body: object, marker: bytes) -> _Exchange:
    payload = orjson.dumps(body)
    scope: Scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    inbox: list[Message] = [{"type": "http.request", "body": payload, "more_body": False}]

    async def receive() -> Message:
        if inbox:
            return inbox.pop()
        await asyncio.Event().wait()
        raise AssertionError

    exchange = _Exchange(marker, begun=time.perf_counter(), begun_cpu=time.process_time())
    await app(scope, receive, exchange.send)
    return exchange


def _call_in(body: bytes) -> str:
    start = body.index(b'"call_') + 1
    return body[start : body.index(b'"', start)].decode()


def _run_input(thread: str, **more: object) -> object:
    return {
        "threadId": thread,
        "runId": "r",
        "protocolVersion": "1.0",
        "state": {},
        "messages": [],
        "tools": [],
        "context": [],
        "forwardedProps": {},
        **more,
    }


def _commits(path: Path) -> Row:
    """What the disk takes for a durable write, by itself."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE t (x)")
    taken: list[float] = []
    for number in range(REPEATS):
        begun = time.perf_counter()
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO t VALUES (?)", (number,))
        connection.execute("COMMIT")
        taken.append((time.perf_counter() - begun) * 1000)
    connection.close()
    return row_of(_DISK, taken)
