"""What every protocol's outbound side looks like to the server that streams it."""

from __future__ import annotations

from typing import Protocol

from .commands import Headers
from .events import RunEvent


class StreamAdapter(Protocol):
    """Encodes one response: one reader, one segment, one protocol. A fresh one each time (R126).

    The server sends ``open()``, then ``encode(event)`` for each event of the segment up to its
    terminal; or, where no segment runs, ``close()``, which says how the thread stands. Empty bytes
    mean that there is nothing to send. After a terminal every call returns empty bytes (R129).
    """

    __slots__ = ()

    @property
    def headers(self) -> Headers: ...

    def open(self) -> bytes: ...

    def encode(self, event: RunEvent, /) -> bytes: ...

    def close(self) -> bytes: ...
