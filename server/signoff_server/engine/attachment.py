"""What the engine gives a request: a thread, and the segment to follow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from signoff.thread import Thread

from ..journal import Segment

OnDisconnect: TypeAlias = Literal["continue", "cancel"]
"""What the departure of the reader who started a run does to it."""


def _nothing() -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A thread and, while one runs, the segment to follow.

    Attributes:
        thread: as it stood before the segment; the current truth where there is none.
        segment: events from the first one on, for any number of readers.
        started: this very request started the segment.
        skipped: callIds of echoes: entries of a page's past that differ from the record.
        on_left: to be called when the response is over, however it ended. It stops a segment that
            still runs, if this request started it and the engine's ``on_disconnect`` is ``cancel``.
    """

    thread: Thread
    segment: Segment | None = None
    started: bool = False
    skipped: tuple[str, ...] = ()
    on_left: Callable[[], None] = _nothing
