"""``@tool``: the schema, the cast and the context of a typed function."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, Literal

import pytest
from hypothesis import given
from pydantic import BaseModel, Field

from signoff.errors import ConfigurationError, InvalidArguments
from signoff.function_tools import tool
from signoff.json_text import JsonValue
from signoff.schema_tools import schema_tool
from signoff.suspension import call_hash
from signoff.tools import Hints, ToolContext
from support.strategies import json_objects

CONTEXT = ToolContext(thread_id="t1", run_id="r1", call_id="c1", principal_id="demo")


class Currency(Enum):
    EUR = "EUR"
    CHF = "CHF"


class Address(BaseModel):
    street: str
    number: int = 1


@tool(approval="Money leaves the account", destructive=True, idempotent=False)
def pay(
    amount: Decimal,
    to: Address,
    currency: Currency = Currency.EUR,
    on: date | None = None,
    copies: Annotated[int, Field(ge=1, description="how many receipts")] = 1,
    *,
    context: ToolContext,
) -> str:
    """Pay an invoice.

    From the company account.
    """
    return f"{context.call_id}: {amount} {currency.value} to {to.street} on {on}, {copies}"


def test_what_the_decorator_takes_from_the_function() -> None:
    assert pay.name == "pay"
    assert pay.description == "Pay an invoice.\n\nFrom the company account."
    assert pay.hints == Hints(destructive=True, idempotent=False)
    assert pay.approval == "Money leaves the account"
    assert pay.runs == "server"


def test_the_schema_says_what_the_model_may_send() -> None:
    schema = pay.input_schema
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["amount", "to"]
    properties = schema["properties"]
    assert isinstance(properties, dict)
    assert list(properties) == ["amount", "to", "currency", "on", "copies"]
    assert properties["copies"] == {
        "default": 1,
        "description": "how many receipts",
        "minimum": 1,
        "type": "integer",
    }


@pytest.mark.req("R1")
def test_inputs_are_cast_and_defaults_filled_in_before_anybody_sees_them() -> None:
    bound = pay.bind({"amount": "10.50", "to": {"street": "Main"}, "copies": "2"})
    assert bound.effective == {
        "amount": "10.50",
        "to": {"street": "Main", "number": 1},
        "currency": "EUR",
        "on": None,
        "copies": 2,
    }
    assert bound.arguments["amount"] == Decimal("10.50")
    assert bound.arguments["to"] == Address(street="Main")
    assert bound.arguments["currency"] is Currency.EUR
    assert pay.function is not None
    assert pay.function(CONTEXT, bound.arguments) == "c1: 10.50 EUR to Main on None, 2"


@pytest.mark.req("R12")
def test_b127_effective_inputs_bind_to_themselves() -> None:
    once = pay.bind({"amount": 10, "to": {"street": "Main"}, "on": "2026-12-01"})
    again = pay.bind(once.effective)
    assert call_hash("pay", again.effective) == call_hash("pay", once.effective)
    assert again.arguments == once.arguments


@pytest.mark.parametrize(
    ("inputs", "what"),
    [
        pytest.param({}, "amount: Field required; to: Field required", id="missing"),
        pytest.param({"amount": "ten", "to": {"street": "a"}}, "amount: ", id="wrong-type"),
        pytest.param({"amount": 1, "to": {"street": 3}}, "to.street: ", id="wrong-type-inside"),
        pytest.param({"amount": 1, "to": {"street": "a"}, "copies": 0}, "copies: ", id="range"),
        pytest.param({"amount": 1, "to": {"street": "a"}, "x": 1}, "x: Extra", id="unknown-key"),
        pytest.param(
            {"amount": 1, "to": {"street": "a"}, "context": {}}, "context: ", id="context"
        ),
        pytest.param(
            {"amount": 1, "to": {"street": "a"}, "input_4": 2}, "input_4: ", id="own-name"
        ),
        pytest.param({"amount": 1, "to": {"street": "a", "__proto__": 1}}, "__proto__", id="proto"),
    ],
)
def test_inputs_that_the_schema_does_not_take(inputs: dict[str, JsonValue], what: str) -> None:
    with pytest.raises(InvalidArguments) as caught:
        pay.bind(inputs)
    assert str(caught.value).startswith(what) or what in str(caught.value)


def test_inputs_that_cannot_be_kept_are_refused() -> None:
    @tool
    def scale(factor: float) -> None:
        """Scale."""

    with pytest.raises(InvalidArguments, match="cannot be kept"):
        scale.bind({"factor": "nan"})


@given(json_objects)
def test_any_object_binds_or_is_refused(inputs: dict[str, JsonValue]) -> None:
    try:
        bound = anything.bind(inputs)
    except InvalidArguments:
        return
    assert set(bound.effective) == {"copy", "_x", "model_config", "self_"}


@tool
def anything(
    copy: str = "", _x: int | None = None, model_config: list[int] | None = None, self_: object = 0
) -> None:
    """Take parameters with names that pydantic keeps for itself."""


def test_a_parameter_may_have_any_name() -> None:
    bound = anything.bind({"copy": "a", "_x": 1, "model_config": [2], "self_": {"b": None}})
    assert bound.arguments == {"copy": "a", "_x": 1, "model_config": [2], "self_": {"b": None}}


@pytest.mark.anyio
async def test_async_functions_and_methods() -> None:
    class Shop:
        name = "shop"

        async def stock(self, item: str, context: ToolContext) -> str:
            """Look up the stock."""
            return f"{self.name}:{item}:{context.principal_id}"

    made = tool(name="look_up")(Shop().stock)
    assert (made.name, made.description) == ("look_up", "Look up the stock.")
    assert made.function is not None
    result = made.function(CONTEXT, {"item": "nail"})
    assert not isinstance(result, str)
    assert await result == "shop:nail:demo"  # type: ignore[misc]  # an object | Awaitable[object]


def _without_hint(path) -> None: ...  # type: ignore[no-untyped-def]  # that is the case


def _positional(path: str, /) -> None: ...


def _variadic(*paths: str) -> None: ...


def _keywords(**paths: str) -> None: ...


class Odd:
    pass


def _odd_type(x: Odd) -> None: ...


def _undefined_type(x: Undefined) -> None: ...  # type: ignore[name-defined]  # noqa: F821 - that is the case


@pytest.mark.parametrize(
    ("function", "what"),
    [
        pytest.param(_without_hint, "'path' has no type hint", id="no-type-hint"),
        pytest.param(_positional, "'path' cannot be given by its name", id="positional-only"),
        pytest.param(_variadic, "'paths' cannot be given by its name", id="variadic"),
        pytest.param(_keywords, "'paths' cannot be given by its name", id="keywords"),
        pytest.param(_odd_type, "Unable to generate", id="type-without-schema"),
        pytest.param(_undefined_type, "'Undefined' is not defined", id="undefined-type"),
        pytest.param(
            functools.partial(_positional, "a"), "is not a module, class, method", id="partial"
        ),
    ],
)
def test_functions_that_cannot_be_tools(function: Callable[..., object], what: str) -> None:
    with pytest.raises(ConfigurationError, match=what):
        tool(function)


async def _async_policy(inputs: object) -> bool:
    return bool(inputs)


@pytest.mark.parametrize(
    "policy",
    [
        pytest.param("", id="empty-reason"),
        pytest.param(_async_policy, id="async-function"),
        pytest.param(1, id="number"),
        pytest.param(["reason"], id="list"),
    ],
)
def test_b86_a_policy_that_cannot_work_is_refused_where_it_is_made(policy: object) -> None:
    with pytest.raises(ConfigurationError, match="a policy is"):
        tool(approval=policy)(_no_inputs)  # type: ignore[call-overload]  # that is the case


def _no_inputs() -> Literal["ok"]:
    return "ok"


def test_a_tool_without_inputs() -> None:
    made = tool(_no_inputs)
    assert made.bind({}).effective == {}
    assert made.input_schema == {"additionalProperties": False, "properties": {}, "type": "object"}
    assert datetime.now(UTC).tzinfo is UTC


def test_a_tool_is_called_as_its_function_where_nobody_is_to_be_asked() -> None:
    @tool(approval="Deleting a file is irreversible")
    def delete_file(path: str, *, twice: bool = False) -> str:
        return f"{path} {twice}"

    assert delete_file("a.log", twice=True) == "a.log True"
    assert delete_file.require_approval()(path="a.log") == "a.log False"
    described = schema_tool(name="act", input_schema={}, function=lambda _context, _inputs: None)
    with pytest.raises(TypeError, match="was not made from a Python function"):
        described()


@dataclass
class _Address:
    street: str
    number: int = 1


def test_a_dataclass_is_a_parameter_like_any_other() -> None:
    @tool
    def ship(to: _Address) -> str:
        return f"{to.street} {to.number}"

    bound = ship.bind({"to": {"street": "Elm"}})
    assert bound.effective == {"to": {"street": "Elm", "number": 1}}
    assert bound.arguments == {"to": _Address("Elm")}
    with pytest.raises(InvalidArguments, match="street"):
        ship.bind({"to": {}})
