"""What the client's transcript is to be in the middle of a stream."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from ..events import RunEvent
from ..history import Recorder
from ..thread import Thread
from .hydrate import snapshot_messages
from .wire import MessageEntry

# Snapshots have no times; only the stored messages do.
_NO_TIME = datetime.fromtimestamp(0, UTC)


class Transcript:
    """The thread before the segment, and the segment's events on top, folded as they are stored."""

    __slots__ = ("_thread", "_tool_bound", "queued")

    def __init__(self, thread: Thread, *, tool_bound: bool) -> None:
        self._thread = thread
        self._tool_bound = tool_bound
        self.queued: frozenset[str] = frozenset(message.id for message in thread.queued)
        """User messages that came beside the answers and are not behind the results yet."""

    def messages(self, events: Sequence[RunEvent]) -> list[MessageEntry]:
        """What a snapshot after these events shows."""
        recorder = self._fold(events)
        return snapshot_messages(
            (*self._thread.messages, *recorder.messages, *recorder.queued),
            tool_bound_interrupts=self._tool_bound,
        )

    def restated(self, seen: Sequence[str]) -> list[list[MessageEntry]]:
        """The snapshots that bring a client with these messages to the thread before the segment.

        A snapshot leaves known messages where they are and puts new ones last. A client that
        missed something in the middle is therefore taken back to before that first.
        """
        shown = self.messages(())
        if not seen:
            return [shown]
        # Clients keep reasoning to themselves.
        ids = [entry["id"] for entry in shown if entry["role"] != "reasoning"]
        places = {message_id: place for place, message_id in enumerate(ids)}
        known = [one for one in dict.fromkeys(seen) if one in places]
        missed = next((at for at, one in enumerate(known) if places[one] != at), None)
        if missed is None:
            return [shown]
        place = next(at for at, entry in enumerate(shown) if entry["id"] == ids[missed])
        return [shown[:place], shown]

    def place_queued(self, events: Sequence[RunEvent]) -> list[list[MessageEntry]]:
        """The snapshots that move the queued messages behind the results, once these are there.

        The page has had those messages since before its calls were published, and a snapshot
        leaves known messages where they are: so they are taken away, and given back.
        """
        if self._fold(events).queued:
            return []
        shown = self.messages(events)
        before = [entry for entry in shown if entry["id"] not in self.queued]
        self.queued = frozenset[str]()
        return [before, shown]

    def _fold(self, events: Sequence[RunEvent]) -> Recorder:
        recorder = Recorder.after(self._thread, clock=lambda: _NO_TIME)
        for event in events:
            recorder.record(event)
        return recorder
