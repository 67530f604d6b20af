"""The SQLite database, set up so that exactly one claimer wins (design §10).

The driver's default begins a transaction at its first *write*, after the reads that decided it, so
that eight of eight claimers can win. Here its own begin is off, every writing transaction starts
with BEGIN IMMEDIATE on the one writer connection, and reads have connections of their own (WAL).

A transaction is a plain function that runs in a thread from its begin to its commit. SQLAlchemy's
asyncio layer goes back and forth to a thread four times for each statement, which made a claim ten
times dearer; and in a thread no cancelled request can cut a transaction in half.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import logging
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from signoff.errors import ConfigurationError, Unavailable

_LOG = logging.getLogger("signoff")

_BUSY_TIMEOUT_SECONDS = 5
_READERS = 4

T = TypeVar("T")


class Database:
    """Connections to one SQLite file, and the lock that keeps a second server off it.

    Args:
        url: ``sqlite:///FILE``.

    Raises:
        ConfigurationError: another kind of URL, or no file.
    """

    def __init__(self, url: str) -> None:
        self._path = _sqlite_path(url)
        self._lock_path = Path(f"{self._path}.lock")
        self._writer = _engine(self._path, begin="BEGIN IMMEDIATE", connections=1)
        self._readers = _engine(self._path, begin="BEGIN", connections=_READERS)
        self._lock_file: int | None = None
        self._writing = ThreadPoolExecutor(1, "signoff-writer")
        self._reading = ThreadPoolExecutor(_READERS, "signoff-reader")

    @property
    def path(self) -> Path:
        return self._path

    def lock(self) -> None:
        """Take the file for this process.

        Two servers on one file would each end the other's runs at start.

        Raises:
            ConfigurationError: another process has it, or the folder cannot be written.
        """
        while self._lock_file is None:
            self._lock_file = self._try_lock()

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run one writing transaction; it commits at the end, or rolls back if ``work`` raises.

        They run one after another, in the order in which they were asked for. A caller that is
        cancelled does not stop its transaction.

        Raises:
            Unavailable: the database cannot be written now: disk full, locked, closed.
        """
        return await self._run(self._writing, self._writer, work)

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Read one consistent view of the database.

        Raises:
            Unavailable: the database cannot be read now.
        """
        return await self._run(self._reading, self._readers, work)

    async def close(self, *, forget: bool = False) -> None:
        """Wait for the transactions under way, then let go of the file; ``forget`` removes its
        lock, for a file that turned out to be none of ours."""
        loop = asyncio.get_running_loop()
        for threads, engine in ((self._reading, self._readers), (self._writing, self._writer)):
            await loop.run_in_executor(threads, engine.dispose)
        await loop.run_in_executor(self._writing, self._unlock, forget)
        # An executor that is shut down takes no work; the threads of a fresh one start on demand.
        for threads in (self._reading, self._writing):
            threads.shutdown(wait=False)
        self._writing = ThreadPoolExecutor(1, "signoff-writer")
        self._reading = ThreadPoolExecutor(_READERS, "signoff-reader")

    async def _run(
        self, threads: ThreadPoolExecutor, engine: Engine, work: Callable[[Connection], T]
    ) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(threads, self._transact, engine, work)

    def _transact(self, engine: Engine, work: Callable[[Connection], T]) -> T:
        # Without the lock another server may have the file; a connection would open by itself.
        if self._lock_file is None:
            raise Unavailable()
        try:
            with engine.begin() as connection:
                return work(connection)
        except (OperationalError, PoolTimeout) as error:
            _LOG.error("The store cannot be used: %s", getattr(error, "orig", None) or error)
            raise Unavailable() from error

    def _try_lock(self) -> int | None:
        """A descriptor that holds the lock; None where its file was removed meanwhile."""
        try:
            descriptor = os.open(self._lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise ConfigurationError(
                f"The database {self._path.name} cannot be opened: {error.strerror}."
            ) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise ConfigurationError(
                f"Another signoff server uses the database {self._path.name}. Stop it, or choose "
                "another one with --store."
            ) from None
        with contextlib.suppress(FileNotFoundError):
            # A lock on a removed file keeps nobody off: the next server makes a new one.
            if os.path.samestat(os.fstat(descriptor), os.stat(self._lock_path)):
                return descriptor
        os.close(descriptor)
        return None

    def _unlock(self, forget: bool) -> None:
        if self._lock_file is None:
            return
        if forget:
            self._lock_path.unlink(missing_ok=True)
        os.close(self._lock_file)
        self._lock_file = None


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


def _engine(path: Path, *, begin: str, connections: int) -> Engine:
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        pool_size=connections,
        max_overflow=0,
        hide_parameters=True,  # they are people's and models' words, and errors are logged
        connect_args={"timeout": _BUSY_TIMEOUT_SECONDS, "check_same_thread": False},
    )

    @event.listens_for(engine, "connect")
    def _set_up(connection: Any, _record: object) -> None:
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.execute("PRAGMA secure_delete=ON")  # a secret that was deleted is not in the file
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Any) -> None:
        connection.exec_driver_sql(begin)

    return engine
