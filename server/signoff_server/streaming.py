"""One segment as one server-sent event stream, whatever the protocol."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from typing import Protocol

from sse_starlette.event import ServerSentEvent
from sse_starlette.sse import EventSourceResponse, SendTimeoutError
from starlette.types import Receive, Scope, Send

from signoff.adapter import StreamAdapter
from signoff.events import Failed, RunEvent, is_terminal

from .faults import log_fault

PING_SECONDS = 15
"""A comment this often keeps proxies from closing a silent stream (B89). Clients ignore it."""

SEND_SECONDS = 60
"""A reader that takes nothing for so long is gone; what it holds is released (B92)."""

STOP_SECONDS = 1.5
"""How long a stream may go on when the server stops: the engine gives calls that have begun a
second, and then the stream says how its run ended."""

# At debug level sse-starlette logs every chunk, and with it what tools were called with.
logging.getLogger("sse_starlette.sse").setLevel(logging.INFO)


class ReadableSegment(Protocol):
    """A segment's events, from its first; in batches of what was already waiting."""

    def read(self) -> AsyncIterator[list[RunEvent]]: ...


class Readable(Protocol):
    """What the engine attaches a request to; no segment means that the thread stands still."""

    @property
    def segment(self) -> ReadableSegment | None: ...

    @property
    def on_left(self) -> Callable[[], None]:
        """To be called when the response is over, however it ended."""
        ...


class EventStream(EventSourceResponse):
    """Ready bytes as an event stream.

    Lines end in LF, pings too: the AG-UI client takes two of them for the end of an event, and dies
    of anything else.
    """

    def __init__(
        self,
        chunks: AsyncIterator[bytes],
        *,
        headers: dict[str, str],
        status: int,
        on_left: Callable[[], None],
    ) -> None:
        # sse-starlette takes bare dicts as well, which pyright cannot see through.
        super().__init__(  # pyright: ignore[reportUnknownMemberType]
            chunks,
            status_code=status,
            headers=headers,
            sep="\n",
            ping=PING_SECONDS,
            ping_message_factory=_ping,
            send_timeout=SEND_SECONDS,
            shutdown_grace_period=STOP_SECONDS,
        )
        self._on_left = on_left

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except SendTimeoutError:
            logging.getLogger("signoff_server").info(
                "a reader stopped reading; its stream is closed"
            )
        finally:
            self._on_left()


def stream(adapter: StreamAdapter, attachment: Readable, *, status: int = 200) -> EventStream:
    """Stream what ``attachment`` shows, in the words of ``adapter``.

    Everything that can refuse happens before this is called: after it the status line is out
    (R117). The run goes on without its reader, unless ``attachment.on_left`` stops it.
    """
    return EventStream(
        encoded(adapter, attachment),
        headers=dict(adapter.headers),
        status=status,
        on_left=attachment.on_left,
    )


async def encoded(adapter: StreamAdapter, attachment: Readable) -> AsyncIterator[bytes]:
    """The chunks of one stream: the opening at once, then one chunk for each batch of events.

    A fault in here cannot become a status any more, and a stream that just stops reads as success
    in some clients (B100): it becomes the protocol's own failure.
    """
    try:
        if opening := adapter.open():
            yield opening
        if attachment.segment is None:
            if closing := adapter.close():
                yield closing
            return
        async for chunk in _segment_chunks(adapter, attachment.segment):
            yield chunk
    except Exception as error:  # noqa: BLE001 - the last place where it can still be told to the client
        log_fault(error, doing="streaming")
        if failure := _failure(adapter):
            yield failure


async def _segment_chunks(adapter: StreamAdapter, segment: ReadableSegment) -> AsyncIterator[bytes]:
    async for batch in segment.read():
        chunk, ended = _encode_batch(adapter, batch)
        if chunk:
            yield chunk
        if ended:
            return
    yield adapter.encode(Failed())


def _encode_batch(adapter: StreamAdapter, batch: list[RunEvent]) -> tuple[bytes, bool]:
    """The frames of a batch as one chunk, and whether the stream ends with it.

    Frames made before a fault still go out: the adapter takes them as sent.
    """
    frames: list[bytes] = []
    encode = adapter.encode
    try:
        for event in batch:
            frames.append(encode(event))
    except Exception as error:  # noqa: BLE001 - told to the client in its own protocol
        log_fault(error, doing="encoding an event")
        return b"".join([*frames, _failure(adapter)]), True
    return b"".join(frames), bool(batch) and is_terminal(batch[-1])


def _failure(adapter: StreamAdapter) -> bytes:
    try:
        return adapter.encode(Failed())
    except Exception as error:  # noqa: BLE001 - an adapter that cannot even fail: the stream just ends
        log_fault(error, doing="encoding a failure")
        return b""


def _ping() -> ServerSentEvent:
    return ServerSentEvent(comment="ping", sep="\n")
