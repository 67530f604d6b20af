"""What may be done to a thread beside claiming it: stop, reset, a fresh UIMessage id."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sqlalchemy import Connection

from signoff.errors import AwaitingDecision, NotFound, RunInProgress
from signoff.principal import Principal

from ..store import Store, audit, threads
from ..store.audit import AuditEvent
from ..store.rows import ThreadRow
from .clock import Clock
from .segments import Segments


class Upkeep:
    """Made once by the engine, whose methods of the same names say what these do."""

    def __init__(
        self, store: Store, segments: Segments, *, clock: Clock, new_id: Callable[[str], str]
    ) -> None:
        self._store = store
        self._segments = segments
        self._clock = clock
        self._new_id = new_id

    async def stop(self, principal: Principal, thread_id: str) -> bool:
        row = await self._store.write(partial(self._record_stop, principal, thread_id))
        return row is not None and self._segments.stop(row.internal_id)

    async def reset(self, principal: Principal, thread_id: str) -> None:
        row = await self._store.write(partial(self._remove, principal, thread_id))
        if row is not None:
            self._segments.forget(row.internal_id)

    async def renew_assistant_id(self, principal: Principal, thread_id: str) -> str:
        row, assistant_id = await self._store.write(partial(self._renew, principal, thread_id))
        if row.status != "running":
            self._segments.forget(row.internal_id)
        return assistant_id

    def _record_stop(
        self, principal: Principal, thread_id: str, connection: Connection
    ) -> ThreadRow | None:
        row = threads.find(connection, principal, thread_id)
        if row is not None and row.status.startswith("awaiting"):
            raise AwaitingDecision()
        if row is None or row.status != "running":
            return None
        self._audit(connection, row, "stop_asked", principal)
        return row

    def _remove(
        self, principal: Principal, thread_id: str, connection: Connection
    ) -> ThreadRow | None:
        row = threads.find(connection, principal, thread_id)
        if row is None:
            return None
        if row.status == "running":
            raise RunInProgress(retry_after_seconds=1)
        self._audit(connection, row, "reset", principal)
        threads.remove(connection, row.internal_id)
        return row

    def _renew(
        self, principal: Principal, thread_id: str, connection: Connection
    ) -> tuple[ThreadRow, str]:
        row = threads.find(connection, principal, thread_id)
        if row is None or row.run_id is None:
            raise NotFound()
        if row.status == "running":
            # Its readers have the old one.
            return row, threads.get_run(connection, row.run_id).assistant_id
        assistant_id = self._new_id("msg")
        threads.set_assistant_id(connection, row.run_id, assistant_id)
        return row, assistant_id

    def _audit(
        self, connection: Connection, row: ThreadRow, event: AuditEvent, principal: Principal
    ) -> None:
        now, actor = self._clock(), principal.id
        audit.write(connection, row, event, now=now, actor=actor, means="person")
