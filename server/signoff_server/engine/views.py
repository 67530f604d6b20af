"""Stored rows put together as the ``Thread`` that adapters start on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlalchemy import Connection

from signoff.decisions import Decision
from signoff.errors import CorruptRecord
from signoff.json_text import JsonObject
from signoff.messages import last_batch
from signoff.suspension import Suspension, SuspensionState, ToolCall
from signoff.thread import AskedCall, Thread

from ..store import asking, rows, threads, transcript
from ..store.rows import RunRow, SuspensionRow, ThreadRow


def load_thread(connection: Connection, row: ThreadRow) -> Thread:
    """The thread as it stands; while it runs, as it stood before the running segment.

    Raises:
        CorruptRecord: what is stored does not add up.
    """
    run = threads.get_run(connection, row.run_id) if row.run_id else None
    return load_thread_of_run(connection, row, run, load_suspension(connection, row))


def load_thread_of_run(
    connection: Connection, row: ThreadRow, run: RunRow | None, current: SuspensionRow | None
) -> Thread:
    """The same, where the newest run and the suspension have been read already."""
    asked = asking.calls_of_thread(connection, row.internal_id)
    suspension, decisions = _suspension(current, asked)
    return Thread(
        thread_id=row.thread_id,
        internal_id=row.internal_id,
        status=row.status,
        messages=transcript.read(
            connection, row.internal_id, before_fence=row.fence if row.status == "running" else None
        ),
        run_id=row.run_id,
        assistant_ids=threads.assistant_ids(connection, row.internal_id),
        suspension=suspension,
        decisions=decisions,
        asked={
            call.pending.call_id: AskedCall(pending=call.pending, decision=call.decision)
            for call in asked
        },
        queued=run.queued if run else (),
        state=row.state,
        failure=run.failure if run else None,
    )


def load_suspension(connection: Connection, row: ThreadRow) -> SuspensionRow | None:
    """The suspension that is open, or that the running segment continues.

    Raises:
        CorruptRecord: the thread waits without one, or has an open one and does not wait.
    """
    suspension = asking.current(connection, row.internal_id)
    is_open = suspension is not None and suspension.state is SuspensionState.OPEN
    if is_open != row.status.startswith("awaiting"):
        raise CorruptRecord("A stored thread and its suspension contradict each other.")
    return suspension


def reveal(thread: Thread, secrets: Mapping[str, JsonObject]) -> Thread:
    """The thread with the values of its newest batch's secret inputs, by callId: only a segment
    that carries out answers has a use for them."""
    batch = last_batch(thread.messages)
    if batch is None or not secrets:
        return thread

    def whole(call: ToolCall) -> ToolCall:
        return replace(call, secrets=secrets.get(call.call_id, {}))

    calls = tuple(replace(record, call=whole(record.call)) for record in batch.calls)
    return replace(
        thread,
        messages=tuple(
            replace(batch, calls=calls) if message is batch else message
            for message in thread.messages
        ),
    )


def _suspension(
    row: SuspensionRow | None, asked: list[rows.AskedRow]
) -> tuple[Suspension | None, dict[str, Decision]]:
    if row is None:
        return None, {}
    calls = tuple(call.pending for call in asked if call.suspension_id == row.id)
    if not calls:
        raise CorruptRecord("A stored suspension asks about nothing.")
    decisions = {
        call.pending.call_id: call.decision
        for call in asked
        if call.message_id == row.message_id and call.decision is not None
    }
    return Suspension(kind=row.kind, message_id=row.message_id, calls=calls), decisions
