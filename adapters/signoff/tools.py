"""Tools: what a model may call, what is known of their risk, and what their inputs must be.

A tool is plain data plus one function. ``@tool`` (in ``function_tools``) makes one from a typed
function; ``Tool`` is made directly where the schema comes from elsewhere, as in a scenario file.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol, TypeAlias

from .errors import ConfigurationError, InvalidArguments
from .json_text import JsonObject, JsonValue

RunsIn: TypeAlias = Literal["server", "browser"]

Verdict: TypeAlias = bool | str
"""What a policy says of one call: ask or not. A string asks, and is the reason people are shown."""

Policy: TypeAlias = Verdict | Callable[[JsonObject], Verdict]
"""A verdict for every call, or a function of the call's inputs (cast to their types)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    """What a tool's author says of its effects. ``None`` is "not said", which reads as the riskier.

    Contradictory hints read as risky (R6): ``destructive`` or ``open_world`` beats ``readonly``.
    """

    readonly: bool | None = None
    destructive: bool | None = None
    open_world: bool | None = None
    idempotent: bool | None = None
    requires_approval: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What a running tool may know about the call it serves."""

    thread_id: str
    """The client's id of the thread."""
    run_id: str
    call_id: str
    principal_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundInputs:
    """Inputs after the schema took them: what is shown, hashed and run."""

    effective: JsonObject
    """The inputs as JSON, cast to their declared types, defaults filled in."""
    arguments: Mapping[str, object]
    """The same as Python values, for the function."""


class Binder(Protocol):
    """Checks and casts a model's inputs.

    Raises:
        InvalidArguments: the schema does not take them; the text is fit for the model.
    """

    def __call__(self, inputs: JsonObject, /) -> BoundInputs: ...


@dataclass(frozen=True, slots=True)
class Secret:
    """Marks a parameter of a ``@tool`` as secret: ``api_key: Annotated[str, Secret()]``."""


ToolFunction: TypeAlias = Callable[[ToolContext, Mapping[str, object]], object | Awaitable[object]]

PreviewFunction: TypeAlias = Callable[[ToolContext, Mapping[str, object]], str | Awaitable[str]]
"""What a call would do, as text for the person who is asked. It has to change nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool.

    Attributes:
        name: what the model calls it by; unique in a registry.
        description: what it does, for the model and for the person who is asked.
        input_schema: JSON Schema of its inputs, an object schema.
        bind: checks and casts inputs.
        function: runs it on the server; a synchronous one runs in a thread. None for browser tools.
        runs: where it runs.
        hints: what its author says of its effects.
        approval: the tool's own policy. None leaves it to mode and hints.
        override: the attach-time policy, see ``require_approval`` and its siblings.
        streamed: whether the model's argument text may be shown while it is written: ``bind``
            rewrites nothing and the inputs hold no secrets. It happens only where no tool of the
            agent can be asked about.
        secrets: names of inputs, top-level properties of the schema, whose values nobody is shown:
            not people, not logs, not the model on its later turns. They are bound by the
            fingerprint like all inputs.
        preview: makes what a person is shown of a call beside its inputs, once, when it is asked
            about.
        original: the Python function that ``@tool`` decorated, where there is one.
    """

    name: str
    description: str
    input_schema: JsonObject
    bind: Binder
    function: ToolFunction | None = None
    runs: RunsIn = "server"
    hints: Hints = field(default_factory=Hints)
    approval: Policy | None = None
    override: Policy | None = None
    streamed: bool = False
    secrets: Sequence[str] = ()
    preview: PreviewFunction | None = None
    original: Callable[..., object] | None = None

    def __post_init__(self) -> None:
        if not self.name:
            raise ConfigurationError("A tool needs a name.")
        if self.runs == "server" and self.function is None:
            raise ConfigurationError(f"Tool {self.name!r} runs on the server but has no function.")
        for policy in (self.approval, self.override):
            if not _is_policy(policy):
                raise ConfigurationError(
                    f"Tool {self.name!r}: a policy is a bool, a reason, or a plain function that "
                    "returns one of the two."
                )
        self._check_secrets()
        if self.preview is not None and not callable(self.preview):
            raise ConfigurationError(f"Tool {self.name!r}: a preview is a function.")

    def _check_secrets(self) -> None:
        if isinstance(self.secrets, str):
            raise ConfigurationError(f"Tool {self.name!r}: secrets are a list of names.")
        properties = self.input_schema.get("properties")
        known = properties if isinstance(properties, Mapping) else {}
        for secret in self.secrets:
            if secret not in known:
                raise ConfigurationError(
                    f"Tool {self.name!r} has no input {secret!r} to be secret."
                )
        if self.secrets and self.streamed:
            raise ConfigurationError(f"Tool {self.name!r} has secrets: it cannot be streamed.")

    def __call__(self, *args: object, **kwargs: object) -> object:
        """Call the decorated function as it was written, in a test of its own: nobody is asked.

        Raises:
            TypeError: the tool was not made from a Python function.
        """
        if self.original is None:
            raise TypeError(f"Tool {self.name!r} was not made from a Python function.")
        return self.original(*args, **kwargs)

    def require_approval(self, reason: str | None = None) -> Tool:
        """This tool, always asked about. The last of the three overrides wins (R3)."""
        return replace(self, override=reason or True)

    def suppress_approval(self) -> Tool:
        """This tool, never asked about, whatever its own policy, hints and the mode say."""
        return replace(self, override=False)

    def with_approval_policy(self, policy: Callable[[JsonObject], Verdict]) -> Tool:
        """This tool with ``policy`` in place of its own."""
        return replace(self, override=policy)


def _is_policy(policy: object) -> bool:
    # An async function would never be awaited, and an empty reason shows a person nothing.
    if isinstance(policy, str):
        return bool(policy)
    if callable(policy):
        return not inspect.iscoroutinefunction(policy)
    return policy is None or isinstance(policy, bool)


def _require_tool(value: object) -> None:
    if not isinstance(value, Tool):
        called = getattr(value, "__name__", repr(value))
        raise ConfigurationError(f"{called} is not a tool: decorate it with @tool.")


class ToolRegistry:
    """The tools of one agent, by name, in their order.

    Raises:
        ConfigurationError: two tools share a name, or something is no tool.
    """

    __slots__ = ("_tools",)

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        if isinstance(tools, Tool):
            raise ConfigurationError(f"Tools are a list: [{tools.name}].")
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            _require_tool(tool)
            if tool.name in self._tools:
                raise ConfigurationError(f"Two tools are named {tool.name!r}.")
            self._tools[tool.name] = tool

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)


def refuse_reserved_keys(value: JsonValue) -> None:
    """Refuse inputs that a browser's JSON reader would choke on.

    The Vercel SDK refuses a whole stream that holds a ``__proto__`` key inside an input
    (vercel-ai.md §1), so such inputs are the model's error, not the page's.

    Raises:
        InvalidArguments: the key stands somewhere in ``value``.
    """
    level: list[JsonValue] = [value]
    while level:
        item = level.pop()
        if isinstance(item, Mapping):
            if "__proto__" in item:
                raise InvalidArguments("The key __proto__ is reserved")
            level.extend(item.values())
        elif isinstance(item, list):
            level.extend(item)
