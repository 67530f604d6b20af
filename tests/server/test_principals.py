"""Two principals can neither see nor touch each other's threads, in any protocol."""

from __future__ import annotations

import pytest

from support.protocols import PROTOCOLS, Native, Protocol, World, frames

pytestmark = pytest.mark.anyio

OTHER = {"x-user": "other"}

each_protocol = pytest.mark.parametrize(
    "protocol", PROTOCOLS, ids=[item.name for item in PROTOCOLS]
)


@pytest.mark.req("R125")
async def test_reading_anothers_thread_shows_an_empty_one(world: World) -> None:
    await world.ask()
    get = world.client.get
    empty = {"id": "t", "status": "new", "messages": [], "pending": [], "answered": []}
    assert (await get("/threads/t", headers=OTHER)).json() == empty
    assert (await get("/threads/t/messages", headers=OTHER)).json()["messages"] == []
    assert (await get("/threads/t/approvals", headers=OTHER)).json() == []
    assert (await get("/threads/t/stream", headers=OTHER)).status_code == 204
    assert (await get("/vercel/chat/t", headers=OTHER)).json() == {"id": "t", "messages": []}
    assert (await get("/vercel/chat/t/stream", headers=OTHER)).status_code == 204
    hydrated = (await get("/ag-ui/threads/t", headers=OTHER)).json()
    assert (hydrated["messages"], hydrated["interrupts"]) == ([], [])


@pytest.mark.req("R125")
@pytest.mark.parametrize("path", ["/ag-ui/connect", "/copilotkit/agent/default/connect"])
async def test_connecting_to_anothers_thread_is_an_empty_success(world: World, path: str) -> None:
    await world.ask()
    body = {"threadId": "t", "runId": "r", "messages": [], "protocolVersion": "1.0"}
    response = await world.client.post(path, json=body, headers=OTHER)
    assert response.status_code == 200
    sent = frames(response.text)
    assert sent[-1]["outcome"] == {"type": "success"}
    assert "delete_file" not in response.text


@pytest.mark.req("R46", "R125")
@each_protocol
async def test_b80_anothers_answer_reaches_nothing(world: World, protocol: Protocol) -> None:
    waiting = await world.ask()
    before = await world.view("t")
    reply = await protocol.answer(world.client, "t", dict.fromkeys(waiting, True), user="other")
    assert reply.code == "nothing_pending", reply.text
    assert "delete_file" not in reply.text.replace("tool-delete_file", "")
    assert await world.view("t") == before
    assert (await world.view("t", "other"))["status"] == "new"
    assert world.source.executed == []


@pytest.mark.req("R46")
@each_protocol
async def test_a_principal_in_the_body_is_only_data(world: World, protocol: Protocol) -> None:
    waiting = await world.ask()
    body = protocol.answers("t", dict.fromkeys(waiting, True))
    body |= {"principal": "me", "user": "me", "userId": "me", "tenant": ""}
    reply = await protocol.post(world.client, "t", body, "other")
    assert reply.code == "nothing_pending"
    assert world.source.executed == []


@pytest.mark.req("R125")
@each_protocol
async def test_b80_the_same_id_is_another_thread_for_another_person(
    world: World, protocol: Protocol
) -> None:
    waiting = await world.ask()
    reply = await protocol.send_message(world.client, "t", "hello", user="other")
    assert (reply.status, reply.code) == (200, None)
    mine, theirs = await world.view("t"), await world.view("t", "other")
    assert [action["id"] for action in mine["pending"]] == waiting
    assert theirs["status"] == "completed"
    assert "hello" in str(theirs)
    assert "hello" not in str(mine)


@pytest.mark.req("R125")
@pytest.mark.parametrize(
    "path",
    [
        "/threads/t/stop",
        "/vercel/chat/t/stop",
        "/copilotkit/agent/default/stop/t",
    ],
)
async def test_stopping_anothers_run_stops_nothing(world: World, path: str) -> None:
    await world.ask()
    await world.client.post(path, headers=OTHER)
    assert (await world.view("t"))["status"] == "awaiting_approval"


async def test_resetting_anothers_thread_resets_nothing(world: World) -> None:
    waiting = await world.ask()
    assert (await world.client.delete("/threads/t", headers=OTHER)).status_code == 204
    reply = await Native().answer(world.client, "t", dict.fromkeys(waiting, True))
    assert reply.code is None
    assert len(world.source.executed) == 2
