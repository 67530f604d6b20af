"""Drives a run source for one segment, detached from whoever asked for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from signoff.events import (
    Cancelled,
    Failed,
    ReasoningDelta,
    RunEvent,
    StateSnapshot,
    Suspended,
    Terminal,
    TextDelta,
    is_terminal,
)
from signoff.history import Recorder
from signoff.json_text import JsonValue
from signoff.sources.base import RunRequest, RunSource

from ..journal import Segment
from .clock import DurableWork
from .closing import Closing, log_failure
from .ledger import LostClaim, SegmentLedger, Stopped
from .source_rules import SourceFault, SourceRules

_EVENTS_PER_TURN = 32
"""A source that never waits would starve every other stream of the process."""

_UNWILLING_SECONDS = 2.0
"""How long a source may take to clean up; then it is left to itself. It can write no more."""


class SegmentDriver:
    """One segment on its way.

    Args:
        segment: where its events go, for readers.
        source: the agent.
        request: what the source gets; ``ledger`` is this segment's, ``cancel`` is ``stop``.
        ledger: the same, to see whether a call is under way.
        recorder: folds the events into history.
        closing: stores the end.
        stop: set to stop the run.
        stop_grace_seconds: how long a call that already began is waited for after a stop.
    """

    def __init__(
        self,
        *,
        segment: Segment,
        source: RunSource,
        request: RunRequest,
        ledger: SegmentLedger,
        recorder: Recorder,
        closing: Closing,
        stop: asyncio.Event,
        stop_grace_seconds: float,
    ) -> None:
        self.segment = segment
        self._source = source
        self._request = request
        self._ledger = ledger
        self._recorder = recorder
        self._closing = closing
        self._stop = stop
        self._given_up = asyncio.Event()
        self._grace = stop_grace_seconds
        self._stopped_as: Terminal = Cancelled()
        self._rules = SourceRules(request.history, request.used_call_ids)
        self._stream: AsyncIterator[RunEvent] | None = None
        self._state: tuple[JsonValue] | None = None
        self._over = False
        self._work = DurableWork()

    def stop(self, terminal: Terminal | None = None) -> None:
        """Ask the run to end: before its next tool or model call, or after the grace."""
        if not self._stop.is_set():
            self._stopped_as = terminal or Cancelled()
            self._stop.set()

    def give_up(self) -> None:
        """After a stop: wait no longer for the call that began."""
        self._given_up.set()

    async def drive(self) -> None:
        """Run the segment to its end, store it, announce it."""
        pump = asyncio.ensure_future(self._pump())
        terminal = await self._until_terminal(pump)
        self._over = True
        await self._ledger.landed()
        events = await self._work.run(self._closing.store(terminal, self._state))
        self.segment.append(events)
        self.segment.end()
        # Only now: readers do not wait for an agent's own clean-up (B103).
        await self._let_go(pump)

    async def _until_terminal(self, pump: asyncio.Task[Terminal]) -> Terminal:
        stopped = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait({pump, stopped}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopped.cancel()
        if not pump.done():
            await self._wait_for_begun_calls(pump)
        if not pump.done():
            pump.cancel()
            await asyncio.wait({pump}, timeout=_UNWILLING_SECONDS)
        return self._terminal_of(pump)

    async def _wait_for_begun_calls(self, pump: asyncio.Task[Terminal]) -> None:
        """A model call can be given up; a tool that began cannot be taken back."""
        idle = asyncio.ensure_future(self._ledger.idle())
        given_up = asyncio.ensure_future(self._given_up.wait())
        await asyncio.wait(
            {pump, idle, given_up}, timeout=self._grace, return_when=asyncio.FIRST_COMPLETED
        )
        idle.cancel()
        given_up.cancel()

    def _terminal_of(self, pump: asyncio.Task[Terminal]) -> Terminal:
        if not pump.done() or pump.cancelled():
            # Cancelled without a stop: the source cancelled itself.
            return self._stopped_as if self._stop.is_set() else Failed()
        terminal = pump.result()
        match terminal:
            case Cancelled() if self._stop.is_set():
                return self._stopped_as
            case Suspended() if self._stop.is_set() and isinstance(self._stopped_as, Cancelled):
                return self._stopped_as
            case _:
                return terminal

    async def _pump(self) -> Terminal:
        try:
            self._stream = self._source.run(self._request)
            return await self._consume(self._stream)
        except Stopped:
            return Cancelled()
        except LostClaim:
            return Failed()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - an agent is foreign code; its run fails, neutrally
            self._log("The run failed", error)
            return Failed()

    async def _consume(self, stream: AsyncIterator[RunEvent]) -> Terminal:
        taken = 0
        async for event in stream:
            if is_terminal(event):
                return event  # type: ignore[return-value]  # is_terminal is not a type guard
            self._take(event)
            taken += 1
            if taken % _EVENTS_PER_TURN == 0:
                await asyncio.sleep(0)
        raise SourceFault("A run source ended without a terminal event.")

    def _take(self, event: RunEvent) -> None:
        if self._over:
            raise LostClaim("This segment has ended.")
        if isinstance(event, (TextDelta, ReasoningDelta)) and not event.delta:
            return
        if isinstance(event, StateSnapshot):
            self._state = (event.value,)
        self._rules.check(event)
        self._recorder.record(event)
        self.segment.append([event])

    async def _let_go(self, pump: asyncio.Task[Terminal]) -> None:
        cleaning = asyncio.ensure_future(self._clean_up(pump))
        _, unwilling = await asyncio.wait({cleaning}, timeout=_UNWILLING_SECONDS)
        if unwilling:
            self._log("A run source does not end", TimeoutError())
            cleaning.cancel()

    async def _clean_up(self, pump: asyncio.Task[Terminal]) -> None:
        await asyncio.wait({pump})
        close = getattr(self._stream, "aclose", None)
        if close is None:
            return
        try:
            await close()
        except Exception as error:  # noqa: BLE001 - foreign code again; its run is over
            self._log("A run source failed to clean up", error)

    def _log(self, what: str, error: BaseException) -> None:
        log_failure(what, self._request.internal_id, self._request.run_id, error)
