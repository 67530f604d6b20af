"""The native routes over the real engine and store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import orjson
import pytest
from starlette.applications import Starlette
from starlette.requests import Request

from signoff.principal import Principal
from signoff_server.engine import Engine
from signoff_server.routes.native import native_routes, prefers_json
from support.gated_source import GatedSource

pytestmark = pytest.mark.anyio

JSON = {"accept": "application/json"}


def by_header(request: Request) -> Principal:
    return Principal(id=request.headers.get("x-user", "me"))


class Server:
    def __init__(self, store: Path) -> None:
        self.source = GatedSource()
        self.engine = Engine(self.source, store=f"sqlite:///{store}")
        self.app = Starlette(routes=native_routes(self.engine, by_header))
        self.client = httpx.AsyncClient(
            transport=httpx.ASGITransport(self.app), base_url="http://test"
        )

    async def chat(self, thread: str, **body: object) -> httpx.Response:
        return await self.client.post(f"/threads/{thread}/chat", json=body, headers=JSON)

    async def get(self, path: str) -> httpx.Response:
        return await self.client.get(f"/threads/{path}")


@asynccontextmanager
async def running(store: Path) -> AsyncIterator[Server]:
    server = Server(store)
    async with server.client, server.engine.lifespan():
        yield server


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    async with running(tmp_path / "store.db") as server:
        yield server


def events(response: httpx.Response) -> list[tuple[str, dict[str, object]]]:
    frames = response.text.removesuffix("\n\n").split("\n\n")
    pairs = [frame.split("\ndata: ") for frame in frames if frame.startswith("event: ")]
    return [(name.removeprefix("event: "), orjson.loads(data)) for name, data in pairs]


async def ask(server: Server, words: str = "delete /a /b", thread: str = "t") -> list[str]:
    """Bring the thread to a pause; the callIds that wait."""
    reply = (await server.chat(thread, message=words)).json()
    assert reply["status"] == "awaiting_approval"
    return [action["id"] for action in reply["pending"]]


async def test_a_stream_has_the_events_and_ends_with_the_reply(server: Server) -> None:
    response = await server.client.post("/threads/t/chat", json={"message": "delete /a"})
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    names = [name for name, _ in events(response)]
    assert names == ["text_delta", "tool_call_ready", "suspended"]
    reply = events(response)[-1][1]
    assert reply["status"] == "awaiting_approval"
    history = (await server.get("t/messages")).json()["messages"]
    assert reply["message"] == history[-1]
    assert reply["pending"] == (await server.get("t/approvals")).json()


async def test_the_json_reply_says_the_same(server: Server) -> None:
    response = await server.chat("t", message="hello")
    assert response.headers["content-type"] == "application/json"
    history = (await server.get("t/messages")).json()["messages"]
    assert response.json() == {
        "status": "completed",
        "message": history[-1],
        "pending": [],
        "answered": [],
    }
    assert history[-1]["content"] == [{"type": "text", "content": "Done."}]


async def test_a_failed_run_is_answered_with_200(server: Server) -> None:
    response = await server.chat("t", message="fail")
    assert response.status_code == 200
    reply = response.json()
    assert (reply["status"], reply["pending"]) == ("failed", [])
    assert reply["message"]["content"] == [{"type": "text", "content": "half"}]
    assert reply["error"] == {"code": "run_failed", "message": "The run failed."}


async def test_answers_in_parts_reach_their_calls(server: Server) -> None:
    first, second = await ask(server)
    reply = (await server.chat("t", decisions={second: ["reject", "keep it"]})).json()
    assert reply["status"] == "awaiting_approval"
    assert [action["id"] for action in reply["pending"]] == [first]
    assert server.source.executed == []
    view = (await server.get("t")).json()
    for shown in (reply, view):
        said = [(one["id"], one["decision"], one["feedback"]) for one in shown["answered"]]
        assert said == [(second, "reject", "keep it")]

    response = await server.client.post("/threads/t/chat", json={"decisions": {first: "approve"}})
    assert [name for name, _ in events(response)] == [
        "tool_call_started",
        "tool_result",
        "tool_result",
        "text_delta",
        "completed",
    ]
    assert server.source.executed == [(first, {"path": "/a"})]
    assert events(response)[-1][1]["answered"] == []
    assert (await server.get("t")).json()["answered"] == []


async def test_a_second_pause_in_the_same_run(server: Server) -> None:
    (first,) = await ask(server, "delete /a again")
    reply = (await server.chat("t", decisions={first: "approve"})).json()
    assert reply["status"] == "awaiting_approval"
    assert [action["inputs"] for action in reply["pending"]] == [{"path": "/again"}]
    last = (await server.chat("t", decisions={reply["pending"][0]["id"]: "approve"})).json()
    assert last["status"] == "completed"
    assert [inputs for _, inputs in server.source.executed] == [{"path": "/a"}, {"path": "/again"}]


async def test_answers_from_elsewhere_are_acknowledged_and_the_run_goes_on(server: Server) -> None:
    first, second = await ask(server)
    partial = await server.client.post(
        "/threads/t/approvals", json={"decisions": {first: "approve"}}
    )
    assert partial.status_code == 202
    assert partial.json()["status"] == "awaiting_approval"
    assert [action["id"] for action in partial.json()["pending"]] == [second]
    assert [action["id"] for action in partial.json()["answered"]] == [first]
    again = await server.client.post("/threads/t/chat", json={"decisions": {first: "approve"}})
    assert events(again) == [
        ("suspended", (await server.chat("t", decisions={first: "approve"})).json())
    ]

    last = await server.client.post("/threads/t/approvals", json={"decisions": {second: "approve"}})
    assert last.status_code == 202
    assert last.json() == {"status": "running", "pending": [], "answered": []}
    attached = await server.get("t/stream")
    if attached.status_code == 200:
        assert events(attached)[-1][0] == "completed"
    assert (await server.get("t")).json()["status"] == "completed"
    assert len(server.source.executed) == 2


@pytest.mark.req("R121")
async def test_a_message_while_something_waits_names_it_and_changes_nothing(server: Server) -> None:
    waiting = await ask(server)
    before = (await server.get("t")).json()
    response = await server.chat("t", message="never mind")
    assert response.status_code == 409
    assert response.json()["code"] == "awaiting_decision"
    assert [action["id"] for action in response.json()["pending"]] == waiting
    assert (await server.get("t")).json() == before


@asynccontextmanager
async def a_run_that_waits(server: Server) -> AsyncIterator[asyncio.Task[httpx.Response]]:
    """A run under way, and the request that started it; let go of at the end."""
    request = asyncio.ensure_future(
        server.client.post("/threads/t/chat", json={"message": "wait", "id": "m1"})
    )
    await server.source.waiting.wait()
    try:
        yield request
    finally:
        server.source.go.set()
        await request


@pytest.mark.req("R128")
async def test_another_message_while_a_run_goes_on_is_told_when_to_come_back(
    server: Server,
) -> None:
    async with a_run_that_waits(server):
        response = await server.chat("t", message="hello")
        assert (response.status_code, response.json()["code"]) == (409, "run_in_progress")
        assert int(response.headers["retry-after"]) >= 1
        deleted = await server.client.delete("/threads/t")
        assert (deleted.status_code, deleted.json()["code"]) == (409, "run_in_progress")


@pytest.mark.req("R126")
async def test_a_late_reader_sees_the_running_segment_from_its_first_event(server: Server) -> None:
    async with a_run_that_waits(server) as request:
        view = (await server.get("t")).json()
        assert view["status"] == "running"
        assert [message["role"] for message in view["messages"]] == ["user"]
        late = asyncio.ensure_future(server.get("t/stream"))
        again = asyncio.ensure_future(server.chat("t", message="wait", id="m1"))
        await asyncio.sleep(0.02)
        server.source.go.set()
        assert (await late).text == (await request).text
        assert (await again).json() == events(await request)[-1][1]
    names = [name for name, _ in events(await request)]
    assert names == ["text_delta", "text_delta", "completed"]
    assert (await server.get("t/stream")).status_code == 204


async def test_stop_ends_the_running_segment(server: Server) -> None:
    async with a_run_that_waits(server) as request:
        assert (await server.client.post("/threads/t/stop")).json() == {"stopped": True}
        assert events(await request)[-1][0] == "cancelled"
    assert (await server.get("t")).json()["status"] == "cancelled"


async def test_reading_does_not_make_a_thread(server: Server) -> None:
    assert (await server.get("x")).json() == {
        "id": "x",
        "status": "new",
        "messages": [],
        "pending": [],
        "answered": [],
    }
    assert (await server.get("x/messages")).json() == {"messages": [], "before": None}
    assert (await server.get("x/approvals")).json() == []
    assert (await server.get("x/stream")).status_code == 204
    assert (await server.client.post("/threads/x/stop")).json() == {"stopped": False}
    assert (await server.client.delete("/threads/x")).status_code == 204


async def test_history_comes_in_pages_from_the_end(server: Server) -> None:
    for text in ("one", "two", "three"):
        await server.chat("t", message=text)
    whole = (await server.get("t")).json()["messages"]
    last = (await server.get("t/messages?limit=4")).json()
    assert last == {"messages": whole[2:], "before": whole[2]["seq"]}
    first = (await server.get(f"t/messages?limit=4&before={last['before']}")).json()
    assert first == {"messages": whole[:2], "before": None}


@pytest.mark.parametrize("query", ["limit=0", "limit=-1", "before=x", "before=1.5", "limit=٣"])
async def test_a_page_that_makes_no_sense_is_refused(server: Server, query: str) -> None:
    response = await server.get(f"t/messages?{query}")
    assert (response.status_code, response.json()["code"]) == (400, "invalid_body")


async def test_a_reset_thread_is_new(server: Server) -> None:
    waiting = await ask(server)
    assert (await server.client.delete("/threads/t")).status_code == 204
    assert (await server.get("t")).json()["status"] == "new"
    response = await server.chat("t", decisions={waiting[0]: "approve"})
    assert response.json()["code"] == "nothing_pending"


async def test_stop_on_a_suspended_thread_is_refused(server: Server) -> None:
    waiting = await ask(server)
    response = await server.client.post("/threads/t/stop")
    assert (response.status_code, response.json()["code"]) == (409, "awaiting_decision")
    assert [action["id"] for action in response.json()["pending"]] == waiting


async def test_ids_are_data(server: Server) -> None:
    thread = "a%2Fb%0D%0Adata%3A%20x"
    waiting = await ask(server, thread=thread)
    assert (await server.get(thread)).json()["id"] == "a/b\r\ndata: x"
    reply = (
        await server.chat(thread, decisions={waiting[0]: "approve", waiting[1]: "reject"})
    ).json()
    assert reply["status"] == "completed"


@pytest.mark.req("R47", "R59")
async def test_a_pause_outlives_the_process(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    async with running(store) as server:
        waiting = await ask(server)
        await server.chat("t", decisions={waiting[0]: "approve"})
    async with running(store) as server:
        view = (await server.get("t")).json()
        assert view["status"] == "awaiting_approval"
        assert [action["id"] for action in view["pending"]] == waiting[1:]
        assert [action["id"] for action in view["answered"]] == waiting[:1]
        reply = (await server.chat("t", decisions={waiting[1]: "approve"})).json()
        assert reply["status"] == "completed"
        assert [call_id for call_id, _ in server.source.executed] == waiting


@pytest.mark.parametrize(
    ("accept", "json"),
    [
        ("", False),
        ("*/*", False),
        ("text/event-stream", False),
        ("application/json", True),
        ("Application/JSON; charset=utf-8", True),
        ("application/json, text/plain, */*", True),
        ("application/json, text/event-stream", False),
        ("text/event-stream;q=0.5, application/json;q=0.9", True),
        ("text/event-stream, application/json;q=0.9", False),
        ("application/json;q=0", False),
        ("application/json;q=x", False),
        ("text/html, */*;q=0.8", False),
    ],
)
def test_accept_chooses_between_stream_and_reply(accept: str, json: bool) -> None:
    assert prefers_json(accept) is json
