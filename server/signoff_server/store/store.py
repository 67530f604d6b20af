"""The durable store: opened once by a process, written in short transactions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from alembic.util import CommandError
from sqlalchemy import Connection
from sqlalchemy.exc import DatabaseError

from signoff.errors import ConfigurationError, Unavailable

from . import keys, schema
from .database import Database

T = TypeVar("T")


class Store:
    """One database.

    Args:
        url: ``sqlite:///FILE``.
        migrate: bring an older schema up to date at start; otherwise it is refused. An empty
            database gets its schema either way.

    Raises:
        ConfigurationError: a URL that names no usable database.
    """

    def __init__(self, url: str, *, migrate: bool = False) -> None:
        self._database = Database(url)
        self._migrate = migrate

    @property
    def path(self) -> Path:
        """The database's file."""
        return self._database.path

    async def open(self) -> None:
        """Take the database for this process and check its schema. One that is refused is left
        as it was found.

        Raises:
            ConfigurationError: another server has it, its schema does not match, or it is no
                database of signoff's.
        """
        self._database.lock()
        try:
            await self.write(schema.migrate if self._migrate else schema.check)
        except (DatabaseError, CommandError, Unavailable) as error:
            await self._database.close(forget=True)
            raise ConfigurationError(
                f"The database {self._database.path.name} cannot be used: it is damaged, locked, "
                "not writable, or not one of this version of signoff."
            ) from error
        except BaseException:
            await self._database.close(forget=True)
            raise

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run one writing transaction, the only one at its time; ``work`` runs in a thread.

        Raises:
            Unavailable: the database cannot be written now.
        """
        return await self._database.write(work)

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Read one consistent view; ``work`` runs in a thread.

        Raises:
            Unavailable: the database cannot be read now.
        """
        return await self._database.read(work)

    async def server_key(self) -> bytes:
        """32 random bytes that belong to this database: for fingerprints and signed cookies."""
        return await self.write(keys.server_key)

    async def close(self) -> None:
        """Let go of the database, after the transactions under way."""
        await self._database.close()
