"""Suspensions and the calls they ask about: stored with everything needed to check an answer after
a restart (B109)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection, bindparam, insert, or_, select, update

from signoff.decisions import Approve, Decision
from signoff.suspension import (
    PendingCall,
    Suspension,
    SuspensionEvent,
    SuspensionState,
    advance,
    call_hash,
    format_time,
)

from .rows import (
    AskedRow,
    SuspensionRow,
    asked_call,
    decision_to_text,
    is_storable,
    pending_to_text,
    suspension_row,
)
from .tables import asked_calls, suspensions

# Made once: to build a statement takes longer than SQLite needs to answer it.
_CURRENT = select(suspensions).where(
    suspensions.c.thread_id == bindparam("thread_id"),
    suspensions.c.state.in_([SuspensionState.OPEN, SuspensionState.CLAIMED]),
)
_ASKED = (
    select(asked_calls, suspensions.c.message_id)
    .join(suspensions, suspensions.c.id == asked_calls.c.suspension_id)
    .where(asked_calls.c.thread_id == bindparam("thread_id"))
    .order_by(suspensions.c.fence, asked_calls.c.position)
)

_MOST_PARAMETERS = 500
"""A page may send more ids than a statement takes parameters."""


def store(
    connection: Connection,
    internal_id: str,
    run_id: str,
    suspension: Suspension,
    *,
    id: str,
    fence: int,
    now: datetime,
) -> None:
    """Store an open suspension. A callId that was asked about before breaks the key, and with it
    the transaction: a suspension that cannot be stored is never announced (R73)."""
    connection.execute(
        insert(suspensions).values(
            id=id,
            thread_id=internal_id,
            run_id=run_id,
            kind=suspension.kind,
            message_id=suspension.message_id,
            fence=fence,
            state=SuspensionState.OPEN,
            created_at=format_time(now),
        )
    )
    connection.execute(
        insert(asked_calls),
        [_row(internal_id, id, position, call) for position, call in enumerate(suspension.calls)],
    )


def current(connection: Connection, internal_id: str) -> SuspensionRow | None:
    """The suspension that is open or whose answers the running segment carries out."""
    result = connection.execute(_CURRENT, {"thread_id": internal_id})
    row = result.one_or_none()
    return None if row is None else suspension_row(row)


def calls_of_thread(connection: Connection, internal_id: str) -> list[AskedRow]:
    """Every call of a thread that was ever asked about, in the order of asking."""
    result = connection.execute(_ASKED, {"thread_id": internal_id})
    return [asked_call(row) for row in result]


def find_calls(
    connection: Connection, internal_id: str, call_ids: Iterable[str], suspension_id: str | None
) -> dict[str, AskedRow]:
    """The calls with these ids, and every call of one suspension, in the order they were asked."""
    ids = [call_id for call_id in call_ids if is_storable(call_id)]
    query = _ASKED
    if len(ids) <= _MOST_PARAMETERS:
        query = query.where(
            or_(asked_calls.c.call_id.in_(ids), asked_calls.c.suspension_id == suspension_id)
        )
    found = [asked_call(row) for row in connection.execute(query, {"thread_id": internal_id})]
    wanted = set(ids)
    return {
        call.pending.call_id: call
        for call in found
        if call.pending.call_id in wanted or call.suspension_id == suspension_id
    }


def stage(
    connection: Connection,
    internal_id: str,
    decisions: Mapping[str, Decision],
    *,
    actor: str,
    protocol: str,
    now: datetime,
) -> None:
    """Keep answers; the latest of their author wins while any call of the batch is open."""
    for call_id, decision in decisions.items():
        connection.execute(
            update(asked_calls)
            .where(asked_calls.c.thread_id == internal_id, asked_calls.c.call_id == call_id)
            .values(
                decision=decision_to_text(decision),
                note=decision.note if isinstance(decision, Approve) else None,
                decided_by=actor,
                decided_at=format_time(now),
                protocol=protocol,
            )
        )


def move(
    connection: Connection, suspension: SuspensionRow, event: SuspensionEvent, now: datetime
) -> SuspensionRow:
    """Take the suspension one step through its life; returns where it stands then.

    Raises:
        ImpossibleTransition: it stands where this event cannot happen.
    """
    state = advance(suspension.state, event)
    closed = state in (SuspensionState.SETTLED, SuspensionState.ABANDONED)
    connection.execute(
        update(suspensions)
        .where(suspensions.c.id == suspension.id)
        .values(state=state, closed_at=format_time(now) if closed else None)
    )
    return replace(suspension, state=state)


def _row(
    internal_id: str, suspension_id: str, position: int, pending: PendingCall
) -> dict[str, object]:
    return {
        "thread_id": internal_id,
        "call_id": pending.call_id,
        "suspension_id": suspension_id,
        "position": position,
        "body": pending_to_text(pending),
        "hash": call_hash(pending.call.name, pending.call.inputs),
    }
