"""The format of a scenario file (design §9), as it stands in the JSON.

    {"tools": [{"name": "delete_file", "description": "Delete a file from the filesystem",
                "inputs": {"type": "object", "properties": {"path": {"type": "string"}}},
                "hints": {"destructive": true}, "approval": "Deleting a file is irreversible",
                "result": {"deleted": true}}],
     "turns": [{"when": "delete",
                "steps": [{"text": "I will delete it.",
                           "calls": [{"id": "toolu_01", "name": "delete_file",
                                      "inputs": {"path": "/tmp/old.log"}}]},
                          {"text": "Finished: {results}"}]}]}

Unknown keys are errors: a misspelt ``approval`` must not read as "nothing said".
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

Words = Annotated[str, Field(min_length=1)]
Seconds = Annotated[float, Field(ge=0, le=3600, allow_inf_nan=False)]
ObjectSchema = dict[str, JsonValue]


def _any_object() -> ObjectSchema:
    return {"type": "object"}


class _Part(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True, frozen=True)


class HintsSpec(_Part):
    """What the tool's author says of its effects."""

    readonly: bool | None = None
    destructive: bool | None = None
    open_world: bool | None = None
    idempotent: bool | None = None


class ToolSpec(_Part):
    """One tool.

    Attributes:
        approval: true asks, false does not, a text asks and is the reason; absent leaves it to the
            mode and the hints.
        result: what every execution returns; ``error`` instead makes every execution fail.
        delay_seconds: how long an execution takes.
        secrets: names of inputs whose values nobody is shown.
        preview: what a person is shown of a call: ``{name}`` becomes that input, text as it is and
            any other value as JSON.
        asks: a schema of the input that a person gives before the tool runs.
    """

    name: Words
    description: str = ""
    inputs: ObjectSchema = Field(default_factory=_any_object)
    hints: HintsSpec = Field(default_factory=HintsSpec)
    approval: bool | Words | None = None
    runs: Literal["server", "browser"] = "server"
    result: JsonValue = None
    error: Words | None = None
    delay_seconds: Seconds = 0
    asks: ObjectSchema | None = None
    secrets: list[Words] = Field(default_factory=list[Words])
    preview: Words | None = None

    @model_validator(mode="after")
    def _one_outcome(self) -> Self:
        if self.error is not None and "result" in self.model_fields_set:
            raise ValueError("a tool has a result or an error, not both")
        return self


class CallSpec(_Part):
    """One call. ``arguments`` is the raw text instead of ``inputs``, for JSON that is broken."""

    id: str = ""
    name: str
    inputs: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    arguments: str | None = None

    @model_validator(mode="after")
    def _one_text(self) -> Self:
        if self.arguments is not None and "inputs" in self.model_fields_set:
            raise ValueError("a call has inputs or arguments, not both")
        return self


class Step(_Part):
    """One model response.

    Attributes:
        reasoning: what the model thinks first.
        text: what it says. ``{results}`` becomes the compact JSON list of ``[callId, text the model
            was given]`` since the step before.
        calls: what it calls; a step without calls ends the turn.
        chunk: characters in one delta.
        delay_seconds: between two deltas.
        fail: the model fails after what the step streamed.
    """

    reasoning: str = ""
    text: str = ""
    calls: list[CallSpec] = Field(default_factory=list[CallSpec])
    chunk: Annotated[int, Field(ge=1)] = 8
    delay_seconds: Seconds = 0
    fail: bool = False


class Turn(_Part):
    """What follows a user message whose text has ``when`` in it, in any case; every message where
    there is no ``when``."""

    when: Words | None = None
    steps: list[Step] = Field(default_factory=list[Step])


class ScenarioFile(_Part):
    """A whole file."""

    tools: list[ToolSpec] = Field(default_factory=list[ToolSpec])
    turns: list[Turn] = Field(default_factory=list[Turn])
