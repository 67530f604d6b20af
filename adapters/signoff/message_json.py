"""History messages to the JSON of design §5 and back. The round trip is the identity (B113)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, assert_never, cast

from .errors import CorruptRecord
from .json_text import JsonObject, JsonValue
from .messages import (
    Approval,
    AssistantMessage,
    CallRecord,
    FilePart,
    JsonMessage,
    Message,
    Part,
    ReasoningPart,
    ResultRecord,
    TextPart,
    ToolCallMessage,
    ToolResultMessage,
    UserMessage,
)
from .outcomes import (
    ExpiredOutcome,
    Indeterminate,
    Outcome,
    Output,
    Rejected,
    ToolError,
    outcome_text,
)
from .suspension import ToolCall, format_time
from .tools import RunsIn


def message_to_json(message: Message) -> JsonMessage:
    """One message as stored and as ``GET /threads/{id}/messages`` returns it."""
    document: JsonMessage = {
        "id": message.id,
        "seq": message.seq,
        "createdAt": format_time(message.created_at),
        "runId": message.run_id,
        "role": "assistant" if isinstance(message, (AssistantMessage, ToolCallMessage)) else "user",
        "content": [part_to_json(part) for part in message.content],
    }
    match message:
        case ToolCallMessage(calls=calls):
            document |= {"type": "tool_call", "tools": [_call_record_json(item) for item in calls]}
        case ToolResultMessage(results=results):
            document |= {
                "type": "tool_call_result",
                "tools": [_result_record_json(item) for item in results],
            }
        case UserMessage() | AssistantMessage():
            pass
        case _:
            assert_never(message)
    return document


def message_from_json(document: JsonValue) -> Message:
    """Read a stored message.

    Raises:
        CorruptRecord: the document has another shape (B112).
    """
    try:
        return _read_message(cast("dict[str, Any]", document))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise CorruptRecord("A stored message cannot be read.") from None


def part_to_json(part: Part) -> JsonMessage:
    match part:
        case TextPart(text=text):
            return {"type": "text", "content": text}
        case ReasoningPart(text=text):
            return {"type": "reasoning", "content": text}
        case FilePart():
            optional = {"url": part.url, "data": part.data, "filename": part.filename}
            present = {key: value for key, value in optional.items() if value is not None}
            return {"type": "file", "mediaType": part.media_type, **present}
        case _:
            assert_never(part)


def part_from_json(document: Mapping[str, Any]) -> Part:
    match document["type"]:
        case "text":
            return TextPart(text=_text(document["content"]))
        case "reasoning":
            return ReasoningPart(text=_text(document["content"]))
        case "file":
            return FilePart(
                media_type=_text(document["mediaType"]),
                url=document.get("url"),
                data=document.get("data"),
                filename=document.get("filename"),
            )
        case _:
            raise ValueError


def call_to_json(call: ToolCall) -> JsonMessage:
    document: JsonMessage = {
        "callId": call.call_id,
        "name": call.name,
        "description": call.description,
        "inputs": dict(call.inputs),
    }
    if call.model_call_id is not None:
        document["modelCallId"] = call.model_call_id
    if call.raw_arguments is not None:
        document["rawArguments"] = call.raw_arguments
    if call.masked:
        document["masked"] = list(call.masked)
    return document


def call_from_json(document: Mapping[str, Any]) -> ToolCall:
    inputs = document["inputs"]
    if not isinstance(inputs, dict):
        raise TypeError
    return ToolCall(
        call_id=_text(document["callId"]),
        name=_text(document["name"]),
        description=_text(document["description"]),
        inputs=cast("JsonObject", inputs),
        model_call_id=document.get("modelCallId"),
        raw_arguments=document.get("rawArguments"),
        masked=tuple(_text(name) for name in document.get("masked", ())),
    )


def outcome_to_json(outcome: Outcome) -> JsonMessage:
    """``{"outcome": …}`` and ``result`` or ``error``; the ``result`` of a call that never ran is
    what the model reads instead."""
    match outcome:
        case Output(value=value):
            return {"outcome": "output", "result": value}
        case ToolError(text=text):
            return {"outcome": "error", "error": text}
        case Rejected(reason=reason):
            return {
                "outcome": "rejected",
                "rejectReason": reason,
                "result": outcome_text(outcome),
            }
        case ExpiredOutcome():
            return {"outcome": "expired", "result": outcome_text(outcome)}
        case Indeterminate():
            return {"outcome": "indeterminate", "result": outcome_text(outcome)}
        case _:
            assert_never(outcome)


def outcome_from_json(document: Mapping[str, Any]) -> Outcome:
    """Read a stored outcome.

    Raises:
        KeyError, TypeError, ValueError: another shape; callers turn it into ``CorruptRecord``.
    """
    match document["outcome"]:
        case "output":
            return Output(value=document["result"])
        case "error":
            return ToolError(text=_text(document["error"]))
        case "rejected":
            reason = document["rejectReason"]
            return Rejected(reason=None if reason is None else _text(reason))
        case "expired":
            return ExpiredOutcome()
        case "indeterminate":
            return Indeterminate()
        case _:
            raise ValueError


def _call_record_json(record: CallRecord) -> JsonMessage:
    document = call_to_json(record.call)
    if record.asked:
        document |= {"approval": "pending", "approvalReason": record.reason, "rejectReason": None}
    if record.runs != "server":
        document["runs"] = record.runs
    return document


def _result_record_json(record: ResultRecord) -> JsonMessage:
    document = call_to_json(record.call)
    if record.approval is not None:
        document |= {"approval": record.approval, "rejectReason": None}
    return document | {"messageId": record.message_id} | outcome_to_json(record.outcome)


def _read_message(document: dict[str, Any]) -> Message:
    base: dict[str, Any] = {
        "id": _text(document["id"]),
        "seq": int(document["seq"]),
        "created_at": datetime.fromisoformat(document["createdAt"]),
        "run_id": _text(document["runId"]),
        "content": tuple(part_from_json(part) for part in document["content"]),
    }
    match document["role"], document.get("type"):
        case "user", None:
            return UserMessage(**base)
        case "assistant", None:
            return AssistantMessage(**base)
        case "assistant", "tool_call":
            calls = tuple(_read_call_record(item) for item in document["tools"])
            return ToolCallMessage(**base, calls=calls)
        case "user", "tool_call_result":
            results = tuple(_read_result_record(item) for item in document["tools"])
            return ToolResultMessage(**base, results=results)
        case _:
            raise ValueError


def _read_call_record(document: dict[str, Any]) -> CallRecord:
    if document.get("approval") not in (None, "pending"):
        raise ValueError
    runs: RunsIn = document.get("runs", "server")
    if runs not in ("server", "browser"):
        raise ValueError
    return CallRecord(
        call=call_from_json(document),
        asked=document.get("approval") == "pending",
        reason=document.get("approvalReason"),
        runs=runs,
    )


def _read_result_record(document: dict[str, Any]) -> ResultRecord:
    approval: Approval | None = document.get("approval")
    if approval not in (None, "approved", "rejected", "expired"):
        raise ValueError
    return ResultRecord(
        call=call_from_json(document),
        outcome=outcome_from_json(document),
        message_id=_text(document["messageId"]),
        approval=approval,
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value
