"""The values of secret inputs: kept while their batch waits, and given out once."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, bindparam, delete, insert

from signoff.errors import CorruptRecord
from signoff.json_text import JsonObject, dumps
from signoff.suspension import ToolCall

from .rows import read_json
from .tables import call_secrets

# Made once: to build a statement takes longer than SQLite needs to answer it.
_TAKE = (
    delete(call_secrets)
    .where(call_secrets.c.thread_id == bindparam("thread"))
    .returning(call_secrets.c.call_id, call_secrets.c.body)
)


def keep(connection: Connection, internal_id: str, calls: Iterable[ToolCall]) -> None:
    """Keep the values of calls that wait."""
    rows = [
        {"thread_id": internal_id, "call_id": call.call_id, "body": dumps(call.secrets)}
        for call in calls
        if call.secrets
    ]
    if rows:
        connection.execute(insert(call_secrets), rows)


def take(connection: Connection, internal_id: str) -> dict[str, JsonObject]:
    """Delete what is kept of a thread and return it, by callId. Whoever claimed the thread has it
    in memory from then on: no segment after it runs these calls.

    Raises:
        CorruptRecord: it cannot be read.
    """
    taken: dict[str, JsonObject] = {}
    for row in connection.execute(_TAKE, {"thread": internal_id}):
        values = read_json(row.body)
        if not isinstance(values, dict):
            raise CorruptRecord("Stored secret inputs cannot be read.")
        taken[row.call_id] = values
    return taken
