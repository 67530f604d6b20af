"""A stored thread as the native protocol shows it."""

from __future__ import annotations

from collections.abc import Sequence

from ..decisions import Approve, Decision, Reject
from ..json_text import JsonValue
from ..message_json import message_to_json
from ..messages import AssistantMessage, JsonMessage, Message, ToolCallMessage
from ..suspension import PendingCall
from ..thread import Thread
from .wire import OpenActions, Reply, ThreadDocument


def hydrate(thread: Thread) -> ThreadDocument:
    """The thread with its whole history, and what is open in it."""
    return {
        "id": thread.thread_id,
        "status": thread.status,
        "messages": [message_to_json(message) for message in thread.messages],
        **open_actions(thread),
    }


def open_actions(thread: Thread) -> OpenActions:
    """What of an open pause is answered, and what is not."""
    return {
        "pending": [call.to_json() for call in thread.open_calls],
        "answered": [_answered(call, decision) for call, decision in thread.answered_calls],
    }


def reply_of(thread: Thread) -> Reply:
    """How the thread stands, as the reply to a request that started nothing."""
    actions = open_actions(thread)
    reply: Reply = {
        "status": thread.status,
        "message": newest_answer(thread.messages, thread.run_id),
        "pending": actions["pending"],
        "answered": actions["answered"],
    }
    if thread.status == "failed" and thread.failure is not None:
        code, message = thread.failure
        reply["error"] = {"code": code, "message": message}
    return reply


def newest_answer(messages: Sequence[Message], run_id: str | None) -> JsonMessage | None:
    """The newest thing the assistant said or asked in this run. An earlier run's would mislead."""
    for message in reversed(messages):
        if message.run_id != run_id:
            return None
        if isinstance(message, (AssistantMessage, ToolCallMessage)):
            return message_to_json(message)
    return None


def _answered(call: PendingCall, decision: Decision) -> dict[str, JsonValue]:
    match decision:
        case Approve():
            return call.to_json() | {"decision": "approve"}
        case Reject(reason=reason):
            return call.to_json() | {"decision": "reject", "feedback": reason}
