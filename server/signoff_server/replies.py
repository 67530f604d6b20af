"""Replies that are not streams: JSON, and refusals as problem JSON (RFC 9457)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from starlette.responses import Response

from signoff.errors import Refusal, RunInProgress
from signoff.json_text import JsonValue, encode
from signoff.suspension import PendingCall

_HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
_BUSY_RETRY_SECONDS = 1


class InternalError(Refusal):
    """What a client is told of a fault of ours: nothing about it."""

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500
    default_message: ClassVar[str] = "Something went wrong on the server."


class MethodNotAllowed(Refusal):
    """A route that is there, asked with another method than it takes."""

    code: ClassVar[str] = "method_not_allowed"
    status: ClassVar[int] = 405
    default_message: ClassVar[str] = "This route does not take this method."


def json_reply(value: object, *, status: int = 200) -> Response:
    """A JSON value, or a typed dictionary of such; integers of any size survive."""
    return Response(
        encode(value), status_code=status, headers=_HEADERS, media_type="application/json"
    )


def problem(refusal: Refusal, *, pending: Sequence[PendingCall] = ()) -> Response:
    """A refusal as problem JSON, with what helps.

    On the wire::

        {"type": "urn:signoff:problem:awaiting_decision",
         "title": "The thread waits for a decision. Answer it first.", "status": 409,
         "code": "awaiting_decision", "pending": [{"id": "toolu_01", …}]}

    ``title`` is fixed for a code; ``detail`` says more where there is more to say; ``callId`` is
    the call that the refusal is about. A busy thread always names a time to try again (R128).
    """
    document: dict[str, JsonValue] = {
        "type": f"urn:signoff:problem:{refusal.code}",
        "title": refusal.default_message,
        "status": refusal.status,
        "code": refusal.code,
    }
    if refusal.message != refusal.default_message:
        document["detail"] = refusal.message
    if refusal.call_id is not None:
        document["callId"] = refusal.call_id
    if pending:
        document["pending"] = [call.to_json() for call in pending]
    headers = dict(_HEADERS)
    if (seconds := _retry_after(refusal)) is not None:
        headers["retry-after"] = str(seconds)
    return Response(
        encode(document),
        status_code=refusal.status,
        headers=headers,
        media_type="application/problem+json",
    )


def _retry_after(refusal: Refusal) -> int | None:
    if refusal.retry_after_seconds is not None:
        return max(1, refusal.retry_after_seconds)
    return _BUSY_RETRY_SECONDS if isinstance(refusal, RunInProgress) else None
