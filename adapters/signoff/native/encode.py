"""Run events to native server-sent events, and to the one reply that says how it ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Final, assert_never, cast

from ..adapter import StreamAdapter
from ..commands import Headers
from ..events import (
    Cancelled,
    Completed,
    Failed,
    Progress,
    ReasoningDelta,
    RunEvent,
    Suspended,
    Terminal,
    TextDelta,
    is_terminal,
)
from ..history import Recorder
from ..messages import Message
from ..sse import STREAM_HEADERS, named_frame
from ..suspension import SuspensionKind
from ..thread import Thread, ThreadStatus
from . import hydrate as hydration
from . import translate as translation
from .wire import Reply, TerminalName, progress

_AWAITING: dict[SuspensionKind, ThreadStatus] = {
    "approval": "awaiting_approval",
    "input": "awaiting_input",
    "browser": "awaiting_results",
}
_STANDING: dict[ThreadStatus, TerminalName] = {
    "awaiting_approval": "suspended",
    "awaiting_input": "suspended",
    "awaiting_results": "suspended",
    "completed": "completed",
    "failed": "failed",
    "cancelled": "cancelled",
}


def _utc_now() -> datetime:
    return datetime.now(UTC)


class NativeAdapter(StreamAdapter):
    """One native response.

    ``encode`` gives the event stream; ``reply`` is the same as one JSON object, once it ended.

    Args:
        thread: as it stood before the segment, or as it stands.
        clock: when a message was complete, as far as ``recorded`` does not tell better.
    """

    translate: Final = staticmethod(translation.translate)
    translate_decisions: Final = staticmethod(translation.translate_decisions)
    hydrate: Final = staticmethod(hydration.hydrate)
    open_actions: Final = staticmethod(hydration.open_actions)

    def __init__(self, thread: Thread, *, clock: Callable[[], datetime] = _utc_now) -> None:
        self._thread = thread
        self._reply: Reply | None = None
        self._stored: dict[str, Message] = {}
        self._recorder = Recorder.after(thread, clock=clock)

    @property
    def headers(self) -> Headers:
        return STREAM_HEADERS

    @property
    def reply(self) -> Reply:
        """How it ended; before a terminal, how the thread stood at the start."""
        return self._reply or hydration.reply_of(self._thread)

    def open(self) -> bytes:
        return b""

    def encode(self, event: RunEvent, /) -> bytes:
        if self._reply is not None:
            return b""
        if isinstance(event, (TextDelta, ReasoningDelta)) and not event.delta:
            return b""
        self._recorder.record(event)
        if not is_terminal(event):
            return named_frame(*progress(cast("Progress", event)))
        return self._end(cast("Terminal", event))

    def close(self) -> bytes:
        if self._reply is not None:
            return b""
        self._reply = self.reply
        status = self._reply["status"]
        return named_frame(_STANDING.get(status, status), self._reply)

    def recorded(self, messages: Iterable[Message]) -> None:
        """Take the stored messages, times and places included, for those folded from events."""
        self._stored = {message.id: message for message in messages}

    def _end(self, terminal: Terminal) -> bytes:
        folded = [self._stored.get(item.id, item) for item in self._recorder.messages]
        name, status = _ending(terminal)
        self._reply = {
            "status": status,
            "message": hydration.newest_answer(
                [*self._thread.messages, *folded], self._thread.run_id or ""
            ),
            "pending": [],
            "answered": [],
        }
        if isinstance(terminal, Suspended):
            self._reply["pending"] = [call.to_json() for call in terminal.suspension.calls]
        if isinstance(terminal, Failed):
            self._reply["error"] = {"code": terminal.code, "message": terminal.message}
        return named_frame(name, self._reply)


def _ending(terminal: Terminal) -> tuple[TerminalName, ThreadStatus]:
    match terminal:
        case Completed():
            return "completed", "completed"
        case Suspended(suspension=suspension):
            return "suspended", _AWAITING[suspension.kind]
        case Failed():
            return "failed", "failed"
        case Cancelled():
            return "cancelled", "cancelled"
        case _:
            assert_never(terminal)
