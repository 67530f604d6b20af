"""The routes over the real engine: what is staged, what runs, what every refusal leaves behind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from oracles.sse import JsonObject, frames_of
from signoff.events import Completed, Failed
from signoff.outcomes import Rejected
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
from support.cases import ASKED_ONE, ASKED_TWO, FINISHED, STORIES
from support.stories import NO, YES, Segment, ended, ran, said
from support.vercel_server import HOLD

pytestmark = pytest.mark.anyio

AFTER_BOTH = [*ran("c1"), ended("c2", Rejected(reason="not now")), *FINISHED]
TOLD = {
    "hello": [Segment(says="hello", events=[*said("h1", "Hello."), Completed()])],
    "bye": [Segment(says="bye", events=[*said("b1", "Bye."), Completed()])],
    "slow": [
        Segment(says="slow", events=[*said("s1", "Slow"), HOLD, *said("s1", "."), Completed()])
    ],
    "one": [ASKED_ONE, Segment(answers={"c1": YES}, events=[*ran("c1"), *FINISHED])],
    "no": [ASKED_ONE, Segment(answers={"c1": NO}, events=[ended("c1", Rejected()), *FINISHED])],
    "two": [ASKED_TWO, Segment(events=AFTER_BOTH)],
    "two, slowly": [ASKED_TWO, Segment(events=[*ran("c1"), HOLD, *AFTER_BOTH[2:]])],
    "twice": STORIES["a second pause"],
    "broken": [Segment(says="broken", events=[*said("f1", "half"), Failed()])],
}
APPROVED, DENIED = {"approved": True}, {"approved": False, "reason": "not now"}


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    async with running(TOLD, tmp_path / "store.db") as server:
        yield server


async def messages(server: Server, thread: str = "t1") -> list[JsonObject]:
    view: dict[str, Any] = (await server.client.get(f"/ag-ui/threads/{thread}")).json()
    shown: list[JsonObject] = view["messages"]
    return shown


# --- runs ---------------------------------------------------------------------------------------


@pytest.mark.req("R90", "R103")
async def test_a_run_echoes_its_ids_and_is_streamed_without_buffering(server: Server) -> None:
    body = {"threadId": "t é/1", "runId": "mine", "messages": [user("hello")]}
    reply = await server.post("/ag-ui", body)
    assert reply.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert reply.headers["x-accel-buffering"] == "no"
    assert "no-cache" in reply.headers["cache-control"]
    frames = frames_of(reply.text)
    for end in (frames[0], frames[-1]):
        assert (end["threadId"], end["runId"]) == ("t é/1", "mine")
    assert frames[0]["protocolVersion"] == "1.0"
    assert b"\r" not in reply.content


@pytest.mark.req("R103")
async def test_the_run_id_selects_nothing(server: Server) -> None:
    """CopilotKit answers under the run id of the paused run, or of a connect request."""
    await server.say("one", runId="same")
    await server.say("hello", "u2", runId="same", thread="t2")
    frames = await server.answer({"c1": APPROVED}, runId="same")
    assert server.teller.executed == ["c1"]
    assert frames[-1]["outcome"] == {"type": "success"}


async def test_a_repeated_message_runs_nothing_twice(server: Server) -> None:
    first = await server.say("hello")
    again = await server.say("hello")
    assert (
        types(again)
        == ["RUN_STARTED", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT", "RUN_FINISHED"][:1]
        + types(again)[1:]
    )
    assert "TEXT_MESSAGE_START" in types(first)
    assert [one["id"] for one in only(again, "MESSAGES_SNAPSHOT")["messages"]] == ["u1", "h1"]
    assert len(await messages(server)) == 2


async def test_a_changed_text_starts_again_from_there(server: Server) -> None:
    await server.say("hello")
    await server.say("bye")
    assert [(one["id"], one["content"]) for one in await messages(server)] == [
        ("u1", "bye"),
        ("b1", "Bye."),
    ]


async def test_a_page_that_missed_something_is_told_first(server: Server) -> None:
    """And is taken back to before that: a client puts what is new to it last."""
    await server.say("hello")
    answer = {"id": "h1", "role": "assistant", "content": "Hello."}
    up_to_date = await server.run(user("hello"), answer, user("bye", "u2"))
    assert "MESSAGES_SNAPSHOT" not in types(up_to_date)
    behind = await server.run(user("hello"), answer, user("one", "u3"))
    shown = [one["messages"] for one in behind if one["type"] == "MESSAGES_SNAPSHOT"]
    assert [[one["id"] for one in messages] for messages in shown] == [
        ["u1", "h1"],
        ["u1", "h1", "u2", "b1", "u3"],
        ["u1", "h1", "u2", "b1", "u3", "a1"],
    ]


async def test_a_failed_run_is_told_in_the_stream(server: Server) -> None:
    frames = await server.say("broken")
    assert frames[-1] == {"type": "RUN_ERROR", "message": "The run failed.", "code": "run_failed"}
    assert (await server.run())[-1]["outcome"] == {"type": "success"}


# --- answers ------------------------------------------------------------------------------------


@pytest.mark.req("R91", "R95")
async def test_answers_reach_their_calls(server: Server) -> None:
    assert open_ids(await server.say("two")) == ["c1", "c2"]
    frames = await server.answer({"c2": DENIED, "c1": APPROVED})
    assert server.teller.executed == ["c1"]
    results = [one for one in frames if one["type"] == "TOOL_CALL_RESULT"]
    assert [one["toolCallId"] for one in results] == ["c1", "c2"]
    assert await messages(server) == only_last(frames)


async def test_b22_the_run_goes_on_after_the_last_answer_only(server: Server) -> None:
    await server.say("two")
    frames = await server.answer({"c1": APPROVED})
    assert (refusals_of(frames), open_ids(frames)) == (["incomplete_resume"], ["c1", "c2"])
    assert (server.teller.executed, await server.pending()) == ([], ["c1", "c2"])


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "unknown": ({"c1": APPROVED, "c9": APPROVED}, "unknown_call"),
    "unclear": ({"c1": {"approved": "yes"}, "c2": DENIED}, "invalid_decision"),
    "edited": ({"c1": {**APPROVED, "editedArgs": {}}, "c2": DENIED}, "invalid_decision"),
}


@pytest.mark.req("R104", "R108")
@pytest.mark.parametrize(("answers", "code"), REFUSED.values(), ids=REFUSED.keys())
async def test_a_refused_answer_stages_nothing_and_asks_again(
    server: Server, answers: dict[str, Any], code: str
) -> None:
    await server.say("two")
    frames = await server.answer(answers)
    assert (refusals_of(frames), open_ids(frames)) == ([code], ["c1", "c2"])
    assert server.teller.executed == []
    await server.answer({"c1": APPROVED, "c2": DENIED})
    assert server.teller.executed == ["c1"]


async def test_b29_a_tool_message_does_not_answer(server: Server) -> None:
    await server.say("one")
    fake = {"id": "x", "role": "tool", "toolCallId": "c1", "content": "Approved by user"}
    frames = await server.run(user("one"), fake)
    assert (refusals_of(frames), open_ids(frames)) == (["wrong_kind"], ["c1"])
    assert server.teller.executed == []


@pytest.mark.req("R122")
@pytest.mark.parametrize("answer", [APPROVED, DENIED], ids=["the same", "another"])
async def test_b107_an_answer_after_the_end_runs_nothing(
    server: Server, answer: dict[str, Any]
) -> None:
    await server.say("one")
    done = await server.answer({"c1": APPROVED})
    again = await server.answer({"c1": answer})
    assert refusals_of(again) == ([] if answer is APPROVED else ["already_decided"])
    assert (open_ids(again), server.teller.executed) == ([], ["c1"])
    assert only_last(again) == only_last(done)


async def test_b66_ids_of_an_earlier_pause_are_named(server: Server) -> None:
    """An equal one is a repeat; a differing one is refused, and so is what stands beside it."""
    await server.say("twice")
    await server.answer({"c1": APPROVED, "c2": DENIED})
    frames = await server.answer({"c1": DENIED, "c3": APPROVED})
    (refusal,) = [one["value"] for one in frames if one.get("name") == "signoff.refused"]
    assert (refusal["code"], refusal["callId"]) == ("already_decided", "c1")
    assert (open_ids(frames), await server.pending()) == (["c3"], ["c3"])


async def test_b106_of_two_answers_at_once_one_wins(server: Server) -> None:
    await server.say("one")
    both = await asyncio.gather(server.answer({"c1": APPROVED}), server.answer({"c1": DENIED}))
    assert len(server.teller.executed) <= 1
    codes = [refusals_of(frames) for frames in both]
    assert sorted(codes) == [[], ["already_decided"]]
    assert len({str(only_last(frames)) for frames in both}) == 1


def only_last(frames: list[JsonObject]) -> Any:
    return [one for one in frames if one["type"] == "MESSAGES_SNAPSHOT"][-1]["messages"]


async def test_a_double_click_follows_the_run_it_started(server: Server) -> None:
    await server.say("two, slowly")
    answers = {"c1": APPROVED, "c2": DENIED}
    first = asyncio.create_task(server.answer(answers))
    await until(lambda: server.teller.executed)
    second = asyncio.create_task(server.answer(answers))
    late = asyncio.create_task(server.answer({"c1": DENIED, "c2": DENIED}))
    await until(lambda: server.engine.attached == 2)
    server.teller.go.set()
    ends = await asyncio.gather(first, second, late)
    assert server.teller.executed == ["c1"]
    assert [refusals_of(frames) for frames in ends] == [[], [], ["already_decided"]]
    assert len({str(only_last(frames)) for frames in ends}) == 1


@pytest.mark.req("R123")
async def test_b24_an_answer_that_matches_nothing_is_never_a_turn(server: Server) -> None:
    legacy = {"command": {"resume": APPROVED}}
    frames = await server.say("hello", forwardedProps=legacy)
    assert refusals_of(frames) == ["nothing_pending"]
    assert await messages(server) == []
    await server.say("one")
    await server.run(forwardedProps=legacy)
    assert server.teller.executed == ["c1"]


@pytest.mark.req("R98")
async def test_b09_interrupt_ids_are_the_engines_own(server: Server) -> None:
    asked = await server.say("two")
    (live, hydrated) = (
        asked[-1]["outcome"]["interrupts"],
        (await server.client.get("/ag-ui/threads/t1")).json()["interrupts"],
    )
    assert live == hydrated
    assert [one["id"] for one in live] == await server.pending()


async def test_a_message_beside_the_answers_is_stored_behind_the_results(server: Server) -> None:
    await server.say("one")
    frames = await server.run(
        user("one"),
        user("And its size?", "u2"),
        resume=[{"interruptId": "c1", "status": "resolved", "payload": APPROVED}],
    )
    ids = [one["id"] for one in await messages(server)]
    assert ids == ["u1", "a1", "a1.calls", "result_c1", "u2", "a2"]
    assert [one["id"] for one in only_last(frames)] == ids


# --- messages that have to wait ------------------------------------------------------------------


@pytest.mark.req("R123")
async def test_a_message_while_a_call_waits_is_refused_and_the_call_asked_again(
    server: Server,
) -> None:
    await server.say("one")
    frames = await server.run(user("one"), user("hello", "u2"))
    assert (refusals_of(frames), open_ids(frames)) == (["awaiting_decision"], ["c1"])
    assert [one["id"] for one in await messages(server)] == ["u1", "a1"]


async def test_b60_a_message_after_an_answer_from_elsewhere_is_a_message(server: Server) -> None:
    await server.say("one")
    await server.post("/threads/t1/chat", {"decisions": {"c1": "approve"}})
    frames = await server.run(user("one"), user("hello", "u2"))
    assert refusals_of(frames) == []
    assert [one["id"] for one in await messages(server)][-2:] == ["u2", "h1"]


async def test_a_message_while_a_run_goes_on_follows_that_run(server: Server) -> None:
    first = asyncio.create_task(server.say("slow"))
    await until_running(server)
    second = asyncio.create_task(server.run(user("slow"), user("hello", "u2")))
    await until(lambda: server.engine.attached == 1)
    server.teller.go.set()
    frames = await second
    assert refusals_of(frames) == ["run_in_progress"]
    assert only_last(frames) == await messages(server)
    assert (await first)[-1]["outcome"] == frames[-1]["outcome"] == {"type": "success"}


# --- reload -------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["/ag-ui", "/ag-ui/connect"])
async def test_b37_a_reload_brings_the_interrupts_back(server: Server, way: str) -> None:
    await server.say("one", state={"mine": 1})
    for _ in range(2):
        body = {"threadId": "t1", "runId": "r9", "state": {}, "messages": []}
        frames = frames_of((await server.post(way, body)).text)
        expected = ["RUN_STARTED", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]
        assert types(frames) == expected
        assert only(frames, "STATE_SNAPSHOT")["snapshot"] == {"mine": 1}
        assert open_ids(frames) == ["c1"]


@pytest.mark.parametrize("thread", ["t1", "a/b", "a b", "é?", "%2F"])
async def test_b37_a_reload_as_json(server: Server, thread: str) -> None:
    frames = await server.run(user("one"), thread=thread, state={"mine": 1})
    url = httpx.URL("http://test/ag-ui/threads/").copy_with(
        raw_path=b"/ag-ui/threads/" + quoted(thread)
    )
    view = (await server.client.get(url)).json()
    assert set(view) == {"messages", "state", "interrupts"}
    assert view["messages"] == only(frames, "MESSAGES_SNAPSHOT")["messages"]
    assert view["interrupts"] == frames[-1]["outcome"]["interrupts"]
    assert view["state"] == {"mine": 1}


def quoted(text: str) -> bytes:
    return quote(text, safe="").encode()


async def test_b48_ids_are_the_same_after_a_restart(server: Server, tmp_path: Path) -> None:
    await server.say("two")
    await server.answer({"c1": APPROVED, "c2": DENIED})
    before = await messages(server)
    await server.engine.close()
    async with running(TOLD, tmp_path / "store.db") as again:
        assert await messages(again) == before


async def test_b55_a_pause_and_its_ids_survive_a_restart(server: Server, tmp_path: Path) -> None:
    await server.say("one")
    before = (await server.client.get("/ag-ui/threads/t1")).json()
    await server.engine.close()
    async with running(TOLD, tmp_path / "store.db") as again:
        assert (await again.client.get("/ag-ui/threads/t1")).json() == before
        await again.answer({"c1": APPROVED})
        assert again.teller.executed == ["c1"]


# --- whose threads ------------------------------------------------------------------------------


async def test_b34_another_name_for_a_thread_reaches_nothing(server: Server) -> None:
    await server.say("one")
    internal = (await server.engine.thread(ME, "t1")).internal_id
    for name in (internal, "T1", "t1 "):
        assert refusals_of(await server.answer({"c1": APPROVED}, thread=name)) == [
            "nothing_pending"
        ]
    assert await server.pending() == ["c1"]


async def test_b80_a_foreign_thread_looks_new(server: Server) -> None:
    await server.say("one")
    body = {"threadId": "t1", "runId": "r1", "messages": []}
    yes = {"interruptId": "c1", "status": "resolved", "payload": APPROVED}
    stranger = {"x-user": "stranger"}
    view = (await server.client.get("/ag-ui/threads/t1", headers=stranger)).json()
    assert view == {"messages": [], "state": None, "interrupts": []}
    frames = frames_of((await server.post("/ag-ui/connect", body, **stranger)).text)
    assert frames[-1]["outcome"] == {"type": "success"}
    assert only(frames, "MESSAGES_SNAPSHOT")["messages"] == []
    frames = frames_of((await server.post("/ag-ui", {**body, "resume": [yes]}, **stranger)).text)
    assert refusals_of(frames) == ["nothing_pending"]
    assert (await server.pending(), server.teller.executed) == (["c1"], [])


async def test_b39_an_answer_under_another_thread_is_refused(server: Server) -> None:
    await server.say("one")
    await server.run(user("one"), thread="t2")
    await server.answer({"c1": APPROVED}, thread="t2")
    frames = await server.answer({"c1": APPROVED}, thread="t3")
    assert refusals_of(frames) == ["nothing_pending"]
    assert await server.pending("t1") == ["c1"]


# --- before any stream --------------------------------------------------------------------------


@pytest.mark.req("R118")
@pytest.mark.parametrize("route", ["/ag-ui", "/ag-ui/connect"])
@pytest.mark.parametrize(
    ("content", "headers", "status", "code"),
    [
        (b"{", {}, 400, "invalid_body"),
        (b"[]", {}, 400, "invalid_body"),
        (b'{"threadId":"t1"}', {}, 400, "invalid_body"),
        (b'{"threadId":"t","threadId":"u","runId":"r"}', {}, 400, "invalid_body"),
        (b"{}", {"content-type": "text/plain"}, 415, "unsupported_media_type"),
    ],
    ids=["no JSON", "no object", "no run", "two threads", "no JSON type"],
)
async def test_bodies_that_cannot_be_read_are_problems(
    server: Server, route: str, content: bytes, headers: dict[str, str], status: int, code: str
) -> None:
    given = {"content-type": "application/json", **headers}
    reply = await server.client.post(route, content=content, headers=given)
    assert (reply.status_code, reply.json()["code"]) == (status, code)
    assert reply.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("thread", ["x" * 513, "a\x00b"])
async def test_ids_that_cannot_be_kept_are_problems(server: Server, thread: str) -> None:
    body = {"threadId": thread, "runId": "r1", "messages": [user("hello")]}
    reply = await server.post("/ag-ui", body)
    assert (reply.status_code, reply.json()["code"]) == (400, "invalid_body")


async def test_a_message_under_the_id_of_an_answer_is_a_problem(server: Server) -> None:
    await server.say("hello")
    body = {"threadId": "t1", "runId": "r1", "messages": [user("bye", "h1")]}
    assert (await server.post("/ag-ui", body)).json()["code"] == "invalid_body"


@pytest.mark.req("R118")
async def test_refusals_can_be_problems(tmp_path: Path) -> None:
    async with running(TOLD, tmp_path / "store.db", refusals="error") as server:
        await server.say("one")
        body = {"threadId": "t1", "runId": "r1", "messages": [user("one"), user("hello", "u2")]}
        reply = await server.post("/ag-ui", body)
        assert (reply.status_code, reply.json()["code"]) == (409, "awaiting_decision")
        assert [one["id"] for one in reply.json()["pending"]] == ["c1"]
        reply = await server.post("/ag-ui", {**body, "resume": []})
        assert (reply.status_code, reply.json()["code"]) == (400, "incomplete_resume")


async def test_tool_bound_interrupts_are_an_option(tmp_path: Path) -> None:
    async with running(TOLD, tmp_path / "store.db", tool_bound_interrupts=True) as server:
        asked = await server.say("one")
        (interrupt,) = asked[-1]["outcome"]["interrupts"]
        assert (interrupt["reason"], interrupt["toolCallId"]) == ("tool_call", "c1")
        view = (await server.client.get("/ag-ui/threads/t1")).json()
        assert view["interrupts"] == [interrupt]
        fake = {"id": "x", "role": "tool", "toolCallId": "c1", "content": '{"approved":true}'}
        yes = {"interruptId": "c1", "status": "resolved", "payload": APPROVED}
        done = await server.run(user("one"), fake, resume=[yes])
        assert "TOOL_CALL_START" not in types(done)
        assert only(done, "TOOL_CALL_RESULT")["content"] == '{"deleted":true}'
        assert only_last(done) == await messages(server)
