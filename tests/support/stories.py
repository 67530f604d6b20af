"""Runs told event by event, and the thread as the engine would store it after each segment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from signoff.decisions import Approve, Decision, Reject
from signoff.events import (
    Cancelled,
    Completed,
    Failed,
    RunEvent,
    Suspended,
    TextDelta,
    ToolCallReady,
    ToolCallStarted,
    ToolResult,
)
from signoff.history import Recorder
from signoff.json_text import JsonObject, JsonValue
from signoff.messages import TextPart, UserMessage, result_message_id
from signoff.outcomes import Outcome, Output
from signoff.suspension import PendingCall, Suspension, ToolCall
from signoff.thread import AskedCall, Thread, ThreadStatus
from signoff.vercel_ai import VercelAIAdapter
from signoff.vercel_ai.wire import Sdk

MOMENT = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
REASON = "Deleting a file is irreversible"
YES, NO = Approve(), Reject()


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Its events; what starts it: a user message, or answers to the open batch."""

    events: Sequence[RunEvent]
    says: str | None = None
    answers: Mapping[str, Decision] = field(default_factory=dict[str, Decision])


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """One segment: the thread before it, its events, the thread after it."""

    before: Thread
    events: Sequence[RunEvent]
    after: Thread

    def frames(self, adapter: VercelAIAdapter) -> bytes:
        return adapter.open() + b"".join(adapter.encode(event) for event in self.events)

    def live(self, *, sdk: Sdk = 7) -> bytes:
        """What the page that asked is sent."""
        first = not self.before.decisions
        return self.frames(VercelAIAdapter(self.before, sdk=sdk, replay=first))

    def replay(self, *, sdk: Sdk = 7) -> bytes:
        return self.frames(VercelAIAdapter(self.before, sdk=sdk, replay=True))


def call(call_id: str, inputs: JsonObject | None = None, name: str = "delete_file") -> ToolCall:
    given = {"path": f"/{call_id}"} if inputs is None else inputs
    return ToolCall(call_id=call_id, name=name, inputs=given, description="Delete a file")


def pending(asked: ToolCall, reason: str = REASON) -> PendingCall:
    return PendingCall(call=asked, reason=reason, risk="destructive", fingerprint="f00d")


def said(message_id: str, *pieces: str) -> list[RunEvent]:
    return [TextDelta(message_id=message_id, delta=piece) for piece in pieces]


def gated(message_id: str, *calls: ToolCall) -> list[RunEvent]:
    return [
        ToolCallReady(message_id=message_id, call=one, disposition="gated", reason=REASON)
        for one in calls
    ]


def free(message_id: str, *calls: ToolCall) -> list[RunEvent]:
    return [ToolCallReady(message_id=message_id, call=one, disposition="run") for one in calls]


def pause(message_id: str, *calls: ToolCall) -> Suspended:
    asked = tuple(pending(one) for one in calls)
    return Suspended(suspension=Suspension(kind="approval", message_id=message_id, calls=asked))


def ended(call_id: str, outcome: Outcome) -> RunEvent:
    return ToolResult(message_id=result_message_id(call_id), call_id=call_id, outcome=outcome)


def ran(call_id: str, value: JsonValue = None) -> list[RunEvent]:
    output = Output(value={"deleted": True} if value is None else value)
    return [ToolCallStarted(call_id=call_id), ended(call_id, output)]


def play(segments: Sequence[Segment], thread: Thread | None = None) -> Iterator[Moment]:
    """Play the segments on a thread, as the engine does."""
    current = thread or Thread(thread_id="t1", internal_id="thread_1")
    for segment in segments:
        before = _begin(current, segment)
        current = _store(before, segment.events)
        yield Moment(before=before, events=segment.events, after=current)


def told(segments: Sequence[Segment]) -> Moment:
    """The last moment of a story."""
    return list(play(segments))[-1]


def stage(thread: Thread, answers: Mapping[str, Decision]) -> Thread:
    """The thread with answers that do not complete the batch."""
    return replace(
        thread, decisions={**thread.decisions, **answers}, asked=_decided(thread.asked, answers)
    )


def _begin(thread: Thread, segment: Segment) -> Thread:
    if segment.says is None:
        return replace(stage(thread, segment.answers), status="running")
    number = len(thread.assistant_ids) + 1
    user = UserMessage(
        id=f"u{number}",
        seq=len(thread.messages) + 1,
        created_at=MOMENT,
        run_id=f"run_{number}",
        content=(TextPart(text=segment.says),),
    )
    return replace(
        thread,
        status="running",
        run_id=user.run_id,
        messages=(*thread.messages, user),
        assistant_ids={**thread.assistant_ids, user.run_id: f"m{number}"},
        failure=None,
    )


def _store(before: Thread, events: Sequence[RunEvent]) -> Thread:
    recorder = Recorder.after(before, clock=lambda: MOMENT)
    for event in events:
        recorder.record(event)
    terminal = events[-1]
    after = replace(
        before,
        messages=(*before.messages, *recorder.messages),
        queued=recorder.queued,
        status=_status(terminal),
        suspension=None,
        decisions={},
    )
    if isinstance(terminal, Failed):
        return replace(after, failure=(terminal.code, terminal.message))
    if not isinstance(terminal, Suspended):
        return after
    suspension = terminal.suspension
    new = {one.call_id: AskedCall(pending=one) for one in suspension.calls}
    asked = {**before.asked, **new}
    goes_on = (
        before.suspension is not None and before.suspension.message_id == suspension.message_id
    )
    return replace(
        after, suspension=suspension, asked=asked, decisions=before.decisions if goes_on else {}
    )


def _decided(
    asked: Mapping[str, AskedCall], answers: Mapping[str, Decision]
) -> dict[str, AskedCall]:
    return {
        call_id: replace(one, decision=answers.get(call_id, one.decision))
        for call_id, one in asked.items()
    }


def _status(terminal: RunEvent) -> ThreadStatus:
    match terminal:
        case Completed():
            return "completed"
        case Suspended():
            return "awaiting_approval"
        case Cancelled():
            return "cancelled"
        case _:
            return "failed"
