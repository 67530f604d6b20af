"""What AG-UI looks like: the frames and messages that signoff sends, as plain dicts.

Optional fields are left out, never null: the clients' schemas know "missing" only (B07). Every
builder returns one event; ``sse.data_frame`` makes it a frame::

    data: {"type":"RUN_STARTED","threadId":"t1","runId":"r1","protocolVersion":"1.0"}

Shapes are those of the AG-UI 1.0 specification, narrowed to what ``@ag-ui/client`` 0.0.54 to 0.0.59
takes as well; where the two differ, ``Profile`` decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired, TypeAlias, TypedDict, assert_never

from ..errors import ConfigurationError, Refusal
from ..json_text import JsonObject, JsonValue, dumps
from ..messages import result_message_id
from ..suspension import PendingCall, SuspensionKind, ToolCall, format_time

Profile: TypeAlias = Literal["1.0", "0.0"]
"""What the client understands. ``0.0`` is the 0.0.5x client, which names no version and dies of
``pendingToolCallIds`` and ``cancelled``, and is locked for good by an expired ``expiresAt``."""

Failures: TypeAlias = Literal["run_error", "finish"]
"""How a run ends that fails after answers: by AG-UI's word, or so that CopilotKit goes on."""

PROTOCOL_VERSION = "1.0"
"""Ours, whatever the client's: each side declares its own. 0.0.5x clients ignore it."""

REFUSED = "signoff.refused"
"""Name of the CUSTOM event that says why a request was not taken."""

FAILED = "signoff.failed"
"""Name of the CUSTOM event that says why a run failed, see ``Failures``."""

Frame: TypeAlias = dict[str, JsonValue]


class FunctionCall(TypedDict):
    name: str
    arguments: str
    """JSON text: numbers beyond 2^53 survive (B121)."""


class ToolCallEntry(TypedDict):
    id: str
    type: Literal["function"]
    function: FunctionCall


class UserEntry(TypedDict):
    id: str
    role: Literal["user"]
    content: JsonValue
    """Text, or a list of content parts."""


class AssistantEntry(TypedDict):
    id: str
    role: Literal["assistant"]
    content: NotRequired[str]
    toolCalls: NotRequired[list[ToolCallEntry]]


class ReasoningEntry(TypedDict):
    id: str
    role: Literal["reasoning"]
    content: str


class ToolEntry(TypedDict):
    id: str
    role: Literal["tool"]
    toolCallId: str
    content: str
    error: NotRequired[str]


MessageEntry: TypeAlias = UserEntry | AssistantEntry | ReasoningEntry | ToolEntry
"""One message of a ``MESSAGES_SNAPSHOT``, of ``initialMessages`` and of the JSON reload."""


class Interrupt(TypedDict):
    """One question to a person. ``id`` is the callId."""

    id: str
    reason: Literal["confirmation", "tool_call"]
    message: str
    toolCallId: NotRequired[str]
    responseSchema: JsonObject
    expiresAt: NotRequired[str]
    metadata: JsonObject
    """The pending action of design §5."""


class Success(TypedDict):
    type: Literal["success"]


class Stopped(TypedDict):
    type: Literal["cancelled"]


class Interrupted(TypedDict):
    type: Literal["interrupt"]
    interrupts: list[Interrupt]


RunOutcome: TypeAlias = Success | Stopped | Interrupted

APPROVAL_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"approved": {"type": "boolean"}, "reason": {"type": "string"}},
    "required": ["approved"],
}
"""What an answer has to look like. It is all that an answer needs (B30)."""


def interrupts(
    kind: SuspensionKind,
    calls: Sequence[PendingCall],
    *,
    profile: Profile,
    tool_bound: bool = False,
) -> list[Interrupt]:
    """The one place where a pause becomes interrupts, live and hydrated (B03, R98).

    Raises:
        ConfigurationError: a pause of a kind that cannot be answered over AG-UI yet.
    """
    match kind:
        case "approval":
            return [_confirmation(call, len(calls), profile, tool_bound) for call in calls]
        case "input" | "browser":
            raise ConfigurationError(f"AG-UI has no interrupt for a pause of kind {kind} yet.")
        case _:
            assert_never(kind)


