"""Stored rows as typed values, and their JSON columns read back. What cannot be read raises
``CorruptRecord``; nothing is guessed (B112)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast, get_args

from signoff.commands import ClientContext
from signoff.decisions import Approve, Decision, decision_json, parse_decision
from signoff.errors import CorruptRecord, InvalidDecision
from signoff.json_text import JsonObject, JsonValue, dumps
from signoff.message_json import (
    call_from_json,
    call_to_json,
    message_from_json,
    message_to_json,
    outcome_from_json,
    outcome_to_json,
)
from signoff.messages import Message, UserMessage
from signoff.outcomes import Outcome
from signoff.suspension import (
    PendingCall,
    Risk,
    SuspensionKind,
    SuspensionState,
    call_hash,
    format_time,
)
from signoff.thread import ThreadStatus


def _refuse_constant(_name: str) -> JsonValue:
    raise ValueError


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadRow:
    """A thread. ``thread_id`` is the client's, unique for its owner; ``internal_id`` the server's,
    by which everything stored of the thread names it."""

    internal_id: str
    tenant: str
    owner: str
    thread_id: str
    status: ThreadStatus
    run_id: str | None
    fence: int
    state: JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    id: str
    source: str
    assistant_id: str
    client: ClientContext
    queued: tuple[UserMessage, ...]
    state: bytes | None
    failure: tuple[str, str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SuspensionRow:
    id: str
    kind: SuspensionKind
    message_id: str
    state: SuspensionState


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedRow:
    """A call that a person is asked about, with the answer on record."""

    pending: PendingCall
    suspension_id: str
    message_id: str
    hash: str
    decision: Decision | None
    decided_by: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionRow:
    """A call that began; ``outcome`` is None while it has not finished."""

    call_id: str
    outcome: Outcome | None


def thread_row(row: Any) -> ThreadRow:
    if row.status not in get_args(ThreadStatus):
        raise CorruptRecord("A stored thread has an unknown status.")
    return ThreadRow(
        internal_id=row.id,
        tenant=row.tenant,
        owner=row.owner,
        thread_id=row.client_id,
        status=row.status,
        run_id=row.run_id,
        fence=row.fence,
        state=None if row.state is None else read_json(row.state),
    )


def run_row(row: Any) -> RunRow:
    queued = read_json(row.queued)
    if not isinstance(queued, list):
        raise CorruptRecord("A run's stored queue cannot be read.")
    return RunRow(
        id=row.id,
        source=row.source,
        assistant_id=row.assistant_id,
        client=client_from_text(row.client),
        queued=tuple(_user_message(item) for item in queued),
        state=row.state,
        failure=None if row.failure_code is None else (row.failure_code, row.failure_message),
    )


def suspension_row(row: Any) -> SuspensionRow:
    if row.kind not in get_args(SuspensionKind):
        raise CorruptRecord("A stored suspension is of an unknown kind.")
    try:
        state = SuspensionState(row.state)
    except ValueError:
        raise CorruptRecord("A stored suspension is in an unknown state.") from None
    return SuspensionRow(id=row.id, kind=row.kind, message_id=row.message_id, state=state)


def asked_call(row: Any) -> AskedRow:
    """A call with its answer.

    What people are shown and what the ledger compares stand in different columns; a record in which
    they disagree would get an approval for something else than was shown.
    """
    pending = pending_from_text(row.body)
    call = pending.call
    if call.call_id != row.call_id or call_hash(call.name, call.inputs) != row.hash:
        raise CorruptRecord("A stored pending call is not the one that was asked about.")
    if (row.decision is None) != (row.decided_by is None):
        raise CorruptRecord("A stored decision is incomplete.")
    return AskedRow(
        pending=pending,
        suspension_id=row.suspension_id,
        message_id=row.message_id,
        hash=row.hash,
        decision=None if row.decision is None else decision_from_text(row.decision, row.note),
        decided_by=row.decided_by,
    )


def is_storable(text: str) -> bool:
    """Whether every store can keep ``text`` as it is: no half of a surrogate pair, no NUL, which
    PostgreSQL refuses (B124)."""
    return "\x00" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def read_json(text: str) -> JsonValue:
    """Read what ``json_text.dumps`` wrote. The strict parser is for what others write: it takes
    three times as long, and a thread is read for every request."""
    try:
        return cast("JsonValue", _DECODER.decode(text))
    except (ValueError, TypeError, RecursionError):
        raise CorruptRecord("A stored record is not JSON.") from None


def message_to_text(message: Message) -> str:
    return dumps(message_to_json(message))


def message_from_text(text: str) -> Message:
    return message_from_json(read_json(text))


def decision_to_text(decision: Decision) -> str:
    return dumps(decision_json(decision))


def decision_from_text(text: str, note: str | None) -> Decision:
    try:
        decision = parse_decision("", read_json(text))
    except InvalidDecision:
        raise CorruptRecord("A stored decision cannot be read.") from None
    return Approve(note=note) if isinstance(decision, Approve) else decision


def outcome_to_text(outcome: Outcome) -> str:
    return dumps(outcome_to_json(outcome))


def outcome_from_text(text: str) -> Outcome:
    try:
        return outcome_from_json(cast("dict[str, Any]", read_json(text)))
    except (KeyError, TypeError, ValueError):
        raise CorruptRecord("A stored outcome cannot be read.") from None


def pending_to_text(pending: PendingCall) -> str:
    return dumps(
        {
            "call": call_to_json(pending.call),
            "reason": pending.reason,
            "risk": pending.risk,
            "expiresAt": format_time(pending.expires_at) if pending.expires_at else None,
            "allows": list(pending.allows),
            "preview": pending.preview,
            "fingerprint": pending.fingerprint,
        }
    )


def pending_from_text(text: str) -> PendingCall:
    document = cast("dict[str, Any]", read_json(text))
    try:
        risk: Risk = document["risk"]
        if risk not in get_args(Risk):
            raise ValueError
        expires_at, preview = document["expiresAt"], document["preview"]
        return PendingCall(
            call=call_from_json(document["call"]),
            reason=_text(document["reason"]),
            risk=risk,
            expires_at=None if expires_at is None else datetime.fromisoformat(expires_at),
            allows=tuple(_text(item) for item in _list(document["allows"])),
            preview=None if preview is None else _text(preview),
            fingerprint=_text(document["fingerprint"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise CorruptRecord("A stored pending call cannot be read.") from None


def client_to_text(client: ClientContext) -> str:
    return dumps(
        {
            "tools": list(client.tools),
            "context": list(client.context),
            "forwardedProps": client.forwarded_props,
        }
    )


def client_from_text(text: str) -> ClientContext:
    document = cast("dict[str, Any]", read_json(text))
    try:
        return ClientContext(
            tools=tuple(_object(item) for item in _list(document["tools"])),
            context=tuple(_object(item) for item in _list(document["context"])),
            forwarded_props=document["forwardedProps"],
        )
    except (KeyError, TypeError):
        raise CorruptRecord("A stored client context cannot be read.") from None


def _user_message(document: JsonValue) -> UserMessage:
    message = message_from_json(document)
    if not isinstance(message, UserMessage):
        raise CorruptRecord("A run's stored queue cannot be read.")
    return message


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError
    return cast("list[object]", value)


def _object(value: object) -> JsonObject:
    if not isinstance(value, dict):
        raise TypeError
    return cast("JsonObject", value)
