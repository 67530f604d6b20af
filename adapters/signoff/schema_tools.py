"""Tools whose inputs a JSON Schema describes: from a scenario file, a client, another server.

Such a schema is foreign text. It may not point outside of itself, its patterns run in linear time,
and its size is bounded (design §12). It checks inputs and rewrites nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, cast

import jsonschema_rs

from .errors import ConfigurationError, InvalidArguments
from .json_text import JsonObject, JsonTextError, dumps
from .tools import (
    BoundInputs,
    Hints,
    Policy,
    PreviewFunction,
    RunsIn,
    Tool,
    ToolFunction,
    refuse_reserved_keys,
)

MAX_SCHEMA_BYTES = 64 * 1024

_MAX_PROBLEMS = 5
_MAX_PROBLEM_CHARACTERS = 200


def schema_tool(
    *,
    name: str,
    input_schema: JsonObject,
    function: ToolFunction | None = None,
    description: str = "",
    runs: RunsIn = "server",
    hints: Hints | None = None,
    approval: Policy | None = None,
    streamed: bool = False,
    secrets: Sequence[str] = (),
    preview: PreviewFunction | None = None,
) -> Tool:
    """A tool that takes what ``input_schema`` takes. See ``Tool`` for the arguments.

    Raises:
        ConfigurationError: the schema cannot be used, see ``SchemaBinder``, or a secret is none of
            its properties.
    """
    return Tool(
        name=name,
        description=description,
        input_schema=input_schema,
        bind=SchemaBinder(input_schema),
        function=function,
        runs=runs,
        hints=hints or Hints(),
        approval=approval,
        streamed=streamed,
        secrets=secrets,
        preview=preview,
    )


class SchemaBinder:
    """A ``Binder`` that checks inputs against a JSON Schema and leaves them as they are.

    Raises:
        ConfigurationError: not a JSON Schema of an object, larger than ``MAX_SCHEMA_BYTES``, a
            reference to another document, or a pattern that needs backtracking.
    """

    __slots__ = ("_validator",)

    def __init__(self, schema: JsonObject) -> None:
        try:
            size = len(dumps(schema).encode())
        except (JsonTextError, RecursionError):
            raise ConfigurationError("An input schema has to be JSON.") from None
        if size > MAX_SCHEMA_BYTES:
            raise ConfigurationError(f"An input schema may have {MAX_SCHEMA_BYTES} bytes.")
        if schema.get("type", "object") != "object":
            raise ConfigurationError("An input schema has to describe an object.")
        try:
            self._validator = jsonschema_rs.validator_for(
                cast("dict[str, Any]", schema),
                retriever=_refuse,
                # The default engine backtracks: a pattern could take for ever on some input.
                pattern_options=jsonschema_rs.RegexOptions(),
            )
        except ValueError as error:
            what = str(error).splitlines()[0].rstrip(".")
            raise ConfigurationError(f"An input schema cannot be used: {what}.") from None

    def __call__(self, inputs: JsonObject, /) -> BoundInputs:
        refuse_reserved_keys(inputs)
        problems = [
            _describe(error) for error in islice(self._validator.iter_errors(inputs), _MAX_PROBLEMS)
        ]
        if problems:
            raise InvalidArguments("; ".join(problems))
        return BoundInputs(effective=inputs, arguments=inputs)


def _refuse(_uri: str) -> dict[str, Any]:
    raise ValueError("a schema may not refer to another document")


def _describe(error: jsonschema_rs.ValidationError) -> str:
    where = ".".join(str(step) for step in error.instance_path) or "inputs"
    what = error.message
    if len(what) > _MAX_PROBLEM_CHARACTERS:
        what = what[:_MAX_PROBLEM_CHARACTERS] + "…"
    return f"{where}: {what}"
