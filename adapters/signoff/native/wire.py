"""What the native protocol looks like: one name and one JSON object for each run event.

The names are the events' own, and the objects have the words of the stored history::

    event: text_delta
    data: {"messageId":"msg_1","delta":"I will delete it."}

    event: tool_result
    data: {"messageId":"result_toolu_01","callId":"toolu_01","outcome":"output","result":true}

The last event is ``completed``, ``suspended``, ``failed`` or ``cancelled``; its data is the
``Reply``.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict, assert_never

from ..events import (
    Activity,
    Custom,
    Progress,
    ReasoningDelta,
    StateSnapshot,
    StepFinished,
    StepStarted,
    TextDelta,
    ToolCallDelta,
    ToolCallReady,
    ToolCallStarted,
    ToolResult,
)
from ..json_text import JsonValue
from ..message_json import call_to_json, outcome_to_json
from ..messages import JsonMessage
from ..thread import ThreadStatus

TerminalName = Literal["completed", "suspended", "failed", "cancelled"]


class Failure(TypedDict):
    """Why a run failed, in neutral words."""

    code: str
    message: str


class OpenActions(TypedDict):
    """What a pause asks, while it is open.

    ``pending`` are the actions that wait for a person, ``answered`` those that have an answer:
    their ``decision`` is ``approve`` or ``reject``, their ``feedback`` the reason of a rejection.
    Nothing runs before the last of them is answered.
    """

    pending: list[dict[str, JsonValue]]
    answered: list[dict[str, JsonValue]]


class Reply(OpenActions):
    """How a thread stands after a request.

    ``message`` is the newest assistant message of the newest run, null where there is none;
    ``error`` stands beside ``failed`` only.
    """

    status: ThreadStatus
    message: JsonMessage | None
    error: NotRequired[Failure]


class ThreadDocument(OpenActions):
    """A whole thread, as ``GET /threads/{id}`` returns it."""

    id: str
    status: ThreadStatus
    messages: list[JsonMessage]


def progress(event: Progress) -> tuple[str, dict[str, JsonValue]]:
    """The name and the data of one event that is not the last."""
    match event:
        case TextDelta(message_id=message_id, delta=delta):
            return "text_delta", {"messageId": message_id, "delta": delta}
        case ReasoningDelta(message_id=message_id, delta=delta):
            return "reasoning_delta", {"messageId": message_id, "delta": delta}
        case ToolCallDelta() | ToolCallReady() | ToolCallStarted() | ToolResult():
            return _of_a_call(event)
        case StepStarted(name=name, metadata=metadata):
            return "step_started", {"name": name, "metadata": metadata}
        case StepFinished(name=name, metadata=metadata):
            return "step_finished", {"name": name, "metadata": metadata}
        case StateSnapshot(value=value):
            return "state_snapshot", {"value": value}
        case Activity(id=activity_id, type=kind, data=data):
            return "activity", {"id": activity_id, "type": kind, "data": data}
        case Custom(name=name, value=value):
            return "custom", {"name": name, "value": value}
        case _:
            assert_never(event)


def _of_a_call(
    event: ToolCallDelta | ToolCallReady | ToolCallStarted | ToolResult,
) -> tuple[str, dict[str, JsonValue]]:
    match event:
        case ToolCallDelta(message_id=message_id, call_id=call_id, name=name, delta=delta):
            data: dict[str, JsonValue] = {"messageId": message_id, "callId": call_id}
            return "tool_call_delta", data | {"name": name, "delta": delta}
        case ToolCallReady(message_id=message_id, call=call, disposition=disposition):
            data = {"messageId": message_id, "call": call_to_json(call)}
            return "tool_call_ready", data | {"disposition": disposition, "reason": event.reason}
        case ToolCallStarted(call_id=call_id):
            return "tool_call_started", {"callId": call_id}
        case ToolResult(message_id=message_id, call_id=call_id, outcome=outcome):
            data = {"messageId": message_id, "callId": call_id}
            return "tool_result", data | outcome_to_json(outcome)
        case _:
            assert_never(event)
