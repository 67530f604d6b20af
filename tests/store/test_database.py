"""The database file: set up as it has to be, made and checked, held by one server."""

from __future__ import annotations

import asyncio
import fcntl
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, create_engine, inspect, text
from sqlalchemy.exc import OperationalError

from signoff.errors import ConfigurationError, Unavailable
from signoff_server.store import Store, schema
from signoff_server.store.tables import metadata

pytestmark = pytest.mark.anyio


def store_in(folder: Path, **options: Any) -> Store:
    return Store(f"sqlite:///{folder}/signoff.db", **options)


def scalar(statement: str) -> Any:
    return lambda connection: connection.execute(text(statement)).scalar()


async def test_every_connection_is_set_up(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    await store.open()
    barrier = threading.Barrier(4)

    def settings(connection: Connection) -> tuple[Any, ...]:
        barrier.wait(10)  # so that each reader has a connection of its own
        return pragmas(connection)

    def pragmas(connection: Connection) -> tuple[Any, ...]:
        names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        return tuple(scalar(f"PRAGMA {name}")(connection) for name in names)

    expected = ("wal", 2, 1, 5000)
    assert await asyncio.gather(*(store.read(settings) for _ in range(4))) == [expected] * 4
    assert await store.write(pragmas) == expected
    await store.close()


async def test_a_writing_transaction_has_the_lock_from_its_first_statement(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    await store.open()
    outside = create_engine(f"sqlite:///{tmp_path}/signoff.db", connect_args={"timeout": 0})

    def other_writer_is_refused(connection: Connection) -> bool:
        connection.execute(text("SELECT 1"))
        with outside.connect() as other:
            try:
                other.exec_driver_sql("BEGIN IMMEDIATE")
            except OperationalError as error:
                return "locked" in str(error)
        return False

    assert await store.write(other_writer_is_refused) is True
    outside.dispose()
    await store.close()


async def test_writers_take_turns_and_readers_see_only_what_is_committed(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    await store.open()
    await store.server_key()
    count = scalar("SELECT count(*) FROM server_settings")

    def add(connection: Connection) -> int:
        before: int = count(connection)
        connection.execute(text(f"INSERT INTO server_settings VALUES ('{before}', x'00')"))
        return before

    seen = await asyncio.gather(*(store.write(add) for _ in range(10)))
    assert seen == list(range(1, 11))

    inside = threading.Event()
    go_on = threading.Event()

    def add_slowly(connection: Connection) -> None:
        add(connection)
        inside.set()
        go_on.wait(10)

    writing = asyncio.create_task(store.write(add_slowly))
    while not inside.is_set():  # noqa: ASYNC110 - set in a thread
        await asyncio.sleep(0.001)
    assert await store.read(count) == 11
    go_on.set()
    await writing
    assert await store.read(count) == 12
    await store.close()


async def test_a_transaction_that_raises_is_rolled_back(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    await store.open()

    def fail(connection: Connection) -> None:
        connection.execute(text("INSERT INTO server_settings VALUES ('a', x'00')"))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await store.write(fail)
    assert await store.read(scalar("SELECT count(*) FROM server_settings")) == 0
    await store.close()


async def test_a_cancelled_caller_does_not_cut_a_transaction_in_half(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    await store.open()
    inside, go_on = threading.Event(), threading.Event()

    def work(connection: Connection) -> None:
        connection.execute(text("INSERT INTO server_settings VALUES ('a', x'00')"))
        inside.set()
        go_on.wait(10)
        connection.execute(text("INSERT INTO server_settings VALUES ('b', x'00')"))

    writing = asyncio.create_task(store.write(work))
    while not inside.is_set():  # noqa: ASYNC110 - set in a thread
        await asyncio.sleep(0.001)
    writing.cancel()
    await asyncio.wait([writing])
    go_on.set()
    assert await store.write(scalar("SELECT count(*) FROM server_settings")) == 2
    await store.close()


async def test_the_migrations_make_the_tables(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    await store.open()

    def differences(connection: Connection) -> Any:
        return compare_metadata(MigrationContext.configure(connection), metadata)

    assert await store.write(differences) == []
    names = await store.read(lambda connection: set(inspect(connection).get_table_names()))
    assert names == {*metadata.tables, "alembic_version"}
    await store.close()


async def test_opening_again_changes_nothing_and_keeps_the_key(tmp_path: Path) -> None:
    keys = []
    for migrate in (False, True, False):
        store = store_in(tmp_path, migrate=migrate)
        await store.open()
        keys.append(await store.server_key())
        await store.close()
    assert len(set(keys)) == 1
    assert len(keys[0]) == 32


@pytest.mark.parametrize("migrate", [False, True])
async def test_a_schema_of_another_version_is_refused(tmp_path: Path, migrate: bool) -> None:
    store = store_in(tmp_path)
    await store.open()
    await store.write(scalar("UPDATE alembic_version SET version_num = '9999' RETURNING 1"))
    await store.close()
    other = store_in(tmp_path, migrate=migrate)
    with pytest.raises(ConfigurationError, match="version"):
        await other.open()
    # It lets go of the file.
    with pytest.raises(ConfigurationError, match="version"):
        await store_in(tmp_path).open()


async def test_an_older_schema_is_brought_up_to_date_only_where_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_in(tmp_path)
    await store.open()
    await store.close()

    class Newer:
        @staticmethod
        def from_config(config: object) -> type[Newer]:
            return Newer

        @staticmethod
        def get_current_head() -> str:
            return "9998"

    monkeypatch.setattr(schema, "ScriptDirectory", Newer)
    with pytest.raises(ConfigurationError, match="signoff migrate"):
        await store_in(tmp_path).open()
    migrated = store_in(tmp_path, migrate=True)
    await migrated.open()
    await migrated.close()


@pytest.mark.parametrize("migrate", [False, True])
async def test_a_file_that_is_no_database_of_signoffs_is_refused(
    tmp_path: Path, migrate: bool
) -> None:
    (tmp_path / "signoff.db").write_bytes(b"not a database, but long enough to look at" * 50)
    with pytest.raises(ConfigurationError, match=r"signoff\.db cannot be used"):
        await store_in(tmp_path, migrate=migrate).open()
    foreign = create_engine(f"sqlite:///{tmp_path}/foreign.db")
    with foreign.begin() as connection:
        connection.execute(text("CREATE TABLE threads (id)"))
    foreign.dispose()
    with pytest.raises(ConfigurationError, match=r"foreign\.db cannot be used"):
        await Store(f"sqlite:///{tmp_path}/foreign.db", migrate=migrate).open()
    assert [name for name in os.listdir(tmp_path) if "lock" in name] == []


async def test_one_server_holds_the_file_until_it_closes(tmp_path: Path) -> None:
    first, second = store_in(tmp_path), store_in(tmp_path)
    await first.open()
    with pytest.raises(ConfigurationError, match="Another signoff server"):
        await second.open()
    with pytest.raises(Unavailable):
        await second.read(scalar("SELECT 1"))
    await first.close()
    await second.open()
    with pytest.raises(Unavailable):
        await first.write(scalar("SELECT 1"))
    assert await second.read(scalar("SELECT 1")) == 1
    await second.close()


async def test_a_lock_that_was_removed_meanwhile_is_not_taken_for_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process opened the same file first, found it to be no database, and took its lock
    away while this one waited for its turn."""
    lock = tmp_path / "signoff.db.lock"
    take = fcntl.flock

    def take_late(descriptor: int, operation: int) -> None:
        monkeypatch.setattr(fcntl, "flock", take)
        lock.unlink()
        take(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", take_late)
    first, second = store_in(tmp_path), store_in(tmp_path)
    await first.open()
    assert lock.exists()
    with pytest.raises(ConfigurationError, match="Another signoff server"):
        await second.open()
    await first.close()


@pytest.mark.parametrize(
    "url",
    ["", "signoff.db", "sqlite://", "sqlite:///:memory:", "mysql://h/d", "postgresql://h/d"],
)
async def test_urls_that_name_no_file_are_refused(url: str) -> None:
    with pytest.raises(ConfigurationError):
        Store(url)


async def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="No such file or directory"):
        await store_in(tmp_path / "nowhere").open()


async def test_no_thread_outlives_the_store(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    store = store_in(tmp_path)
    await store.open()
    await store.read(scalar("SELECT 1"))
    of_store = [
        thread
        for thread in threading.enumerate()
        if thread not in before and thread.name.startswith("signoff-")
    ]
    assert of_store
    await store.close()
    for thread in of_store:
        await asyncio.to_thread(thread.join, 10)
        assert not thread.is_alive()
