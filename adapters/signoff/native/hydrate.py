"""A stored thread as the native protocol shows it."""

from __future__ import annotations

from collections.abc import Sequence

from ..message_json import message_to_json
from ..messages import AssistantMessage, JsonMessage, Message, ToolCallMessage
from ..thread import Thread
from .wire import Reply, ThreadDocument


def hydrate(thread: Thread) -> ThreadDocument:
    """The thread with its whole history, and what is open in it."""
    return {
        "id": thread.thread_id,
        "status": thread.status,
        "messages": [message_to_json(message) for message in thread.messages],
        "pending": [call.to_json() for call in thread.open_calls],
    }


def reply_of(thread: Thread) -> Reply:
    """How the thread stands, as the reply to a request that started nothing."""
    reply: Reply = {
        "status": thread.status,
        "message": newest_answer(thread.messages, thread.run_id),
        "pending": [call.to_json() for call in thread.open_calls],
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
