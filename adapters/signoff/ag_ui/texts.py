"""The open text or reasoning of a stream. Here is the hot path."""

from __future__ import annotations

from ..events import ReasoningDelta, TextDelta
from ..json_text import encode
from ..sse import data_frame
from .wire import Frame, reasoning_message_id

_END = b"}\n\n"


class TextStream:
    """At most one is open: reasoning closes before text, and text before calls (R106).

    A message that goes on after something else was open is started again under its own id: the
    client appends to what it has.
    """

    __slots__ = ("_closing", "_head", "_reasoning_of", "_text_of")

    def __init__(self) -> None:
        self._text_of: str | None = None
        self._reasoning_of: str | None = None
        self._head = b""
        self._closing: tuple[Frame, ...] = ()

    def text(self, event: TextDelta) -> bytes:
        # All of a frame but its delta is the same each time.
        if event.message_id == self._text_of:
            return self._head + encode(event.delta) + _END if event.delta else b""
        if not event.delta:
            return b""
        closing = self.close()
        message_id = self._text_of = event.message_id
        self._head = _head("TEXT_MESSAGE_CONTENT", message_id)
        self._closing = ({"type": "TEXT_MESSAGE_END", "messageId": message_id},)
        start = {"type": "TEXT_MESSAGE_START", "messageId": message_id, "role": "assistant"}
        return closing + data_frame(start) + self._head + encode(event.delta) + _END

    def reasoning(self, event: ReasoningDelta) -> bytes:
        if not event.delta:
            return b""
        opening = b"" if event.message_id == self._reasoning_of else self._open(event.message_id)
        return opening + self._head + encode(event.delta) + _END

    def close(self) -> bytes:
        """The frames that end what is open."""
        closing, self._closing = self._closing, ()
        self._text_of = self._reasoning_of = None
        return b"".join(map(data_frame, closing))

    def _open(self, of: str) -> bytes:
        closing = self.close()
        self._reasoning_of = of
        message_id = reasoning_message_id(of)
        self._head = _head("REASONING_MESSAGE_CONTENT", message_id)
        self._closing = (
            {"type": "REASONING_MESSAGE_END", "messageId": message_id},
            {"type": "REASONING_END", "messageId": message_id},
        )
        start = {"type": "REASONING_MESSAGE_START", "messageId": message_id, "role": "reasoning"}
        block = {"type": "REASONING_START", "messageId": message_id}
        return closing + data_frame(block) + data_frame(start)


def _head(kind: str, message_id: str) -> bytes:
    return b'data: {"type":' + encode(kind) + b',"messageId":' + encode(message_id) + b',"delta":'
