"""A stored thread as AG-UI shows it: the messages of a snapshot, and the open interrupts.

The same functions make the live stream's snapshots, so that a reloaded page holds what the live one
did (B41, R96, R98).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TypedDict, assert_never

from ..json_text import JsonValue
from ..messages import (
    AssistantMessage,
    CallRecord,
    Message,
    ReasoningPart,
    ResultRecord,
    TextPart,
    ToolCallMessage,
    ToolResultMessage,
    UserMessage,
)
from ..outcomes import Indeterminate, ToolError, outcome_text
from ..thread import Thread
from .content import write_content
from .wire import (
    AssistantEntry,
    Interrupt,
    MessageEntry,
    Profile,
    ToolCallEntry,
    ToolEntry,
    arguments,
    held_message_id,
    interrupts,
    reasoning_message_id,
)


class ThreadDocument(TypedDict):
    """What a page needs to go on: ``agent.messages``, ``agent.state``, ``agent.pendingInterrupts``.

    ``state`` is null where no client ever sent one.
    """

    messages: list[MessageEntry]
    state: JsonValue
    interrupts: list[Interrupt]


def hydrate(
    thread: Thread, *, profile: Profile = "0.0", tool_bound_interrupts: bool = False
) -> ThreadDocument:
    """A thread as JSON; equal to what its live stream left a page with."""
    return {
        "messages": thread_messages(thread, tool_bound_interrupts=tool_bound_interrupts),
        "state": thread.state,
        "interrupts": open_interrupts(
            thread, profile=profile, tool_bound_interrupts=tool_bound_interrupts
        ),
    }


def thread_messages(thread: Thread, *, tool_bound_interrupts: bool = False) -> list[MessageEntry]:
    """The thread's messages; user messages that wait for a batch's results stand last."""
    return snapshot_messages(
        (*thread.messages, *thread.queued), tool_bound_interrupts=tool_bound_interrupts
    )


def snapshot_messages(
    messages: Iterable[Message], *, tool_bound_interrupts: bool = False
) -> list[MessageEntry]:
    """Messages as a ``MESSAGES_SNAPSHOT`` holds them.

    A batch without results was not published: its calls are left out (R99), but for
    ``tool_bound_interrupts``, where the calls are published before they are answered.
    """
    history = tuple(messages)
    answered = {
        result.call.call_id
        for message in history
        if isinstance(message, ToolResultMessage)
        for result in message.results
    }
    entries: list[MessageEntry] = []
    late: list[MessageEntry] = []
    for message in history:
        if isinstance(message, ToolResultMessage):
            entries += [_result(record) for record in message.results]
            continue
        if late:
            entries += late
            late = []
        match message:
            case UserMessage():
                content = write_content(message.content)
                entries.append({"id": message.id, "role": "user", "content": content})
            case AssistantMessage():
                entries += _said(message, [])
            case ToolCallMessage():
                shown = _batch(message, answered, tool_bound=tool_bound_interrupts)
                late = _after_results(shown) if len(shown) > 1 else []
                entries += shown
            case _:
                assert_never(message)
    return entries + late


def _after_results(shown: list[MessageEntry]) -> list[MessageEntry]:
    """Take out of ``shown`` what stands behind results: a client puts these right behind the
    message that has the calls, before reasoning that began after its text."""
    has_calls = shown[0]["role"] == "assistant" and "toolCalls" in shown[0]
    return [shown.pop()] if has_calls and shown[-1]["role"] == "reasoning" else []


def open_interrupts(
    thread: Thread, *, profile: Profile, tool_bound_interrupts: bool = False
) -> list[Interrupt]:
    """The calls that still wait for a person; none while the thread runs."""
    calls = thread.open_calls
    if thread.suspension is None or not calls:
        return []
    batch = next(
        (item for item in thread.messages if item.id == thread.suspension.message_id), None
    )
    bound = tool_bound_interrupts and isinstance(batch, ToolCallMessage) and may_bind(batch.calls)
    return interrupts(thread.suspension.kind, calls, profile=profile, tool_bound=bound)


def may_bind(calls: Sequence[CallRecord]) -> bool:
    """Whether a batch is held back, and may be shown all the same before it is answered: a page
    runs a browser tool as soon as it sees the call, whatever the interrupt says."""
    held = any(record.asked for record in calls)
    return held and all(record.runs == "server" for record in calls)


def shows_all(thread: Thread, message_ids: Iterable[str]) -> bool:
    """Whether a page that holds these messages has seen what was said in the thread."""
    seen = frozenset(message_ids)
    return all(
        message.id in seen
        for message in thread.messages
        if any(isinstance(part, TextPart) for part in message.content)
    )


def _batch(
    message: ToolCallMessage, answered: Collection[str], *, tool_bound: bool
) -> list[MessageEntry]:
    # One loop: asked separately, the two questions take a fifth of a snapshot's whole time.
    settled = held_back = False
    for record in message.calls:
        settled = settled or record.call.call_id in answered
        held_back = held_back or record.asked
    published = settled or (tool_bound and may_bind(message.calls))
    calls = [_call(record) for record in message.calls] if published else []
    if not held_back:
        return _said(message, calls)
    shown = _said(message, [])
    if calls:
        held = held_message_id(message.id)
        shown.append({"id": held, "role": "assistant", "toolCalls": calls})
    return shown


def _said(
    message: AssistantMessage | ToolCallMessage, calls: list[ToolCallEntry]
) -> list[MessageEntry]:
    """Reasoning and text, in the order in which they began; what the client makes of the stream."""
    text = message.text
    shown: list[MessageEntry] = []
    if text or calls:
        entry: AssistantEntry = {"id": message.id, "role": "assistant"}
        if text:
            entry["content"] = text
        if calls:
            entry["toolCalls"] = calls
        shown.append(entry)
    if len(message.content) > bool(text):
        _add_thoughts(shown, message)
    return shown


def _add_thoughts(shown: list[MessageEntry], message: AssistantMessage | ToolCallMessage) -> None:
    thoughts = "".join(part.text for part in message.content if isinstance(part, ReasoningPart))
    if not thoughts:
        return
    kinds = [type(part) for part in message.content]
    place = 1 if TextPart in kinds[: kinds.index(ReasoningPart)] else 0
    shown.insert(
        place,
        {"id": reasoning_message_id(message.id), "role": "reasoning", "content": thoughts},
    )


def _call(record: CallRecord) -> ToolCallEntry:
    return {
        "id": record.call.call_id,
        "type": "function",
        "function": {"name": record.call.name, "arguments": arguments(record.call)},
    }


def _result(record: ResultRecord) -> ToolEntry:
    text = outcome_text(record.outcome)
    entry: ToolEntry = {
        "id": record.message_id,
        "role": "tool",
        "toolCallId": record.call.call_id,
        "content": text,
    }
    if isinstance(record.outcome, (ToolError, Indeterminate)):
        entry["error"] = text
    return entry
