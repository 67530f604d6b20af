"""The routes without a client: what is refused before any stream, what is staged, who sees what."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from oracles import frames_of, recorded
from oracles.sse import JsonObject
from signoff.decisions import rejection_text
from signoff.events import Completed
from signoff.outcomes import Rejected
from signoff_server.engine import Engine
from support.cases import ASKED_ONE, FINISHED
from support.stories import YES, Segment, ended, ran, said
from support.vercel_server import HOLD, Teller, make_app

pytestmark = pytest.mark.anyio

CHAT = "/vercel/chat"
STORIES = {
    "hello": [Segment(says="hello", events=[*said("h1", "Hello."), Completed()])],
    "slow": [Segment(says="slow", events=[*said("s1", "Slow"), HOLD, Completed()])],
    "one": [ASKED_ONE, Segment(answers={"c1": YES}, events=[*ran("c1"), *FINISHED])],
    "no": [ASKED_ONE, Segment(events=[ended("c1", Rejected()), *FINISHED])],
}


class Server:
    def __init__(self, store: Path, **options: Any) -> None:
        self.teller = Teller(stories=STORIES)
        self.engine = Engine(self.teller, store=f"sqlite:///{store}")
        transport = httpx.ASGITransport(make_app(self.engine, **options))
        self.client = httpx.AsyncClient(transport=transport, base_url="http://test")

    async def post(self, body: Any, **headers: str) -> httpx.Response:
        return await self.client.post(CHAT, json=body, headers=headers)

    async def say(self, text: str, message_id: str = "u1", **headers: str) -> httpx.Response:
        return await self.post(message(text, message_id), **headers)

    async def pending(self) -> list[Any]:
        reply = await self.client.get("/threads/t/approvals")
        pending: list[Any] = reply.json()
        return pending


@asynccontextmanager
async def running(store: Path, **options: Any) -> AsyncIterator[Server]:
    server = Server(store, **options)
    async with server.client, server.engine.lifespan():
        yield server


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    async with running(tmp_path / "store.db") as server:
        yield server


def message(text: str, message_id: str = "u1", **more: object) -> JsonObject:
    user = {"id": message_id, "role": "user", "parts": [{"type": "text", "text": text}]}
    return {"id": "t", "messages": [user], "trigger": "submit-message", **more}


def answer(approved: object = True, call_id: str = "c1", **approval: object) -> JsonObject:
    part = {
        "type": "tool-delete_file",
        "toolCallId": call_id,
        "state": "approval-responded",
        "input": {},
        "approval": {"id": call_id, "approved": approved, **approval},
    }
    page = {"id": "m1", "role": "assistant", "parts": [{"type": "step-start"}, part]}
    return {"id": "t", "messages": [page], "trigger": "submit-message", "messageId": "m1"}


def kinds(reply: httpx.Response) -> list[str]:
    assert reply.status_code == 200, reply.text
    return [frame["type"] for frame in frames_of(reply.text)]


def problem(reply: httpx.Response, status: int, code: str) -> JsonObject:
    assert reply.headers["content-type"] == "application/problem+json"
    document: JsonObject = reply.json()
    assert (reply.status_code, document["code"]) == (status, code)
    return document


async def test_a_stream_says_what_it_is(server: Server) -> None:
    reply = await server.say("hello")
    assert reply.headers["x-vercel-ai-ui-message-stream"] == "v1"
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert reply.text.endswith("data: [DONE]\n\n")
    assert "\r" not in reply.text


async def test_the_same_answers_posted_again_run_nothing_again(server: Server) -> None:
    await server.say("one")
    first = await server.post(answer())
    again = await server.post(answer())
    assert server.teller.executed == ["c1"]
    assert kinds(again) == kinds(first)
    assert "data-signoff-refused" not in kinds(again)


@pytest.mark.req("R30", "R66")
async def test_a_double_click_runs_once(server: Server) -> None:
    await server.say("one")
    replies: list[httpx.Response] = []

    async def post() -> None:
        replies.append(await server.post(answer()))

    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(post)
    assert server.teller.executed == ["c1"]
    assert all(kinds(reply)[-1] == "finish" for reply in replies)


@pytest.mark.req("R32", "R61")
async def test_b12_a_rejected_call_has_one_result_and_the_talk_goes_on(server: Server) -> None:
    await server.say("no")
    await server.post(answer(False))
    assert kinds(await server.say("hello", "u2"))[-1] == "finish"
    history = (await server.client.get("/threads/t")).json()["messages"]
    results = [tool for one in history for tool in one.get("tools", []) if "outcome" in tool]
    assert [(tool["callId"], tool["outcome"]) for tool in results] == [("c1", "rejected")]
    assert results[0]["result"] == rejection_text(None)


@pytest.mark.req("R121", "R123")
async def test_a_message_while_pending_stores_nothing(server: Server) -> None:
    await server.say("one")
    before = (await server.client.get("/threads/t")).json()
    refused = await server.say("hello", "u2")
    assert "data-signoff-refused" in kinds(refused)
    assert (await server.client.get("/threads/t")).json() == before


@pytest.mark.req("R128")
async def test_a_message_while_a_run_goes_on_is_told_when_to_come_back(server: Server) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(server.say, "slow")
        for _ in range(2000):
            if (await server.client.get("/threads/t")).json()["status"] == "running":
                break
        refused = await server.say("hello", "u2")
        problem(refused, 409, "run_in_progress")
        assert int(refused.headers["retry-after"]) >= 1
        server.teller.go.set()


async def test_stop_on_a_waiting_thread_is_refused(server: Server) -> None:
    await server.say("one")
    problem(await server.client.post(f"{CHAT}/t/stop"), 409, "awaiting_decision")
    assert len(await server.pending()) == 1


async def test_unknown_threads_are_empty(server: Server) -> None:
    assert (await server.client.get(f"{CHAT}/x")).json() == {"id": "x", "messages": []}
    assert (await server.client.get(f"{CHAT}/x/stream")).status_code == 204
    assert (await server.client.post(f"{CHAT}/x/stop")).json() == {"stopped": False}


@pytest.mark.req("R46", "R125")
async def test_two_principals_never_meet(server: Server) -> None:
    await server.say("one")
    them = {"x-user": "them"}
    assert (await server.client.get(f"{CHAT}/t", headers=them)).json()["messages"] == []
    assert (await server.client.get(f"{CHAT}/t/stream", headers=them)).status_code == 204
    refused = await server.post(answer(), **them)
    assert kinds(refused) == ["start", "data-signoff-refused", "error"]
    assert frames_of(refused.text)[1]["data"]["code"] == "nothing_pending"
    assert kinds(await server.say("hello", "u1", **them))[-1] == "finish"
    assert len(await server.pending()) == 1
    assert server.teller.executed == []


DEEP = b'{"id":"t","messages":' + b"[" * 1000 + b"]" * 1000 + b"}"
BAD: dict[str, tuple[bytes, int, str]] = {
    "no JSON": (b"{", 400, "invalid_body"),
    "a list": (b"[]", 400, "invalid_body"),
    "NaN": (b'{"id":"t","messages":[],"x":NaN}', 400, "invalid_body"),
    "invalid UTF-8": (b'{"id":"\xff","messages":[]}', 400, "invalid_body"),
    "duplicate keys": (b'{"id":"t","id":"u","messages":[]}', 400, "invalid_body"),
    "1,000 levels": (DEEP, 400, "invalid_body"),
    "10 MB": (b'{"id":"' + b"x" * 10_000_000 + b'"}', 413, "too_large"),
    "no messages": (b'{"id":"t","messages":[]}', 400, "invalid_body"),
    "no id": (b'{"messages":[{"id":"u","role":"user","parts":[]}]}', 400, "invalid_body"),
    "a NUL in the id": (
        b'{"id":"t\\u0000","message":{"role":"user","parts":[{"type":"text","text":"x"}]}}',
        400,
        "invalid_body",
    ),
}


@pytest.mark.req("R26", "R117")
@pytest.mark.parametrize(("body", "status", "code"), BAD.values(), ids=BAD.keys())
async def test_a_bad_body_is_refused_before_any_stream(
    server: Server, body: bytes, status: int, code: str
) -> None:
    await server.say("one")
    headers = {"content-type": "application/json"}
    reply = await server.client.post(CHAT, content=body, headers=headers)
    problem(reply, status, code)
    assert len(await server.pending()) == 1
    await server.post(answer())
    assert server.teller.executed == ["c1"]


async def test_another_content_type_is_refused(server: Server) -> None:
    reply = await server.client.post(CHAT, content=b"{}", headers={"content-type": "text/plain"})
    problem(reply, 415, "unsupported_media_type")


REFUSED: dict[str, tuple[JsonObject, int, str]] = {
    "a message": (message("hello", "u2"), 409, "awaiting_decision"),
    "no answer": (answer("yes"), 400, "invalid_decision"),
    "an unknown call": (answer(call_id="x"), 400, "unknown_call"),
}


@pytest.mark.parametrize(("body", "status", "code"), REFUSED.values(), ids=REFUSED.keys())
async def test_refusals_can_be_errors(
    tmp_path: Path, body: JsonObject, status: int, code: str
) -> None:
    async with running(tmp_path / "store.db", refusals="error") as server:
        await server.say("one")
        document = problem(await server.post(body), status, code)
        assert [action["id"] for action in document["pending"]] == ["c1"]


@pytest.mark.req("R26")
async def test_one_bad_answer_stages_nothing(server: Server) -> None:
    await server.say("one")
    body = answer()
    body["messages"][0]["parts"] += answer(call_id="x")["messages"][0]["parts"]
    assert kinds(await server.post(body))[-1] == "error"
    assert len(await server.pending()) == 1
    assert server.teller.executed == []


async def test_a_body_with_a_single_message_is_taken(server: Server) -> None:
    body = {"id": "t", "message": message("one")["messages"][0]}
    assert kinds(await server.post(body))[-1] == "finish"
    assert "start" in kinds(await server.post({**body, "message": {**body["message"], "id": "u2"}}))
    page = answer()
    await server.post({"id": "t", "message": page["messages"][0], "messageId": "m1"})
    assert server.teller.executed == ["c1"]


async def test_b48_a_continuation_echoes_the_message_of_the_page(server: Server) -> None:
    await server.say("one")
    reply = await server.post(answer())
    assert frames_of(reply.text)[0] == {"type": "start", "messageId": "m1"}


async def test_the_recorded_first_message_starts_a_run(server: Server) -> None:
    case = recorded("vercel_sdk7")["first_message"]
    server.teller.stories = {"Delete /a": STORIES["hello"]}
    reply = await server.client.post(
        case.path, content=case.text, headers={"content-type": "application/json"}
    )
    assert kinds(reply)[-1] == "finish"


async def test_a_failing_run_tells_nothing_of_itself(server: Server) -> None:
    reply = await server.say("an unknown story")
    assert kinds(reply)[-1] == "error"
    assert frames_of(reply.text)[-1]["errorText"] == "The run failed."
    assert "KeyError" not in reply.text
