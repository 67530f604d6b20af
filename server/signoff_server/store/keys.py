"""The key that belongs to a database."""

from __future__ import annotations

import secrets

from sqlalchemy import Connection, insert, select

from .tables import server_settings


def server_key(connection: Connection) -> bytes:
    """32 random bytes, made when they are first asked for."""
    result = connection.execute(
        select(server_settings.c.value).where(server_settings.c.name == "key")
    )
    key: bytes | None = result.scalar_one_or_none()
    if key is None:
        key = secrets.token_bytes(32)
        connection.execute(insert(server_settings).values(name="key", value=key))
    return key
