"""The built-in agent: a model, tools, and the gate between them.

    source = ToolLoop(PydanticAIModel("openai:gpt-5"), tools=[delete_file])

A model response is judged whole before any of its calls runs (R13). If one call has to be asked
about, nothing runs and the run waits; the continuation runs what was approved, in the model's
order. All there is to know stands in the history, so a pause outlives the process (B111).
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Iterable

from ..errors import ConfigurationError
from ..events import RunEvent
from ..tools import Tool, ToolRegistry
from .base import RunRequest
from .judging import RepeatRejections
from .loop_segment import LoopSegment, LoopSettings
from .models.base import Model


class ToolLoop:
    """A ``RunSource`` that asks a model, runs the tools it calls, and asks it again.

    Args:
        model: answers.
        tools: what it may call.
        instructions: the system prompt.
        max_turns: model responses that one run may take, over all its pauses; then it fails with
            ``too_many_turns``.
        repeat_rejections: whether a call that repeats a rejected one of the same run is rejected
            like that one (``reject``), or asked about again (``ask``).

    Raises:
        ConfigurationError: the model is none, two tools share a name, something among the tools is
            none, a tool runs in the browser (not supported yet),
            or another argument is out of its range.
    """

    def __init__(
        self,
        model: Model,
        *,
        tools: Iterable[Tool] = (),
        instructions: str | None = None,
        max_turns: int = 50,
        repeat_rejections: RepeatRejections = "reject",
    ) -> None:
        _require_model(model)
        registry = ToolRegistry(tools)
        for tool in registry:
            if tool.runs == "browser":
                raise ConfigurationError(
                    f"Tool {tool.name!r} runs in the browser, which is not supported yet."
                )
        if max_turns < 1:
            raise ConfigurationError("max_turns must be at least 1.")
        if repeat_rejections not in ("reject", "ask"):
            raise ConfigurationError("repeat_rejections must be reject or ask.")
        self._settings = LoopSettings(
            model=model,
            tools=registry,
            instructions=instructions,
            max_turns=max_turns,
            repeat_rejections=repeat_rejections,
        )

    def run(self, request: RunRequest) -> AsyncIterator[RunEvent]:
        """See ``RunSource``.

        Raises:
            NotApproved: the answers do not cover the batch.
            CorruptRecord: there are answers, but no batch that waits for them.
        """
        return LoopSegment(self._settings, request).run()


def _require_model(value: object) -> None:
    if isinstance(value, type):
        raise ConfigurationError(f"{value.__name__} is a class. Pass an instance of it.")
    respond = getattr(value, "respond", None)
    if not callable(respond):
        raise ConfigurationError(
            f"{value!r} is not a model: a model has respond(request). A name of a provider's model "
            'is made one by PydanticAIModel("openai:gpt-5").'
        )
    if inspect.iscoroutinefunction(respond):
        raise ConfigurationError(
            f"{type(value).__name__}.respond is a coroutine function; it has to be an async "
            "generator of model events."
        )
