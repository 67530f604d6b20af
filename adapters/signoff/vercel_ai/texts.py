"""The open part of text or reasoning of a stream. Here is the hot path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ..events import ReasoningDelta, TextDelta
from ..json_text import encode
from ..sse import data_frame
from .prologue import block_id
from .wire import Chunk

TAIL = b"}\n\n"


class TextStream:
    """At most one part is open. A part's id says its message and its place in it.

    Attributes:
        continues: the message whose text is open; None where no text is.
        head: with it begins the frame of the next delta of the open part, ``TAIL`` ends it.
    """

    __slots__ = ("_block", "_kind", "_message_id", "_place", "continues", "head")

    def __init__(self) -> None:
        self._message_id: str | None = None
        self._place = 0
        self._kind: Literal["text", "reasoning"] = "text"
        self._block: str | None = None
        self.continues: str | None = None
        self.head: bytes = b""

    def write(self, event: TextDelta | ReasoningDelta) -> bytes:
        """The frames of a delta, the closing of another part and the opening of its own included.
        Its step is open."""
        kind: Literal["text", "reasoning"] = "text" if isinstance(event, TextDelta) else "reasoning"
        opening = b""
        if self._block is None or kind != self._kind or event.message_id != self._message_id:
            opening = b"".join(map(data_frame, self.close()))
            opening += self._open(kind, event.message_id)
        return opening + self.head + encode(event.delta) + TAIL

    def close(self) -> Iterator[Chunk]:
        if self._block is not None:
            yield {"type": f"{self._kind}-end", "id": self._block}
            self._block = self.continues = None

    def _open(self, kind: Literal["text", "reasoning"], message_id: str) -> bytes:
        self._place = self._place + 1 if message_id == self._message_id else 1
        self._message_id = message_id
        self._kind = kind
        self._block = block_id(message_id, self._place)
        self.continues = message_id if kind == "text" else None
        # All of a delta's frame but the delta: the rest is the same each time.
        head = b'data: {"type":' + encode(f"{kind}-delta") + b',"id":' + encode(self._block)
        self.head = head + b',"delta":'
        return data_frame({"type": f"{kind}-start", "id": self._block})