def _confirmation(
    pending: PendingCall, count: int, profile: Profile, tool_bound: bool
) -> Interrupt:
    interrupt: Interrupt = {
        "id": pending.call_id,
        "reason": "tool_call" if tool_bound else "confirmation",
        "message": pending.reason or f"{count} tool call(s) require(s) approval before execution",
        "responseSchema": APPROVAL_SCHEMA,
        "metadata": pending.to_json(),
    }
    if tool_bound:
        interrupt["toolCallId"] = pending.call_id
    if pending.expires_at is not None and profile == "1.0":
        interrupt["expiresAt"] = format_time(pending.expires_at)
    return interrupt


def run_started(thread_id: str, run_id: str) -> Frame:
    return {
        "type": "RUN_STARTED",
        "threadId": thread_id,
        "runId": run_id,
        "protocolVersion": PROTOCOL_VERSION,
    }


def run_finished(thread_id: str, run_id: str, outcome: RunOutcome) -> dict[str, object]:
    return {"type": "RUN_FINISHED", "threadId": thread_id, "runId": run_id, "outcome": outcome}


def run_error(code: str, message: str) -> Frame:
    return {"type": "RUN_ERROR", "message": message, "code": code}


def refused(refusal: Refusal) -> Frame:
    """Why nothing was done, and of which call it is said, where it is said of one."""
    value: dict[str, JsonValue] = {"code": refusal.code, "message": refusal.message}
    if refusal.call_id is not None:
        value["callId"] = refusal.call_id
    return custom(REFUSED, value)


def failed(code: str, message: str) -> Frame:
    """Why the run failed, where a ``RUN_ERROR`` would lock the page."""
    return custom(FAILED, {"code": code, "message": message})


def custom(name: str, value: JsonValue) -> Frame:
    return {"type": "CUSTOM", "name": name, "value": value}


def state_snapshot(value: JsonValue) -> Frame:
    return {"type": "STATE_SNAPSHOT", "snapshot": value}


def messages_snapshot(messages: list[MessageEntry]) -> dict[str, object]:
    return {"type": "MESSAGES_SNAPSHOT", "messages": messages}


def step(name: str, metadata: JsonObject | None, *, opens: bool, profile: Profile) -> Frame:
    frame: Frame = {"type": "STEP_STARTED" if opens else "STEP_FINISHED", "stepName": name}
    if metadata is not None and profile == "1.0":
        frame["metadata"] = metadata
    return frame


def activity(activity_id: str, kind: str, data: Mapping[str, JsonValue]) -> Frame:
    return {
        "type": "ACTIVITY_SNAPSHOT",
        "messageId": activity_id,
        "activityType": kind,
        "content": data,
        "replace": True,
    }


def call_start(call_id: str, name: str, parent_message_id: str) -> Frame:
    return {
        "type": "TOOL_CALL_START",
        "toolCallId": call_id,
        "toolCallName": name,
        "parentMessageId": parent_message_id,
    }


def call_args(call_id: str, delta: str) -> Frame:
    return {"type": "TOOL_CALL_ARGS", "toolCallId": call_id, "delta": delta}


def call_end(call_id: str) -> Frame:
    return {"type": "TOOL_CALL_END", "toolCallId": call_id}


def call_result(call_id: str, message_id: str, content: str) -> Frame:
    """No ``error``: clients drop it here (R97); snapshots carry it."""
    return {
        "type": "TOOL_CALL_RESULT",
        "messageId": message_id or result_message_id(call_id),
        "toolCallId": call_id,
        "content": content,
        "role": "tool",
    }


def arguments(call: ToolCall) -> str:
    """The inputs as compact text, in the order the model gave them: what comes first tells most."""
    return dumps(call.inputs)


def held_message_id(message_id: str) -> str:
    """The message of a batch that was held back. Under the message's own id CopilotKit would not
    run its browser tools, which it does for messages that are new in a run only (A1)."""
    return f"{message_id}.calls"


def reasoning_message_id(message_id: str) -> str:
    return f"reasoning_{message_id}"
