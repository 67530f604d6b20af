"""Threads and runs: read, claimed, ended.

Every write of a thread begins by locking its row, so that of several claimers one wins. On SQLite
the whole writing transaction is the lock (BEGIN IMMEDIATE).
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from signoff.commands import ClientContext
from signoff.errors import CorruptRecord
from signoff.json_text import JsonValue, dumps
from signoff.messages import UserMessage
from signoff.principal import Principal
from signoff.suspension import format_time
from signoff.thread import ThreadStatus

from .rows import (
    RunRow,
    ThreadRow,
    client_to_text,
    is_storable,
    message_to_text,
    run_row,
    thread_row,
)
from .tables import runs, threads

# Made once: to build a statement takes longer than SQLite needs to answer it.
_BY_KEY = select(threads).where(
    threads.c.tenant == bindparam("tenant"),
    threads.c.owner == bindparam("owner"),
    threads.c.client_id == bindparam("client_id"),
)
_BY_ID = select(threads).where(threads.c.id == bindparam("id"))
_RUN = select(runs).where(runs.c.id == bindparam("id"))
_ASSISTANT_IDS = select(runs.c.id, runs.c.assistant_id).where(
    runs.c.thread_id == bindparam("thread_id")
)


def find(connection: Connection, principal: Principal, thread_id: str) -> ThreadRow | None:
    """The principal's thread with the client's id; ownership is part of the key (R125)."""
    if not is_storable(thread_id):
        return None
    key = {"tenant": principal.tenant, "owner": principal.id, "client_id": thread_id}
    result = connection.execute(_BY_KEY, key)
    row = result.one_or_none()
    return None if row is None else thread_row(row)


def get(connection: Connection, internal_id: str) -> ThreadRow | None:
    """A thread by the server's id."""
    result = connection.execute(_BY_ID, {"id": internal_id})
    row = result.one_or_none()
    return None if row is None else thread_row(row)


def running(connection: Connection) -> list[ThreadRow]:
    """Every thread whose run is on its way."""
    result = connection.execute(select(threads).where(threads.c.status == "running"))
    return [thread_row(row) for row in result]


def find_or_create(
    connection: Connection, principal: Principal, thread_id: str, *, internal_id: str, now: datetime
) -> ThreadRow:
    existing = find(connection, principal, thread_id)
    if existing is not None:
        return existing
    result = connection.execute(
        insert(threads)
        .values(
            id=internal_id,
            tenant=principal.tenant,
            owner=principal.id,
            client_id=thread_id,
            status="new",
            created_at=format_time(now),
            updated_at=format_time(now),
        )
        .returning(threads)
    )
    return thread_row(result.one())


def claim(connection: Connection, thread: ThreadRow, run_id: str, now: datetime) -> ThreadRow:
    """Give the thread to a new segment; its fence is one that every later write has to name."""
    fence = thread.fence + 1
    connection.execute(
        update(threads)
        .where(threads.c.id == thread.internal_id)
        .values(status="running", run_id=run_id, fence=fence, updated_at=format_time(now))
    )
    return replace(thread, status="running", run_id=run_id, fence=fence)


def set_status(
    connection: Connection, internal_id: str, status: ThreadStatus, now: datetime
) -> None:
    connection.execute(
        update(threads)
        .where(threads.c.id == internal_id)
        .values(status=status, updated_at=format_time(now))
    )


def set_state(connection: Connection, internal_id: str, state: JsonValue) -> None:
    """Keep the client's shared state."""
    connection.execute(
        update(threads).where(threads.c.id == internal_id).values(state=dumps(state))
    )


def remove(connection: Connection, internal_id: str) -> None:
    """Delete the thread and all that hangs on it; its audit rows stay."""
    connection.execute(delete(threads).where(threads.c.id == internal_id))


def create_run(
    connection: Connection,
    internal_id: str,
    *,
    id: str,
    source: str,
    assistant_id: str,
    client: ClientContext,
    now: datetime,
) -> None:
    connection.execute(
        insert(runs).values(
            id=id,
            thread_id=internal_id,
            source=source,
            assistant_id=assistant_id,
            client=client_to_text(client),
            created_at=format_time(now),
        )
    )


def get_run(connection: Connection, run_id: str) -> RunRow:
    """A run.

    Raises:
        CorruptRecord: it is not there, or cannot be read.
    """
    result = connection.execute(_RUN, {"id": run_id})
    row = result.one_or_none()
    if row is None:
        raise CorruptRecord("A stored thread names a run that is not there.")
    return run_row(row)


def assistant_ids(connection: Connection, internal_id: str) -> dict[str, str]:
    result = connection.execute(_ASSISTANT_IDS, {"thread_id": internal_id})
    return {row.id: row.assistant_id for row in result}


def set_assistant_id(connection: Connection, run_id: str, assistant_id: str) -> None:
    connection.execute(update(runs).where(runs.c.id == run_id).values(assistant_id=assistant_id))


def set_queued(connection: Connection, run_id: str, messages: tuple[UserMessage, ...]) -> None:
    body = "[" + ",".join(message_to_text(message) for message in messages) + "]"
    connection.execute(update(runs).where(runs.c.id == run_id).values(queued=body))


def pause_run(connection: Connection, run_id: str, state: bytes | None) -> None:
    connection.execute(update(runs).where(runs.c.id == run_id).values(state=state))


def end_run(
    connection: Connection,
    run_id: str,
    now: datetime,
    failure: tuple[str, str] | None = None,
) -> None:
    code, message = failure or (None, None)
    connection.execute(
        update(runs)
        .where(runs.c.id == run_id)
        .values(ended_at=format_time(now), failure_code=code, failure_message=message, state=None)
    )
