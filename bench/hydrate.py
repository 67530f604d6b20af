"""Hydrate: a stored thread to the bytes that a reloaded page gets.

The peer makes ``ag_ui.core``'s models of the same messages and encodes them as a MESSAGES_SNAPSHOT,
as a server built on that package does. Both begin at the same messages in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import orjson
from ag_ui.core import (
    AssistantMessage,
    FunctionCall,
    Message,
    MessagesSnapshotEvent,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from ag_ui.encoder import EventEncoder

from signoff import messages as stored
from signoff.ag_ui import AGUIAdapter
from signoff.json_text import canonical, encode
from signoff.native import NativeAdapter
from signoff.outcomes import outcome_text
from signoff.thread import Thread
from signoff.vercel_ai import VercelAIAdapter

from .measure import Ratio, Row, Table, cpu_rows
from .workload import stored_thread

MESSAGES = 1000
SIZES = (250, 500, 1000, 2000)

OURS_STREAM = "signoff, AG-UI, as a stream of snapshots"
OURS_JSON = "signoff, AG-UI, as JSON"
OURS_VERCEL = "signoff, Vercel"
OURS_NATIVE = "signoff, native"
FLOOR = "floor: orjson of the AG-UI JSON"
PEER = "ag_ui.encoder.EventEncoder"


def table() -> Table:
    thread = stored_thread(MESSAGES)
    _check_equal(thread)
    view = orjson.loads(ag_ui_json(thread))
    rows = cpu_rows(
        {
            FLOOR: lambda: orjson.dumps(view),
            OURS_STREAM: partial(ag_ui_stream, thread),
            OURS_JSON: partial(ag_ui_json, thread),
            OURS_VERCEL: partial(vercel, thread),
            OURS_NATIVE: partial(native, thread),
            PEER: partial(peer, thread),
        },
        per=MESSAGES,
    )
    median = {row.name: row.median for row in rows}
    ratios = [
        Ratio(name=f"EventEncoder over {name}", value=value, bound="at least", budget=5)
        for name in (OURS_STREAM, OURS_JSON, OURS_VERCEL)
        for value in (median[PEER] / median[name],)
    ]
    return Table(
        name="hydrate",
        title="Hydrate a thread of 1,000 messages",
        unit="µs of CPU for each message",
        rows=rows,
        ratios=tuple(ratios),
    )


def linearity() -> Table:
    """The cost of one message must not depend on how many there are."""
    ways: dict[str, Callable[[Thread], bytes]] = {
        "AG-UI": ag_ui_stream,
        "Vercel": vercel,
    }
    rows: list[Row] = []
    ratios: list[Ratio] = []
    for name, way in ways.items():
        costs = [
            row
            for size in SIZES
            for row in cpu_rows(
                {f"{name}, {size:,} messages": partial(way, stored_thread(size))}, per=size
            )
        ]
        rows += costs
        ratios.append(
            Ratio(
                name=f"{name}: a message among 2,000 over one among 250",
                value=costs[-1].median / costs[0].median,
                bound="at most",
                budget=1.5,
            )
        )
    return Table(
        name="hydrate-sizes",
        title="Hydrate threads of several sizes",
        unit="µs of CPU for each message",
        rows=tuple(rows),
        ratios=tuple(ratios),
    )


def ag_ui_stream(thread: Thread) -> bytes:
    """What ``POST /ag-ui/connect`` sends."""
    adapter = AGUIAdapter(thread, run_id="client_run", profile="1.0")
    return adapter.open() + adapter.close()


def ag_ui_json(thread: Thread) -> bytes:
    """What ``GET /ag-ui/threads/{id}`` sends."""
    return encode(AGUIAdapter.hydrate(thread, profile="1.0"))


def vercel(thread: Thread) -> bytes:
    """What ``GET /vercel/chat/{id}`` sends."""
    return encode(VercelAIAdapter.hydrate(thread))


def native(thread: Thread) -> bytes:
    """What ``GET /threads/{id}`` sends."""
    return encode(NativeAdapter.hydrate(thread))


def peer(thread: Thread) -> str:
    """The same messages by the official Python package."""
    messages = [made for message in thread.messages for made in _peer_messages(message)]
    return EventEncoder().encode(MessagesSnapshotEvent(messages=messages))


def _peer_messages(message: stored.Message) -> Iterator[Message]:
    match message:
        case stored.UserMessage():
            yield UserMessage(id=message.id, content=message.text)
        case stored.AssistantMessage():
            yield AssistantMessage(id=message.id, content=message.text)
        case stored.ToolCallMessage():
            calls = [
                ToolCall(
                    id=record.call.call_id,
                    function=FunctionCall(
                        name=record.call.name, arguments=canonical(record.call.inputs)
                    ),
                )
                for record in message.calls
            ]
            yield AssistantMessage(id=message.id, content=message.text, tool_calls=calls)
        case stored.ToolResultMessage():
            for result in message.results:
                yield ToolMessage(
                    id=result.message_id,
                    tool_call_id=result.call.call_id,
                    content=outcome_text(result.outcome),
                )


def _check_equal(thread: Thread) -> None:
    """Both say the same, or the comparison means nothing."""
    ours = orjson.loads(ag_ui_json(thread))["messages"]
    theirs = orjson.loads(peer(thread).removeprefix("data: "))["messages"]
    if ours != theirs:
        raise RuntimeError("The two snapshots differ.")
