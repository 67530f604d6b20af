"""``@tool``: a tool from a typed Python function.

    @tool(approval="Deleting a file is irreversible", destructive=True)
    def delete_file(path: str) -> dict[str, bool]:
        \"\"\"Delete a file from the filesystem.\"\"\"
        ...

The input schema comes from the type hints, the description from the docstring. Inputs are cast to
the declared types before the gate sees them (R1), defaults filled in, so that a person is shown the
call that will run. A parameter annotated ``ToolContext`` is filled in by the server. One that is
named in ``secrets``, or annotated ``Annotated[…, Secret()]`` or ``SecretStr``, is masked wherever
the call is shown.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, cast, get_args, get_origin, get_type_hints, overload

from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    PydanticUserError,
    SecretStr,
    ValidationError,
    create_model,
)
from pydantic.fields import FieldInfo

from .errors import ConfigurationError, InvalidArguments
from .json_text import JsonObject, JsonTextError, JsonValue, dumps
from .tools import (
    BoundInputs,
    Hints,
    Policy,
    PreviewFunction,
    Secret,
    Tool,
    ToolContext,
    refuse_reserved_keys,
)


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
    secrets: Sequence[str] = (),
    preview: Callable[..., str | Awaitable[str]] | None = None,
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
    secrets: Sequence[str] = (),
    preview: Callable[..., str | Awaitable[str]] | None = None,
) -> Tool | Callable[[Callable[..., object]], Tool]:
    """Make a function a tool; with or without arguments. See ``Tool`` for what they mean.

    ``preview`` is a function of the same parameters, of which a ``ToolContext`` may be left out.

    Raises:
        ConfigurationError: a parameter has no usable type hint, or is positional-only or variadic;
            a policy is none; a secret is no parameter; or the preview takes other parameters.
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
            secrets=_names(called, secrets, signature.secrets),
            preview=None if preview is None else signature.preview(preview),
            original=target,
        )

    return make if function is None else make(function)


class _Signature:
    """A function's parameters as a pydantic model."""

    def __init__(self, function: Callable[..., object], called: str) -> None:
        self._function = function
        self._called = called
        self.secrets: tuple[str, ...] = ()
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
            if _is_secret(annotation):
                self.secrets += (parameter.name,)
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
            effective: dict[str, JsonValue] = model.model_dump(mode="json", by_alias=True)
            for field, name in self._parameters.items():
                value = getattr(model, field)
                # Pydantic would write stars, and stars would run after a person's answer.
                if isinstance(value, SecretStr):
                    effective[name] = value.get_secret_value()
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

    def preview(self, function: Callable[..., str | Awaitable[str]]) -> PreviewFunction:
        """``function`` as a preview of the bound arguments.

        Raises:
            ConfigurationError: it does not take the tool's parameters.
        """
        names = dict.fromkeys(self._parameters.values())
        try:
            taken = inspect.signature(function)
            context = self._context if self._context in taken.parameters else None
            taken.bind(**names, **({} if context is None else {context: None}))
        except (TypeError, ValueError) as error:
            raise ConfigurationError(f"Tool {self._called!r}: its preview has {error}.") from None

        def make(given: ToolContext, arguments: Mapping[str, object]) -> str | Awaitable[str]:
            return function(**arguments, **({} if context is None else {context: given}))

        async def make_async(given: ToolContext, arguments: Mapping[str, object]) -> str:
            return await cast("Awaitable[str]", make(given, arguments))

        return make_async if inspect.iscoroutinefunction(function) else make


def _is_secret(annotation: object) -> bool:
    if get_origin(annotation) is Annotated:
        annotated, *marks = get_args(annotation)
        if any(isinstance(mark, Secret) or mark is Secret for mark in marks):
            return True
        return _is_secret(annotated)
    return annotation is SecretStr or SecretStr in get_args(annotation)


def _names(called: str, named: Sequence[str], marked: Sequence[str]) -> tuple[str, ...]:
    if isinstance(named, str):
        raise ConfigurationError(f"Tool {called!r}: secrets are a list of names.")
    return tuple(dict.fromkeys((*named, *marked)))


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
