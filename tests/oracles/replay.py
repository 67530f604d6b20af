"""A server that replays fixed streams: what the oracles are themselves proven against."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any

from oracles.sse import Frames, sse


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    body: Frames = ()
    status: int = 200
    content_type: str = "text/event-stream"
    headers: Mapping[str, str] = field(default_factory=dict)
    holds: Event | None = None
    """Where given, the stream stays open after its body until the event is set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """The replies to POST in their order, the last one again and again; to GET by path."""

    posts: Sequence[Reply]
    gets: Mapping[str, Reply] = field(default_factory=dict)
    bodies: list[tuple[str, Any]] = field(default_factory=list)
    cookies: list[str | None] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    def next(self, path: str, body: bytes, cookie: str | None) -> Reply:
        with self.lock:
            self.bodies.append((path, json.loads(body) if body else None))
            self.cookies.append(cookie)
            return self.posts[min(len(self.bodies), len(self.posts)) - 1]


@contextmanager
def replaying(replay: Replay) -> Iterator[str]:
    """Serve on a free port of the loopback; yields the base address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            self._answer(replay.next(self.path, body, self.headers["cookie"]))

        def do_GET(self) -> None:
            self._answer(replay.gets.get(self.path, Reply(status=204)))

        def log_message(self, format: str, *args: object) -> None:
            """Print nothing."""

        def _answer(self, reply: Reply) -> None:
            self.send_response(reply.status)
            if reply.status != 204:
                self.send_header("content-type", reply.content_type)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(sse(reply.body).encode())
            self.wfile.flush()
            if reply.holds is not None:
                reply.holds.wait()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
