"""A model that answers from a script: for demos, tests and front ends, without a key."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence

from ...json_text import dumps
from ...messages import Message, ToolCallMessage, ToolResultMessage, UserMessage
from ...outcomes import outcome_text
from ..scenario_file import CallSpec, Step, Turn
from .base import ModelCall, ModelEvent, ModelReasoning, ModelRequest, ModelText

LAST_WORDS = "Done."


class ScriptedFailure(Exception):
    """A step said that the model fails here."""


class ScriptedModel:
    """Takes the next step of the turn that the newest user message begins.

    It keeps nothing: where it stands follows from the history, so a script goes on after a restart.

    Args:
        turns: the script; the first turn whose ``when`` the message has is taken.
        sleep: waits some seconds between two deltas.
    """

    def __init__(
        self,
        turns: Sequence[Turn],
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._turns = tuple(turns)
        self._sleep = sleep

    async def respond(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """See ``Model``.

        Raises:
            ScriptedFailure: the step says so.
        """
        step = self._step(request.history)
        first = True
        for event in _stream(step, request.history):
            if step.delay_seconds and not first:
                await self._sleep(step.delay_seconds)
            first = False
            yield event
        if step.fail:
            raise ScriptedFailure

    def _step(self, history: Sequence[Message]) -> Step:
        text, steps_taken = "", 0
        for message in history:
            if isinstance(message, UserMessage):
                text, steps_taken = message.text, 0
            elif isinstance(message, ToolCallMessage):
                steps_taken += 1
        turn = next((turn for turn in self._turns if _begins(turn, text)), None)
        if turn is None or steps_taken >= len(turn.steps):
            return Step()
        return turn.steps[steps_taken]


def _begins(turn: Turn, text: str) -> bool:
    return turn.when is None or turn.when.casefold() in text.casefold()


def _stream(step: Step, history: Sequence[Message]) -> Iterator[ModelEvent]:
    for piece in _pieces(step.reasoning, step.chunk):
        yield ModelReasoning(delta=piece)
    text = step.text
    if "{results}" in text:
        text = text.replace("{results}", _results(history))
    if not (text or step.calls or step.fail):
        text = LAST_WORDS
    for piece in _pieces(text, step.chunk):
        yield ModelText(delta=piece)
    for call in step.calls:
        yield ModelCall(id=call.id, name=call.name, arguments=_arguments(call))


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))


def _arguments(call: CallSpec) -> str:
    return dumps(call.inputs) if call.arguments is None else call.arguments


def _results(history: Sequence[Message]) -> str:
    texts: list[list[str]] = []
    for message in history:
        if isinstance(message, ToolCallMessage):
            texts = []
        elif isinstance(message, ToolResultMessage):
            texts += [[item.call.call_id, outcome_text(item.outcome)] for item in message.results]
    return dumps(texts)
