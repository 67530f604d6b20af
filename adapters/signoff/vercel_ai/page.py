"""What a page shows, read from the history that it sends along. Nothing of it is believed: it only
tells which frames the page needs to come to the truth."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from ..json_text import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The assistant message that a request continues. The default is a page that shows nothing.

    Attributes:
        message_id: its UIMessage id.
        steps: how many steps it has.
        states: callId → state of its part.
        approvals: callIds whose part can be told an answer: ``addToolOutput`` takes a part's
            request away, and an answer without a request ends the stream with an error.
    """

    message_id: str | None = None
    steps: int = 0
    states: Mapping[str, str] = field(default_factory=dict[str, str])
    approvals: frozenset[str] = frozenset()


def read_page(message: JsonObject) -> Page:
    """What the page shows of an assistant message."""
    message_id = message.get("id")
    parts = list(parts_of(message))
    return Page(
        message_id=message_id if isinstance(message_id, str) and message_id else None,
        steps=sum(part.get("type") == "step-start" for part in parts),
        states={
            call_id: state
            for part in parts
            if (call_id := call_id_of(part)) and isinstance(state := part.get("state"), str)
        },
        approvals=frozenset(
            call_id
            for part in parts
            if (call_id := call_id_of(part))
            and isinstance(approval := part.get("approval"), Mapping)
            and approval.get("id") == call_id
        ),
    )


def subject_of(body: JsonObject) -> JsonObject:
    """The message that a request is about: the assistant message it names, else its last one.

    ``sendMessage()`` without text names the message whose answers it carries, which need not be the
    last one (ai 7.0.173). An empty one where the body has none.
    """
    messages = list(messages_of(body))
    named = body.get("messageId")
    for message in messages:
        if message.get("role") == "assistant" and message.get("id") == named and named is not None:
            return message
    return messages[-1] if messages else {}


def shown_under(body: JsonObject, call_ids: Collection[str]) -> str | None:
    """The id of the newest assistant message of the page that shows one of these calls."""
    for message in reversed(list(messages_of(body))):
        if any(call_id_of(part) in call_ids for part in parts_of(message)):
            return read_page(message).message_id
    return None


def messages_of(body: JsonObject) -> Iterator[JsonObject]:
    """The messages of a body, of either shape; what is none is passed over."""
    messages = body.get("messages")
    listed = messages if isinstance(messages, list) else [body.get("message")]
    for message in listed:
        if isinstance(message, Mapping):
            yield message


def parts_of(message: JsonObject) -> Iterator[JsonObject]:
    parts = message.get("parts")
    for part in parts if isinstance(parts, list) else []:
        if isinstance(part, Mapping):
            yield part


def call_id_of(part: JsonObject) -> str | None:
    """The callId of a tool part, static or dynamic."""
    kind, call_id = part.get("type"), part.get("toolCallId")
    is_tool = isinstance(kind, str) and (kind.startswith("tool-") or kind == "dynamic-tool")
    return call_id if is_tool and isinstance(call_id, str) and call_id else None


def last_step(message: JsonObject) -> list[JsonObject]:
    """The parts behind the last ``step-start``: all that the page's predicates look at."""
    parts: list[JsonObject] = []
    for part in parts_of(message):
        parts = [] if part.get("type") == "step-start" else [*parts, part]
    return parts
