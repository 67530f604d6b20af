"""What outlives a process: everything that is needed to check an answer, and nothing else."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from signoff.errors import (
    AlreadyDecided,
    ConfigurationError,
    CorruptRecord,
    UnknownCall,
)
from signoff.events import Completed
from signoff.policy import Gate
from signoff.sources.base import RunSource
from signoff.sources.scenario import Scenario
from signoff_server.engine import Engine
from support.engines import (
    ME,
    NO,
    YES,
    T,
    answer,
    check_history,
    ended,
    opened,
    outcomes,
    send,
    tamper,
    until,
    url,
)
from support.sources import CarryOut, Execute, ListSource, Wait, asking, call, ready, say

pytestmark = pytest.mark.anyio


@pytest.mark.req("R28", "R62", "R98")
async def test_b109_everything_that_checks_an_answer_is_stored_with_the_pause(
    tmp_path: Path,
) -> None:
    async with opened(asking("c1", "c2"), tmp_path) as engine:
        last = await ended(await send(engine))
        await answer(engine, {"c1": YES})
        shown = (await engine.thread(ME, T)).suspension
    fresh = ListSource([[CarryOut(), *say("Done.")]])
    async with opened(fresh, tmp_path) as engine:
        thread = await engine.thread(ME, T)
        # The same pending actions, fingerprints included, and only the open one is listed.
        assert thread.suspension == shown == getattr(last, "suspension", None)
        assert [item.call_id for item in await engine.pending_approvals(ME, T)] == ["c2"]
        with pytest.raises(UnknownCall):
            await answer(engine, {"c1": YES, "c3": YES})
        # Who decided is stored, too: what somebody else decided is not mine to revise.
        await _decided_by_another(engine)
        with pytest.raises(AlreadyDecided):
            await answer(engine, {"c1": NO, "c2": NO})
        await ended(await answer(engine, {"c1": YES, "c2": NO}))
        with pytest.raises(AlreadyDecided):
            await answer(engine, {"c2": YES})
        assert fresh.ran == ["c1"]


async def _decided_by_another(engine: Engine) -> None:
    await tamper(engine, "UPDATE asked_calls SET decided_by = 'another' WHERE call_id = 'c1'")


def scenario(approval: Any, **hints: bool) -> RunSource:
    tool = {
        "name": "wipe",
        "description": "Wipes",
        "inputs": {"type": "object", "properties": {}},
        "hints": hints,
        "result": "wiped",
    }
    document = {
        "tools": [tool if approval is None else tool | {"approval": approval}],
        "turns": [
            {"steps": [{"calls": [{"id": "c1", "name": "wipe", "inputs": {}}]}, {"text": "ok"}]}
        ],
    }
    return Scenario.parse(json.dumps(document)).source()


@pytest.mark.parametrize(
    ("source", "gate"),
    [
        pytest.param(scenario("because"), Gate(), id="the tool's own policy"),
        pytest.param(scenario(None, destructive=True), Gate(), id="mode and hints"),
        pytest.param(scenario(None), Gate(mode="protective"), id="a careful mode"),
        pytest.param(asking("c1"), Gate(), id="the source itself"),
    ],
)
async def test_b110_a_pause_is_persisted_whoever_asked_for_it(
    tmp_path: Path, source: RunSource, gate: Gate
) -> None:
    async with opened(source, tmp_path, gate=gate) as engine:
        await ended(await send(engine))
    async with opened(source, tmp_path, gate=gate) as engine:
        assert [item.call_id for item in await engine.pending_approvals(ME, T)] == ["c1"]
        assert isinstance(await ended(await answer(engine, {"c1": YES})), Completed)
        assert outcomes(await engine.thread(ME, T)) == {"c1": "Output"}


async def test_b111_two_restores_of_one_pause_are_independent(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    async with opened(asking("c1"), first) as engine:
        await ended(await send(engine))
    (second / "signoff.db").write_bytes((first / "signoff.db").read_bytes())
    gc.collect()
    sources = [ListSource([[CarryOut(), *say("Done.")]]) for _ in range(2)]
    async with opened(sources[0], first) as yes, opened(sources[1], second) as no:
        await asyncio.gather(
            ended(await answer(yes, {"c1": YES})), ended(await answer(no, {"c1": NO}))
        )
        assert outcomes(await yes.thread(ME, T)) == {"c1": "Output"}
        assert outcomes(await no.thread(ME, T)) == {"c1": "Rejected"}
    assert [source.ran for source in sources] == [["c1"], []]


CORRUPTIONS = [
    ("asked_calls", "decision", '"approved"'),
    ("asked_calls", "decision", '["approve"]'),
    ("asked_calls", "decision", "approve"),
    ("asked_calls", "decision", "null"),
    ("asked_calls", "decision", None),
    ("asked_calls", "decided_by", None),
    ("asked_calls", "body", "null"),
    ("asked_calls", "body", '"text"'),
    ("asked_calls", "body", "{}"),
    ("asked_calls", "body", ("/c1", "/etc")),
    ("asked_calls", "body", ('"risk":"destructive"', '"risk":"none"')),
    ("asked_calls", "body", ('"allows":[]', '"allows":"edit"')),
    ("asked_calls", "hash", "0"),
    ("suspensions", "state", "opne"),
    ("suspensions", "state", "settled"),
    ("suspensions", "state", "claimed"),
    ("suspensions", "kind", "aproval"),
    ("threads", "status", "paused"),
    ("threads", "status", "completed"),
    ("threads", "run_id", "run_gone"),
    ("threads", "state", "{"),
    ("runs", "queued", "{}"),
    ("runs", "queued", '["x"]'),
    ("runs", "queued", "null"),
    ("messages", "body", "null"),
    ("messages", "body", ('"tools":[', '"tools":["x",')),
    ("messages", "body", ('"approval":"pending"', '"approval":"approved"')),
    ("messages", "body", ('"role":"user"', '"role":"system"')),
]


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [pytest.param(*item, id=f"{item[0]}.{item[1]} {item[2]}") for item in CORRUPTIONS],
)
async def test_b112_a_corrupt_record_is_loud_and_runs_nothing(
    tmp_path: Path, table: str, column: str, value: str | tuple[str, str] | None
) -> None:
    source = asking("c1", "c2")
    async with opened(source, tmp_path) as engine:
        await ended(await send(engine))
        await answer(engine, {"c1": NO})
        where = "WHERE call_id = 'c1'" if table == "asked_calls" else ""
        if isinstance(value, tuple):
            old, new = value
            change = f"UPDATE {table} SET {column} = replace({column}, :old, :new) {where}"
            await tamper(engine, change, {"old": old, "new": new})
        else:
            await tamper(engine, f"UPDATE {table} SET {column} = :new {where}", {"new": value})
        with pytest.raises(CorruptRecord):
            await engine.thread(ME, T)
        with pytest.raises((CorruptRecord, AlreadyDecided)):
            await answer(engine, {"c1": YES, "c2": YES}, echo=False)
        assert source.ran == []


async def test_b112_an_unreadable_thread_does_not_keep_the_others_from_being_served(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    source = ListSource([say("Done.", "a1"), say("Fine.", "a2")])
    async with opened(source, tmp_path) as engine:
        await ended(await send(engine, thread="broken"))
        await ended(await send(engine, thread="sound"))
        broken = (await engine.thread(ME, "broken")).internal_id
        await tamper(engine, "UPDATE threads SET status = 'running'")
        await tamper(engine, "UPDATE messages SET body = '[' WHERE thread_id = :id", {"id": broken})
    with caplog.at_level(logging.CRITICAL):
        async with opened(source, tmp_path) as engine:
            assert (await engine.thread(ME, "sound")).status == "failed"
            with pytest.raises(CorruptRecord):
                await engine.thread(ME, "broken")
            with pytest.raises(CorruptRecord):
                await send(engine, thread="broken")
            await engine.reset(ME, "broken")
            assert (await engine.thread(ME, "broken")).status == "new"
    assert broken in caplog.text


async def test_a_run_that_was_cut_off_is_ended_truthfully_at_the_next_start(
    tmp_path: Path,
) -> None:
    """As after a kill, without one: the first engine is never closed."""
    batch = [call("c1"), call("c2"), call("c3")]
    ids = ["c1", "c2", "c3"]
    never = asyncio.Event()
    steps = [*ready(batch, free=ids), Execute(batch[0]), Execute(batch[1], never)]
    source = ListSource([steps, say("Fine.")])
    first = Engine(source, store=url(tmp_path))
    await send(first)

    async def is_busy() -> bool:
        return source.ran == ["c1", "c2"]

    await until(is_busy)
    await first._store.close()
    async with opened(source, tmp_path) as engine:
        thread = await engine.thread(ME, T)
        assert (thread.status, thread.failure and thread.failure[0]) == ("failed", "interrupted")
        assert outcomes(thread) == {"c1": "Output", "c2": "Indeterminate", "c3": "ToolError"}
        check_history(thread)
        assert isinstance(await ended(await send(engine)), Completed)
        # The late writer has lost.
        never.set()
        await first.close()
        assert outcomes(await engine.thread(ME, T))["c2"] == "Indeterminate"


async def test_a_second_server_on_one_file_is_refused(tmp_path: Path) -> None:
    source = ListSource([[Wait(), *say("x")]])
    async with opened(source, tmp_path) as engine:
        await send(engine)
        second = Engine(source, store=url(tmp_path))
        for _ in range(2):
            with pytest.raises(ConfigurationError, match="Another signoff server"):
                await second.thread(ME, T)
        assert (await engine.thread(ME, T)).status == "running"
    assert (await second.thread(ME, T)).status == "failed"
    await second.close()
