"""Messages: what starts a run, what repeats one, what supersedes one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from signoff.commands import ClientContext, SendMessage
from signoff.errors import InvalidBody, NotFound, RunInProgress
from signoff.events import Completed, StateSnapshot
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
    tamper,
)
from support.sources import CarryOut, Execute, ListSource, Wait, ask, asking, call, ready, say

pytestmark = pytest.mark.anyio


def texts(thread: object) -> list[str]:
    return [item.text for item in thread.messages]  # type: ignore[attr-defined]  # a Thread


async def test_b91_the_same_message_again_attaches_then_restates(tmp_path: Path) -> None:
    go = asyncio.Event()
    source = ListSource([[Wait(until=go), *say("Done.")]])
    async with opened(source, tmp_path) as engine:
        first = await send(engine, id="u1")
        second = await send(engine, id="u1")
        assert second.segment is first.segment
        assert second.started is False
        go.set()
        assert await events(second) == await events(first)
        later = await send(engine, id="u1")
        assert (later.segment, later.thread.status) == (None, "completed")
        assert len(source.requests) == 1


async def test_of_simultaneous_equal_messages_one_starts_the_run(tmp_path: Path) -> None:
    source = ListSource([say("Done.")])
    async with opened(source, tmp_path) as engine:
        sent = await asyncio.gather(*(send(engine, id="u1") for _ in range(12)))
        assert sum(item.started for item in sent) == 1
        thread = await engine.thread(ME, T)
        assert texts(thread)[0] == "go"
        assert len(source.requests) == 1


@pytest.mark.req("R128")
async def test_another_message_while_a_run_goes_on_is_refused_with_a_time_to_wait(
    tmp_path: Path,
) -> None:
    go = asyncio.Event()
    async with opened(ListSource([[Wait(until=go), *say("Done.")]]), tmp_path) as engine:
        first = await send(engine, id="u1")
        for refused in (("other", "u2"), ("changed", "u1"), ("no id", None)):
            with pytest.raises(RunInProgress) as error:
                await send(engine, refused[0], id=refused[1])
            assert error.value.retry_after_seconds == 1
        go.set()
        await ended(first)
        assert texts(await engine.thread(ME, T)) == ["go", "Done."]


async def test_a_changed_text_under_a_known_id_supersedes_what_followed_and_keeps_it(
    tmp_path: Path,
) -> None:
    source = ListSource([say("One.", "a1"), say("Two.", "a2"), say("Three.", "a3")])
    async with opened(source, tmp_path) as engine:
        await ended(await send(engine, "first", id="u1"))
        await ended(await send(engine, "second", id="u2"))
        await ended(await send(engine, "second, better", id="u2"))
        thread = await engine.thread(ME, T)
        assert texts(thread) == ["first", "One.", "second, better", "Three."]
        check_history(thread)
        kept = await tamper(engine, "SELECT id FROM messages WHERE superseded ORDER BY seq")
        assert kept == ["u2", "a2"]


async def test_a_regenerate_runs_the_same_message_again(tmp_path: Path) -> None:
    source = ListSource([say("One.", "a1"), say("Two.", "a2")])
    async with opened(source, tmp_path) as engine:
        await ended(await send(engine, id="u1"))
        again = await send(engine, id="u1", regenerate=True)
        assert again.started
        await ended(again)
        assert texts(await engine.thread(ME, T)) == ["go", "Two."]


@pytest.mark.req("R60")
async def test_superseded_calls_keep_their_ids(tmp_path: Path) -> None:
    invalid = call("never-ran")
    batch = [call("ran"), invalid]
    source = ListSource(
        [
            [*ready(batch, free=["ran", "never-ran"]), Execute(call("ran"))],
            say("Two.", "a2"),
            ready([call("never-ran")], message_id="b3", free=["never-ran"]),
        ]
    )
    async with opened(source, tmp_path) as engine:
        await ended(await send(engine, id="u1"))
        await ended(await send(engine, id="u1", regenerate=True))
        assert source.requests[1].used_call_ids == {"ran", "never-ran"}
        await ended(await send(engine, id="u2"))
        # A source that gives one out again fails: the ledger would take it for the old call.
        assert (await engine.thread(ME, T)).status == "failed"


async def test_an_id_of_an_agents_message_cannot_be_a_persons(tmp_path: Path) -> None:
    async with opened(ListSource([say("Done.", "a1")]), tmp_path) as engine:
        await ended(await send(engine))
        with pytest.raises(InvalidBody):
            await send(engine, id="a1")


@pytest.mark.req("R128", "R124")
@pytest.mark.parametrize(
    "id",
    ["__proto__", "🗑️", "x" * 512, "a/b?c#d%2e", " spaced ", "line\nbreak", "'; drop table threads"],
)
async def test_b128_ids_are_data(tmp_path: Path, id: str) -> None:
    source = asking("c1")
    async with opened(source, tmp_path) as engine:
        await ended(await send(engine, id=id, thread=id))
        await ended(await answer(engine, {"c1": YES}, thread=id))
        thread = await engine.thread(ME, id)
        assert (thread.thread_id, thread.status, thread.messages[0].id) == (id, "completed", id)
        assert (await engine.thread(ME, id.strip() + "x")).status == "new"


@pytest.mark.parametrize("id", ["", "x" * 513, "a\x00b", "half \ud83d", "\udc00"])
async def test_ids_that_no_store_could_keep_are_refused(tmp_path: Path, id: str) -> None:
    async with opened(ListSource([]), tmp_path) as engine:
        with pytest.raises(InvalidBody):
            await send(engine, thread=id)
        with pytest.raises(InvalidBody):
            await send(engine, id=id)
        assert (await engine.thread(ME, id)).status == "new"
        assert await engine.stop(ME, id) is False
        await engine.reset(ME, id)
        with pytest.raises(NotFound):
            await engine.renew_assistant_id(ME, id)


async def test_nothing_to_send_is_refused(tmp_path: Path) -> None:
    async with opened(ListSource([]), tmp_path) as engine:
        with pytest.raises(InvalidBody):
            await engine.chat(ME, T, SendMessage(messages=()), protocol="native")
        assert (await engine.thread(ME, T)).status == "new"


async def test_sources_are_called_by_name_and_the_first_is_the_default(tmp_path: Path) -> None:
    one, two = ListSource([say("1", "a1")]), ListSource([say("2", "a2")])
    async with opened({"one": one, "two": two}, tmp_path) as engine:
        assert engine.source_names == ("one", "two")
        await ended(await send(engine))
        command = SendMessage(messages=(message("x"),))
        await ended(await engine.chat(ME, T, command, protocol="native", source="two"))
        assert (len(one.requests), len(two.requests)) == (1, 1)
        with pytest.raises(NotFound):
            await engine.chat(ME, T, command, protocol="native", source="three")


async def test_b112_answers_to_an_agent_that_is_gone_reach_no_other(tmp_path: Path) -> None:
    gone, other = asking("c1"), asking("c1")
    async with opened({"gone": gone}, tmp_path) as engine:
        await ended(await send(engine))
    async with opened({"other": other}, tmp_path) as engine:
        last = await ended(await answer(engine, {"c1": YES}))
        assert getattr(last, "code", None) == "unknown_source"
        assert (other.requests, gone.ran) == ([], [])
        assert outcomes(await engine.thread(ME, T)) == {"c1": "ToolError"}


async def test_the_clients_state_is_kept_and_given_back(tmp_path: Path) -> None:
    source = ListSource([[StateSnapshot(value={"n": 2**60}), *say("Done.")], say("x", "a2")])
    async with opened(source, tmp_path) as engine:
        sent = await send(engine, client=ClientContext(state={"n": 1}, has_state=True))
        assert sent.thread.state == {"n": 1}
        await ended(sent)
        assert (await engine.thread(ME, T)).state == {"n": 2**60}
        await ended(await send(engine))
        assert (await engine.thread(ME, T)).state == {"n": 2**60}


async def test_what_the_client_sent_along_is_there_after_a_restart(tmp_path: Path) -> None:
    source = asking("c1")
    client = ClientContext(
        tools=({"name": "open_map"},),
        context=({"description": "page", "value": "/a"},),
        forwarded_props={"big": 2**70},
    )
    async with opened(source, tmp_path) as engine:
        await ended(await send(engine, client=client))
    async with opened(source, tmp_path) as engine:
        await ended(await answer(engine, {"c1": YES}))
    assert source.requests[1].client == client


async def test_a_fresh_assistant_id_is_echoed_from_then_on(tmp_path: Path) -> None:
    source = ListSource([ask("c1"), [Wait(), CarryOut(), *say("Done.")]])
    async with opened(source, tmp_path) as engine:
        await ended(await send(engine))
        old = await engine.thread(ME, T)
        fresh = await engine.renew_assistant_id(ME, T)
        thread = await engine.thread(ME, T)
        assert thread.run_id is not None
        assert thread.assistant_ids == {thread.run_id: fresh} != old.assistant_ids
        assert (await engine.attach(ME, T, linger=True)).segment is None
        running = await answer(engine, {"c1": NO})
        # While it runs its readers have that id, so it stays.
        assert await engine.renew_assistant_id(ME, T) == fresh
        assert (await engine.attach(ME, T)).segment is running.segment
        await engine.stop(ME, T)
        await ended(running)


async def test_a_reset_thread_is_new_and_its_record_stays(tmp_path: Path) -> None:
    source = ListSource([ask("c1"), say("Done.")])
    async with opened(source, tmp_path) as engine:
        await ended(await send(engine, id="u1"))
        before = await engine.thread(ME, T)
        await engine.reset(ME, T)
        assert (await engine.thread(ME, T)).status == "new"
        assert (await engine.attach(ME, T, linger=True)).segment is None
        assert isinstance(await ended(await send(engine, id="u1")), Completed)
        assert (await engine.thread(ME, T)).internal_id != before.internal_id
        assert [row.event for row in await audited(engine)] == ["run_started", "run_ended"]
