"""Chunks of the AI SDK's UI message stream, as plain dicts, and their bytes.

Facts of the wire: ``ai`` 7.0.173 and 6.0.325. An optional field is absent, never null: a null ends
the stream with ``AI_TypeValidationError``. Of 6.0 nothing is sent that it lacks: approval
responses, request reasons, descriptors, and ``providerExecuted`` (its first releases do not count
approvals of such parts).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from ..decisions import Approve, Decision
from ..errors import Refusal
from ..events import Activity, StepFinished, StepStarted
from ..json_text import JsonObject, JsonValue, dumps, encode
from ..outcomes import ExpiredOutcome, Outcome, Output, Rejected, outcome_text
from ..sse import STREAM_HEADERS, data_frame
from ..suspension import PendingCall, ToolCall
from ..tools import RunsIn

Sdk: TypeAlias = Literal[6, 7]
"""The page's generation of the AI SDK; it says so nowhere on the wire. 7 is 7.0.32 or later, 6 is
6.0.231 or later."""

Chunk: TypeAlias = dict[str, JsonValue]
FinishReason: TypeAlias = Literal["stop", "tool-calls"]
"""Never ``interrupted``: a page that gets it posts no answer (ai 7.0.173)."""

HEADERS: Mapping[str, str] = {**STREAM_HEADERS, "x-vercel-ai-ui-message-stream": "v1"}
DONE = b"data: [DONE]\n\n"

START_STEP: Chunk = {"type": "start-step"}
FINISH_STEP: Chunk = {"type": "finish-step"}

EXPIRED_REASON = "expired"
"""The ``reason`` of the answer that time gave."""

DEEPEST = 48
"""Nested levels of an input or output that a page is shown as such. It sends them back up to 7
levels down in its body, of which 64 are read."""

STOPPED_TEXT = "Stopped."
"""What closes the message of a cancelled run: a page goes on posting without something visible."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """How a request was answered, as a page shows it."""

    approved: bool
    reason: str | None = None


def answer_to(
    *, asked: bool, decision: Decision | None, outcome: Outcome | None, approved: bool = False
) -> Answer | None:
    """The answer to a call's request; None while it is open, or where there was no request.

    The outcome outweighs the decision: what was approved and then expired is shown as denied. A
    call that was asked about and failed without an approval is denied, too: the SDK takes
    ``tool-output-error`` of an answered request only with ``approved: true``.

    Args:
        asked: whether a person was asked.
        decision: the answer on record.
        outcome: how the call ended.
        approved: the record of the outcome says that it was approved.
    """
    match outcome:
        case Rejected(reason=reason):
            return Answer(approved=False, reason=reason)
        case ExpiredOutcome():
            return Answer(approved=False, reason=EXPIRED_REASON)
        case _ if not asked:
            return None
        case _:
            pass
    if isinstance(decision, Approve):
        return Answer(approved=True, reason=decision.note)
    if approved:
        return Answer(approved=True)
    if decision is not None:
        return Answer(approved=False, reason=decision.reason)
    if outcome is not None:
        return Answer(approved=False, reason=outcome_text(outcome))
    return None


def frames(chunks: Iterable[Chunk]) -> bytes:
    return b"".join(map(data_frame, chunks))


def start(message_id: str, metadata: JsonObject | None = None) -> Chunk:
    return {"type": "start", "messageId": message_id, **_metadata(metadata)}


def finish(reason: FinishReason, metadata: JsonObject | None = None) -> Chunk:
    return {"type": "finish", "finishReason": reason, **_metadata(metadata)}


def error(text: str) -> Chunk:
    return {"type": "error", "errorText": text}


def block(kind: Literal["text", "reasoning"], block_id: str, text: str) -> list[Chunk]:
    """One whole part of text."""
    return [
        {"type": f"{kind}-start", "id": block_id},
        {"type": f"{kind}-delta", "id": block_id, "delta": text},
        {"type": f"{kind}-end", "id": block_id},
    ]


def tool_input_start(call_id: str, name: str, runs: RunsIn, sdk: Sdk) -> Chunk:
    chunk: Chunk = {"type": "tool-input-start", "toolCallId": call_id, "toolName": name}
    if runs == "server" and sdk == 7:
        # Without it the page's tool predicate posts whenever all outputs are there, for ever.
        chunk["providerExecuted"] = True
    return chunk


def tool_input_delta(call_id: str, text: str) -> Chunk:
    return {"type": "tool-input-delta", "toolCallId": call_id, "inputTextDelta": text}


def tool_input(call: ToolCall, runs: RunsIn, sdk: Sdk) -> list[Chunk]:
    """A call's whole input. ``tool-input-available`` would run ``onToolCall`` before approval."""
    return [
        tool_input_start(call.call_id, call.name, runs, sdk),
        tool_input_delta(call.call_id, dumps(browser_safe(call.inputs))),
    ]


