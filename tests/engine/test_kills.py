"""The process dies, anywhere: afterwards nothing has run twice, nothing ran that was not approved
and recorded, and the thread can be used."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import Connection

from signoff.events import Completed, Suspended
from signoff.suspension import call_hash
from signoff_server.store import asking, threads
from support.doomed import STATEMENTS, DoomedSource
from support.engines import ME, T, audited, check_history, ended, opened, outcomes, send, tamper

pytestmark = pytest.mark.anyio

TESTS = Path(__file__).parent.parent

KILLS = [
    *((f"{when} {what}", 1) for what in STATEMENTS for when in ("at", "before commit of", "after")),
    ("before the tool", 1),
    ("in the tool", 1),
    ("after begin", 2),
    ("before commit of finish", 2),
    ("in the tool", 2),
]


def run_doomed(folder: Path, point: str, count: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "support.doomed", str(folder), point, str(count)],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )


@pytest.mark.req("R76")
@pytest.mark.parametrize(("point", "count"), KILLS, ids=[f"{a} ({b})" for a, b in KILLS])
async def test_a_kill(tmp_path: Path, point: str, count: int) -> None:
    async with opened(DoomedSource(tmp_path), tmp_path) as engine:
        assert isinstance(await ended(await send(engine)), Suspended)

    died = run_doomed(tmp_path, point, count)
    assert died.returncode == -signal.SIGKILL, died.stderr
    assert "survived" not in died.stdout

    lines = tmp_path / "executions"
    executed = lines.read_text().split() if lines.exists() else []
    async with opened(DoomedSource(tmp_path), tmp_path) as engine:
        begun: list[str] = await tamper(engine, "SELECT call_id FROM executions")
        finished: list[str] = await tamper(
            engine, "SELECT call_id FROM executions WHERE outcome IS NOT NULL"
        )
        assert len(executed) == len(set(executed))
        assert set(finished) <= set(executed) <= set(begun) <= {"c1", "c3"}
        thread = await engine.thread(ME, T)
        check_history(thread)
        if thread.status == "awaiting_approval":
            # Killed before the answers were committed: they were not acknowledged either.
            assert point in ("at claim", "before commit of claim")
            assert (begun, thread.decisions) == ([], {})
            assert len(await engine.pending_approvals(ME, T)) == 2
            return
        assert thread.status == ("completed" if point == "after end" else "failed")
        await only_what_was_approved(engine, begun)
        for call_id, outcome in outcomes(thread).items():
            if call_id in finished:
                assert outcome == "Output"
            elif call_id in begun:
                assert outcome == "Indeterminate"
            else:
                assert outcome == ("Rejected" if call_id == "c2" else "ToolError")
        rows = [row.event for row in await audited(engine)]
        assert rows.count("began") == len(begun)
        assert rows.count("run_ended") == 1
        assert isinstance(await ended(await send(engine, "and now")), Completed)
        check_history(await engine.thread(ME, T))
        assert (lines.read_text().split() if lines.exists() else []) == executed


async def only_what_was_approved(engine: object, begun: list[str]) -> None:
    """Of the calls that a person was asked about."""

    def read(connection: Connection) -> None:
        row = threads.find(connection, ME, T)
        assert row is not None
        for asked in asking.calls_of_thread(connection, row.internal_id):
            call = asked.pending.call
            assert asked.hash == call_hash(call.name, call.inputs)
            if call.call_id in begun:
                assert type(asked.decision).__name__ == "Approve"

    await engine._store.read(read)  # type: ignore[attr-defined]  # an Engine


async def test_a_process_that_is_not_killed_comes_to_the_end(tmp_path: Path) -> None:
    """So that a point that is never reached cannot look like one that was survived."""
    async with opened(DoomedSource(tmp_path), tmp_path) as engine:
        await ended(await send(engine))
    died = run_doomed(tmp_path, "nowhere", 1)
    assert (died.returncode, died.stdout) == (0, "survived\n"), died.stderr
    assert (tmp_path / "executions").read_text().split() == ["c1", "c3"]
