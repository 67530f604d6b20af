"""The journal of one process. Events are kept, not bytes: each reader's adapter encodes them, so a
page may attach in another protocol than the one that started the run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable

from signoff.events import RunEvent
from signoff.thread import Thread

LINGER_SECONDS = 30.0
"""How long a segment can be replayed after its end: a page may have read the messages just before
it and asks for the stream just after (proven-frames V5)."""


class Segment:
    """One stretch of streaming, from its first event to its terminal.

    Attributes:
        base: the thread as it stood before the first event.
    """

    __slots__ = ("_ended_at", "_events", "_monotonic", "_news", "base")

    def __init__(self, base: Thread, monotonic: Callable[[], float]) -> None:
        self.base: Thread = base
        self._events: list[RunEvent] = []
        self._news = asyncio.Event()
        self._ended_at: float | None = None
        self._monotonic = monotonic

    @property
    def ended(self) -> bool:
        return self._ended_at is not None

    def append(self, events: Iterable[RunEvent]) -> None:
        self._events.extend(events)
        self._wake()

    def end(self) -> None:
        """No event follows."""
        self._ended_at = self._monotonic()
        self._wake()

    def lingers(self) -> bool:
        """Whether a reader may still be given this segment."""
        return self._ended_at is None or self._monotonic() - self._ended_at < LINGER_SECONDS

    async def read(self) -> AsyncIterator[list[RunEvent]]:
        """The events from the first one on, in batches of those that already wait."""
        position = 0
        while True:
            news = self._news
            if position < len(self._events):
                batch = self._events[position:]
                position += len(batch)
                yield batch
            elif self.ended:
                return
            else:
                await news.wait()

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()


class MemoryJournal:
    """The newest segment of each thread, by the server's thread id.

    Args:
        monotonic: seconds that never go back.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._segments: dict[str, Segment] = {}
        self._monotonic = monotonic

    def open(self, base: Thread) -> Segment:
        """Start the journal of a segment, in place of the thread's last one."""
        self._sweep()
        segment = Segment(base, self._monotonic)
        self._segments[base.internal_id] = segment
        return segment

    def get(self, internal_id: str) -> Segment | None:
        segment = self._segments.get(internal_id)
        return segment if segment is not None and segment.lingers() else None

    def drop(self, internal_id: str, segment: Segment | None = None) -> None:
        """Forget the thread's segment, or only this one."""
        if segment is None or self._segments.get(internal_id) is segment:
            self._segments.pop(internal_id, None)

    def _sweep(self) -> None:
        gone = [key for key, segment in self._segments.items() if not segment.lingers()]
        for key in gone:
            del self._segments[key]
