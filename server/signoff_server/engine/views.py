"""Stored rows put together as the ``Thread`` that adapters start on."""

from __future__ import annotations

from sqlalchemy.ext.asyncio import AsyncConnection

from signoff.decisions import Decision
from signoff.errors import CorruptRecord
from signoff.suspension import Suspension, SuspensionState
from signoff.thread import AskedCall, Thread

from ..store import asking, rows, threads, transcript
from ..store.rows import RunRow, SuspensionRow, ThreadRow


async def load_thread(connection: AsyncConnection, row: ThreadRow) -> Thread:
    """The thread as it stands; while it runs, as it stood before the running segment.

    Raises:
        CorruptRecord: what is stored does not add up.
    """
    run = await threads.get_run(connection, row.run_id) if row.run_id else None
    return await load_thread_of_run(connection, row, run)


async def load_thread_of_run(
    connection: AsyncConnection, row: ThreadRow, run: RunRow | None
) -> Thread:
    """The same, where the newest run has been read already."""
    asked = await asking.calls_of_thread(connection, row.id)
    suspension, decisions = _suspension(row, await asking.current(connection, row.id), asked)
    return Thread(
        thread_id=row.client_id,
        id=row.id,
        status=row.status,
        messages=await transcript.read(
            connection, row.id, before_fence=row.fence if row.status == "running" else None
        ),
        run_id=row.run_id,
        assistant_ids=await threads.assistant_ids(connection, row.id),
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


def _suspension(
    thread: ThreadRow, row: SuspensionRow | None, asked: list[rows.AskedCall]
) -> tuple[Suspension | None, dict[str, Decision]]:
    is_open = row is not None and row.state is SuspensionState.OPEN
    if is_open != thread.status.startswith("awaiting"):
        raise CorruptRecord("A stored thread waits without a suspension, or has one and does not.")
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
