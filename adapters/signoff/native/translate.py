"""Bodies of ``POST /threads/{id}/chat`` and ``POST /threads/{id}/approvals``."""

from __future__ import annotations

from collections.abc import Mapping

from ..commands import Decide, SendMessage, UserInput
from ..decisions import parse_decisions
from ..errors import AmbiguousBody, InvalidBody, NothingPending, WrongKind
from ..json_text import JsonObject, JsonValue
from ..messages import TextPart
from ..thread import Thread

_KINDS = ("message", "decisions", "results", "inputs")


def translate(body: JsonValue, thread: Thread | None = None) -> SendMessage | Decide:
    """Read a chat body: exactly one of ``message``, ``decisions``, ``results``, ``inputs``.

    In full::

        {"message": "Delete the old log", "id": "m1"}
        {"decisions": {"toolu_01": "approve", "toolu_02": ["reject", "wrong folder"]}}

    The text is kept as it was typed (R124). Fields that are not known are ignored.

    Args:
        body: the parsed body.
        thread: what ``results`` and ``inputs`` would answer; not needed for anything else.

    Raises:
        InvalidBody: not an object, none of the four, or a message of another shape.
        AmbiguousBody: more than one of the four.
        InvalidDecision: a decision in no accepted form.
        NothingPending, WrongKind: ``results`` or ``inputs``, and the thread waits for nothing, or
            for approvals. No thread waits for those two yet.
    """
    if not isinstance(body, Mapping):
        raise InvalidBody("The request body is a JSON object.")
    kinds = [kind for kind in _KINDS if kind in body]
    if len(kinds) > 1:
        raise AmbiguousBody
    match kinds:
        case ["message"]:
            return _message(body)
        case ["decisions"]:
            return translate_decisions(body)
        case ["results" | "inputs"]:
            raise WrongKind if thread is not None and thread.open_calls else NothingPending
        case _:
            raise InvalidBody("Send one of message, decisions, results and inputs.")


def translate_decisions(body: JsonValue) -> Decide:
    """Read ``{"decisions": {…}}``.

    Raises:
        InvalidBody: not an object with ``decisions``.
        AmbiguousBody: another kind of content stands beside them.
        InvalidDecision: a decision in no accepted form.
    """
    if not isinstance(body, Mapping) or "decisions" not in body:
        raise InvalidBody('Send {"decisions": {…}}.')
    if any(kind in body for kind in _KINDS if kind != "decisions"):
        raise AmbiguousBody
    return Decide(decisions=parse_decisions(body["decisions"]))


def _message(body: JsonObject) -> SendMessage:
    text, message_id = body["message"], body.get("id")
    if not isinstance(text, str) or not text:
        raise InvalidBody("A message is a non-empty string.")
    if message_id is not None and (not isinstance(message_id, str) or not message_id):
        raise InvalidBody("A message's id is a non-empty string.")
    return SendMessage(messages=(UserInput(content=(TextPart(text=text),), id=message_id),))
