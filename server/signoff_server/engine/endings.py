"""How a segment ends: everything it made is committed in one transaction, then it is announced.

After any end but a pause every call of the batch has an outcome, also those the run left behind, so
that the history is one every model accepts (B12, B44).
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from sqlalchemy import Connection

from signoff.decisions import Decision, Reject
from signoff.errors import SignoffError
from signoff.events import Cancelled, Completed, Failed, RunEvent, Suspended, Terminal, ToolResult
from signoff.history import Recorder
from signoff.json_text import JsonValue, dumps
from signoff.messages import result_message_id
from signoff.outcomes import Indeterminate, Outcome, Rejected, ToolError
from signoff.suspension import Suspension, SuspensionEvent, ToolCall, call_hash
from signoff.thread import ThreadStatus

from ..store import asking, audit, executions, secrets, threads, transcript
from ..store.rows import ExecutionRow, ThreadRow
from .clock import Clock

NOT_RUN_TEXT = "TOOL NOT EXECUTED. The run ended before this tool was started."


class UnfitSuspension(SignoffError):
    """A source suspended in a way that cannot be answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSegment:
    """A segment that runs: whose it is, and what it said so far.

    ``left_behind`` are results that its end gave to open calls. They stay when the commit fails
    and is tried again: the recorder has them by then, and would give no second ones.
    """

    thread: ThreadRow
    run_id: str
    recorder: Recorder
    decisions: Mapping[str, Decision]
    left_behind: list[ToolResult] = field(default_factory=list[ToolResult])


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamps:
    """What an end is made with: time, ids and the key of published fingerprints."""

    clock: Clock
    new_id: Callable[[str], str]
    key: bytes


def end_segment(
    connection: Connection,
    segment: LiveSegment,
    terminal: Terminal,
    stamps: Stamps,
    *,
    client_state: tuple[JsonValue] | None = None,
) -> list[RunEvent]:
    """Store the end of a segment, in the caller's transaction.

    Returns the events to announce after the commit: results of calls left behind, then the terminal
    as clients get it. After a failed commit it may be called again, also with another terminal.

    Raises:
        UnfitSuspension: the suspension's calls are not open calls of the newest batch.
    """
    recorder, thread = segment.recorder, segment.thread
    if isinstance(terminal, Suspended):
        terminal = replace(terminal, suspension=_publishable(terminal.suspension, segment, stamps))
    else:
        results = _close_calls(
            connection, thread.internal_id, recorder.open_calls(), segment.decisions
        )
        for result in results:
            recorder.record(result)
        segment.left_behind.extend(results)
    recorder.record(terminal)
    transcript.append(connection, thread.internal_id, thread.fence, recorder.unstored)
    threads.set_queued(connection, segment.run_id, recorder.queued)
    if client_state is not None:
        threads.set_state(connection, thread.internal_id, client_state[0])
    _close_suspension(connection, thread, terminal, stamps)
    if isinstance(terminal, Suspended):
        _store_suspension(connection, segment, terminal, stamps)
    else:
        _store_run_end(connection, segment, terminal, stamps)
    threads.set_status(connection, thread.internal_id, _status(terminal), stamps.clock())
    return [*segment.left_behind, terminal]


def fingerprint(key: bytes, internal_id: str, call: ToolCall) -> str:
    """The published fingerprint of a call: keyed, so that it tells nothing of inputs that could be
    guessed, and bound to its thread and callId. The parts are a JSON list: joined by a separator,
    two different calls could give the same text (B82)."""
    text = dumps(
        ["signoff-call-v1", internal_id, call.call_id, call_hash(call.name, call.true_inputs)]
    )
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def _publishable(suspension: Suspension, segment: LiveSegment, stamps: Stamps) -> Suspension:
    if suspension.kind != "approval":
        raise UnfitSuspension(f"Suspensions of kind {suspension.kind} cannot be answered yet.")
    segment.recorder.seal()
    batch = segment.recorder.batch
    open_calls = {call.call_id: call for call in segment.recorder.open_calls()}
    if batch is None or batch.id != suspension.message_id:
        raise UnfitSuspension("A suspension has to name the newest batch of calls.")
    if len(open_calls) != len(batch.calls):
        raise UnfitSuspension("A batch waits whole: some of its calls have an outcome already.")
    for pending in suspension.calls:
        if open_calls.get(pending.call_id) != pending.call:
            raise UnfitSuspension("A suspended call is not an open call of the batch.")
    return replace(
        suspension,
        calls=tuple(
            replace(
                pending,
                fingerprint=fingerprint(stamps.key, segment.thread.internal_id, pending.call),
            )
            for pending in suspension.calls
        ),
    )


def _store_suspension(
    connection: Connection, segment: LiveSegment, terminal: Suspended, stamps: Stamps
) -> None:
    now = stamps.clock()
    threads.pause_run(connection, segment.run_id, terminal.state)
    asking.store(
        connection,
        segment.thread.internal_id,
        segment.run_id,
        terminal.suspension,
        id=stamps.new_id("sus"),
        fence=segment.thread.fence,
        now=now,
    )
    # The whole batch waits: also what nobody is asked about runs with its own inputs later.
    secrets.keep(connection, segment.thread.internal_id, segment.recorder.open_calls())
    for pending in terminal.suspension.calls:
        audit.write(
            connection,
            segment.thread,
            "asked",
            now=now,
            run_id=segment.run_id,
            call=pending.call,
            detail=pending.reason,
        )


def _store_run_end(
    connection: Connection, segment: LiveSegment, terminal: Terminal, stamps: Stamps
) -> None:
    failure = (terminal.code, terminal.message) if isinstance(terminal, Failed) else None
    now = stamps.clock()
    threads.end_run(connection, segment.run_id, now, failure)
    audit.write(
        connection,
        segment.thread,
        "run_ended",
        now=now,
        run_id=segment.run_id,
        detail=_status(terminal),
    )


def _close_suspension(
    connection: Connection, thread: ThreadRow, terminal: Terminal, stamps: Stamps
) -> None:
    answered = asking.current(connection, thread.internal_id)
    if answered is None:
        return
    carried_out = isinstance(terminal, (Completed, Suspended))
    event = SuspensionEvent.FINISHED if carried_out else SuspensionEvent.RUN_ENDED
    asking.move(connection, answered, event, stamps.clock())


def _close_calls(
    connection: Connection,
    internal_id: str,
    calls: Iterable[ToolCall],
    decisions: Mapping[str, Decision],
) -> list[ToolResult]:
    open_calls = list(calls)
    begun = executions.find(connection, internal_id, [call.call_id for call in open_calls])
    return [
        ToolResult(
            message_id=result_message_id(call.call_id),
            call_id=call.call_id,
            outcome=_left_behind(begun.get(call.call_id), decisions.get(call.call_id)),
        )
        for call in open_calls
    ]


def _left_behind(execution: ExecutionRow | None, decision: Decision | None) -> Outcome:
    if execution is not None:
        return execution.outcome or Indeterminate()
    if isinstance(decision, Reject):
        return Rejected(reason=decision.reason)
    return ToolError(text=NOT_RUN_TEXT)


def _status(terminal: Terminal) -> ThreadStatus:
    match terminal:
        case Completed():
            return "completed"
        case Failed():
            return "failed"
        case Cancelled():
            return "cancelled"
        case Suspended(suspension=Suspension(kind="approval")):
            return "awaiting_approval"
        case Suspended(suspension=Suspension(kind="input")):
            return "awaiting_input"
        case Suspended():
            return "awaiting_results"
