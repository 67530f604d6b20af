"""Threads and runs: read, claimed, ended.

Every write of a thread begins by locking its row, so that of several claimers one wins. On SQLite
the whole writing transaction is the lock (BEGIN IMMEDIATE).
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

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
    message_text,
    run_row,
    thread_row,
)
from .tables import runs, threads


async def find(
    connection: AsyncConnection, principal: Principal, client_id: str
) -> ThreadRow | None:
    """The principal's thread with the client's id; ownership is part of the key (R125)."""
    if not is_storable(client_id):
        return None
    result = await connection.execute(
        select(threads).where(
            threads.c.tenant == principal.tenant,
            threads.c.owner == principal.id,
            threads.c.client_id == client_id,
        )
    )
    row = result.one_or_none()
    return None if row is None else thread_row(row)


async def get(connection: AsyncConnection, thread_id: str) -> ThreadRow | None:
    """A thread by the server's id."""
    result = await connection.execute(select(threads).where(threads.c.id == thread_id))
    row = result.one_or_none()
    return None if row is None else thread_row(row)


async def running(connection: AsyncConnection) -> list[ThreadRow]:
    """Every thread whose run is on its way."""
    result = await connection.execute(select(threads).where(threads.c.status == "running"))
    return [thread_row(row) for row in result]


async def find_or_create(
    connection: AsyncConnection, principal: Principal, client_id: str, *, id: str, now: datetime
) -> ThreadRow:
    existing = await find(connection, principal, client_id)
    if existing is not None:
        return existing
    result = await connection.execute(
        insert(threads)
        .values(
            id=id,
            tenant=principal.tenant,
            owner=principal.id,
            client_id=client_id,
            status="new",
            created_at=format_time(now),
            updated_at=format_time(now),
        )
        .returning(threads)
    )
    return thread_row(result.one())


async def claim(connection: AsyncConnection, thread: ThreadRow, run_id: str, now: datetime) -> int:
    """Give the thread to a new segment; returns its fence, which every later write has to name."""
    fence = thread.fence + 1
    await connection.execute(
        update(threads)
        .where(threads.c.id == thread.id)
        .values(status="running", run_id=run_id, fence=fence, updated_at=format_time(now))
    )
    return fence


async def set_status(
    connection: AsyncConnection, thread_id: str, status: ThreadStatus, now: datetime
) -> None:
    await connection.execute(
        update(threads)
        .where(threads.c.id == thread_id)
        .values(status=status, updated_at=format_time(now))
    )


async def set_state(connection: AsyncConnection, thread_id: str, state: JsonValue) -> None:
    """Keep the client's shared state."""
    await connection.execute(
        update(threads).where(threads.c.id == thread_id).values(state=dumps(state))
    )


async def remove(connection: AsyncConnection, thread_id: str) -> None:
    """Delete the thread and all that hangs on it; its audit rows stay."""
    await connection.execute(delete(threads).where(threads.c.id == thread_id))


async def create_run(
    connection: AsyncConnection,
    thread_id: str,
    *,
    id: str,
    source: str,
    assistant_id: str,
    client: ClientContext,
    now: datetime,
) -> None:
    await connection.execute(
        insert(runs).values(
            id=id,
            thread_id=thread_id,
            source=source,
            assistant_id=assistant_id,
            client=client_to_text(client),
            created_at=format_time(now),
        )
    )


async def get_run(connection: AsyncConnection, run_id: str) -> RunRow:
    """A run.

    Raises:
        CorruptRecord: it is not there, or cannot be read.
    """
    result = await connection.execute(select(runs).where(runs.c.id == run_id))
    row = result.one_or_none()
    if row is None:
        raise CorruptRecord("A stored thread names a run that is not there.")
    return run_row(row)


async def assistant_ids(connection: AsyncConnection, thread_id: str) -> dict[str, str]:
    result = await connection.execute(
        select(runs.c.id, runs.c.assistant_id).where(runs.c.thread_id == thread_id)
    )
    return {row.id: row.assistant_id for row in result}


async def set_assistant_id(connection: AsyncConnection, run_id: str, assistant_id: str) -> None:
    await connection.execute(
        update(runs).where(runs.c.id == run_id).values(assistant_id=assistant_id)
    )


async def set_queued(
    connection: AsyncConnection, run_id: str, messages: tuple[UserMessage, ...]
) -> None:
    body = "[" + ",".join(message_text(message) for message in messages) + "]"
    await connection.execute(update(runs).where(runs.c.id == run_id).values(queued=body))


async def pause_run(connection: AsyncConnection, run_id: str, state: bytes | None) -> None:
    await connection.execute(update(runs).where(runs.c.id == run_id).values(state=state))


async def end_run(
    connection: AsyncConnection,
    run_id: str,
    now: datetime,
    failure: tuple[str, str] | None = None,
) -> None:
    code, message = failure or (None, None)
    await connection.execute(
        update(runs)
        .where(runs.c.id == run_id)
        .values(ended_at=format_time(now), failure_code=code, failure_message=message, state=None)
    )
