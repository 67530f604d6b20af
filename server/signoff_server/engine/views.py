"""Stored rows put together as the ``Thread`` that adapters start on."""

from __future__ import annotations

from sqlalchemy import Connection

from signoff.decisions import Decision
from signoff.errors import CorruptRecord
from signoff.suspension import Suspension, SuspensionState
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
