"""Translate and encode: one run of 10,000 deltas of 20 characters and 20 tool calls.

The floor is ``orjson`` and the framing of the very dicts that the streams hold, made beforehand.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from functools import partial
from typing import Any

import orjson
from pydantic_ai.messages import (
    FunctionToolCallEvent,
    FunctionToolResultEvent,
    PartDeltaEvent,
    PartEndEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
    ToolReturnPart,
)
from pydantic_ai.ui import NativeEvent, UIEventStream
from pydantic_ai.ui.ag_ui import AGUIEventStream
from pydantic_ai.ui.vercel_ai import VercelAIEventStream

from signoff.adapter import StreamAdapter
from signoff.ag_ui import AGUIAdapter
from signoff.events import RunEvent
from signoff.vercel_ai import VercelAIAdapter
from signoff_server.streaming import encoded

from .measure import Table, at_least, at_most, cpu_rows
from .workload import DELTAS, RESULT, Turn, events, running_thread, turns

OURS_AG_UI = "signoff, AG-UI"
OURS_VERCEL = "signoff, Vercel"
SERVED_AG_UI = "signoff, AG-UI, through the server's stream"
SERVED_VERCEL = "signoff, Vercel, through the server's stream"
FLOOR_AG_UI = "floor: orjson and framing, AG-UI"
FLOOR_VERCEL = "floor: orjson and framing, Vercel"
PEER_AG_UI = "pydantic-ai, AG-UI"
PEER_VERCEL = "pydantic-ai, Vercel"


def table() -> Table:
    ours = events()
    theirs = peer_events()
    ag_ui, vercel = encode(ag_ui_adapter(), ours), encode(vercel_adapter(), ours)
    rows = cpu_rows(
        {
            FLOOR_AG_UI: partial(frame_all, payloads(ag_ui)),
            FLOOR_VERCEL: partial(frame_all, payloads(vercel)),
            OURS_AG_UI: lambda: encode(ag_ui_adapter(), ours),
            OURS_VERCEL: lambda: encode(vercel_adapter(), ours),
            SERVED_AG_UI: lambda: serve(ag_ui_adapter(), ours),
            SERVED_VERCEL: lambda: serve(vercel_adapter(), ours),
            PEER_AG_UI: lambda: peer_encode(AGUIEventStream, theirs),
            PEER_VERCEL: lambda: peer_encode(VercelAIEventStream, theirs),
        },
        per=DELTAS,
    )
    made = Table(
        name="stream",
        title="Translate and encode a run of 10,000 text deltas and 20 tool calls",
        unit="µs of CPU for each delta",
        rows=rows,
    )

    def over(name: str, slow: str, fast: str) -> tuple[str, float]:
        return name, made.row(slow).median / made.row(fast).median

    return replace(
        made,
        ratios=(
            at_most(3, *over("AG-UI over its floor", OURS_AG_UI, FLOOR_AG_UI)),
            at_most(3, *over("Vercel over its floor", OURS_VERCEL, FLOOR_VERCEL)),
            at_least(8, *over("pydantic-ai's AG-UI over ours", PEER_AG_UI, OURS_AG_UI)),
            at_least(
                8,
                *over(
                    "pydantic-ai's AG-UI over ours, through the server's stream",
                    PEER_AG_UI,
                    SERVED_AG_UI,
                ),
            ),
            at_least(8, *over("pydantic-ai's Vercel over ours", PEER_VERCEL, OURS_VERCEL)),
        ),
    )


def ag_ui_adapter() -> AGUIAdapter:
    return AGUIAdapter(running_thread(), run_id="client_run", profile="1.0", restate=False)


def vercel_adapter() -> VercelAIAdapter:
    return VercelAIAdapter(running_thread(), replay=True)


def encode(adapter: StreamAdapter, said: list[RunEvent]) -> bytes:
    """The whole stream."""
    return b"".join([adapter.open(), *map(adapter.encode, said)])


def serve(adapter: StreamAdapter, said: list[RunEvent]) -> int:
    """The same by way of the server: each event is a write of its own, as with a slow model."""

    async def chunks() -> int:
        return len([chunk async for chunk in encoded(adapter, _Attachment(said))])

    return asyncio.run(chunks())


def payloads(stream: bytes) -> list[object]:
    """The dicts of a stream, without Vercel's ``[DONE]``."""
    texts = [line[len(b"data: ") :] for line in stream.split(b"\n") if line.startswith(b"data: ")]
    return [orjson.loads(text) for text in texts if text != b"[DONE]"]


def frame_all(dicts: list[object]) -> bytes:
    """What no stream of these dicts can do without."""
    return b"".join([b"data: " + orjson.dumps(item) + b"\n\n" for item in dicts])


def peer_encode(
    stream_type: Callable[[], UIEventStream[Any, Any, Any, Any]], said: list[NativeEvent]
) -> int:
    """One of pydantic-ai's streams, from its own events to text."""

    async def replay() -> AsyncIterator[NativeEvent]:
        for event in said:
            yield event

    async def texts() -> int:
        stream = stream_type()
        frames = stream.encode_stream(stream.transform_stream(replay()))
        return len([frame async for frame in frames])

    count = asyncio.run(texts())
    if count < DELTAS:
        # An error would end it early, and look very fast.
        raise RuntimeError(f"{stream_type} gave {count} frames only.")
    return count


def peer_events() -> list[NativeEvent]:
    """The run as pydantic-ai's events."""
    return [event for turn in turns() for event in _peer_turn(turn)]


def _peer_turn(turn: Turn) -> list[NativeEvent]:
    arguments = orjson.dumps(turn.call.inputs).decode()
    first, *rest = turn.deltas
    called = ToolCallPart(turn.call.name, arguments, turn.call.call_id)
    returned = ToolReturnPart(turn.call.name, RESULT, turn.call.call_id)
    return [
        PartStartEvent(index=0, part=TextPart(first)),
        *(PartDeltaEvent(index=0, delta=TextPartDelta(delta)) for delta in rest),
        PartEndEvent(index=0, part=TextPart("".join(turn.deltas)), next_part_kind="tool-call"),
        PartStartEvent(
            index=1,
            part=ToolCallPart(turn.call.name, "", turn.call.call_id),
            previous_part_kind="text",
        ),
        PartDeltaEvent(
            index=1,
            delta=ToolCallPartDelta(args_delta=arguments, tool_call_id=turn.call.call_id),
        ),
        PartEndEvent(index=1, part=called),
        FunctionToolCallEvent(part=called),
        FunctionToolResultEvent(part=returned),
    ]


class _Attachment:
    """A segment whose reader keeps up with it: every event is a batch of its own."""

    def __init__(self, said: list[RunEvent]) -> None:
        self._said = said

    @property
    def segment(self) -> _Attachment:
        return self

    async def read(self) -> AsyncIterator[list[RunEvent]]:
        for event in self._said:
            yield [event]

    def on_left(self) -> None:
        """The reader goes."""
