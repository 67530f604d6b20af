"""Runs whose process or segment is gone: each is ended from what is on record, its calls with
truthful outcomes, so that the thread can be used again."""

from __future__ import annotations

import logging
from functools import partial

from sqlalchemy import Connection

from signoff.errors import CorruptRecord
from signoff.events import Failed, RunEvent
from signoff.history import Recorder
from signoff.messages import last_batch

from ..store import Store, threads, transcript
from ..store.rows import ThreadRow
from .endings import LiveSegment, Stamps, end_segment
from .views import load_thread

_LOG = logging.getLogger("signoff")

INTERRUPTED = Failed(code="interrupted", message="The server stopped before the run had ended.")


async def end_interrupted(store: Store, stamps: Stamps) -> None:
    """End every run that a dead process left behind. Only at start, while nothing else runs: the
    lock on the database proves that its process is gone.

    A thread that cannot be read stays unreadable, loudly, whenever it is asked for (B112); it does
    not keep the others from being served.
    """
    for row in await store.read(threads.running):
        try:
            await store.write(
                partial(end_from_record, row=row, terminal=INTERRUPTED, stamps=stamps)
            )
        except CorruptRecord:
            _LOG.critical("A thread cannot be read. thread=%s run=%s", row.internal_id, row.run_id)
            # So that it can be reset; nothing of it runs.
            await store.write(
                partial(
                    threads.set_status,
                    internal_id=row.internal_id,
                    status="failed",
                    now=stamps.clock(),
                )
            )


def end_from_record(
    connection: Connection, row: ThreadRow, terminal: Failed, stamps: Stamps
) -> list[RunEvent]:
    """End a running thread's run by what is stored of it; returns the events of the end.

    Raises:
        CorruptRecord: the thread cannot be read.
    """
    base = load_thread(connection, row)
    messages = transcript.read(connection, row.internal_id)
    run_id = row.run_id or ""
    recorder = Recorder(
        run_id=run_id,
        clock=stamps.clock,
        next_seq=transcript.next_seq(connection, row.internal_id),
        batch=last_batch(messages),
        decisions=base.decisions,
        queued=base.queued,
    )
    segment = LiveSegment(thread=row, run_id=run_id, recorder=recorder, decisions=base.decisions)
    return end_segment(connection, segment, terminal, stamps)
