"""One stream over ASGI, driven by hand: a list is the client."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field

import anyio
import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message

from signoff.adapter import StreamAdapter
from signoff.events import Completed, Failed, RunEvent, TextDelta
from signoff.sse import STREAM_HEADERS, data_frame
from signoff_server import streaming
from signoff_server.http import stream

pytestmark = pytest.mark.anyio


def text(delta: str) -> TextDelta:
    return TextDelta(message_id="m", delta=delta)


@dataclass
class FakeSegment:
    """Gives its batches, then waits for ever unless the last one ended the segment."""

    batches: Sequence[list[RunEvent]]
    hangs: bool = False
    released: anyio.Event = field(default_factory=anyio.Event)

    async def read(self) -> AsyncIterator[list[RunEvent]]:
        try:
            for batch in self.batches:
                yield batch
            if self.hangs:
                await anyio.sleep_forever()
        finally:
            self.released.set()


@dataclass
class FakeAttachment:
    segment: FakeSegment | None
    on_left: Callable[[], None] = lambda: None


@dataclass
class WordAdapter(StreamAdapter):
    """Frames are words. Breaks at the delta named ``breaks_at``; fails twice if ``hopeless``."""

    breaks_at: str | None = None
    hopeless: bool = False

    @property
    def headers(self) -> dict[str, str]:
        return {**STREAM_HEADERS, "x-protocol": "words"}

    def open(self) -> bytes:
        return b"data: open\n\n"

    def encode(self, event: RunEvent, /) -> bytes:
        match event:
            case TextDelta(delta=delta):
                if delta == self.breaks_at:
                    raise ValueError(f"cannot encode {delta}")
                return data_frame(delta)
            case Failed() if self.hopeless:
                raise ValueError("nor this")
            case _:
                return data_frame(type(event).__name__)

    def close(self) -> bytes:
        return b"data: close\n\n"


@dataclass
class Client:
    """Collects what a response sends; ``leave`` is the reader's disconnect."""

    sent: list[Message] = field(default_factory=list)
    leave: anyio.Event = field(default_factory=anyio.Event)
    stuck: bool = False
    news: anyio.Event = field(default_factory=anyio.Event)

    async def receive(self) -> Message:
        await self.leave.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if self.stuck and message.get("body"):
            await anyio.sleep_forever()
        self.sent.append(message)
        self.news.set()

    async def has(self, chunk: bytes) -> None:
        """Wait until ``chunk`` has arrived."""
        while chunk not in self.chunks:
            self.news = anyio.Event()
            await self.news.wait()

    @property
    def chunks(self) -> list[bytes]:
        bodies = [item["body"] for item in self.sent if item["type"] == "http.response.body"]
        return [body for body in bodies if body]

    @property
    def headers(self) -> dict[str, str]:
        return {name.decode(): value.decode() for name, value in self.sent[0]["headers"]}


SCOPE = {"type": "http", "method": "POST"}


async def streamed(adapter: StreamAdapter, segment: FakeSegment | None) -> Client:
    client = Client()
    await stream(adapter, FakeAttachment(segment))(SCOPE, client.receive, client.send)
    return client


@pytest.mark.req("R126")
async def test_the_opening_goes_out_first_and_a_batch_is_one_chunk() -> None:
    segment = FakeSegment([[text("a"), text("b")], [text("c"), Completed()]])
    client = await streamed(WordAdapter(), segment)
    assert client.chunks == [
        b"data: open\n\n",
        b'data: "a"\n\ndata: "b"\n\n',
        b'data: "c"\n\ndata: "Completed"\n\n',
    ]
    assert client.sent[-1] == {"type": "http.response.body", "body": b"", "more_body": False}


async def test_a_thread_that_stands_still_is_opened_and_closed() -> None:
    client = await streamed(WordAdapter(), None)
    assert client.chunks == [b"data: open\n\n", b"data: close\n\n"]


@pytest.mark.req("R129")
async def test_the_stream_ends_with_the_terminal_even_if_the_segment_goes_on() -> None:
    segment = FakeSegment([[Completed()]], hangs=True)
    with anyio.fail_after(5):
        client = await streamed(WordAdapter(), segment)
    assert client.chunks[-1] == b'data: "Completed"\n\n'


async def test_b95_every_stream_carries_the_headers_that_proxies_need() -> None:
    client = await streamed(WordAdapter(), None)
    assert client.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert client.headers["cache-control"] == "no-cache, no-store, no-transform"
    assert client.headers["x-accel-buffering"] == "no"
    assert client.headers["x-protocol"] == "words"


async def test_b100_a_fault_while_encoding_becomes_the_protocols_failure(
    caplog: pytest.LogCaptureFixture,
) -> None:
    segment = FakeSegment([[text("a")], [text("b"), text("hunter2")], [text("c"), Completed()]])
    client = await streamed(WordAdapter(breaks_at="hunter2"), segment)
    assert client.chunks[1:] == [b'data: "a"\n\n', b'data: "b"\n\ndata: "Failed"\n\n']
    assert client.sent[-1]["more_body"] is False
    assert "ValueError while encoding an event" in caplog.text
    assert "hunter2" not in caplog.text


async def test_b100_an_adapter_that_cannot_even_fail_ends_the_stream() -> None:
    client = await streamed(
        WordAdapter(breaks_at="hunter2", hopeless=True), FakeSegment([[text("hunter2")]])
    )
    assert client.chunks == [b"data: open\n\n"]
    assert client.sent[-1]["more_body"] is False


