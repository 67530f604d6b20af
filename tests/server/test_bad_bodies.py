"""Bad bodies on every POST route: their code, nothing staged, and the pause still answerable."""

from __future__ import annotations

import httpx
import pytest

from support.protocols import PROTOCOLS, AgUi, Body, Native, Protocol, Vercel, World

pytestmark = pytest.mark.anyio

ROUTES = [
    pytest.param("/threads/t/chat", id="native-chat"),
    pytest.param("/threads/t/approvals", id="native-approvals"),
    pytest.param("/ag-ui", id="ag-ui"),
    pytest.param("/ag-ui/connect", id="ag-ui-connect"),
    pytest.param("/vercel/chat", id="vercel"),
    pytest.param("/copilotkit/agent/default/run", id="copilotkit-run"),
    pytest.param("/copilotkit/agent/default/connect", id="copilotkit-connect"),
    pytest.param("/copilotkit", id="copilotkit-single"),
]

JSON = "application/json"
UNREADABLE = [
    ("not JSON", b"message=delete", JSON, 400, "invalid_body"),
    ("empty", b"", JSON, 400, "invalid_body"),
    ("cut off", b'{"threadId": "t", "messages": [', JSON, 400, "invalid_body"),
    ("NaN", b'{"threadId": "t", "x": NaN}', JSON, 400, "invalid_body"),
    ("invalid UTF-8", b'{"threadId": "\xff"}', JSON, 400, "invalid_body"),
    ("duplicate keys", b'{"id": "t", "id": "u"}', JSON, 400, "invalid_body"),
    ("half a surrogate", b'{"id": "\\ud800"}', JSON, 400, "invalid_body"),
    ("1,000 levels", b"[" * 1000 + b"]" * 1000, JSON, 400, "invalid_body"),
    ("100,000 levels", b'{"a":' * 100_000, JSON, 400, "invalid_body"),
    ("10 MB", b'"' + b"x" * 10_000_000 + b'"', JSON, 413, "too_large"),
    ("text", b"{}", "text/plain", 415, "unsupported_media_type"),
    ("form", b"a=1", "application/x-www-form-urlencoded", 415, "unsupported_media_type"),
    ("null", b"null", JSON, 400, "invalid_body"),
    ("list", b"[]", JSON, 400, "invalid_body"),
    ("string", b'"approve"', JSON, 400, "invalid_body"),
    ("number", b"1", JSON, 400, "invalid_body"),
    ("nothing in it", b"{}", JSON, 400, "invalid_body"),
    (
        "wrong types",
        b'{"threadId": 1, "runId": [], "id": {}, "messages": 5}',
        JSON,
        400,
        "invalid_body",
    ),
]


@pytest.mark.req("R116", "R117")
@pytest.mark.parametrize("route", ROUTES)
async def test_an_unreadable_body_is_refused_before_any_stream(world: World, route: str) -> None:
    waiting = await world.ask()
    before = await world.view("t")
    for what, content, content_type, status, code in UNREADABLE:
        response = await world.client.post(
            route, content=content, headers={"content-type": content_type}
        )
        assert response.status_code == status, what
        # CopilotKit's own runtime answers with plain JSON, and has one word of its own.
        assert response.headers["content-type"] in ("application/problem+json", JSON), what
        assert told(response) == code, what
        assert await world.view("t") == before, what
    await still_answerable(world, waiting)


def told(response: httpx.Response) -> object:
    document = response.json()
    if document.get("error") == "invalid_request":
        return "invalid_body"
    return document["code"]


async def still_answerable(world: World, waiting: list[str]) -> None:
    assert world.source.executed == []
    for call_id in waiting:
        reply = await Native().answer(world.client, "t", {call_id: True})
        assert (reply.status, reply.code) == (200, None)
    assert [call_id for call_id, _ in world.source.executed] == waiting
    assert (await world.view("t"))["status"] == "completed"


def each_protocol(*protocols: Protocol) -> pytest.MarkDecorator:
    chosen = protocols or PROTOCOLS
    return pytest.mark.parametrize("protocol", chosen, ids=[item.name for item in chosen])


@pytest.mark.req("R26", "R125")
@each_protocol()
@pytest.mark.parametrize("beside", [True, False], ids=["beside-a-known-call", "alone"])
async def test_b80_an_answer_to_an_unknown_call_takes_nothing(
    world: World, protocol: Protocol, beside: bool
) -> None:
    waiting = await world.ask()
    (elsewhere,) = await world.ask("delete /elsewhere", thread="other")
    before = await world.view("t")
    for unknown in ("made-up", "__proto__", "constructor", elsewhere):
        known = dict.fromkeys(waiting, True) if beside else {}
        reply = await protocol.answer(world.client, "t", {**known, unknown: True})
        # An AG-UI resume that also leaves calls open may be named for that instead.
        assert reply.code in ("unknown_call", "incomplete_resume"), reply.text
        assert reply.status in (200, 400)
        assert await world.view("t") == before
    await still_answerable(world, waiting)
    assert (await world.view("other"))["status"] == "awaiting_approval"


@each_protocol()
async def test_a_stale_answer_to_a_thread_that_waits_for_nothing(
    world: World, protocol: Protocol
) -> None:
    reply = await protocol.answer(world.client, "t", {"c1": True})
    assert reply.code == "nothing_pending"
    assert (await world.view("t"))["status"] == "new"
    assert world.source.executed == []


