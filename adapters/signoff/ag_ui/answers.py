"""Answers of AG-UI clients to decisions.

An entry of ``resume[]`` is ``{"interruptId", "status": "resolved", "payload"}`` or
``{"interruptId", "status": "cancelled"}``. A cancelled one is a rejection, whatever its payload
says (B30). The payload of a resolved one says exactly ``approved``, true or false; what other
clients say, ``accepted``, ``"approve"`` and ``"reject"``, means the same. Each may be JSON in a
string.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..decisions import Approve, Decision, Reject, reject
from ..errors import InvalidBody, InvalidDecision
from ..json_text import JsonObject, JsonTextError, JsonValue, parse

_WORDS = ("approved", "accepted")
_NOT_ALLOWED = ("editedArgs", "remember")


def read_entries(entries: Sequence[JsonObject]) -> dict[str, Decision]:
    """The decisions of a ``resume``, keyed by callId: the interrupt's id is the callId.

    Raises:
        InvalidBody: two entries for one interrupt, equal ones too (R104).
        InvalidDecision: an unknown status, or a payload that does not say yes or no.
    """
    decisions: dict[str, Decision] = {}
    for entry in entries:
        call_id = interrupt_id(entry)
        if call_id in decisions:
            raise InvalidBody("An interrupt is answered twice.", call_id=call_id)
        decisions[call_id] = _decision(call_id, entry)
    return decisions


def interrupt_id(entry: JsonObject) -> str:
    """The interrupt that an entry answers.

    Raises:
        InvalidBody: it names none.
    """
    value = entry.get("interruptId")
    if not isinstance(value, str) or not value:
        raise InvalidBody("A resume entry has an interruptId, a non-empty string.")
    return value


def read_payload(call_id: str, payload: JsonValue) -> Decision:
    """What a payload decides. Anything but a clear yes or no decides nothing.

    Raises:
        InvalidDecision: no clear yes or no, or an answer that this call does not allow.
    """
    if isinstance(payload, str) and payload not in ("approve", "reject"):
        # One level only, and never a guess at what half of a JSON text was to say (B25).
        try:
            payload = parse(payload)
        except JsonTextError:
            raise _unclear(call_id) from None
    match payload:
        case "approve":
            return Approve()
        case "reject":
            return Reject()
        case Mapping():
            return _spoken(call_id, payload)
        case _:
            raise _unclear(call_id)


def _decision(call_id: str, entry: JsonObject) -> Decision:
    match entry.get("status"):
        case "cancelled":
            return Reject()
        case "resolved":
            return read_payload(call_id, entry.get("payload"))
        case _:
            raise InvalidDecision("An entry's status is resolved or cancelled.", call_id=call_id)


def _spoken(call_id: str, payload: JsonObject) -> Decision:
    for name in _NOT_ALLOWED:
        if payload.get(name) is not None:
            raise InvalidDecision(f"This call does not allow {name}.", call_id=call_id)
    said = [payload[word] for word in _WORDS if word in payload]
    reason = payload.get("reason")
    if not said or not isinstance(reason, str | None):
        raise _unclear(call_id)
    # `is`: 1 == True, and a number is no consent.
    if all(word is True for word in said):
        return Approve(note=reason or None)
    if all(word is False for word in said):
        return reject(reason)
    raise _unclear(call_id)


def _unclear(call_id: str) -> InvalidDecision:
    return InvalidDecision(
        "An answer's payload has approved, true or false, and may have a reason.", call_id=call_id
    )
