"""Requests of ``useChat`` to commands.

Read from a body: the last user message, ``trigger``, ``messageId``, and of calls that were asked
about ``approved`` and ``reason``. Everything else is the page's restated history: tolerated
whatever its shape, and never believed, inputs least of all (B75, B78).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..commands import Command, Connect, Decide, Refuse, SendMessage, UserInput
from ..decisions import Approve, Decision, reject
from ..errors import InvalidBody, InvalidDecision, NothingPending, Refusal, UnknownCall, WrongKind
from ..json_text import JsonObject, JsonValue
from ..messages import FilePart, Part, TextPart
from ..thread import Thread
from .page import call_id_of, last_step, messages_of, parts_of, subject_of
from .parts import ThreadView

_ANSWERED_TWICE = "A call is answered twice, differently."


def read_body(body: JsonValue) -> JsonObject:
    """The body as an object with the shape that ``translate`` needs.

    Raises:
        InvalidBody: it has another one.
    """
    if not isinstance(body, Mapping):
        raise InvalidBody("The body is a JSON object.")
    chat_id(body)
    if body.get("trigger", "submit-message") not in ("submit-message", "regenerate-message"):
        raise InvalidBody("trigger is submit-message or regenerate-message.")
    if not isinstance(body.get("messageId"), str | None):
        raise InvalidBody("messageId is a string.")
    listed = body.get("messages")
    messages = listed if isinstance(listed, list) else [body.get("message")]
    if not messages or not all(isinstance(message, Mapping) for message in messages):
        raise InvalidBody("messages is a non-empty list of messages, or message is one.")
    return body


def chat_id(body: JsonObject) -> str:
    """The thread that a body is about.

    Raises:
        InvalidBody: it names none.
    """
    value = body.get("id")
    if not isinstance(value, str) or not value:
        raise InvalidBody("id is the chat's id, a non-empty string.")
    return value


def translate(body: JsonValue, thread: Thread) -> Command:
    """What a page asks for.

    A user message starts a run. An assistant message carries answers: all that it holds, also
    repeated ones, so entries that differ from the record are echoes (``Decide.echo``). One without
    answers asks how the thread stands.

    Raises:
        InvalidBody: the body, or the message it is about, has another shape.
    """
    request = read_body(body)
    if request.get("trigger") == "regenerate-message":
        return SendMessage(messages=(_last_user(request),), regenerate=True)
    subject = subject_of(request)
    match subject:
        case {"role": "user"}:
            return SendMessage(messages=(_user_input(subject),))
        case {"role": "assistant", "parts": list()}:
            return _answers(subject, ThreadView(thread))
        case {"role": "assistant"}:
            raise InvalidBody("A message has a list of parts.")
        case _:
            raise InvalidBody("The last message is the user's or the assistant's.")


def _last_user(body: JsonObject) -> UserInput:
    for message in reversed(list(messages_of(body))):
        if message.get("role") == "user":
            return _user_input(message)
    raise InvalidBody("There is no user message to answer again.")


def _user_input(message: JsonObject) -> UserInput:
    message_id = message.get("id")
    if message_id is not None and (not isinstance(message_id, str) or not message_id):
        raise InvalidBody("A message's id is a non-empty string.")
    if not isinstance(message.get("parts"), list):
        raise InvalidBody("A message has a list of parts.")
    content = tuple(part for raw in parts_of(message) for part in _content(raw))
    if not content:
        raise InvalidBody("A user message has text or a file.")
    return UserInput(id=message_id, content=content)


def _content(part: JsonObject) -> Iterator[Part]:
    """Text, kept as typed, and files; parts that mean something to the page alone are left out."""
    match part:
        case {"type": "text", "text": str() as text}:
            if text:
                yield TextPart(text=text)
        case {"type": "file", "mediaType": str() as media_type, "url": str() as url}:
            yield _file(part, media_type, url)
        case {"type": "text" | "file"}:
            raise InvalidBody("A text part has text; a file part has mediaType and url.")
        case _:
            pass


def _file(part: JsonObject, media_type: str, url: str) -> FilePart:
    filename = part.get("filename")
    name = filename if isinstance(filename, str) else None
    inline = f"data:{media_type};base64,"
    if url.startswith(inline):
        return FilePart(media_type=media_type, data=url.removeprefix(inline), filename=name)
    return FilePart(media_type=media_type, url=url, filename=name)


def _answers(message: JsonObject, view: ThreadView) -> Command:
    decisions: dict[str, Decision] = {}
    for part in parts_of(message):
        if part.get("state") != "approval-responded":
            continue
        try:
            call_id, decision = _answer(part, view)
        except Refusal as refusal:
            return Refuse(refusal=refusal)
        if decision is None:
            continue
        if decisions.setdefault(call_id, decision) != decision:
            return Refuse(refusal=InvalidBody(_ANSWERED_TWICE, call_id=call_id))
    if decisions:
        return Decide(decisions=decisions, echo=True)
    return _without_answers(message, view)


def _answer(part: JsonObject, view: ThreadView) -> tuple[str, Decision | None]:
    """One answered part; None for a settled call, whose part may look like anything (B13, B57).

    Raises:
        InvalidBody: an answered part without a callId.
        UnknownCall, NothingPending: nobody was asked about this call (B75), or what asked has been
            superseded: no frame could settle the part any more.
        InvalidDecision: the part does not say yes or no of its own call (B20, R114).
    """
    call_id = call_id_of(part)
    if call_id is None:
        raise InvalidBody("A tool part has a toolCallId.")
    if not view.knows(call_id) or view.run_of((call_id,)) is None:
        raise (NothingPending if view.thread.status == "new" else UnknownCall)(call_id=call_id)
    match part.get("approval"):
        case {"id": approval_id, "approved": bool() as approved, **rest} if approval_id == call_id:
            reason = rest.get("reason")
            if reason is None or isinstance(reason, str):
                return call_id, Approve(note=reason or None) if approved else reject(reason)
        case _:
            pass
    if view.is_settled(call_id):
        return call_id, None
    raise InvalidDecision(
        "An answered tool part has approval.approved, true or false, and its own approval.id.",
        call_id=call_id,
    )


def _without_answers(message: JsonObject, view: ThreadView) -> Command:
    open_calls = {call.call_id for call in view.thread.open_calls}
    for part in parts_of(message):
        call_id = call_id_of(part)
        if call_id in open_calls and part.get("state") in ("output-available", "output-error"):
            return Refuse(refusal=WrongKind(call_id=call_id))
    for part in last_step(message):
        call_id = call_id_of(part)
        if call_id is not None and view.run_of((call_id,)) is None:
            # The page's predicates look at this step, and no frame could settle it.
            return Refuse(refusal=UnknownCall(call_id=call_id))
    return Connect()
