"""Sources that break the rules: nothing unapproved runs, the run ends, the thread is usable."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from signoff.events import (
    Cancelled,
    Completed,
    Failed,
    ReasoningDelta,
    RunEvent,
    StateSnapshot,
    Suspended,
    TextDelta,
    ToolCallReady,
    ToolCallStarted,
)
from signoff.outcomes import Output
from signoff.sources.base import RunSource
from signoff.suspension import Suspension, ToolCall
from signoff_server.store import executions, threads
from signoff_server.store.rows import ExecutionRow
from support.engines import (
    ME,
    NO,
    YES,
    T,
    answer,
    check_history,
    ended,
    events,
    opened,
    outcomes,
    send,
)
from support.sources import (
    CarryOut,
    Execute,
    ListSource,
    Step,
    ask,
    call,
    ready,
    result,
    say,
    suspended,
)

pytestmark = pytest.mark.anyio

C1, C2 = call("c1"), call("c2")
NAN = ToolCall(call_id="c1", name="n", inputs={"x": float("nan")})
SURROGATE = ToolCall(call_id="c1", name="n", inputs={"x": "\ud800"})
INPUT = Suspension(kind="input", message_id="batch", calls=suspended([C1]).suspension.calls)

FAULTS: list[Any] = [
    pytest.param([RuntimeError("secret")], id="raises"),
    pytest.param([TextDelta(message_id="a", delta="x"), RuntimeError()], id="raises later"),
    pytest.param([SystemExit(1)], id="exits"),
    pytest.param([asyncio.CancelledError()], id="cancels itself"),
    pytest.param([], id="ends without a terminal"),
    pytest.param([TextDelta(message_id="a", delta="x")], id="ends without a terminal later"),
    pytest.param(["text", Completed()], id="emits what is no event"),
    pytest.param([*ready([C1]), *ready([C1])], id="repeats a callId"),
    pytest.param([*ready([replace(C1, call_id="")])], id="an empty callId"),
    pytest.param([*ready([C1]), *ready([C2], message_id="b2")], id="two open batches"),
    pytest.param([*ready([C1]), *say("and on")], id="goes on with an open batch"),
    pytest.param([ToolCallStarted(call_id="c9")], id="starts a foreign call"),
    pytest.param([result("c9", Output(value=1))], id="a result of a foreign call"),
    pytest.param(
        [*ready([C1]), result("c1", Output(value=1)), result("c1", Output(value=2))],
        id="two results",
    ),
    pytest.param(
        [*ready([C1]), ToolCallStarted(call_id="c1"), ToolCallStarted(call_id="c1")],
        id="starts twice",
    ),
    pytest.param(
        [*say("x", "a")[:1], *say("y", "b")[:1], *say("z", "a")], id="returns to a message"
    ),
    pytest.param([*say("x", "u1")], id="takes a person's message id"),
    pytest.param([*say("x", "")], id="an empty message id"),
    pytest.param([suspended([C1])], id="suspends without a batch"),
    pytest.param([*ready([C1]), suspended([C2])], id="suspends a foreign call"),
    pytest.param(
        [*ready([C1]), suspended([replace(C1, inputs={"path": "/other"})])],
        id="suspends other inputs",
    ),
    pytest.param([*ready([C1]), suspended([C1], message_id="b2")], id="suspends another message"),
    pytest.param([*ready([C1]), Suspended(suspension=INPUT)], id="suspends for typed input"),
    pytest.param(
        [*ready([C1, C2]), result("c1", Output(value=1)), suspended([C2])],
        id="suspends half a batch",
    ),
    pytest.param(
        [ToolCallReady(message_id="b", call=NAN, disposition="run"), Completed()], id="NaN inputs"
    ),
    pytest.param(
        [ToolCallReady(message_id="b", call=SURROGATE, disposition="run"), Completed()],
        id="half a surrogate pair in inputs",
    ),
    pytest.param(say("\ud800"), id="half a surrogate pair in text"),
    pytest.param([StateSnapshot(value=float("inf")), Completed()], id="an infinite state"),
    pytest.param([Execute(C1)], id="begins a call it never announced"),
    pytest.param(
        [*ready([C1]), Execute(replace(C1, inputs={"path": "/other"}))],
        id="begins a call with other inputs",
    ),
]


@pytest.mark.parametrize("steps", FAULTS)
async def test_a_source_that_breaks_a_rule_fails_its_run_and_the_thread_is_usable(
    tmp_path: Path, steps: Sequence[Step]
) -> None:
    source = ListSource([steps, say("Fine.", "a2")])
    async with opened(source, tmp_path) as engine:
        running = await send(engine, id="u1")
        told = await events(running)
        assert isinstance(told[-1], Failed)
        assert told[-1].message == "The run failed."
        assert source.ran == []
        thread = await engine.thread(ME, T)
        assert (thread.status, thread.open_calls) == ("failed", ())
        check_history(thread)
        assert isinstance(await ended(await send(engine, id="u2")), Completed)
        check_history(await engine.thread(ME, T))


async def test_a_source_that_is_no_iterator_fails_its_run(tmp_path: Path) -> None:
    class Broken:
        def run(self, request: object) -> Any:
            raise RuntimeError

    class Nothing:
        def run(self, request: object) -> Any:
            return None

    sources: list[RunSource] = [Broken(), Nothing()]
    for number, source in enumerate(sources):
        folder = tmp_path / str(number)
        folder.mkdir()
        async with opened(source, folder) as engine:
            assert isinstance(await ended(await send(engine)), Failed)
            assert (await engine.thread(ME, T)).status == "failed"


@pytest.mark.req("R129")
async def test_nothing_follows_the_terminal(tmp_path: Path) -> None:
    steps: list[Step] = [*say("Done."), *say("and more", "b"), RuntimeError()]
    source = ListSource([steps])
    async with opened(source, tmp_path) as engine:
        told = await events(await send(engine))
        assert [type(event) for event in told] == [TextDelta, Completed]
        assert (await engine.thread(ME, T)).status == "completed"
    assert source.closed == 1


async def test_b103_readers_do_not_wait_for_an_agents_clean_up(tmp_path: Path) -> None:
    clean = asyncio.Event()

    class Slow:
        async def run(self, request: object) -> AsyncIterator[RunEvent]:
            try:
                yield Completed()
            finally:
                await clean.wait()
                raise RuntimeError

    async with opened(Slow(), tmp_path) as engine:
        assert isinstance(await ended(await send(engine)), Completed)
        assert (await engine.thread(ME, T)).status == "completed"
        clean.set()


async def test_empty_deltas_are_nothing(tmp_path: Path) -> None:
    deltas: list[Step] = [
        TextDelta(message_id="a", delta=""),
        ReasoningDelta(message_id="b", delta=""),
    ]
    async with opened(ListSource([[*deltas, Completed()]]), tmp_path) as engine:
        assert await events(await send(engine)) == [Completed()]
        assert len((await engine.thread(ME, T)).messages) == 1


@pytest.mark.req("R31", "R57")
@pytest.mark.parametrize(
    ("decisions", "steps"),
    [
        pytest.param({"c1": NO, "c2": YES}, [Execute(C1)], id="runs what was rejected"),
        pytest.param(
            {"c1": YES, "c2": NO},
            [Execute(replace(C1, inputs={"path": "/etc"}))],
            id="runs other inputs than the approved ones",
        ),
        pytest.param(
            {"c1": YES, "c2": NO},
            [Execute(replace(C1, name="delete_all"))],
            id="runs another tool than the approved one",
        ),
        pytest.param({"c1": YES, "c2": NO}, [Execute(call("c3"))], id="runs a call out of nowhere"),
    ],
)
async def test_what_was_not_approved_does_not_run(
    tmp_path: Path, decisions: dict[str, Any], steps: list[Step]
) -> None:
    source = ListSource([ask("c1", "c2"), [*steps, *say("Done.")]])
    async with opened(source, tmp_path) as engine:
        await ended(await send(engine))
        assert isinstance(await ended(await answer(engine, decisions)), Failed)
        assert source.ran == []
        thread = await engine.thread(ME, T)
        check_history(thread)
        assert set(outcomes(thread).values()) == {"Rejected", "ToolError"}


@pytest.mark.req("R76")
async def test_a_call_that_has_run_does_not_run_again(tmp_path: Path) -> None:
    steps = [*ready([C1], free=["c1"]), Execute(C1), *say("Done.")]

    class Twice(ListSource):
        async def run(self, request: Any) -> AsyncIterator[RunEvent]:
            async for event in super().run(request):
                if isinstance(event, Completed):
                    again = await request.ledger.begin(C1)
                    assert again == Output(value={"did": "c1"})
                yield event

    source = Twice([steps])
    async with opened(source, tmp_path) as engine:
        assert isinstance(await ended(await send(engine)), Completed)
        assert source.ran == ["c1"]


@pytest.mark.req("R57", "R73")
@pytest.mark.parametrize(
    "steps",
    [
        pytest.param(ask("c1", message_id="b2"), id="a call of the batch before"),
        pytest.param([suspended([C1], message_id="batch")], id="a call that is decided"),
    ],
)
async def test_a_suspension_that_cannot_be_stored_is_never_announced(
    tmp_path: Path, steps: list[Step]
) -> None:
    source = ListSource([ask("c1"), steps, say("Fine.", "a2")])
    async with opened(source, tmp_path) as engine:
        await ended(await send(engine))
        told = await events(await answer(engine, {"c1": YES}))
        assert not any(isinstance(event, Suspended) for event in told)
        assert isinstance(told[-1], Failed)
        thread = await engine.thread(ME, T)
        assert (thread.status, thread.open_calls) == ("failed", ())
        check_history(thread)
        assert isinstance(await ended(await send(engine)), Completed)


async def test_executed_means_approved_and_recorded(tmp_path: Path) -> None:
    source = ListSource([ask("c1", "c2", free=["c2"]), [CarryOut(), *say("Done.")]])
    async with opened(source, tmp_path) as engine:
        await ended(await send(engine))
        await ended(await answer(engine, {"c1": YES}))

        def recorded(connection: Connection) -> dict[str, ExecutionRow]:
            row = threads.find(connection, ME, T)
            assert row is not None
            return executions.find(connection, row.internal_id, ["c1", "c2"])

        found = await engine._store.read(recorded)
        assert {key: value.outcome for key, value in found.items()} == {
            "c1": Output(value={"did": "c1"}),
            "c2": Output(value={"did": "c2"}),
        }


async def test_a_source_may_cancel_its_own_run(tmp_path: Path) -> None:
    async with opened(ListSource([[*ready([C1]), Cancelled()]]), tmp_path) as engine:
        assert isinstance(await ended(await send(engine)), Cancelled)
        thread = await engine.thread(ME, T)
        assert (thread.status, outcomes(thread)) == ("cancelled", {"c1": "ToolError"})
