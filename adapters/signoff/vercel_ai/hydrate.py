"""The messages endpoint: a thread as the UIMessages that a page starts with (proven-frames V5)."""

from __future__ import annotations

from typing import assert_never, cast

from ..json_text import JsonObject, JsonValue
from ..messages import FilePart, Part, ReasoningPart, TextPart, UserMessage
from ..outcomes import Output, outcome_text
from ..thread import Thread
from .parts import CallView, RunView, StepView, ThreadView
from .prologue import block_id, file_url
from .wire import Chunk, Sdk, browser_safe, descriptor


def hydrate(thread: Thread, *, sdk: Sdk = 7) -> JsonObject:
    """``{"id", "messages"}``, valid for ``validateUIMessages`` and equal to what was streamed.

    While a run is on its way the messages end with the user's: the page reconnects, and the replay
    brings the rest.
    """
    messages: list[JsonValue] = []
    for entry in ThreadView(thread).entries():
        if isinstance(entry, UserMessage):
            messages.append(_user(entry))
        elif entry.steps and (entry.finished or thread.status != "running"):
            messages.append(_assistant(entry, sdk))
    return {"id": thread.thread_id, "messages": messages}


def _user(message: UserMessage) -> Chunk:
    return {
        "id": message.id,
        "role": "user",
        "parts": [_user_part(part) for part in message.content],
    }


def _user_part(part: Part) -> Chunk:
    match part:
        case TextPart(text=text) | ReasoningPart(text=text):
            return {"type": "text", "text": text}
        case FilePart():
            named: Chunk = {} if part.filename is None else {"filename": part.filename}
            return _file(part) | named
        case _:
            assert_never(part)


def _assistant(run: RunView, sdk: Sdk) -> Chunk:
    message: Chunk = {"id": run.message_id, "role": "assistant"}
    if (metadata := run.metadata) is not None:
        message["metadata"] = metadata
    message["parts"] = [part for step in run.steps for part in _step(step, sdk)]
    return message


def _step(step: StepView, sdk: Sdk) -> list[Chunk]:
    content = [
        _content(step.message_id, place, part) for place, part in enumerate(step.content, start=1)
    ]
    return [{"type": "step-start"}, *content, *(_call(call, sdk) for call in step.calls)]


def _content(message_id: str, place: int, part: Part) -> Chunk:
    match part:
        case TextPart(text=text):
            return {"type": "text", "text": text, "state": "done"}
        case ReasoningPart(text=text):
            named = block_id(message_id, place)
            return {"type": "reasoning", "id": named, "text": text, "state": "done"}
        case FilePart():
            return _file(part)
        case _:
            assert_never(part)


def _file(part: FilePart) -> Chunk:
    return {"type": "file", "mediaType": part.media_type, "url": file_url(part)}


def _call(call: CallView, sdk: Sdk) -> Chunk:
    part: Chunk = {
        "type": f"tool-{call.call.name}",
        "toolCallId": call.call_id,
        "input": browser_safe(call.call.inputs),
    }
    if call.runs == "server" and sdk == 7:
        part["providerExecuted"] = True
    approval = _approval(call, sdk)
    if approval is not None:
        part["approval"] = approval
    return part | _state(call, denied=call.denied and approval is not None)


def _state(call: CallView, *, denied: bool) -> Chunk:
    match call.outcome:
        case None if call.answer is None:
            return {"state": "approval-requested"}
        case None:
            return {"state": "approval-responded"}
        case _ if denied:
            return {"state": "output-denied"}
        case Output(value=value):
            return {"state": "output-available", "output": browser_safe(value)}
        case outcome:
            return {"state": "output-error", "errorText": outcome_text(outcome)}


def _approval(call: CallView, sdk: Sdk) -> Chunk | None:
    """``approval`` of a part; None where it has none."""
    approval: Chunk = {"id": call.call_id}
    if call.asked is None:
        if call.answer is None or sdk == 6:
            return None
        approval["isAutomatic"] = True
    elif sdk == 7:
        approval |= {
            "requestReason": call.asked.reason,
            "descriptor": cast("JsonValue", descriptor(call.asked)),
        }
    if call.answer is not None:
        approval["approved"] = call.answer.approved
        if call.answer.reason:
            approval["reason"] = call.answer.reason
    return approval
