"""The SQLite database, set up so that exactly one claimer wins (design §10).

SQLAlchemy's default with aiosqlite begins a transaction at its first *write*, after the reads that
decided it, so that eight of eight claimers can win. Here the driver's own begin is off, every
writing transaction starts with BEGIN IMMEDIATE on the one writer connection, and reads have
connections of their own (WAL).
"""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from signoff.errors import ConfigurationError, Unavailable

logger = logging.getLogger("signoff")

_BUSY_TIMEOUT_SECONDS = 5


class Database:
    """Connections to one SQLite file, and the lock that keeps a second server off it.

    Args:
        url: ``sqlite:///FILE``.

    Raises:
        ConfigurationError: another kind of URL, or no file.
    """

    def __init__(self, url: str) -> None:
        self._path = _sqlite_path(url)
        self._writer = _engine(self._path, begin="BEGIN IMMEDIATE", pool_size=1)
        self._readers = _engine(self._path, begin="BEGIN", pool_size=4)
        self._write_lock = asyncio.Lock()
        self._lock_file: int | None = None

    @property
    def path(self) -> Path:
        return self._path

    def lock(self) -> None:
        """Take the file for this process.

        Two servers on one file would each end the other's runs at start.

        Raises:
            ConfigurationError: another process has it, or the folder cannot be written.
        """
        name = f"{self._path}.lock"
        try:
            descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise ConfigurationError(
                f"The database {self._path.name} cannot be opened: {error.strerror}."
            ) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise ConfigurationError(
                f"Another signoff server uses the database {self._path.name}. Stop it first."
            ) from None
        self._lock_file = descriptor

    @asynccontextmanager
    async def write(self) -> AsyncGenerator[AsyncConnection]:
        """One writing transaction; commits at the end, rolls back if the block raises.

        Raises:
            Unavailable: the database cannot be written now: disk full, locked, closed.
        """
        with _told_as_unavailable():
            async with self._write_lock:
                self._require_open()
                async with self._writer.begin() as connection:
                    yield connection

    @asynccontextmanager
    async def read(self) -> AsyncGenerator[AsyncConnection]:
        """One consistent view of the database.

        Raises:
            Unavailable: the database cannot be read now.
        """
        with _told_as_unavailable():
            self._require_open()
            async with self._readers.begin() as connection:
                yield connection

    async def close(self) -> None:
        """Wait for the transaction under way, then let go of the file."""
        async with self._write_lock:
            await self._writer.dispose()
            await self._readers.dispose()
            if self._lock_file is not None:
                os.close(self._lock_file)
                self._lock_file = None

    def _require_open(self) -> None:
        # Without the lock another server may have the file; a connection would open by itself.
        if self._lock_file is None:
            raise Unavailable()


@contextmanager
def _told_as_unavailable() -> Generator[None]:
    try:
        yield
    except (OperationalError, PoolTimeout) as error:
        logger.error("The store cannot be used: %s", getattr(error, "orig", None) or error)
        raise Unavailable() from error


def _sqlite_path(url: str) -> Path:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise ConfigurationError(f"{url!r} is not a store URL. Use sqlite:///FILE.") from None
    if parsed.get_backend_name() != "sqlite":
        raise ConfigurationError(
            f"Stores of kind {parsed.get_backend_name()!r} are not supported. Use sqlite:///FILE."
        )
    if not parsed.database or parsed.database == ":memory:":
        raise ConfigurationError("A store needs a file: sqlite:///FILE.")
    return Path(parsed.database)


def _engine(path: Path, *, begin: str, pool_size: int) -> AsyncEngine:
    engine = create_async_engine(
        URL.create("sqlite+aiosqlite", database=str(path)),
        pool_size=pool_size,
        max_overflow=0,
        hide_parameters=True,  # they are people's and models' words, and errors are logged
        connect_args={"timeout": _BUSY_TIMEOUT_SECONDS},
    )

    @event.listens_for(engine.sync_engine, "connect")
    def _set_up(connection: Any, _record: object) -> None:
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.close()

    @event.listens_for(engine.sync_engine, "begin")
    def _begin(connection: Any) -> None:
        connection.exec_driver_sql(begin)

    return engine
