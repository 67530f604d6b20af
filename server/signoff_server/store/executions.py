"""The at-most-once ledger: a call begins once, and what it led to is kept."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import Connection, insert, select, update

from signoff.outcomes import Outcome
from signoff.suspension import ToolCall, call_hash, format_time

from .rows import ExecutionRow, outcome_from_text, outcome_to_text
from .tables import executions


def find(
    connection: Connection, internal_id: str, call_ids: Iterable[str]
) -> dict[str, ExecutionRow]:
    """The calls that began, of those named."""
    result = connection.execute(
        select(executions).where(
            executions.c.thread_id == internal_id, executions.c.call_id.in_(list(call_ids))
        )
    )
    return {
        row.call_id: ExecutionRow(
            call_id=row.call_id,
            outcome=None if row.outcome is None else outcome_from_text(row.outcome),
        )
        for row in result
    }


def begin(
    connection: Connection,
    internal_id: str,
    run_id: str,
    fence: int,
    call: ToolCall,
    now: datetime,
) -> None:
    """Record that a call begins. The primary key makes a second begin impossible."""
    connection.execute(
        insert(executions).values(
            thread_id=internal_id,
            call_id=call.call_id,
            run_id=run_id,
            fence=fence,
            hash=call_hash(call.name, call.inputs),
            began_at=format_time(now),
        )
    )


def finish(
    connection: Connection, internal_id: str, call_id: str, outcome: Outcome, now: datetime
) -> None:
    connection.execute(
        update(executions)
        .where(
            executions.c.thread_id == internal_id,
            executions.c.call_id == call_id,
            executions.c.outcome.is_(None),
        )
        .values(outcome=outcome_to_text(outcome), finished_at=format_time(now))
    )
