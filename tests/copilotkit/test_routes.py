"""The CopilotKit runtime's contract, over the real engine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

import signoff
from oracles import recorded
from oracles.sse import JsonObject, frames_of
from signoff.events import Completed
from signoff_server.engine import Engine
from signoff_server.routes.copilotkit import copilotkit_routes
from support.agui_pages import only, types
from support.agui_server import (
    ME,
    Server,
    open_ids,
    refusals_of,
    running,
    until,
    until_running,
    user,
)
from support.cases import ASKED_ONE, ASKED_TWO, FINISHED
from support.stories import YES, Segment, ran, said
from support.vercel_server import HOLD, Teller, principal

pytestmark = pytest.mark.anyio

BASE = "/copilotkit"
TOLD = {
    "hello": [Segment(says="hello", events=[*said("h1", "Hello."), Completed()])],
    "slow": [Segment(says="slow", events=[*said("s1", "Slow"), HOLD, Completed()])],
    "Delete /a": [ASKED_ONE, Segment(answers={"c1": YES}, events=[*ran("c1"), *FINISHED])],
    "two": [ASKED_TWO, Segment(events=[*ran("c1"), *ran("c2"), *FINISHED])],
}
APPROVED = {"interruptId": "c1", "status": "resolved", "payload": {"approved": True}}


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    async with running(TOLD, tmp_path / "store.db") as server:
        yield server


def run_input(*messages: JsonObject, **more: Any) -> JsonObject:
    return {"threadId": "t1", "runId": "r1", "messages": list(messages), "tools": [], **more}


async def frames(server: Server, path: str, body: Any) -> list[JsonObject]:
    reply = await server.post(BASE + path, body)
    assert reply.status_code == 200, reply.text
    assert reply.headers["content-type"].startswith("text/event-stream")
    return frames_of(reply.text)


def envelope(method: str, body: Any = None, **params: Any) -> JsonObject:
    return {"method": method, "params": {"agentId": "default", **params}, "body": body}


SHAPES = pytest.mark.parametrize("single", [False, True], ids=["routes", "single endpoint"])


async def perform(server: Server, method: str, body: Any, *, single: bool) -> list[JsonObject]:
    if single:
        return await frames(server, "", envelope(f"agent/{method}", body))
    return await frames(server, f"/agent/default/{method}", body)


@pytest.mark.parametrize("ask", ["GET", "POST"])
async def test_info_names_the_agents(server: Server, ask: str) -> None:
    if ask == "GET":
        reply = await server.client.get(f"{BASE}/info")
    else:
        reply = await server.post(BASE, {"method": "info"})
    info = reply.json()
    assert (info["version"], info["mode"]) == (signoff.__version__, "sse")
    assert info["agents"]["default"]["name"] == "default"
    assert info["agents"]["default"]["capabilities"]["humanInTheLoop"]["approvals"] is True
    # Each of these makes a page show or ask something that is not there.
    assert not {"licenseStatus", "threadEndpoints", "intelligence", "suggestions"} & set(info)


@SHAPES
@pytest.mark.req("R91", "R103")
async def test_a_run_pauses_and_goes_on_under_one_run_id(server: Server, single: bool) -> None:
    asked = await perform(server, "run", run_input(user("Delete /a")), single=single)
    assert open_ids(asked) == ["c1"]
    done = await perform(server, "run", run_input(resume=[APPROVED]), single=single)
    assert done[-1]["outcome"] == {"type": "success"}
    assert server.teller.executed == ["c1"]


@SHAPES
async def test_b37_connect_restores_the_card_and_changes_nothing(
    server: Server, single: bool
) -> None:
    await perform(server, "run", run_input(user("Delete /a")), single=single)
    for _ in range(2):
        shown = await perform(server, "connect", run_input(runId="connect-1"), single=single)
        assert types(shown) == ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]
        assert shown[0]["runId"] == "connect-1"
        assert open_ids(shown) == ["c1"]


@SHAPES
async def test_an_unknown_thread_connects_to_an_empty_success(server: Server, single: bool) -> None:
    """Without all three events a thread switch keeps the old card."""
    shown = await perform(server, "connect", run_input(), single=single)
    assert types(shown) == ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]
    assert only(shown, "RUN_FINISHED")["outcome"] == {"type": "success"}


async def test_a_message_to_connect_is_not_taken(server: Server) -> None:
    await perform(server, "connect", run_input(user("hello")), single=False)
    assert (await server.engine.thread(ME, "t1")).status == "new"


@SHAPES
async def test_a_running_run_is_followed_to_its_end_and_closed(
    server: Server, single: bool
) -> None:
    run = asyncio.create_task(perform(server, "run", run_input(user("slow")), single=single))
    await until_running(server)
    following = asyncio.create_task(perform(server, "connect", run_input(), single=single))
    await until(lambda: server.engine.attached == 1)
    server.teller.go.set()
    assert types(await following)[:2] == ["RUN_STARTED", "MESSAGES_SNAPSHOT"]
    assert types(await following)[2:] == types(await run)[1:]


@SHAPES
async def test_stop_ends_the_running_run(server: Server, single: bool) -> None:
    run = asyncio.create_task(perform(server, "run", run_input(user("slow")), single=single))
    await until_running(server)
    assert (await stop(server, "t1", single=single)).json() == {"stopped": True}
    # CopilotKit's client knows no other success than this one.
    assert (await run)[-1]["outcome"] == {"type": "success"}
    assert (await server.engine.thread(ME, "t1")).status == "cancelled"


@SHAPES
@pytest.mark.parametrize("thread", ["unknown", "a/b", "t1"])
async def test_stop_where_nothing_runs(server: Server, single: bool, thread: str) -> None:
    await perform(server, "run", run_input(user("Delete /a")), single=single)
    reply = await stop(server, thread, single=single)
    assert (reply.status_code, reply.json()) == (200, {"stopped": False})
    assert await server.pending() == ["c1"]


async def stop(server: Server, thread: str, *, single: bool) -> httpx.Response:
    if single:
        return await server.post(BASE, envelope("agent/stop", threadId=thread))
    path = thread.replace("/", "%2F")
    # Without a body, as the client sends it where it knows no run.
    return await server.client.post(f"{BASE}/agent/default/stop/{path}")


@pytest.mark.parametrize("path", ["run", "connect", "stop/t1"])
async def test_an_unknown_agent_is_not_found(server: Server, path: str) -> None:
    reply = await server.post(f"{BASE}/agent/ghost/{path}", run_input(user("hello")))
    assert reply.status_code == 404
    assert reply.json() == {"error": "Agent not found", "message": "There is no agent 'ghost'."}
    assert (await server.engine.thread(ME, "t1")).status == "new"


@pytest.mark.parametrize("method", ["agent/run", "agent/connect", "agent/stop"])
async def test_an_unknown_agent_is_not_found_at_the_single_endpoint(
    server: Server, method: str
) -> None:
    body = envelope(method, run_input(), agentId="ghost", threadId="t1")
    reply = await server.post(BASE, body)
    assert (reply.status_code, reply.json()["error"]) == (404, "Agent not found")


@pytest.mark.parametrize("body", [[], {}, {"threadId": "t1"}, run_input(messages={})])
@pytest.mark.parametrize("path", ["run", "connect"])
async def test_bodies_that_cannot_be_read_are_refused(server: Server, path: str, body: Any) -> None:
    for reply in (
        await server.post(f"{BASE}/agent/default/{path}", body),
        await server.post(BASE, envelope(f"agent/{path}", body)),
    ):
        assert reply.status_code == 400
        assert reply.json()["error"] == "Invalid request body"
        assert reply.json()["code"] == "invalid_body"


UNKNOWN: dict[str, Any] = {
    "no method": {},
    "an unknown method": envelope("agent/dance"),
    "no parameters": {"method": "agent/run", "body": run_input()},
    "no agent": {"method": "agent/run", "params": {}, "body": run_input()},
    "an agent of another type": {"method": "agent/run", "params": {"agentId": 1}},
    "a stop without a thread": envelope("agent/stop"),
}


@pytest.mark.parametrize("body", UNKNOWN.values(), ids=UNKNOWN.keys())
async def test_unknown_requests_to_the_single_endpoint(server: Server, body: Any) -> None:
    reply = await server.post(BASE, body)
    assert (reply.status_code, reply.json()["error"]) == (400, "invalid_request")


async def test_b39_an_answer_under_another_thread_settles_nothing(server: Server) -> None:
    """A page that switched threads posts the card's answer with the new thread's id."""
    await perform(server, "run", run_input(user("Delete /a")), single=False)
    body = run_input(resume=[APPROVED], threadId="t2")
    late = await perform(server, "run", body, single=False)
    assert (refusals_of(late), open_ids(late)) == (["nothing_pending"], [])
    assert (server.teller.executed, await server.pending()) == ([], ["c1"])


async def test_b27_the_answer_that_the_page_writes_as_a_result_is_ignored(
    server: Server,
) -> None:
    body = recorded("copilotkit_noted")["tool_bound_approve"].body
    await perform(server, "run", run_input(user("Delete /a"), threadId="thread-1"), single=False)
    done = await perform(server, "run", body, single=False)
    assert only(done, "TOOL_CALL_RESULT")["content"] == '{"deleted":true}'
    assert server.teller.executed == ["c1"]


@pytest.mark.parametrize("case", ["connect_single_endpoint", "resume_single_endpoint"])
async def test_recorded_requests_to_the_single_endpoint(server: Server, case: str) -> None:
    await perform(server, "run", run_input(user("Delete /a"), threadId="thread-1"), single=False)
    request = recorded("copilotkit_noted")[case]
    shown = frames_of((await server.post(request.path, request.body)).text)
    assert open_ids(shown) == (["c1"] if case.startswith("connect") else [])


async def test_the_page_of_the_base_address_is_left_free(server: Server) -> None:
    async def page(request: Request) -> Response:
        return PlainTextResponse("the page")

    routes = [*copilotkit_routes(server.engine, principal), Route(BASE, page)]
    transport = httpx.ASGITransport(Starlette(routes=routes))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        assert (await client.get(BASE)).text == "the page"
        assert (await client.post(BASE, json={"method": "info"})).json()["mode"] == "sse"
    assert (await server.client.get(BASE)).status_code == 405


async def test_each_agent_is_a_source(tmp_path: Path) -> None:
    tellers = {name: Teller(stories=TOLD) for name in ("writer", "cleaner")}
    engine = Engine(tellers, store=f"sqlite:///{tmp_path / 'store.db'}")
    transport = httpx.ASGITransport(Starlette(routes=copilotkit_routes(engine, principal)))
    async with (
        engine.lifespan(),
        httpx.AsyncClient(transport=transport, base_url="http://test") as client,
    ):
        assert list((await client.get(f"{BASE}/info")).json()["agents"]) == ["writer", "cleaner"]
        path = f"{BASE}/agent/cleaner/run"
        await client.post(path, json=run_input(user("Delete /a")))
        await client.post(path, json=run_input(resume=[APPROVED]))
    assert {name: teller.executed for name, teller in tellers.items()} == {
        "writer": [],
        "cleaner": ["c1"],
    }
