"""Requests of AG-UI clients to commands.

Decisions come from ``resume`` alone: what the client's messages say of calls is its own history,
and some clients write their answer there as if it were a result (B27, B29).
"""

from __future__ import annotations

from ..commands import Command, Connect, Decide, Refuse, SendMessage, UserInput
from ..decisions import Decision
from ..errors import (
    IncompleteResume,
    InvalidBody,
    NothingPending,
    Refusal,
    UnknownCall,
    WrongKind,
)
from ..json_text import JsonObject, JsonValue
from ..messages import UserMessage, last_batch
from ..thread import Thread
from .answers import interrupt_id, read_entries, read_payload
from .content import read_content
from .reading import RunAgentInput, read_input


def translate(body: JsonValue, thread: Thread) -> Command:
    """What a client asks for; ``thread`` is the one that the body names.

    ``resume`` takes precedence over messages; user messages beside it go along. Without it, new
    user messages start a run, and nothing new asks how the thread stands.

    Raises:
        InvalidBody: the body is not one that this protocol has.
    """
    return command_of(read_input(body), thread)


def command_of(request: RunAgentInput, thread: Thread) -> Command:
    """The same of a body that is read already."""
    for entry in request.resume or ():
        interrupt_id(entry)
    try:
        decisions = _decisions(request, thread)
    except Refusal as refusal:
        return Refuse(refusal=refusal)
    if decisions:
        return Decide(
            decisions=decisions,
            complete=True,
            messages=_new_messages(request, thread),
            client=request.client,
        )
    return _without_answers(request, thread)


def _decisions(request: RunAgentInput, thread: Thread) -> dict[str, Decision]:
    """Every answer of the request; none where it has none.

    Raises:
        Refusal: it answers, and not all of it can be taken. Nothing of it is then (B21).
    """
    if request.resume:
        decisions = read_entries(request.resume)
    else:
        decisions = _legacy_answer(request, thread)
    for call_id in decisions:
        if call_id not in thread.asked:
            raise (UnknownCall if thread.open_calls else NothingPending)(call_id=call_id)
    if decisions or request.resume == ():
        uncovered = [call.call_id for call in thread.open_calls if call.call_id not in decisions]
        if uncovered:
            raise IncompleteResume(call_id=uncovered[0])
    return decisions


def _legacy_answer(request: RunAgentInput, thread: Thread) -> dict[str, Decision]:
    """``forwardedProps.command.resume`` of clients before ``resume``: a payload without an id, so
    it can only mean the one open call (B02, B24)."""
    match request.client.forwarded_props:
        case {"command": {"resume": payload}} if payload is not None and request.resume is None:
            pass
        case _:
            return {}
    match thread.open_calls:
        case ():
            raise NothingPending()
        case (only,):
            return {only.call_id: read_payload(only.call_id, payload)}
        case _:
            raise IncompleteResume("Several calls wait; name them in resume.")


def _without_answers(request: RunAgentInput, thread: Thread) -> Command:
    if new := _new_messages(request, thread):
        return SendMessage(messages=new, client=request.client)
    if mistaken := _result_of_waiting_call(request, thread):
        return Refuse(refusal=WrongKind(call_id=mistaken))
    match request.messages:
        case (*_, {"role": "user"} as newest):
            # Known, so a repeat; or an edit, where its text changed.
            return SendMessage(messages=(_user_input(newest),), client=request.client)
        case _:
            return Connect()


def _new_messages(request: RunAgentInput, thread: Thread) -> tuple[UserInput, ...]:
    """The user messages that the thread does not have, back to the last thing that was said.

    Earlier ones are restated history, whatever they say (B79). What stands between or behind, such
    as an activity, or a tool message with somebody's answer, does not end the search.

    Raises:
        InvalidBody: one of them cannot be read, or two share an id.
    """
    known = {item.id for item in thread.messages if isinstance(item, UserMessage)}
    known.update(item.id for item in thread.queued)
    new: list[UserInput] = []
    for message in reversed(request.messages):
        role = message.get("role")
        if role == "assistant" or (role == "user" and message.get("id") in known):
            break
        if role == "user":
            new.append(_user_input(message))
    if len({item.id for item in new}) != len(new):
        raise InvalidBody("Two messages share an id.")
    return tuple(reversed(new))


def _user_input(message: JsonObject) -> UserInput:
    message_id = message.get("id")
    if not isinstance(message_id, str) or not message_id:
        raise InvalidBody("A message's id is a non-empty string.")
    return UserInput(id=message_id, content=read_content(message.get("content")))


def _result_of_waiting_call(request: RunAgentInput, thread: Thread) -> str | None:
    """The call of the open batch that a tool message claims to have run. Nothing of that batch has
    been handed to anybody yet."""
    batch = last_batch(thread.messages) if thread.open_calls else None
    waiting = {record.call.call_id for record in batch.calls} if batch else set[str]()
    for message in request.messages:
        call_id = message.get("toolCallId")
        if message.get("role") == "tool" and isinstance(call_id, str) and call_id in waiting:
            return call_id
    return None
