"""A stop while requests are open: streams end by saying so, however long a tool takes, and a body
that never comes is answered rather than printed as a stack."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from support.demo_server import DemoServer, JsonObject, playing

SCENARIO: JsonObject = {
    "tools": [{"name": "wait", "approval": False, "result": "waited", "delay_seconds": 60}],
    "turns": [{"steps": [{"calls": [{"id": "c1", "name": "wait", "inputs": {}}]}]}],
}
HALF_A_BODY = (
    b"POST /threads/half/chat HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    b"Content-Type: application/json\r\nContent-Length: 50\r\n\r\n"
    b'{"mess'
)
USER: JsonObject = {"id": "u1", "role": "user"}
RUNS: list[tuple[str, JsonObject, str]] = [
    ("/threads/native/chat", {"message": "go"}, "event: failed"),
    (
        "/ag-ui",
        {"threadId": "ag-ui", "runId": "r1", "messages": [{**USER, "content": "go"}]},
        '"type":"RUN_ERROR"',
    ),
    (
        "/vercel/chat",
        {"id": "vercel", "messages": [{**USER, "parts": [{"type": "text", "text": "go"}]}]},
        "data: [DONE]",
    ),
]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[DemoServer]:
    with playing(SCENARIO, tmp_path) as demo:
        yield demo


@pytest.mark.parametrize(("path", "body", "end"), RUNS, ids=["native", "ag-ui", "vercel"])
def test_a_stream_over_a_slow_tool_says_that_its_run_ended(
    server: DemoServer, path: str, body: JsonObject, end: str
) -> None:
    read: list[str] = []

    def follow() -> None:
        with httpx.stream("POST", f"{server.base_url}{path}", json=body, timeout=30) as reply:
            read.extend(reply.iter_lines())

    reader = threading.Thread(target=follow)
    reader.start()
    thread = body.get("threadId") or body.get("id") or "native"
    server.wait_for_begin(thread, "c1")
    server.stop()
    reader.join(30)

    assert any(end in line for line in read)
    assert "Traceback" not in server.log()


def test_half_a_body_is_answered(server: DemoServer) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as client:
        client.sendall(HALF_A_BODY)
        server.wait_for_status("half", "new")
        server.stop()
        reply = client.recv(1000)

    assert reply.startswith(b"HTTP/1.1 503 ")
    assert "Traceback" not in server.log()
