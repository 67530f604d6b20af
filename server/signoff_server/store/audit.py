"""The record of who did what, written in the transaction of the fact it records (design §6.8)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from sqlalchemy import Connection, func, insert, select

from signoff.json_text import JsonValue
from signoff.suspension import ToolCall, call_hash, format_time

from . import chain, keys
from .chain import Broken, Head
from .rows import ThreadRow
from .tables import audit

AuditEvent: TypeAlias = Literal[
    "run_started",
    "run_ended",
    "asked",
    "approved",
    "rejected",
    "began",
    "finished",
    "finished_late",
    "stop_asked",
    "reset",
]
Means: TypeAlias = Literal["person", "rule", "deadline", "server"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """One line of the record, as it is read back."""

    event: str
    actor: str | None
    means: str | None
    protocol: str | None
    call_id: str | None
    tool: str | None
    detail: str | None
    at: str


def write(
    connection: Connection,
    thread: ThreadRow,
    event: AuditEvent,
    *,
    now: datetime,
    run_id: str | None = None,
    call: ToolCall | None = None,
    actor: str | None = None,
    means: Means = "server",
    protocol: str | None = None,
    detail: str | None = None,
) -> None:
    """Add a line. ``actor`` comes from authentication, never from a body; inputs are kept as their
    hash only."""
    last = connection.execute(
        select(audit.c.seq, audit.c.mac)
        .where(audit.c.thread_id == thread.internal_id)
        .order_by(audit.c.seq.desc())
        .limit(1)
    ).one_or_none()
    row: dict[str, JsonValue] = {
        "seq": last.seq + 1 if last else 1,
        "at": format_time(now),
        "thread_id": thread.internal_id,
        "tenant": thread.tenant,
        "owner": thread.owner,
        "run_id": run_id or thread.run_id,
        "call_id": call.call_id if call else None,
        "tool": call.name if call else None,
        "hash": call_hash(call.name, call.inputs) if call else None,
        "event": event,
        "actor": actor,
        "means": means,
        "protocol": protocol,
        "detail": detail,
    }
    mac = chain.mac(keys.server_key(connection), row, last.mac if last else "")
    connection.execute(insert(audit).values(**row, mac=mac))


def read(connection: Connection, internal_id: str) -> list[AuditRow]:
    """The record of one thread, by the server's id, in order."""
    result = connection.execute(
        select(audit).where(audit.c.thread_id == internal_id).order_by(audit.c.id)
    )
    return [
        AuditRow(
            event=row.event,
            actor=row.actor,
            means=row.means,
            protocol=row.protocol,
            call_id=row.call_id,
            tool=row.tool,
            detail=row.detail,
            at=row.at,
        )
        for row in result
    ]


def verify(connection: Connection, heads: Iterable[Head] = ()) -> list[Broken]:
    """Check the chains of all threads; see ``chain.verify``."""
    rows = connection.execute(select(audit).order_by(audit.c.id)).mappings()
    found = [{name: row[name] for name in (*chain.FIELDS, "mac")} for row in rows]
    return chain.verify(keys.server_key(connection), found, heads)


def heads(connection: Connection) -> list[Head]:
    """The last row of each thread's chain, to be kept where the database's writers cannot reach."""
    ends = select(func.max(audit.c.id)).group_by(audit.c.thread_id)
    result = connection.execute(select(audit).where(audit.c.id.in_(ends)).order_by(audit.c.id))
    return [Head(thread_id=row.thread_id, seq=row.seq, mac=row.mac) for row in result]
