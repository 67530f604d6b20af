"""Run sources that are lists: what an agent does in each segment of a thread is written down."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from signoff.decisions import Reject
from signoff.events import (
    Completed,
    RunEvent,
    Suspended,
    TextDelta,
    ToolCallReady,
    ToolCallStarted,
    ToolResult,
)
from signoff.json_text import JsonObject
from signoff.messages import last_batch, result_message_id
from signoff.outcomes import Outcome, Output, Rejected
from signoff.sources.base import Answers, RunRequest
from signoff.suspension import PendingCall, Suspension, ToolCall

REASON = "It cannot be undone"


@dataclass(frozen=True)
class Execute:
    """Begin the call, run it, finish it, say so. ``takes`` holds the tool until it is set."""

    call: ToolCall
    takes: asyncio.Event | None = None


@dataclass(frozen=True)
class CarryOut:
    """Carry out the answers: run what was approved, report what was rejected."""


@dataclass(frozen=True)
class Wait:
    """Wait in the middle of a model call."""

    until: asyncio.Event = field(default_factory=asyncio.Event)


Step: TypeAlias = RunEvent | Execute | CarryOut | Wait | BaseException


@dataclass
class ListSource:
    """Does the steps of one list for each segment, in the order of the segments.

    Attributes:
        segments: the lists.
        requests: what each segment was given.
        ran: callIds of the tools that really ran, in order; one that was cut short is among them.
        busy: set once a tool or a model call is under way.
        closed: how many segments were left in an orderly way.
    """

    segments: Sequence[Sequence[Step]]
    requests: list[RunRequest] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)
    busy: asyncio.Event = field(default_factory=asyncio.Event)
    closed: int = 0

    async def run(self, request: RunRequest) -> AsyncIterator[RunEvent]:
        self.requests.append(request)
        try:
            for step in self.segments[len(self.requests) - 1]:
                async for event in self._do(step, request):
                    yield event
        finally:
            self.closed += 1

    async def _do(self, step: Step, request: RunRequest) -> AsyncIterator[RunEvent]:
        match step:
            case Execute(call=call, takes=takes):
                async for event in self._execute(call, request, takes):
                    yield event
            case CarryOut():
                async for event in self._carry_out(request):
                    yield event
            case Wait(until=until):
                self.busy.set()
                await until.wait()
            case BaseException():
                raise step
            case _:
                yield step

    async def _carry_out(self, request: RunRequest) -> AsyncIterator[RunEvent]:
        batch = last_batch(request.history)
        assert batch is not None
        assert isinstance(request.input, Answers)
        for record in batch.calls:
            decision = request.input.decisions.get(record.call.call_id)
            if isinstance(decision, Reject):
                yield result(record.call.call_id, Rejected(reason=decision.reason))
                continue
            async for event in self._execute(record.call, request, None):
                yield event

    async def _execute(
        self, call: ToolCall, request: RunRequest, takes: asyncio.Event | None
    ) -> AsyncIterator[RunEvent]:
        outcome = await request.ledger.begin(call)
        if outcome is None:
            yield ToolCallStarted(call_id=call.call_id)
            self.ran.append(call.call_id)
            self.busy.set()
            if takes is not None:
                await takes.wait()
            outcome = Output(value={"did": call.call_id})
            await request.ledger.finish(call.call_id, outcome)
        yield result(call.call_id, outcome)


def call(call_id: str, **inputs: object) -> ToolCall:
    values: JsonObject = inputs or {"path": f"/{call_id}"}  # type: ignore[assignment]  # JSON, as tests write it
    return ToolCall(call_id=call_id, name="delete_file", inputs=values, description="Deletes")


def result(call_id: str, outcome: Outcome) -> ToolResult:
    return ToolResult(message_id=result_message_id(call_id), call_id=call_id, outcome=outcome)


def say(text: str, message_id: str = "said") -> list[Step]:
    """Text, and the end of the run."""
    return [TextDelta(message_id=message_id, delta=text), Completed()]


def ready(
    calls: Iterable[ToolCall], *, message_id: str = "batch", free: Sequence[str] = ()
) -> list[Step]:
    """A batch, announced; the calls named ``free`` need nobody."""
    return [
        ToolCallReady(
            message_id=message_id,
            call=item,
            disposition="run" if item.call_id in free else "gated",
            reason=None if item.call_id in free else REASON,
        )
        for item in calls
    ]


def suspended(calls: Iterable[ToolCall], *, message_id: str = "batch") -> Suspended:
    pending = tuple(PendingCall(call=item, reason=REASON, risk="destructive") for item in calls)
    return Suspended(
        suspension=Suspension(kind="approval", message_id=message_id, calls=pending), state=b"mine"
    )


def ask(*call_ids: str, message_id: str = "batch", free: Sequence[str] = ()) -> list[Step]:
    """A batch that is held until all but the ``free`` calls are answered."""
    calls = [call(call_id) for call_id in call_ids]
    asked = [item for item in calls if item.call_id not in free]
    return [
        *ready(calls, message_id=message_id, free=free),
        suspended(asked, message_id=message_id),
    ]


def asking(*call_ids: str, free: Sequence[str] = ()) -> ListSource:
    """Ask about the calls, carry the answers out, say that it is done."""
    return ListSource([ask(*call_ids, free=free), [CarryOut(), *say("Done.")]])
