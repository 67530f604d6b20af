"""The segments that run in this process: opened, launched, stopped."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial

from sqlalchemy import Connection

from signoff.events import Failed, RunEvent
from signoff.history import Recorder
from signoff.policy import Gate
from signoff.principal import Principal
from signoff.sources.base import RunRequest, RunSource

from ..journal import LINGER_SECONDS, MemoryJournal, Segment
from ..store import Store
from ..store.rows import ThreadRow
from .claims import Claim
from .closing import Closing
from .driver import SegmentDriver
from .endings import LiveSegment, Stamps
from .ledger import SegmentLedger, holds_thread
from .recovery import INTERRUPTED, end_from_record

_CLOSE_GRACE_SECONDS = 1.0
"""A call that began may end while the server shuts down: otherwise nobody knows what it did."""


class Segments:
    """Made once by the engine.

    Args:
        store: where runs are kept.
        sources: what drives agents, by name.
        gate: judges their calls.
        stamps: gives time, ids and the key, once the store is open.
        grace_seconds: how long a stopped run's begun call is waited for.
    """

    def __init__(
        self,
        store: Store,
        sources: Mapping[str, RunSource],
        gate: Gate,
        stamps: Callable[[], Stamps],
        *,
        grace_seconds: float,
    ) -> None:
        self._store = store
        self._sources = sources
        self._gate = gate
        self._stamps = stamps
        self._grace = grace_seconds
        self._journal = MemoryJournal(time.monotonic)
        self._drivers: dict[str, SegmentDriver] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._unended: dict[str, ThreadRow] = {}

    def get(self, internal_id: str) -> Segment | None:
        """The thread's newest segment, running or ended a moment ago."""
        return self._journal.get(internal_id)

    def forget(self, internal_id: str) -> None:
        """The thread's last segment is not to be replayed any more."""
        self._journal.drop(internal_id)

    def launch(self, principal: Principal, claim: Claim) -> Segment:
        """Run a claimed segment, detached from who asked for it; returns what it will say."""
        segment = self._journal.open(claim.base)
        driver = self._driver(principal, claim, segment)
        self._drivers[claim.row.internal_id] = driver
        task = asyncio.get_running_loop().create_task(driver.drive())
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._landed(done, claim.row.internal_id, driver))
        return segment

    def stop(self, internal_id: str) -> bool:
        """Ask the thread's running segment to end; False if none runs here."""
        driver = self._drivers.get(internal_id)
        if driver is None or driver.segment.ended:
            return False
        driver.stop()
        return True

    def leave(self, segment: Segment) -> None:
        """Whoever started the segment is gone: stop it, if it still runs."""
        driver = self._drivers.get(segment.base.internal_id)
        if driver is not None and driver.segment is segment:
            driver.stop()

    async def end_unended(self) -> None:
        """End the runs whose end the store could not take when it came.

        Raises:
            Unavailable: it still cannot.
        """
        for row in list(self._unended.values()):
            await self._store.write(partial(self._end_unended, row))
            self._unended.pop(row.internal_id, None)

    @property
    def has_unended(self) -> bool:
        """Whether there are runs that have ended, but not on record."""
        return bool(self._unended)

    async def close(self) -> None:
        """End every running segment as interrupted; calls that began have a moment to finish."""
        drivers = list(self._drivers.values())
        for driver in drivers:
            driver.stop(INTERRUPTED)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_CLOSE_GRACE_SECONDS)
        for driver in drivers:
            driver.give_up()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _could_not_end(self, row: ThreadRow) -> None:
        self._unended[row.internal_id] = row

    def _end_unended(self, row: ThreadRow, connection: Connection) -> None:
        if holds_thread(connection, row):
            end_from_record(connection, row, Failed(), self._stamps())

    def _driver(self, principal: Principal, claim: Claim, segment: Segment) -> SegmentDriver:
        stamps = self._stamps()
        recorder = Recorder.after(claim.base, clock=stamps.clock, next_seq=claim.next_seq)
        stop = asyncio.Event()
        ledger = SegmentLedger(
            self._store, claim.row, claim.run.id, recorder, stamps.clock, stop, stamps.key
        )
        live = LiveSegment(
            thread=claim.row, run_id=claim.run.id, recorder=recorder, decisions=claim.base.decisions
        )
        request = RunRequest(
            thread_id=claim.base.thread_id,
            internal_id=claim.row.internal_id,
            run_id=claim.run.id,
            input=claim.input,
            history=claim.base.messages,
            state=claim.run.state,
            client=claim.run.client,
            principal=principal,
            gate=self._gate,
            ledger=ledger,
            cancel=stop,
            new_id=stamps.new_id,
            used_call_ids=claim.used_call_ids,
            clock=stamps.clock,
        )
        return SegmentDriver(
            segment=segment,
            source=self._sources.get(claim.run.source, _MISSING_SOURCE),
            request=request,
            ledger=ledger,
            recorder=recorder,
            closing=Closing(self._store, live, stamps, self._could_not_end),
            stop=stop,
            stop_grace_seconds=self._grace,
        )

    def _landed(self, task: asyncio.Task[None], internal_id: str, driver: SegmentDriver) -> None:
        self._tasks.discard(task)
        if self._drivers.get(internal_id) is driver:
            del self._drivers[internal_id]
        # A suspended thread costs no memory once nobody can ask for its last segment any more.
        asyncio.get_running_loop().call_later(
            LINGER_SECONDS, self._journal.drop, internal_id, driver.segment
        )


class _MissingSource:
    """In place of a source that is not served any more: another agent must not act on its
    approvals (B112)."""

    async def run(self, request: RunRequest) -> AsyncIterator[RunEvent]:
        yield Failed(code="unknown_source", message="The agent of this run is not served any more.")


_MISSING_SOURCE = _MissingSource()
