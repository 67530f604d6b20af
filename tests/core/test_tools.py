"""Tools as data: registry, overrides, reserved keys, and schemas from elsewhere."""

from __future__ import annotations

import pytest

from signoff.errors import ConfigurationError, InvalidArguments
from signoff.json_text import JsonObject, JsonValue
from signoff.policy import Ask, Gate, Run
from signoff.schema_tools import MAX_SCHEMA_BYTES, SchemaBinder, schema_tool
from signoff.tools import Tool, ToolRegistry, refuse_reserved_keys


def make(name: str = "delete", **rest: object) -> Tool:
    return schema_tool(
        name=name,
        input_schema={"type": "object"},
        function=lambda _context, _arguments: None,
        **rest,  # type: ignore[arg-type]  # a shorthand of this file
    )


def test_a_registry_finds_tools_by_their_whole_name() -> None:
    registry = ToolRegistry([make("a"), make("b")])
    assert [tool.name for tool in registry] == ["a", "b"]
    assert len(registry) == 2
    assert registry.get("a") is next(iter(registry))
    for name in ("A", "a ", "", "constructor", "__proto__", "__class__"):
        assert registry.get(name) is None


@pytest.mark.parametrize(
    ("build", "what"),
    [
        pytest.param(lambda: ToolRegistry([make("a"), make("a")]), "Two tools", id="same-name"),
        pytest.param(lambda: make(""), "needs a name", id="no-name"),
        pytest.param(
            lambda: schema_tool(name="a", input_schema={}), "has no function", id="no-function"
        ),
        pytest.param(lambda: make(approval=""), "a policy is", id="empty-reason"),
    ],
)
def test_tools_that_cannot_work(build: object, what: str) -> None:
    with pytest.raises(ConfigurationError, match=what):
        build()  # type: ignore[operator]  # a table of functions


@pytest.mark.req("R3")
def test_the_last_override_wins_and_clears_the_others() -> None:
    gate = Gate(mode="off")
    plain = make(approval=False)
    assert gate.judge(plain, {}) == Run(rule="tool")
    required = plain.require_approval("ask me")
    assert gate.judge(required, {}) == Ask(reason="ask me", risk="mutating", rule="override")
    assert gate.judge(required.suppress_approval(), {}) == Run(rule="override")
    by_policy = required.suppress_approval().with_approval_policy(lambda inputs: "x" in inputs)
    assert gate.judge(by_policy, {}) == Run(rule="override")
    assert isinstance(gate.judge(by_policy, {"x": 1}), Ask)
    again = by_policy.require_approval()
    assert isinstance(gate.judge(again, {}), Ask)
    assert gate.judge(plain, {}) == Run(rule="tool"), "the tool itself stays as it was"


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"__proto__": 1}, id="top"),
        pytest.param({"a": {"__proto__": {}}}, id="inside"),
        pytest.param({"a": [1, [{"__proto__": None}]]}, id="in-lists"),
    ],
)
def test_keys_that_end_a_pages_stream_are_refused(value: JsonValue) -> None:
    with pytest.raises(InvalidArguments):
        refuse_reserved_keys(value)


def test_b88_such_names_are_only_refused_as_keys() -> None:
    refuse_reserved_keys({"a": ["__proto__", "constructor"], "constructor": 1, "prototype": {}})


SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "code": {"type": "string", "pattern": "^(a+)+$"},
        "parent": {"$ref": "#"},
    },
    "required": ["id"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "inputs",
    [
        pytest.param({"id": 1}, id="plain"),
        pytest.param({"id": 12345678901234567890123}, id="big-integer"),
        pytest.param({"id": 1, "parent": {"id": 2}}, id="reference-inside"),
    ],
)
def test_a_schema_checks_and_rewrites_nothing(inputs: JsonObject) -> None:
    bound = SchemaBinder(SCHEMA)(inputs)
    assert bound.effective == bound.arguments == inputs


@pytest.mark.parametrize(
    ("inputs", "what"),
    [
        pytest.param({}, 'inputs: "id" is a required property', id="missing"),
        pytest.param({"id": "1"}, 'id: "1" is not of type "integer"', id="no-cast"),
        pytest.param({"id": 1, "parent": {}}, "parent: ", id="inside"),
        pytest.param({"id": 1, "x": 1}, "x", id="unknown-key"),
        pytest.param({"id": 1, "code": "a" * 40 + "b"}, "code: ", id="linear-time-pattern"),
        pytest.param({"id": 1, "__proto__": 1}, "__proto__", id="reserved-key"),
    ],
)
def test_inputs_that_a_schema_does_not_take(inputs: JsonObject, what: str) -> None:
    with pytest.raises(InvalidArguments) as caught:
        SchemaBinder(SCHEMA)(inputs)
    assert what in str(caught.value)


def test_the_model_is_not_told_more_than_it_can_use() -> None:
    binder = SchemaBinder({"additionalProperties": {"type": "integer"}})
    with pytest.raises(InvalidArguments) as caught:
        binder({f"key{n}": "x" * 10_000 for n in range(100)})
    assert len(str(caught.value)) < 2_000


@pytest.mark.parametrize(
    ("schema", "what"),
    [
        pytest.param({"$ref": "http://127.0.0.1:9/x.json"}, "another document", id="remote"),
        pytest.param({"$ref": "file:///etc/passwd"}, "another document", id="file"),
        pytest.param({"$ref": "#/$defs/none"}, "does not exist", id="dangling"),
        pytest.param({"$schema": "http://x.example/s"}, "cannot be used", id="unknown-dialect"),
        pytest.param({"properties": {"a": {"type": "objekt"}}}, "cannot be used", id="no-schema"),
        pytest.param(
            {"properties": {"a": {"pattern": "(?=a)b"}}}, "cannot be used", id="look-ahead"
        ),
        pytest.param({"type": "array"}, "describe an object", id="no-object"),
        pytest.param({"description": "x" * MAX_SCHEMA_BYTES}, "bytes", id="too-large"),
        pytest.param({"default": float("nan")}, "has to be JSON", id="nan"),
    ],
)
def test_schemas_that_are_refused(schema: JsonObject, what: str) -> None:
    with pytest.raises(ConfigurationError, match=what):
        SchemaBinder(schema)
