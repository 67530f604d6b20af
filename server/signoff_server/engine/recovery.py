"""Runs whose process or segment is gone: each is ended from what is on record, its calls with
truthful outcomes, so that the thread can be used again."""

from __future__ import annotations

import logging

from sqlalchemy.ext.asyncio import AsyncConnection

from signoff.errors import CorruptRecord
from signoff.events import Failed, RunEvent
from signoff.history import Recorder
from signoff.messages import last_batch

from ..store import Store, threads, transcript
from ..store.rows import ThreadRow
from .endings import LiveSegment, Means, end_segment
from .views import load_thread

logger = logging.getLogger("signoff")

INTERRUPTED = Failed(code="interrupted", message="The server stopped before the run had ended.")


async def end_interrupted(store: Store, means: Means) -> None:
    """End every run that a dead process left behind. Only at start, while nothing else runs: the
    lock on the database proves that its process is gone.

    A thread that cannot be read stays unreadable, loudly, whenever it is asked for (B112); it does
    not keep the others from being served.
    """
    async with store.read() as connection:
        left_behind = await threads.running(connection)
    for row in left_behind:
        try:
            async with store.write() as connection:
                await end_from_record(connection, row, INTERRUPTED, means)
        except CorruptRecord:
            logger.critical("A thread cannot be read. thread=%s run=%s", row.id, row.run_id)
            async with store.write() as connection:
                # So that it can be reset; nothing of it runs.
                await threads.set_status(connection, row.id, "failed", means.clock())


async def end_from_record(
    connection: AsyncConnection, row: ThreadRow, terminal: Failed, means: Means
) -> list[RunEvent]:
    """End a running thread's run by what is stored of it; returns the events of the end.

    Raises:
        CorruptRecord: the thread cannot be read.
    """
    base = await load_thread(connection, row)
    messages = await transcript.read(connection, row.id)
    run_id = row.run_id or ""
    recorder = Recorder(
        run_id=run_id,
        clock=means.clock,
        next_seq=await transcript.next_seq(connection, row.id),
        batch=last_batch(messages),
        decisions=base.decisions,
        queued=base.queued,
    )
    segment = LiveSegment(thread=row, run_id=run_id, recorder=recorder, decisions=base.decisions)
    return await end_segment(connection, segment, terminal, means)
