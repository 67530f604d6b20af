"""Answers: kept, completed and claimed, so that each call runs as decided, once."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from signoff.commands import ClientContext
from signoff.decisions import Approve, Reject
from signoff.errors import (
    AlreadyDecided,
    AwaitingDecision,
    IncompleteResume,
    InvalidBody,
    InvalidDecision,
    NothingPending,
    Refusal,
    UnknownCall,
)
from signoff.events import Completed, Suspended, ToolResult
from signoff.messages import UserMessage
from signoff.principal import Principal
from signoff.sources.base import Answers
from support.engines import (
    ME,
    NO,
    YES,
    T,
    answer,
    audited,
    check_history,
    ended,
    events,
    message,
    opened,
    outcomes,
    send,
)
from support.sources import CarryOut, ListSource, ask, asking, call, ready, say, suspended

pytestmark = pytest.mark.anyio


@pytest.mark.req("R66", "R30", "R122")
async def test_b106_of_twenty_simultaneous_answers_half_yes_half_no_one_wins(
    tmp_path: Path,
) -> None:
    source = asking("c1")
    async with opened(source, tmp_path) as engine:
        await ended(await send(engine))
        answers = [
            answer(
                engine,
                {"c1": YES if number % 2 else NO},
                protocol="ag-ui" if number % 4 < 2 else "vercel",
            )
            for number in range(20)
        ]
        results = await asyncio.gather(*answers, return_exceptions=True)
        refused = [item for item in results if isinstance(item, BaseException)]
        taken = [item for item in results if not isinstance(item, BaseException)]
        assert sum(item.started for item in taken) == 1
        # The same answer again is a repeat; the other one is a conflict that tells what stands.
        assert len(taken) == len(refused) == 10
        assert {type(item) for item in refused} == {AlreadyDecided}
        await ended(taken[0])
        thread = await engine.thread(ME, T)
        ran = source.ran == ["c1"]
        assert {str(item) for item in refused} == {
            f"This call has been {'approved' if ran else 'rejected'} already."
        }
        assert outcomes(thread) == {"c1": "Output" if ran else "Rejected"}
        assert len(source.requests) == 2


@pytest.mark.req("R31", "R28")
async def test_partial_answers_run_nothing_and_survive_a_restart(tmp_path: Path) -> None:
    source = asking("c1", "c2")
    async with opened(source, tmp_path) as engine:
        await ended(await send(engine))
        partial = await answer(engine, {"c2": NO})
        assert (partial.segment, partial.started) == (None, False)
        assert partial.thread.status == "awaiting_approval"
        assert [item.call_id for item in partial.thread.open_calls] == ["c1"]
    async with opened(source, tmp_path) as engine:
        thread = await engine.thread(ME, T)
        assert thread.decisions == {"c2": NO}
        assert [item.call_id for item in await engine.pending_approvals(ME, T)] == ["c1"]
        assert source.ran == []
        assert isinstance(await ended(await answer(engine, {"c1": YES})), Completed)
        assert source.ran == ["c1"]
        assert outcomes(await engine.thread(ME, T)) == {"c1": "Output", "c2": "Rejected"}


@pytest.mark.req("R29")
async def test_an_answer_may_be_revised_by_its_author_while_a_call_is_open(tmp_path: Path) -> None:
    source = asking("c1", "c2")
    async with opened(source, tmp_path) as engine:
        await ended(await send(engine))
        await answer(engine, {"c1": YES})
        revised = await answer(engine, {"c1": Reject(reason="no, wait")})
        assert revised.thread.decisions == {"c1": Reject(reason="no, wait")}
        await ended(await answer(engine, {"c2": YES}))
        assert source.ran == ["c2"]


@pytest.mark.req("R30")
async def test_there_is_no_way_back_after_the_last_answer(tmp_path: Path) -> None:
    source = asking("c1")
    async with opened(source, tmp_path) as engine:
        await ended(await send(engine))
        last = await answer(engine, {"c1": YES})
        assert last.started
        with pytest.raises(AlreadyDecided):
            await answer(engine, {"c1": NO})
        await ended(last)
        with pytest.raises(AlreadyDecided):
            await answer(engine, {"c1": NO})
        assert source.ran == ["c1"]


async def test_b91_the_same_answer_again_attaches_while_it_runs_and_restates_afterwards(
    tmp_path: Path,
) -> None:
    source = asking("c1")
    async with opened(source, tmp_path) as engine:
        await ended(await send(engine))
        first = await answer(engine, {"c1": YES})
        second = await answer(engine, {"c1": YES})
        assert second.segment is first.segment
        assert not second.started
        assert await events(second) == await events(first)
        later = await answer(engine, {"c1": Approve(note="said otherwise, meant the same")})
        assert (later.segment, later.thread.status) == (None, "completed")
        assert source.ran == ["c1"]


async def test_b107_an_answer_after_completion_restart_and_from_a_second_session(
    tmp_path: Path,
) -> None:
    source = asking("c1")
    async with opened(source, tmp_path) as engine:
        await ended(await send(engine))
        await ended(await answer(engine, {"c1": YES}))
    async with opened(source, tmp_path) as engine:
        again = await answer(engine, {"c1": YES}, protocol="vercel")
        assert (again.started, again.thread.status) == (False, "completed")
        with pytest.raises(AlreadyDecided) as refused:
            await answer(engine, {"c1": NO})
        assert (refused.value.call_id, refused.value.code) == ("c1", "already_decided")
        assert source.ran == ["c1"]


async def test_a_repeat_of_an_old_batch_restates_what_stands_now(tmp_path: Path) -> None:
    segments = [ask("c1"), [CarryOut(), *ask("c2", message_id="next")], [CarryOut(), *say("x")]]
    source = ListSource(segments)
    async with opened(source, tmp_path) as engine:
        await ended(await send(engine))
        assert isinstance(await ended(await answer(engine, {"c1": YES})), Suspended)
        again = await answer(engine, {"c1": YES}, complete=True)
        assert [item.call_id for item in again.thread.open_calls] == ["c2"]
        with pytest.raises(AlreadyDecided):
            await answer(engine, {"c1": NO, "c2": YES})
        await ended(await answer(engine, {"c1": YES, "c2": NO}))
        thread = await engine.thread(ME, T)
        assert outcomes(thread) == {"c1": "Output", "c2": "Rejected"}
        check_history(thread)


REFUSED: list[object] = [
    pytest.param({}, {}, InvalidDecision, None, id="an empty map"),
    pytest.param({"c9": YES}, {}, UnknownCall, "c9", id="an unknown call"),
    pytest.param({"c1": YES, "c9": NO}, {}, UnknownCall, "c9", id="a known and an unknown call"),
    pytest.param({"free": YES}, {}, UnknownCall, "free", id="a free sibling"),
    pytest.param({"c1\ud800": YES}, {}, UnknownCall, "c1\ud800", id="half a surrogate pair"),
    pytest.param({"__proto__": YES}, {}, UnknownCall, "__proto__", id="__proto__"),
    pytest.param({"c1": YES}, {"complete": True}, IncompleteResume, "c2", id="not every call"),
    pytest.param(
        {"c1": YES, "c2": YES},
        {"messages": (message("hi", "x" * 513),)},
        InvalidBody,
        None,
        id="a message beside with too long an id",
    ),
    pytest.param(
        {f"c{number}": YES for number in range(9, 40_000)}, {}, UnknownCall, "c9", id="very many"
    ),
]


@pytest.mark.parametrize(("decisions", "options", "error", "call_id"), REFUSED)
async def test_a_submission_that_cannot_be_taken_stages_nothing(
    tmp_path: Path,
    decisions: dict[str, Approve | Reject],
    options: dict[str, Any],
    error: type[Refusal],
    call_id: str | None,
) -> None:
    source = asking("c1", "c2", "free", free=["free"])
    async with opened(source, tmp_path) as engine:
        await ended(await send(engine))
        with pytest.raises(error) as refused:
            await answer(engine, decisions, **options)
        assert refused.value.call_id == call_id
        thread = await engine.thread(ME, T)
        assert (thread.status, thread.decisions) == ("awaiting_approval", {})
        await ended(await answer(engine, {"c1": YES, "c2": YES}, complete=True))
        assert source.ran == ["c1", "c2", "free"]


@pytest.mark.parametrize("thread", ["never", "nul\x00", "half \ud800", "__proto__", "🗑", ""])
async def test_answers_to_a_thread_that_is_not_there(tmp_path: Path, thread: str) -> None:
    async with opened(asking("c1"), tmp_path) as engine:
        await ended(await send(engine))
        with pytest.raises(NothingPending):
            await answer(engine, {"c1": YES}, thread=thread)


@pytest.mark.req("R46", "R125")
async def test_two_principals_and_two_tenants_never_meet(tmp_path: Path) -> None:
    source = asking("c1")
    others = [Principal(id="you"), Principal(id="me", tenant="elsewhere")]
    async with opened(source, tmp_path) as engine:
        await ended(await send(engine))
        for other in others:
            assert (await engine.thread(other, T)).status == "new"
            assert (await engine.attach(other, T, linger=True)).segment is None
            assert await engine.pending_approvals(other, T) == ()
            with pytest.raises(NothingPending):
                await answer(engine, {"c1": YES}, principal=other)
            assert await engine.stop(other, T) is False
            await engine.reset(other, T)
        assert (await engine.thread(ME, T)).status == "awaiting_approval"
        assert source.ran == []


@pytest.mark.req("R46")
async def test_every_fact_is_on_record_with_who_and_how(tmp_path: Path) -> None:
    async with opened(asking("c1", "c2"), tmp_path) as engine:
        await ended(await send(engine))
        await answer(engine, {"c2": NO}, protocol="vercel")
        await ended(await answer(engine, {"c1": YES}, protocol="ag-ui"))
        rows = [
            (row.event, row.actor, row.means, row.protocol, row.call_id, row.detail)
            for row in await audited(engine)
        ]
        assert rows == [
            ("run_started", "me", "person", "native", None, None),
            ("asked", None, "server", None, "c1", "It cannot be undone"),
            ("asked", None, "server", None, "c2", "It cannot be undone"),
            ("rejected", "me", "person", "vercel", "c2", "wrong file"),
            ("approved", "me", "person", "ag-ui", "c1", None),
            ("began", None, "server", None, "c1", None),
            ("finished", None, "server", None, "c1", "output"),
            ("run_ended", None, "server", None, None, "completed"),
        ]


@pytest.mark.req("R121")
async def test_a_message_while_a_call_waits_stores_nothing(tmp_path: Path) -> None:
    async with opened(asking("c1"), tmp_path) as engine:
        await ended(await send(engine, id="u1"))
        before = await engine.thread(ME, T)
        state = ClientContext(state={"n": 1}, has_state=True)
        for options in ({"id": "u2"}, {"id": None}, {"id": "u1", "regenerate": True}):
            with pytest.raises(AwaitingDecision):
                await send(engine, "something else", client=state, **options)
        assert await engine.thread(ME, T) == before
        assert len(await audited(engine)) == 2


async def test_a_batch_that_pauses_twice_before_anything_runs(tmp_path: Path) -> None:
    calls = [call("c1"), call("c2")]
    source = ListSource(
        [[*ready(calls), suspended(calls[:1])], [suspended(calls[1:])], [CarryOut(), *say("x")]]
    )
    async with opened(source, tmp_path) as engine:
        await ended(await send(engine))
        again = await events(await answer(engine, {"c1": YES}))
        assert [type(event) for event in again] == [Suspended]
        assert source.ran == []
        thread = await engine.thread(ME, T)
        assert [item.call_id for item in thread.open_calls] == ["c2"]
        assert list(thread.asked) == ["c1", "c2"]
        await ended(await answer(engine, {"c2": NO}))
        assert source.requests[2].input == Answers(decisions={"c1": YES, "c2": NO})
        assert outcomes(await engine.thread(ME, T)) == {"c1": "Output", "c2": "Rejected"}
        assert source.requests[2].state == b"mine"


async def test_a_message_beside_the_answers_follows_the_results(tmp_path: Path) -> None:
    calls = [call("c1"), call("c2")]
    source = ListSource(
        [[*ready(calls), suspended(calls[:1])], [suspended(calls[1:])], [CarryOut(), *say("x")]]
    )
    async with opened(source, tmp_path) as engine:
        await ended(await send(engine, id="u1"))
        beside = (message("and also", "u2"),)
        await ended(await answer(engine, {"c1": YES}, messages=beside))
        # The batch paused again: the message still waits, and is not taken twice.
        assert [item.id for item in (await engine.thread(ME, T)).queued] == ["u2"]
        assert (await send(engine, "and also", id="u2")).started is False
        last = await answer(engine, {"c2": YES}, messages=beside)
        results = [event for event in await events(last) if isinstance(event, ToolResult)]
        assert len(results) == 2
        thread = await engine.thread(ME, T)
        check_history(thread)
        assert [item.id for item in thread.messages] == [
            "u1",
            "batch",
            "batch.results",
            "u2",
            "said",
        ]
        assert isinstance(thread.messages[3], UserMessage)


async def test_echoes_of_a_pages_past_are_skipped_and_the_rest_is_taken(tmp_path: Path) -> None:
    source = ListSource(
        [ask("c1"), [CarryOut(), *ask("c2", message_id="next")], [CarryOut(), *say("x")]]
    )
    async with opened(source, tmp_path) as engine:
        await ended(await send(engine))
        await ended(await answer(engine, {"c1": YES}))
        told = await answer(engine, {"c1": NO, "c2": YES}, echo=True)
        assert (told.skipped, told.started) == (("c1",), True)
        await ended(told)
        late = await answer(engine, {"c1": NO}, echo=True)
        assert (late.skipped, late.started) == (("c1",), False)
        assert source.ran == ["c1", "c2"]