async def test_b100_a_segment_that_breaks_becomes_the_protocols_failure() -> None:
    class Broken(FakeSegment):
        async def read(self) -> AsyncIterator[list[RunEvent]]:
            yield [text("a")]
            raise RuntimeError("the journal is gone")

    client = await streamed(WordAdapter(), Broken([]))
    assert client.chunks[1:] == [b'data: "a"\n\n', b'data: "Failed"\n\n']


async def test_a_segment_without_a_terminal_is_a_failure() -> None:
    client = await streamed(WordAdapter(), FakeSegment([[text("a")]]))
    assert client.chunks[-1] == b'data: "Failed"\n\n'


@pytest.mark.req("R119")
async def test_b89_a_reader_that_leaves_releases_the_segment_and_nothing_else() -> None:
    segment = FakeSegment([[text("a")]], hangs=True)
    client = Client()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            response = stream(WordAdapter(), FakeAttachment(segment))
            tasks.start_soon(response, SCOPE, client.receive, client.send)
            await anyio.wait_all_tasks_blocked()
            assert client.chunks == [b"data: open\n\n", b'data: "a"\n\n']
            client.leave.set()
    assert segment.released.is_set()


@pytest.mark.parametrize("leaves", [True, False], ids=["leaves", "stays"])
async def test_the_end_of_a_response_is_reported_however_it_ends(leaves: bool) -> None:
    over: list[str] = []
    client = Client()
    segment = FakeSegment([[text("a")]], hangs=True) if leaves else FakeSegment([[Completed()]])
    attachment = FakeAttachment(segment, on_left=lambda: over.append("over"))
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stream(WordAdapter(), attachment), SCOPE, client.receive, client.send)
            if leaves:
                await client.has(b'data: "a"\n\n')
                assert over == []
                client.leave.set()
    assert over == ["over"]


async def test_b92_a_reader_that_stops_reading_is_let_go(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(streaming, "SEND_SECONDS", 0.01)
    with anyio.fail_after(5), caplog.at_level(logging.ERROR):
        client = Client(stuck=True)
        response = stream(WordAdapter(), FakeAttachment(FakeSegment([[text("a")]], hangs=True)))
        await response(SCOPE, client.receive, client.send)
    assert client.chunks == []
    assert not caplog.records


async def test_b96_pings_are_comments_between_frames_in_lf(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(streaming, "PING_SECONDS", 0.01)
    client = Client()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            segment = FakeSegment([[text("a")]], hangs=True)
            response = stream(WordAdapter(), FakeAttachment(segment))
            tasks.start_soon(response, SCOPE, client.receive, client.send)
            await client.has(b": ping\n\n")
            client.leave.set()
    assert set(client.chunks) == {b"data: open\n\n", b'data: "a"\n\n', b": ping\n\n"}


async def test_debug_logs_carry_no_frames(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        await streamed(WordAdapter(), FakeSegment([[text("secret"), Completed()]]))
    assert "secret" not in caplog.text


async def passing(request: Request, call_next: RequestResponseEndpoint) -> Response:
    return await call_next(request)


async def first_chunk_while_the_segment_hangs(*middleware: Middleware) -> tuple[Client, bool]:
    """Drive an application until the first delta is out, then leave."""
    segment = FakeSegment([[text("a")]], hangs=True)

    async def endpoint(request: Request) -> Response:
        return stream(WordAdapter(), FakeAttachment(segment))

    app = Starlette(routes=[Route("/", endpoint, methods=["POST"])], middleware=list(middleware))
    client = Client()
    body_given = False

    async def receive() -> Message:
        nonlocal body_given
        if not body_given:
            body_given = True
            return {"type": "http.request", "body": b"", "more_body": False}
        return await client.receive()

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/",
        "query_string": b"",
        "headers": [(b"accept-encoding", b"gzip")],
    }
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(app, scope, receive, client.send)
            await client.has(b'data: "a"\n\n')
            client.leave.set()
        await segment.released.wait()
    return client, segment.released.is_set()


async def test_b93_a_disconnect_is_seen_behind_a_base_http_middleware() -> None:
    _, released = await first_chunk_while_the_segment_hangs(
        Middleware(BaseHTTPMiddleware, dispatch=passing)
    )
    assert released


async def test_b94_streams_are_neither_compressed_nor_held_back() -> None:
    client, _ = await first_chunk_while_the_segment_hangs(
        Middleware(GZipMiddleware, minimum_size=1)
    )
    assert "content-encoding" not in client.headers


async def test_head_opens_no_stream() -> None:
    async def endpoint(request: Request) -> Response:
        return stream(WordAdapter(), FakeAttachment(FakeSegment([[text("a")]], hangs=True)))

    app = Starlette(routes=[Route("/", endpoint)])
    with anyio.fail_after(5):
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://test"
        ) as client:
            response = await client.head("/")
    assert response.status_code == 200
    assert response.content == b""


async def test_b105_a_client_that_left_before_the_first_byte_leaves_nothing_behind() -> None:
    client = Client()
    client.leave.set()
    with anyio.fail_after(5):
        response = stream(WordAdapter(), FakeAttachment(FakeSegment([[text("a")]], hangs=True)))
        await response(SCOPE, client.receive, client.send)
    assert client.sent[0]["type"] == "http.response.start"
