"""Why a run waits: the pending calls, and the one table of a suspension's life."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Literal, TypeAlias

from .errors import ConfigurationError, SignoffError
from .json_text import JsonObject, JsonValue, canonical

SuspensionKind: TypeAlias = Literal["approval", "input", "browser"]
"""Every suspension is of one kind. A mixed batch passes through them in this order."""

Risk: TypeAlias = Literal["destructive", "open_world", "requires_approval", "mutating", "policy"]
"""Why a call counts as risky: one of its hints, or only a policy's word (``policy``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One tool call, with the inputs that will run.

    Attributes:
        call_id: unique within the thread; also the interrupt id and the approval id on the wire.
        name: the tool.
        inputs: effective inputs as everyone is shown them: cast, rewritten, defaults filled in,
            secret ones masked.
        description: what the tool does.
        model_call_id: the id the model gave, where it was empty or taken and had to be renamed.
        raw_arguments: the model's own text, where it could not be read as inputs.
        masked: names of the secret inputs, whose values do not stand in ``inputs``.
        secrets: their values, while the call can still run. They are never part of the JSON of a
            call, of its ``repr`` or of a hash that is kept; the published fingerprint covers them.
    """

    call_id: str
    name: str
    inputs: JsonObject
    description: str = ""
    model_call_id: str | None = None
    raw_arguments: str | None = None
    masked: tuple[str, ...] = ()
    secrets: JsonObject = field(default_factory=dict[str, JsonValue], repr=False)

    @property
    def true_inputs(self) -> JsonObject:
        """The inputs that run: those shown, with the secret ones' values in their places."""
        return {**self.inputs, **self.secrets}


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingCall:
    r"""One call that waits for a person, as everyone is shown it (design §5, the pending action).

    ``to_json`` is what ``GET /threads/{id}/approvals``, an AG-UI interrupt's ``metadata`` and
    Vercel's ``approvalDescriptor`` carry::

        {"id": "toolu_01", "name": "delete_file", "description": "{\n    \"path\": …}",
         "decision": "pending", "feedback": null, "reason": "Deleting a file is irreversible",
         "inputs": {"path": "/tmp/old.log"}, "risk": "destructive", "expiresAt": null,
         "allows": [], "preview": null, "fingerprint": "…"}

    Attributes:
        call: the call.
        reason: why it is asked about, for the person.
        risk: what makes it risky.
        expires_at: aware UTC time after which it can no longer be approved; None is never.
        allows: what an answer may do besides approve and reject (``edit``, ``always``).
        preview: what would happen, where the tool can say; made when the call is asked about.
        fingerprint: keyed hash of the call, made when the suspension is stored; "" before.
    """

    call: ToolCall
    reason: str
    risk: Risk
    expires_at: datetime | None = None
    allows: tuple[str, ...] = ()
    preview: str | None = None
    fingerprint: str = ""

    @property
    def call_id(self) -> str:
        return self.call.call_id

    def to_json(self) -> dict[str, JsonValue]:
        """The pending action. Only one with secret inputs has a further key, ``masked``: their
        names."""
        masked: dict[str, JsonValue] = {"masked": list(self.call.masked)}
        return {
            "id": self.call.call_id,
            "name": self.call.name,
            "description": describe_inputs(self.call.inputs),
            "decision": "pending",
            "feedback": None,
            "reason": self.reason,
            "inputs": dict(self.call.inputs),
            "risk": self.risk,
            "expiresAt": format_time(self.expires_at) if self.expires_at else None,
            "allows": list(self.allows),
            "preview": self.preview,
            "fingerprint": self.fingerprint,
            **(masked if self.call.masked else {}),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspension:
    """A run that waits.

    Attributes:
        kind: what it waits for; one kind for all its calls.
        message_id: the assistant message that holds the batch.
        calls: the calls that wait, in the model's order; never empty.

    Raises:
        ConfigurationError: no calls, or an empty or repeated callId (R57).
    """

    kind: SuspensionKind
    message_id: str
    calls: tuple[PendingCall, ...]

    def __post_init__(self) -> None:
        ids = [call.call_id for call in self.calls]
        if not ids or not all(ids) or len(set(ids)) != len(ids):
            raise ConfigurationError("A suspension needs calls with ids of their own.")

    def get(self, call_id: str) -> PendingCall | None:
        return next((call for call in self.calls if call.call_id == call_id), None)


class SuspensionState(StrEnum):
    """Where a stored suspension stands."""

    OPEN = "open"
    CLAIMED = "claimed"
    SETTLED = "settled"
    ABANDONED = "abandoned"


class SuspensionEvent(StrEnum):
    """What can happen to a stored suspension."""

    ANSWERED_IN_PART = "answered_in_part"
    ANSWERED = "answered"
    FINISHED = "finished"
    RUN_ENDED = "run_ended"
    RESET = "reset"


SUSPENSION_LIFE: Mapping[tuple[SuspensionState, SuspensionEvent], SuspensionState] = {
    (SuspensionState.OPEN, SuspensionEvent.ANSWERED_IN_PART): SuspensionState.OPEN,
    (SuspensionState.OPEN, SuspensionEvent.ANSWERED): SuspensionState.CLAIMED,
    (SuspensionState.OPEN, SuspensionEvent.RUN_ENDED): SuspensionState.ABANDONED,
    (SuspensionState.OPEN, SuspensionEvent.RESET): SuspensionState.ABANDONED,
    (SuspensionState.CLAIMED, SuspensionEvent.FINISHED): SuspensionState.SETTLED,
    (SuspensionState.CLAIMED, SuspensionEvent.RUN_ENDED): SuspensionState.ABANDONED,
}
"""Every change there is. A pair that is missing cannot happen: whoever tries it is wrong.

There is no way back from ``claimed`` to ``open``: the last answer is irrevocable (R30)."""


class ImpossibleTransition(SignoffError):
    """An event that the suspension's state does not allow."""


def advance(state: SuspensionState, event: SuspensionEvent) -> SuspensionState:
    """The state after ``event``.

    Raises:
        ImpossibleTransition: ``SUSPENSION_LIFE`` has no such step.
    """
    following = SUSPENSION_LIFE.get((state, event))
    if following is None:
        raise ImpossibleTransition(f"A suspension that is {state} cannot be {event}.")
    return following


def call_hash(name: str, inputs: JsonObject) -> str:
    """SHA-256 (hex) over the compact JSON of ``{"inputs", "name"}``, keys sorted, nothing else
    normalised. Taken when a call is shown, and again before it runs (design §6.6)."""
    text = canonical({"inputs": inputs, "name": name})
    return hashlib.sha256(text.encode()).hexdigest()


def describe_inputs(inputs: JsonObject) -> str:
    """Inputs for a person: pretty JSON with four spaces, or ``(no arguments)``."""
    return json.dumps(inputs, ensure_ascii=False, indent=4) if inputs else "(no arguments)"


def format_time(moment: datetime) -> str:
    """RFC 3339 in UTC with milliseconds: ``2026-12-01T09:30:00.000Z``.

    Raises:
        ConfigurationError: the time has no zone.
    """
    if moment.tzinfo is None:
        raise ConfigurationError("Times need a zone.")
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")
