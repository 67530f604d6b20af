"""What may be done to a thread beside claiming it: stop, reset, a fresh UIMessage id."""

from __future__ import annotations

from collections.abc import Callable

from signoff.errors import AwaitingDecision, NotFound, RunInProgress
from signoff.principal import Principal

from ..store import Store, audit, threads
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
        async with self._store.write() as connection:
            row = await threads.find(connection, principal, thread_id)
            if row is not None and row.status.startswith("awaiting"):
                raise AwaitingDecision()
            if row is None or row.status != "running":
                return False
            now, actor = self._clock(), principal.id
            await audit.write(connection, row, "stop_asked", now=now, actor=actor, means="person")
        return self._segments.stop(row.id)

    async def reset(self, principal: Principal, thread_id: str) -> None:
        async with self._store.write() as connection:
            row = await threads.find(connection, principal, thread_id)
            if row is None:
                return
            if row.status == "running":
                raise RunInProgress(retry_after_seconds=1)
            now, actor = self._clock(), principal.id
            await audit.write(connection, row, "reset", now=now, actor=actor, means="person")
            await threads.remove(connection, row.id)
        self._segments.forget(row.id)

    async def renew_assistant_id(self, principal: Principal, thread_id: str) -> str:
        async with self._store.write() as connection:
            row = await threads.find(connection, principal, thread_id)
            if row is None or row.run_id is None:
                raise NotFound()
            if row.status == "running":
                # Its readers have the old one.
                return (await threads.get_run(connection, row.run_id)).assistant_id
            assistant_id = self._new_id("msg")
            await threads.set_assistant_id(connection, row.run_id, assistant_id)
        self._segments.forget(row.id)
        return assistant_id
