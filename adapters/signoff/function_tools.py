"""``@tool``: a tool from a typed Python function.

    @tool(approval="Deleting a file is irreversible", destructive=True)
    def delete_file(path: str) -> dict[str, bool]:
        \"\"\"Delete a file from the filesystem.\"\"\"
        ...

The input schema comes from the type hints, the description from the docstring. Inputs are cast to
the declared types before the gate sees them (R1), defaults filled in, so that a person is shown the
call that will run. A parameter annotated ``ToolContext`` is filled in by the server.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast, get_type_hints, overload

from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    PydanticUserError,
    ValidationError,
    create_model,
)
from pydantic.fields import FieldInfo

from .errors import ConfigurationError, InvalidArguments
from .json_text import JsonObject, JsonTextError, dumps
from .tools import BoundInputs, Hints, Policy, Tool, ToolContext, refuse_reserved_keys


@overload
def tool(function: Callable[..., object], /) -> Tool: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    approval: Policy | None = None,
    readonly: bool | None = None,
    destructive: bool | None = None,
    open_world: bool | None = None,
    idempotent: bool | None = None,
    requires_approval: bool | None = None,
) -> Callable[[Callable[..., object]], Tool]: ...
def tool(
    function: Callable[..., object] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    approval: Policy | None = None,
    readonly: bool | None = None,
    destructive: bool | None = None,
    open_world: bool | None = None,
    idempotent: bool | None = None,
    requires_approval: bool | None = None,
) -> Tool | Callable[[Callable[..., object]], Tool]:
    """Make a function a tool; with or without arguments.

    Raises:
        ConfigurationError: a parameter has no usable type hint, or is positional-only or variadic;
            or a policy is none.
    """
    hints = Hints(
        readonly=readonly,
        destructive=destructive,
        open_world=open_world,
        idempotent=idempotent,
        requires_approval=requires_approval,
    )

    def make(target: Callable[..., object]) -> Tool:
        called = name or str(getattr(target, "__name__", ""))
        signature = _Signature(target, called)
        return Tool(
            name=called,
            description=description or inspect.getdoc(target) or "",
            input_schema=signature.schema(),
            bind=signature.bind,
            function=signature.run if inspect.iscoroutinefunction(target) else signature.call,
            hints=hints,
            approval=approval,
            original=target,
        )

    return make if function is None else make(function)


class _Signature:
    """A function's parameters as a pydantic model."""

    def __init__(self, function: Callable[..., object], called: str) -> None:
        self._function = function
        self._parameters: dict[str, str] = {}
        self._context: str | None = None
        try:
            hints = get_type_hints(function, include_extras=True)
            fields = self._fields(inspect.signature(function), hints)
            self._model: type[BaseModel] = create_model(
                "Inputs",
                __config__=ConfigDict(
                    extra="forbid",
                    ser_json_inf_nan="constants",
                    serialize_by_alias=True,
                    field_title_generator=self._title,
                ),
                **fields,
            )
            self._schema: dict[str, Any] = self._model.model_json_schema()
        except (NameError, TypeError, PydanticUserError, ConfigurationError) as error:
            what = str(error).splitlines()[0]
            raise ConfigurationError(f"Tool {called!r}: {what}") from None

    def _fields(self, signature: inspect.Signature, hints: Mapping[str, Any]) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        for parameter in signature.parameters.values():
            if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                raise ConfigurationError(
                    f"parameter {parameter.name!r} cannot be given by its name."
                )
            if parameter.name not in hints:
                raise ConfigurationError(f"parameter {parameter.name!r} has no type hint.")
            annotation = hints[parameter.name]
            if annotation is ToolContext:
                self._context = parameter.name
                continue
            # The model's own field names are ours: a parameter may be called "copy" or "_x",
            # which pydantic would refuse as a field name.
            field = f"input_{len(fields)}"
            self._parameters[field] = parameter.name
            fields[field] = (annotation, _field_for(parameter))
        return fields

    def _title(self, field: str, _info: object) -> str:
        # Types nested in the parameters, such as dataclasses, take this over with their own fields.
        return self._parameters.get(field, field)

    def schema(self) -> JsonObject:
        schema = {key: value for key, value in self._schema.items() if key != "title"}
        for property_schema in schema.get("properties", {}).values():
            property_schema.pop("title", None)
        return schema

    def bind(self, inputs: JsonObject, /) -> BoundInputs:
        refuse_reserved_keys(inputs)
        try:
            model = self._model.model_validate(dict(inputs))
            effective: JsonObject = model.model_dump(mode="json", by_alias=True)
            dumps(effective)
        except ValidationError as error:
            raise InvalidArguments(_explain(error)) from None
        except JsonTextError as error:
            raise InvalidArguments(f"The inputs cannot be kept: {error}") from None
        arguments = {name: getattr(model, field) for field, name in self._parameters.items()}
        return BoundInputs(effective=effective, arguments=arguments)

    async def run(self, context: ToolContext, arguments: Mapping[str, object]) -> object:
        # A coroutine function of its own, so that the tool loop can tell which tools block.
        result: object = await cast("Awaitable[object]", self.call(context, arguments))
        return result

    def call(self, context: ToolContext, arguments: Mapping[str, object]) -> object:
        if self._context is None:
            return self._function(**arguments)
        return self._function(**arguments, **{self._context: context})


def _field_for(parameter: inspect.Parameter) -> FieldInfo:
    default: Any = ... if parameter.default is parameter.empty else parameter.default
    info: FieldInfo = Field(
        default,
        validation_alias=AliasChoices(parameter.name),
        serialization_alias=parameter.name,
        alias=parameter.name,
    )
    return info


def _explain(error: ValidationError) -> str:
    problems = [
        f"{'.'.join(str(part) for part in problem['loc']) or 'inputs'}: {problem['msg']}"
        for problem in error.errors(include_url=False, include_context=False, include_input=False)
    ]
    return "; ".join(problems)
