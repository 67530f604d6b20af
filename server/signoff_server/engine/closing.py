"""The end of a segment, made sure of: whatever a source handed over and whatever the store does,
the run ends, and what is announced is what is on record."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from sqlalchemy import Connection

from signoff.errors import Unavailable
from signoff.events import Failed, RunEvent, Terminal
from signoff.json_text import JsonValue

from ..store import Store
from ..store.rows import ThreadRow
from .endings import LiveSegment, Stamps, end_segment
from .ledger import LostClaim, hold
from .recovery import end_from_record

_LOG = logging.getLogger("signoff")

_PAUSES_SECONDS = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Between attempts to reach a store that is busy or full."""

_Transaction: TypeAlias = Callable[[Connection], list[RunEvent]]


class Closing:
    """Stores the end of one segment.

    Args:
        store: where to.
        segment: the segment.
        stamps: time, ids, key.
        gave_up: told of the thread if the store takes no end of it at all: on record it still runs.
    """

    def __init__(
        self,
        store: Store,
        segment: LiveSegment,
        stamps: Stamps,
        gave_up: Callable[[ThreadRow], None],
    ) -> None:
        self._store = store
        self._segment = segment
        self._stamps = stamps
        self._gave_up = gave_up

    async def store(
        self, terminal: Terminal, client_state: tuple[JsonValue] | None
    ) -> list[RunEvent]:
        """Store the end, and return the events to announce.

        What cannot be stored as the source gave it ends as failed; if even that cannot, because
        the segment's messages themselves are unfit or the disk is full, the end is made from what
        is on record.
        """
        for transaction in (
            partial(self._as_it_is, terminal, client_state),
            partial(self._as_it_is, Failed(), None),
            self._as_recorded,
        ):
            try:
                events = await self._persistently(transaction)
            except LostClaim:
                return [Failed()]
            except Exception as error:  # noqa: BLE001 - whatever a source handed over, its run has to end
                self._log("The end of a run cannot be stored as it is", error)
            else:
                return events
        self._gave_up(self._segment.thread)
        return [Failed()]

    async def _persistently(self, transaction: _Transaction) -> list[RunEvent]:
        for pause in _PAUSES_SECONDS:
            try:
                return await self._store.write(partial(self._end, transaction))
            except (Unavailable, OSError) as error:
                self._log("The end of a run could not be stored", error)
                await asyncio.sleep(pause)
        return await self._store.write(partial(self._end, transaction))

    def _end(self, transaction: _Transaction, connection: Connection) -> list[RunEvent]:
        hold(connection, self._segment.thread)
        return transaction(connection)

    def _as_it_is(
        self,
        terminal: Terminal,
        client_state: tuple[JsonValue] | None,
        connection: Connection,
    ) -> list[RunEvent]:
        return end_segment(
            connection, self._segment, terminal, self._stamps, client_state=client_state
        )

    def _as_recorded(self, connection: Connection) -> list[RunEvent]:
        return end_from_record(connection, self._segment.thread, Failed(), self._stamps)

    def _log(self, what: str, error: Exception) -> None:
        log_failure(what, self._segment.thread.internal_id, self._segment.run_id, error)


def log_failure(what: str, internal_id: str, run_id: str, error: BaseException) -> None:
    """Log a failure by its ids and its type: exception texts and traces can hold inputs and
    secrets, so they are for debugging only."""
    _LOG.error("%s. thread=%s run=%s error=%s", what, internal_id, run_id, type(error).__name__)
    _LOG.debug("Details of the failure", exc_info=error)
