"""Ids that clients choose."""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from signoff.commands import UserInput
from signoff.errors import InvalidBody

from ..store.rows import is_storable

_LONGEST_ID = 512


def random_id(prefix: str) -> str:
    """A new id that nobody can guess."""
    return f"{prefix}_{secrets.token_hex(12)}"


def check_id(value: str) -> None:
    """Ids are data of any characters (B128), within what every store can keep (B124).

    Raises:
        InvalidBody: empty, longer than 512 characters, a NUL or half a surrogate pair in it.
    """
    if not value or len(value) > _LONGEST_ID or not is_storable(value):
        raise InvalidBody("An id has 1 to 512 characters of valid Unicode, without NUL.")


def check_message_ids(messages: Iterable[UserInput]) -> None:
    """Check the ids of user messages; a message without one is given one later.

    Raises:
        InvalidBody: see ``check_id``.
    """
    for message in messages:
        if message.id is not None:
            check_id(message.id)
