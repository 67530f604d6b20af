"""An agent without a model, from a scenario file: ``signoff demo --scenario FILE``."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pydantic import ValidationError

from ..errors import ConfigurationError, ToolFailed
from ..json_text import JsonObject, JsonTextError, JsonValue, dumps, encode, parse
from ..masking import mask_inputs
from ..schema_tools import SchemaBinder, schema_tool
from ..tools import Hints, PreviewFunction, Tool, ToolContext
from .models.scripted import ScriptedModel
from .scenario_file import ScenarioFile, ToolSpec
from .tool_loop import ToolLoop

_IN_SHORT = {
    "extra_forbidden": "there is no such key",
    "missing": "this key is missing",
    "model_type": "this has to be an object",
}

_PLACE = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario that was checked."""

    file: ScenarioFile

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Scenario:
        """Read and check a scenario file.

        Raises:
            ConfigurationError: it cannot be read, or is no scenario. One line for each problem,
                with the place in the JSON, as ``turns[0].steps[1].calls[0].name``.
        """
        try:
            text = Path(path).read_bytes()
        except OSError as error:
            raise ConfigurationError(f"{path}: {error.strerror or 'it cannot be read'}.") from None
        try:
            return cls.parse(text)
        except ConfigurationError as error:
            lines = str(error).splitlines()
            raise ConfigurationError("\n".join(f"{path}: {line}" for line in lines)) from None

    @classmethod
    def parse(cls, text: str | bytes) -> Scenario:
        """Check the text of a scenario file.

        Raises:
            ConfigurationError: see ``load``.
        """
        try:
            file = ScenarioFile.model_validate(_read(text))
        except ValidationError as error:
            raise ConfigurationError("\n".join(_problems(error))) from None
        problems = list(_tool_problems(file.tools))
        if problems:
            raise ConfigurationError("\n".join(problems))
        return cls(file)

    @property
    def suggestions(self) -> tuple[str, ...]:
        """The words that begin a turn, for pages to offer."""
        return tuple(turn.when for turn in self.file.turns if turn.when is not None)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is allowed but may be a slip: calls of tools that the file does not have."""
        names = {tool.name for tool in self.file.tools}
        return tuple(
            f"turns[{t}].steps[{s}].calls[{c}].name: there is no tool {call.name!r}; "
            "the model will read that."
            for t, turn in enumerate(self.file.turns)
            for s, step in enumerate(turn.steps)
            for c, call in enumerate(step.calls)
            if call.name not in names
        )

    def source(self, *, executions: str | os.PathLike[str] | None = None) -> ToolLoop:
        """The agent of this scenario.

        Args:
            executions: a file to which every execution appends one line; None keeps no such file.

        Raises:
            ConfigurationError: that file cannot be written, or a tool runs in the browser or asks
                for input, which is not supported yet.
        """
        log = None if executions is None else ExecutionLog(Path(executions))
        tools = [_tool(spec, log) for spec in self.file.tools]
        return ToolLoop(ScriptedModel(self.file.turns), tools=tools)


class ExecutionLog:
    """The proof of what really ran: one JSON line for each execution on the server.

    ``{"threadId": …, "callId": …, "name": …, "inputs": …}``, secret inputs masked.

    Raises:
        ConfigurationError: the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._append(b"")
        except OSError as error:
            why = error.strerror or "it cannot be written"
            raise ConfigurationError(f"{path}: {why}.") from None

    def add(self, context: ToolContext, name: str, inputs: JsonObject) -> None:
        """Append one line, in one write: several processes may share the file."""
        line: JsonObject = {
            "threadId": context.thread_id,
            "callId": context.call_id,
            "name": name,
            "inputs": inputs,
        }
        self._append(encode(line) + b"\n")

    def _append(self, data: bytes) -> None:
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(descriptor, data)
        finally:
            os.close(descriptor)


def _tool(spec: ToolSpec, log: ExecutionLog | None) -> Tool:
    if spec.asks is not None:
        raise ConfigurationError(f"Tool {spec.name!r} asks for input, which is not supported yet.")

    async def execute(context: ToolContext, arguments: Mapping[str, object]) -> JsonValue:
        await asyncio.sleep(spec.delay_seconds)
        if log is not None:
            log.add(context, spec.name, mask_inputs(_inputs(arguments), spec.secrets)[0])
        if spec.error is not None:
            raise ToolFailed(spec.error)
        return spec.result

    return schema_tool(
        name=spec.name,
        description=spec.description,
        input_schema=spec.inputs,
        function=execute if spec.runs == "server" else None,
        runs=spec.runs,
        hints=Hints(**spec.hints.model_dump()),
        approval=spec.approval,
        secrets=spec.secrets,
        preview=None if spec.preview is None else _preview(spec.preview, spec.secrets),
    )


def _preview(template: str, secrets: Sequence[str]) -> PreviewFunction:
    async def make(_context: ToolContext, arguments: Mapping[str, object]) -> str:
        shown, _ = mask_inputs(_inputs(arguments), secrets)

        def fill(place: re.Match[str]) -> str:
            value = shown.get(place[1], "")
            return value if isinstance(value, str) else dumps(value)

        return _PLACE.sub(fill, template)

    return make


def _inputs(arguments: Mapping[str, object]) -> JsonObject:
    return cast("JsonObject", arguments)


def _read(text: str | bytes) -> JsonValue:
    try:
        return parse(text)
    except JsonTextError as error:
        raise ConfigurationError(f"{_place(text)}{error}.") from None


def _place(text: str | bytes) -> str:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return f"line {error.lineno}, column {error.colno}: "
    except (ValueError, RecursionError):
        pass
    return ""


def _problems(error: ValidationError) -> Iterator[str]:
    for problem in error.errors(include_url=False, include_context=False, include_input=False):
        # A union adds the name of each of its types to the place; the file has no such step.
        place = [step for step in problem["loc"] if step not in ("bool", "constrained-str")]
        what = _IN_SHORT.get(problem["type"], problem["msg"].removeprefix("Value error, "))
        yield f"{_json_path(place)}: {what}."


def _json_path(steps: Sequence[str | int]) -> str:
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return path.removeprefix(".") or "the file"


def _tool_problems(tools: Sequence[ToolSpec]) -> Iterator[str]:
    names: set[str] = set()
    for index, tool in enumerate(tools):
        if tool.name in names:
            yield f"tools[{index}].name: another tool is named {tool.name!r}."
        names.add(tool.name)
        for key, schema in (("inputs", tool.inputs), ("asks", tool.asks)):
            try:
                SchemaBinder(schema or {})
            except ConfigurationError as error:
                yield f"tools[{index}].{key}: {error}"
        properties = tool.inputs.get("properties")
        for position, name in enumerate(tool.secrets):
            if not isinstance(properties, dict) or name not in properties:
                yield f"tools[{index}].secrets[{position}]: there is no input {name!r}."