AMBIGUOUS: list[tuple[Protocol, Body]] = [
    (Native(), {"decisions": {"CALL": True}}),
    (Native(), {"decisions": {"CALL": "yes"}}),
    (Native(), {"decisions": {"CALL": ["approve"]}}),
    (Native(), {"decisions": {"CALL": None}}),
    (Native(), {"decisions": {"CALL": {"decision": "approve", "inputs": {"path": "/"}}}}),
    (AgUi(), {"interruptId": "CALL", "status": "resolved"}),
    (AgUi(), {"interruptId": "CALL", "status": "resolved", "payload": {}}),
    (AgUi(), {"interruptId": "CALL", "status": "resolved", "payload": {"approved": 1}}),
    (AgUi(), {"interruptId": "CALL", "status": "resolved", "payload": {"approved": "yes"}}),
    (AgUi(), {"interruptId": "CALL", "status": "resolved", "payload": None}),
    (
        AgUi(),
        {
            "interruptId": "CALL",
            "status": "resolved",
            "payload": {"approved": True, "editedArgs": {"path": "/"}},
        },
    ),
    (Vercel(), {"id": "CALL"}),
    (Vercel(), {"id": "CALL", "approved": "true"}),
    (Vercel(), {"id": "CALL", "approved": 1}),
    (Vercel(), {"id": "CALL", "approved": None}),
]


@pytest.mark.req("R25", "R26")
@pytest.mark.parametrize(
    ("protocol", "entry"),
    AMBIGUOUS,
    ids=[f"{protocol.name}-{number}" for number, (protocol, _) in enumerate(AMBIGUOUS)],
)
async def test_only_a_plain_yes_or_no_is_a_decision(
    world: World, protocol: Protocol, entry: Body
) -> None:
    waiting = await world.ask("delete /a")
    before = await world.view("t")
    body = protocol.answers("t", {waiting[0]: True})
    if isinstance(protocol, Native):
        body = {"decisions": {waiting[0]: entry["decisions"]["CALL"]}}
    elif isinstance(protocol, AgUi):
        body["resume"] = [{**entry, "interruptId": waiting[0]}]
    else:
        body["messages"][1]["parts"][1]["approval"] = {**entry, "id": waiting[0]}
    reply = await protocol.post(world.client, "t", body, "me")
    assert reply.code == "invalid_decision", reply.text
    assert await world.view("t") == before
    await still_answerable(world, waiting)


@pytest.mark.req("R27")
async def test_an_empty_submission_is_refused(world: World) -> None:
    waiting = await world.ask()
    reply = await Native().answer(world.client, "t", {})
    assert (reply.status, reply.code) == (400, "invalid_decision")
    response = await world.client.post("/threads/t/approvals", json={"decisions": {}})
    assert (response.status_code, response.json()["code"]) == (400, "invalid_decision")
    await still_answerable(world, waiting)


@pytest.mark.req("R120")
async def test_both_a_message_and_decisions_is_ambiguous(world: World) -> None:
    waiting = await world.ask()
    body = {"message": "hi", "decisions": {waiting[0]: "approve"}}
    for route in ("/threads/t/chat", "/threads/t/approvals"):
        response = await world.client.post(route, json=body)
        assert (response.status_code, response.json()["code"]) == (400, "ambiguous_body")
    await still_answerable(world, waiting)


WRONG_KIND: list[tuple[Protocol, Body]] = [
    (Native(), {"results": {"CALL": {"result": True}}}),
    (Native(), {"inputs": {"CALL": {"path": "/"}}}),
    (
        AgUi(),
        {"messages": [{"id": "x", "role": "tool", "toolCallId": "CALL", "content": "approved"}]},
    ),
    (Vercel(), {"state": "output-available", "output": {"deleted": True}}),
]


@pytest.mark.parametrize(
    ("protocol", "part"),
    WRONG_KIND,
    ids=[f"{protocol.name}-{number}" for number, (protocol, _) in enumerate(WRONG_KIND)],
)
async def test_b27_a_result_never_answers_an_approval(
    world: World, protocol: Protocol, part: Body
) -> None:
    waiting = await world.ask("delete /a")
    before = await world.view("t")
    if isinstance(protocol, Native):
        body: Body = {key: {waiting[0]: value["CALL"]} for key, value in part.items()}
    elif isinstance(protocol, AgUi):
        body = protocol.message("t", "…", "m1")
        body["messages"].append({**part["messages"][0], "toolCallId": waiting[0]})
    else:
        body = protocol.answers("t", {waiting[0]: True})
        body["messages"][1]["parts"][1] |= part
    reply = await protocol.post(world.client, "t", body, "me")
    assert reply.code in ("wrong_kind", None), reply.text
    assert await world.view("t") == before
    await still_answerable(world, waiting)


@pytest.mark.req("R121")
@each_protocol()
async def test_a_message_while_something_waits_is_refused_and_not_kept(
    world: World, protocol: Protocol
) -> None:
    waiting = await world.ask()
    before = await world.view("t")
    reply = await protocol.send_message(world.client, "t", "never mind", message_id="m2")
    assert reply.code == "awaiting_decision"
    assert reply.status == (409 if isinstance(protocol, Native) else 200)
    after = await world.view("t")
    assert (after["status"], after["messages"]) == (before["status"], before["messages"])
    await still_answerable(world, waiting)