def request(pending: PendingCall, sdk: Sdk) -> Chunk:
    """Ask for approval; the approval id is the callId."""
    chunk = _request(pending.call_id)
    if sdk == 7:
        chunk |= {"reason": pending.reason, "approvalDescriptor": descriptor(pending)}
    return chunk


def automatic_request(call_id: str) -> Chunk:
    """The request of a call that was denied without asking anyone: the SDK denies only what was
    requested."""
    return _request(call_id) | {"isAutomatic": True}


def response(call_id: str, answer: Answer, *, clear: bool = False) -> Chunk:
    """The answer to a request. Without a reason the page keeps its own; ``clear`` takes it away."""
    chunk: Chunk = {
        "type": "tool-approval-response",
        "approvalId": call_id,
        "approved": answer.approved,
    }
    if answer.reason or clear:
        chunk["reason"] = answer.reason or ""
    return chunk


def outcome_chunk(call_id: str, outcome: Outcome, *, denied: bool) -> Chunk:
    """How a call ended."""
    if denied:
        return {"type": "tool-output-denied", "toolCallId": call_id}
    if isinstance(outcome, Output):
        return {
            "type": "tool-output-available",
            "toolCallId": call_id,
            "output": browser_safe(outcome.value),
        }
    return tool_error(call_id, outcome_text(outcome))


def tool_error(call_id: str, text: str) -> Chunk:
    return {"type": "tool-output-error", "toolCallId": call_id, "errorText": text}


def refused(refusal: Refusal) -> Chunk:
    """Why a request was not taken; reaches ``onData`` and is never stored (proven-frames V4)."""
    data: Chunk = {"code": refusal.code, "message": refusal.message}
    if refusal.call_id is not None:
        data["callId"] = refusal.call_id
    return {"type": "data-signoff-refused", "data": data, "transient": True}


def step_data(event: StepStarted | StepFinished) -> Chunk:
    status = "started" if isinstance(event, StepStarted) else "finished"
    data: Chunk = {"name": event.name, "status": status}
    if event.metadata is not None:
        data["metadata"] = event.metadata
    return transient("workflow-step", data)


def activity_data(event: Activity) -> Chunk:
    data: Chunk = {"type": event.type, "data": event.data}
    return transient("workflow-activity", data) | {"id": event.id}


def transient(name: str, data: JsonValue) -> Chunk:
    """Data for ``onData`` alone: history does not keep it, so the live message must not either."""
    return {"type": f"data-{name}", "data": browser_safe(data), "transient": True}


def descriptor(pending: PendingCall) -> JsonObject:
    """The pending action; its ``description`` carries numbers beyond 2^53 exactly."""
    return cast("JsonObject", browser_safe(pending.to_json()))


def metadata_of(pending: Iterable[PendingCall]) -> JsonObject:
    """``messageMetadata`` for clients that drop the descriptor."""
    return {
        "signoff": {_safe_key(call.call_id, None): descriptor(call) for call in pending},
    }


def browser_safe(value: JsonValue, *, levels: int = DEEPEST) -> JsonValue:
    """``value`` as a page can take it, and send it back.

    The SDK's parser refuses a frame with a ``__proto__`` key, or a ``constructor`` with a
    ``prototype``, wherever a model put it: such a key is shown in brackets. What is nested deeper
    than ``levels`` is shown as its JSON text: a page restates it inside every later body, which
    would then be refused.
    """
    if isinstance(value, str | int):
        return value
    # A dict is looked at first: what is only a mapping takes ten times as long to tell.
    if isinstance(value, (dict, Mapping)):
        if levels == 0:
            return encode(value).decode()
        return {
            key if key not in _UNSAFE_KEYS else _safe_key(key, item): browser_safe(
                item, levels=levels - 1
            )
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        if levels == 0:
            return encode(value).decode()
        return [browser_safe(item, levels=levels - 1) for item in value]
    return value


_UNSAFE_KEYS = ("__proto__", "constructor")


def _safe_key(key: str, value: JsonValue) -> str:
    if key == "__proto__":
        return "[__proto__]"
    if key == "constructor" and isinstance(value, Mapping) and "prototype" in value:
        return "[constructor]"
    return key


def _request(call_id: str) -> Chunk:
    return {"type": "tool-approval-request", "approvalId": call_id, "toolCallId": call_id}


def _metadata(metadata: JsonObject | None) -> Chunk:
    return {} if metadata is None else {"messageMetadata": metadata}
