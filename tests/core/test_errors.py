"""Codes and statuses are part of the HTTP contract (design §8)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from signoff import errors
from signoff.errors import Refusal, SignoffError

STATUSES = {
    "invalid_body": 400,
    "ambiguous_body": 400,
    "unknown_call": 400,
    "invalid_decision": 400,
    "nothing_pending": 400,
    "wrong_kind": 400,
    "incomplete_resume": 400,
    "unauthenticated": 401,
    "forbidden": 403,
    "not_found": 404,
    "awaiting_decision": 409,
    "already_decided": 409,
    "run_in_progress": 409,
    "too_large": 413,
    "unsupported_media_type": 415,
    "too_many_requests": 429,
    "unavailable": 503,
}


def _below(kind: type[Refusal]) -> Iterator[type[Refusal]]:
    for child in kind.__subclasses__():
        yield child
        yield from _below(child)


# A server that is loaded beside may have refusals of its own.
REFUSALS = [kind for kind in _below(Refusal) if kind.__module__ == errors.__name__]


@pytest.mark.req("R116")
def test_every_code_has_its_status() -> None:
    assert {refusal.code: refusal.status for refusal in REFUSALS} == STATUSES
    assert len({refusal.code for refusal in REFUSALS}) == len(REFUSALS)


@pytest.mark.req("R118")
@pytest.mark.parametrize("kind", [pytest.param(kind, id=kind.code) for kind in REFUSALS])
def test_texts_are_neutral_sentences(kind: type[Refusal]) -> None:
    refusal = kind()
    assert refusal.message == str(refusal) == kind.default_message
    assert refusal.message.endswith(".")
    assert refusal.call_id is None
    assert refusal.retry_after_seconds is None
    named = kind("Said otherwise.", call_id="c1", retry_after_seconds=3)
    assert (named.message, named.call_id, named.retry_after_seconds) == ("Said otherwise.", "c1", 3)


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    kinds = [
        value
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, SignoffError)
    ]
    assert errors.__doc__ is not None
    assert [kind.__name__ for kind in kinds if kind.__name__ not in errors.__doc__] == []
