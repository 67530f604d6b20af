"""Hydrate: a stored thread to the bytes that a reloaded page gets.

For AG-UI the peer makes ``ag_ui.core``'s models of the same messages and encodes them as a
MESSAGES_SNAPSHOT, as a server built on that package does, with ``json.dumps`` for arguments and
results. Both begin at the same messages in memory, and both must give the same snapshot. For Vercel
it is pydantic-ai's ``dump_messages`` of its own messages.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache, partial

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
from pydantic import TypeAdapter
from pydantic_ai import messages as theirs
from pydantic_ai.ui.vercel_ai import VercelAIAdapter as PeerVercelAIAdapter
from pydantic_ai.ui.vercel_ai.request_types import UIMessage

from signoff import messages as stored
from signoff.ag_ui import AGUIAdapter
from signoff.ag_ui.hydrate import thread_messages
from signoff.ag_ui.wire import messages_snapshot
from signoff.json_text import JsonValue, encode
from signoff.native import NativeAdapter
from signoff.outcomes import Outcome, Output, outcome_text
from signoff.sse import data_frame
from signoff.thread import Thread
from signoff.vercel_ai import VercelAIAdapter

from .measure import Ratio, Row, Table, at_least, at_most, cpu_rows
from .workload import stored_thread

MESSAGES = 1000
SIZES = (250, 500, 1000, 2000)

OURS = "signoff, AG-UI: a MESSAGES_SNAPSHOT"
OURS_STREAM = "signoff, AG-UI: the whole reload stream"
OURS_JSON = "signoff, AG-UI: the reload as JSON"
OURS_VERCEL = "signoff, Vercel"
OURS_NATIVE = "signoff, native"
FLOOR = "floor: orjson of the AG-UI JSON"
PEER = "EventEncoder: a MESSAGES_SNAPSHOT"
PEER_ENCODE = "EventEncoder: the same, its models made beforehand"
PEER_VERCEL = "pydantic-ai, Vercel"


def table() -> Table:
    thread = stored_thread(MESSAGES)
    _check_equal(thread)
    view = orjson.loads(ag_ui_json(thread))
    rows = cpu_rows(
        {
            FLOOR: lambda: orjson.dumps(view),
            OURS: partial(ag_ui_snapshot, thread),
            OURS_STREAM: partial(ag_ui_stream, thread),
            OURS_JSON: partial(ag_ui_json, thread),
            OURS_VERCEL: partial(vercel, thread),
            OURS_NATIVE: partial(native, thread),
            PEER: partial(peer, thread),
            PEER_ENCODE: partial(EventEncoder().encode, peer_event(thread)),
            PEER_VERCEL: partial(peer_vercel, peer_history(thread)),
        },
        per=MESSAGES,
    )
    median = {row.name: row.median for row in rows}
    ratios = [
        at_least(5, "EventEncoder over ours", median[PEER] / median[OURS]),
        at_least(5, "pydantic-ai's Vercel over ours", median[PEER_VERCEL] / median[OURS_VERCEL]),
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
    ways: dict[str, Callable[[Thread], object]] = {
        "AG-UI": ag_ui_snapshot,
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
        grown = costs[-1].median / costs[0].median
        ratios.append(at_most(1.5, f"{name}: a message among 2,000 over one among 250", grown))
    return Table(
        name="hydrate-sizes",
        title="Hydrate threads of several sizes",
        unit="µs of CPU for each message",
        rows=tuple(rows),
        ratios=tuple(ratios),
    )


def ag_ui_snapshot(thread: Thread) -> bytes:
    """The frame that brings the messages."""
    return data_frame(messages_snapshot(thread_messages(thread)))


def ag_ui_stream(thread: Thread) -> list[bytes]:
    """What ``POST /ag-ui/connect`` sends: two writes."""
    adapter = AGUIAdapter(thread, run_id="client_run", profile="1.0")
    return [adapter.open(), adapter.close()]


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
    return EventEncoder().encode(peer_event(thread))


def peer_event(thread: Thread) -> MessagesSnapshotEvent:
    messages = [made for message in thread.messages for made in _peer_messages(message)]
    return MessagesSnapshotEvent(messages=messages)


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
                        name=record.call.name, arguments=_text(record.call.inputs)
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
                    content=_content(result.outcome),
                )


def _content(outcome: Outcome) -> str:
    return _text(outcome.value) if isinstance(outcome, Output) else outcome_text(outcome)


def _text(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def peer_history(thread: Thread) -> list[theirs.ModelMessage]:
    """The same messages as pydantic-ai keeps them."""
    return [_peer_message(message) for message in thread.messages]


def peer_vercel(history: list[theirs.ModelMessage]) -> bytes:
    """pydantic-ai's UIMessages of them, as JSON."""
    shown = PeerVercelAIAdapter.dump_messages(history, sdk_version=7)
    return _ui_messages().dump_json(shown, by_alias=True, exclude_none=True)


@cache
def _ui_messages() -> TypeAdapter[list[UIMessage]]:
    return TypeAdapter(list[UIMessage])


def _peer_message(message: stored.Message) -> theirs.ModelMessage:
    match message:
        case stored.UserMessage():
            return theirs.ModelRequest([theirs.UserPromptPart(message.text)])
        case stored.AssistantMessage():
            return theirs.ModelResponse([theirs.TextPart(message.text)])
        case stored.ToolCallMessage():
            calls = [
                theirs.ToolCallPart(
                    record.call.name, _text(record.call.inputs), record.call.call_id
                )
                for record in message.calls
            ]
            return theirs.ModelResponse([theirs.TextPart(message.text), *calls])
        case stored.ToolResultMessage():
            returns = [
                theirs.ToolReturnPart(result.call.name, _value(result.outcome), result.call.call_id)
                for result in message.results
            ]
            return theirs.ModelRequest(returns)


def _value(outcome: Outcome) -> JsonValue:
    return outcome.value if isinstance(outcome, Output) else outcome_text(outcome)


def _check_equal(thread: Thread) -> None:
    """Both say the same, or the comparison means nothing."""
    ours = orjson.loads(ag_ui_json(thread))["messages"]
    theirs = orjson.loads(peer(thread).removeprefix("data: "))["messages"]
    if ours != theirs:
        raise RuntimeError("The two snapshots differ.")
