"""A thread's messages, appended and never edited; what a regenerate superseded is kept, marked."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, bindparam, func, insert, select, update

from signoff.messages import Message, ToolCallMessage

from .rows import message_from_text, message_to_text
from .tables import messages

# Made once: to build a statement takes longer than SQLite needs to answer it.
_OF_THREAD = messages.c.thread_id == bindparam("thread_id")
_STANDING = (
    select(messages.c.body)
    .where(_OF_THREAD, messages.c.superseded.is_(False))
    .order_by(messages.c.seq)
)
_STANDING_BEFORE = _STANDING.where(messages.c.fence < bindparam("fence"))
_SUPERSEDED = select(messages.c.body).where(_OF_THREAD, messages.c.superseded.is_(True))
_LAST_SEQ = select(func.max(messages.c.seq)).where(_OF_THREAD)


def append(connection: Connection, internal_id: str, fence: int, new: Iterable[Message]) -> None:
    """Store messages made by the segment ``fence``."""
    rows = [
        {
            "thread_id": internal_id,
            "seq": message.seq,
            "id": message.id,
            "run_id": message.run_id,
            "fence": fence,
            "body": message_to_text(message),
        }
        for message in new
    ]
    if rows:
        connection.execute(insert(messages), rows)


def read(
    connection: Connection, internal_id: str, *, before_fence: int | None = None
) -> tuple[Message, ...]:
    """The messages in order; ``before_fence`` leaves out what that segment and later ones made.

    Raises:
        CorruptRecord: a message cannot be read.
    """
    if before_fence is None:
        result = connection.execute(_STANDING, {"thread_id": internal_id})
    else:
        place = {"thread_id": internal_id, "fence": before_fence}
        result = connection.execute(_STANDING_BEFORE, place)
    return tuple(message_from_text(row.body) for row in result)


def superseded_call_ids(connection: Connection, internal_id: str) -> frozenset[str]:
    """The callIds of superseded messages: they stay taken, in the ledger and on the pages."""
    result = connection.execute(_SUPERSEDED, {"thread_id": internal_id})
    superseded = [message_from_text(row.body) for row in result]
    return frozenset(
        record.call.call_id
        for message in superseded
        if isinstance(message, ToolCallMessage)
        for record in message.calls
    )


def next_seq(connection: Connection, internal_id: str) -> int:
    """The place of the next message; superseded ones keep theirs."""
    result = connection.execute(_LAST_SEQ, {"thread_id": internal_id})
    return (result.scalar_one() or 0) + 1


def find(connection: Connection, internal_id: str, message_id: str) -> Message | None:
    result = connection.execute(
        select(messages.c.body).where(
            messages.c.thread_id == internal_id,
            messages.c.id == message_id,
            messages.c.superseded.is_(False),
        )
    )
    row = result.one_or_none()
    return None if row is None else message_from_text(row.body)


def supersede(connection: Connection, internal_id: str, from_seq: int) -> None:
    """Mark every message from ``from_seq`` on as superseded."""
    connection.execute(
        update(messages)
        .where(messages.c.thread_id == internal_id, messages.c.seq >= from_seq)
        .values(superseded=True)
    )
