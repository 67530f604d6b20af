"""One chain a thread: each row of the record is bound to the row before it by a keyed hash."""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256

from signoff.json_text import JsonTextError, JsonValue, dumps

FIELDS: tuple[str, ...] = (
    "seq",
    "at",
    "thread_id",
    "tenant",
    "owner",
    "run_id",
    "call_id",
    "tool",
    "hash",
    "event",
    "actor",
    "means",
    "protocol",
    "detail",
)
"""What a MAC covers, in this order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Where a chain ends. Kept elsewhere, it shows rows that are cut off later."""

    thread_id: str
    seq: int
    mac: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """The first row of a thread, by ``seq``, that is not what was written."""

    thread_id: str
    seq: int
    problem: str


def mac(key: bytes, row: Mapping[str, JsonValue], previous: str) -> str:
    """HMAC-SHA256, in hex, over the row's ``FIELDS`` and its predecessor's MAC; ``previous`` is
    empty for the first row."""
    text = dumps([previous, *(row[name] for name in FIELDS)])
    return hmac.new(key, text.encode(), sha256).hexdigest()


def verify(
    key: bytes, rows: Iterable[Mapping[str, JsonValue]], heads: Iterable[Head] = ()
) -> list[Broken]:
    """Check whole chains: rows carry ``FIELDS`` and ``mac``, and stand in the order written.

    Without ``heads`` rows cut off at a chain's end are not found: nothing is left that names them.

    Returns:
        The first broken row of each thread; nothing if all is as it was written.
    """
    ends: dict[str, Head] = {}
    broken: dict[str, Broken] = {}
    known = {(head.thread_id, head.seq): head for head in heads}
    for row in rows:
        thread_id = str(row["thread_id"])
        if thread_id in broken:
            continue
        end = ends.get(thread_id, Head(thread_id=thread_id, seq=0, mac=""))
        seq = end.seq + 1
        expected = _expected(key, row, end.mac)
        head = known.get((thread_id, seq))
        if row["seq"] != seq:
            problem = "is missing, or another row stands in its place"
        elif expected is None or not _equal(expected, row["mac"]):
            problem = "was changed, or the key is another"
        elif head is not None and head.mac != expected:
            problem = "is not the one of the chain's head"
        else:
            ends[thread_id] = Head(thread_id=thread_id, seq=seq, mac=expected)
            continue
        broken[thread_id] = Broken(thread_id=thread_id, seq=seq, problem=problem)
    for thread_id, seq in sorted(known):
        end_seq = ends[thread_id].seq if thread_id in ends else 0
        if thread_id not in broken and end_seq < seq:
            broken[thread_id] = Broken(thread_id=thread_id, seq=end_seq + 1, problem="was cut off")
    return list(broken.values())


def _expected(key: bytes, row: Mapping[str, JsonValue], previous: str) -> str | None:
    """The MAC that fits the row. None fits one with a value that no row is written with, such as
    bytes: it is as broken as any other."""
    try:
        return mac(key, row, previous)
    except (JsonTextError, TypeError):
        return None


def _equal(expected: str, stored: JsonValue) -> bool:
    return isinstance(stored, str) and hmac.compare_digest(expected.encode(), stored.encode())
