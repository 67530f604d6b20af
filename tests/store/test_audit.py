"""The record is a chain: what was done to it afterwards shows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import Connection, insert, text

from signoff.suspension import ToolCall
from signoff_server.store import Store, audit, schema, tables
from signoff_server.store.chain import Broken, Head
from signoff_server.store.rows import ThreadRow

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 1, 2, tzinfo=UTC)
CALL = ToolCall(call_id="c1", name="delete", inputs={"path": "a"})


def thread(internal_id: str) -> ThreadRow:
    return ThreadRow(
        internal_id=internal_id,
        tenant="",
        owner="me",
        thread_id="t",
        status="running",
        run_id="r1",
        fence=1,
        state=None,
    )


def fill(connection: Connection) -> None:
    """Rows 1, 3, 5, 7 are one thread's, row 2, 4, 6, 8 another's."""
    for event in ("run_started", "approved", "began", "finished"):
        for name in ("one", "two"):
            audit.write(
                connection,
                thread(name),
                event,
                now=NOW,
                call=CALL,
                actor="me",
                means="person",
                protocol="native",
                detail="words",
            )


async def found(folder: Path, statements: Sequence[str], *, keep_heads: bool) -> list[Broken]:
    """What verifying says after the statements were executed behind the store's back."""
    store = Store(f"sqlite:///{folder}/store.db")
    await store.open()
    try:
        await store.write(fill)
        kept: list[Head] = await store.read(audit.heads) if keep_heads else []

        def tamper(connection: Connection) -> None:
            for statement in statements:
                connection.execute(text(statement))

        await store.write(tamper)
        return await store.write(lambda connection: audit.verify(connection, kept))
    finally:
        await store.close()


@pytest.mark.parametrize("keep_heads", [False, True])
async def test_an_untouched_record_is_whole(tmp_path: Path, keep_heads: bool) -> None:
    assert await found(tmp_path, [], keep_heads=keep_heads) == []


@pytest.mark.parametrize(
    "column",
    sorted({column.name for column in tables.audit.columns} - {"id", "thread_id", "seq"}),
)
async def test_a_changed_column_is_found(tmp_path: Path, column: str) -> None:
    statements = [f"UPDATE audit SET {column} = 'other' WHERE id = 3"]
    broken = await found(tmp_path, statements, keep_heads=False)
    assert [(row.thread_id, row.seq) for row in broken] == [("one", 2)]
    assert "was changed" in broken[0].problem


@pytest.mark.parametrize(
    "assignment",
    [
        pytest.param("mac = 'é'", id="mac-beyond-ascii"),
        pytest.param("mac = x'00ff'", id="mac-of-bytes"),
        pytest.param("detail = x'00ff'", id="bytes"),
        pytest.param("detail = x'00ff', mac = ''", id="bytes-without-mac"),
        pytest.param("detail = 9e999", id="infinite"),
    ],
)
async def test_a_value_no_row_can_have_is_found(tmp_path: Path, assignment: str) -> None:
    statements = [f"UPDATE audit SET {assignment} WHERE id = 3"]
    broken = await found(tmp_path, statements, keep_heads=False)
    assert [(row.thread_id, row.seq) for row in broken] == [("one", 2)]


@pytest.mark.parametrize(
    ("statements", "seq"),
    [
        pytest.param(["DELETE FROM audit WHERE id = 1"], 1, id="first-removed"),
        pytest.param(["DELETE FROM audit WHERE id = 5"], 3, id="middle-removed"),
        pytest.param(["UPDATE audit SET seq = NULL WHERE id = 3"], 2, id="number-removed"),
        pytest.param(
            ["DELETE FROM audit WHERE id = 3", "UPDATE audit SET seq = seq - 1 WHERE id IN (5, 7)"],
            2,
            id="removed-and-renumbered",
        ),
        pytest.param(
            [
                "UPDATE audit SET id = 99 WHERE id = 3",
                "UPDATE audit SET id = 3 WHERE id = 5",
                "UPDATE audit SET id = 5 WHERE id = 99",
            ],
            2,
            id="swapped",
        ),
        pytest.param(
            [
                "INSERT INTO audit (at, thread_id, tenant, owner, event, seq, mac) "
                "SELECT at, thread_id, tenant, owner, event, 5, mac FROM audit WHERE id = 7"
            ],
            5,
            id="inserted",
        ),
    ],
)
async def test_a_row_removed_moved_or_added_is_found(
    tmp_path: Path, statements: list[str], seq: int
) -> None:
    broken = await found(tmp_path, statements, keep_heads=False)
    assert [(row.thread_id, row.seq) for row in broken] == [("one", seq)]


@pytest.mark.parametrize(
    ("statement", "seq"),
    [("DELETE FROM audit WHERE id = 7", 4), ("DELETE FROM audit WHERE thread_id = 'one'", 1)],
    ids=["last", "whole-thread"],
)
async def test_rows_cut_off_are_found_by_the_heads(
    tmp_path: Path, statement: str, seq: int
) -> None:
    broken = await found(tmp_path, [statement], keep_heads=True)
    assert broken == [Broken(thread_id="one", seq=seq, problem="was cut off")]


async def test_another_key_fits_no_row(tmp_path: Path) -> None:
    broken = await found(tmp_path, ["UPDATE server_settings SET value = x'00'"], keep_heads=False)
    assert [(row.thread_id, row.seq) for row in broken] == [("one", 1), ("two", 1)]


async def test_rows_of_the_first_schema_are_chained(tmp_path: Path) -> None:
    """They read as before, and from the migration on a change to them is found."""
    url = f"sqlite:///{tmp_path}/store.db"
    old = {"thread_id": "one", "tenant": "", "owner": "me", "at": "x", "event": "asked"}

    def first_schema(connection: Connection) -> None:
        config = schema._config()
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        for _ in range(2):
            connection.execute(insert(tables.audit).values(**old))

    store = Store(url)
    store._database.lock()
    await store.write(first_schema)
    await store.close()
    migrated = Store(url, migrate=True)
    await migrated.open()
    try:
        await migrated.write(
            lambda connection: audit.write(connection, thread("one"), "reset", now=NOW)
        )
        assert await migrated.write(audit.verify) == []
        assert [head.seq for head in await migrated.read(audit.heads)] == [3]
    finally:
        await migrated.close()
