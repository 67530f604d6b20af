"""Tools that note what ran, and short words for what a run said."""

from __future__ import annotations

from signoff.events import RunEvent, TextDelta, ToolResult
from signoff.json_text import JsonObject
from signoff.outcomes import Outcome
from signoff.policy import Gate
from signoff.schema_tools import schema_tool
from signoff.sources.models.base import ModelCall, ModelEvent, ModelText
from signoff.sources.tool_loop import ToolLoop
from signoff.tools import Hints, Policy, Tool
from support.agents import ListModel, MemoryThread


class Shop:
    """Tools that note what ran."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, JsonObject]] = []

    def tool(
        self, name: str, approval: Policy | None = None, *, schema: JsonObject | None = None
    ) -> Tool:
        def run(_context: object, arguments: object) -> str:
            self.ran.append((name, arguments))  # type: ignore[arg-type]  # inputs of a schema tool
            return f"{name} ran"

        return schema_tool(
            name=name, input_schema=schema or {}, function=run, approval=approval, hints=Hints()
        )


def call(call_id: str, name: str, arguments: str = "{}") -> ModelCall:
    return ModelCall(id=call_id, name=name, arguments=arguments)


def kinds(events: list[RunEvent]) -> list[str]:
    return [type(event).__name__ for event in events if not isinstance(event, TextDelta)]


def outcomes(events: list[RunEvent]) -> dict[str, Outcome]:
    return {event.call_id: event.outcome for event in events if isinstance(event, ToolResult)}


def asked(thread: MemoryThread) -> list[str]:
    return [pending.call_id for pending in thread.suspension.calls] if thread.suspension else []


def thread_of(
    tools: list[Tool], *responses: list[ModelEvent], gate: Gate | None = None
) -> MemoryThread:
    return MemoryThread(ToolLoop(ListModel(*responses), tools=tools), gate=gate)


DONE: list[ModelEvent] = [ModelText(delta="Done.")]
