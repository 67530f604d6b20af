"""The run that is streamed and the thread that is hydrated: the same content for everyone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from signoff.events import (
    Completed,
    RunEvent,
    TextDelta,
    ToolCallReady,
    ToolCallStarted,
    ToolResult,
)
from signoff.json_text import JsonObject
from signoff.messages import (
    AssistantMessage,
    CallRecord,
    Message,
    ResultRecord,
    TextPart,
    ToolCallMessage,
    ToolResultMessage,
    UserMessage,
    result_message_id,
)
from signoff.outcomes import Output
from signoff.suspension import ToolCall
from signoff.thread import Thread

DELTAS, CALLS, CHARACTERS = 10_000, 20, 20
_DELTAS_A_MESSAGE = DELTAS // CALLS

RESULT: JsonObject = {"note": "Nothing else was changed.", "rows": 12, "status": "done"}
_START = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
_WORDS = "the invoice of the third quarter was paid twice and one of the two has to come back "


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What a model said in one response: text in pieces, then one call."""

    message_id: str
    deltas: tuple[str, ...]
    call: ToolCall


def turns() -> tuple[Turn, ...]:
    """10,000 deltas of 20 characters in 20 responses, each followed by a call."""
    pieces = list(_pieces())
    return tuple(
        Turn(
            message_id=f"msg_{number:024x}",
            deltas=tuple(pieces[number * _DELTAS_A_MESSAGE : (number + 1) * _DELTAS_A_MESSAGE]),
            call=call(number),
        )
        for number in range(CALLS)
    )


def call(number: int) -> ToolCall:
    return ToolCall(
        call_id=f"toolu_{number:024x}",
        name="read_ledger",
        inputs={"account": f"DE{number:04}", "from": "2026-07-01", "limit": 50, "open": True},
        description="Read entries of a ledger.",
    )


def events() -> list[RunEvent]:
    """The run as signoff's events."""
    said: list[RunEvent] = []
    for turn in turns():
        said += [TextDelta(message_id=turn.message_id, delta=delta) for delta in turn.deltas]
        said += [
            ToolCallReady(message_id=turn.message_id, call=turn.call, disposition="run"),
            ToolCallStarted(call_id=turn.call.call_id),
            ToolResult(
                message_id=result_message_id(turn.call.call_id),
                call_id=turn.call.call_id,
                outcome=Output(value=RESULT),
            ),
        ]
    return [*said, Completed()]


def running_thread() -> Thread:
    """A thread as it stands before that run."""
    return Thread(
        thread_id="thread_1",
        internal_id="thr_1",
        status="running",
        messages=(_user(1, "run_1"),),
        run_id="run_1",
        assistant_ids={"run_1": "msg_answer"},
    )


def stored_thread(messages: int) -> Thread:
    """A thread of so many messages: a question, a call, its result and an answer, again and again.

    ``messages`` is a multiple of four.
    """
    history = [message for number in range(messages // 4) for message in _round(number)]
    return Thread(
        thread_id="thread_1",
        internal_id="thr_1",
        status="completed",
        messages=tuple(history),
        run_id=history[-1].run_id,
        assistant_ids={item.run_id: f"answer_{item.run_id}" for item in history},
    )


def _round(number: int) -> Iterator[Message]:
    seq, run_id, asked = number * 4 + 1, f"run_{number:024x}", call(number)
    yield _user(seq, run_id)
    at = _START + timedelta(seconds=seq)
    yield ToolCallMessage(
        id=f"msg_{seq + 1:024x}",
        seq=seq + 1,
        created_at=at,
        run_id=run_id,
        content=(TextPart(text="I will look that up."),),
        calls=(CallRecord(call=asked),),
    )
    yield ToolResultMessage(
        id=f"msg_{seq + 1:024x}.results",
        seq=seq + 2,
        created_at=at,
        run_id=run_id,
        results=(
            ResultRecord(
                call=asked,
                outcome=Output(value=RESULT),
                message_id=result_message_id(asked.call_id),
            ),
        ),
    )
    yield AssistantMessage(
        id=f"msg_{seq + 3:024x}",
        seq=seq + 3,
        created_at=at,
        run_id=run_id,
        content=(TextPart(text=_WORDS * 3),),
    )


def _user(seq: int, run_id: str) -> UserMessage:
    return UserMessage(
        id=f"user_{seq:024x}",
        seq=seq,
        created_at=_START + timedelta(seconds=seq),
        run_id=run_id,
        content=(TextPart(text="Which invoice was paid twice, and when?"),),
    )


def _pieces() -> Iterator[str]:
    text = _WORDS * (DELTAS * CHARACTERS // len(_WORDS) + 1)
    for number in range(DELTAS):
        yield text[number * CHARACTERS : (number + 1) * CHARACTERS]
