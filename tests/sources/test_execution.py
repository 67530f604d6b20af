"""One tool, run once: however it ends, the page's stream and its secrets survive."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from pydantic import BaseModel

from signoff.errors import ToolFailed
from signoff.json_text import JsonValue, dumps
from signoff.outcomes import Output, ToolError
from signoff.schema_tools import schema_tool
from signoff.sources.execution import FAILED_TEXT, UNFIT_RESULT_TEXT, run_tool
from signoff.tools import Tool, ToolContext

pytestmark = pytest.mark.anyio

CONTEXT = ToolContext(thread_id="t1", run_id="r1", call_id="c1", principal_id="demo")


def make(function: Callable[[], object]) -> Tool:
    return schema_tool(
        name="act", input_schema={}, function=lambda _context, _arguments: function()
    )


class Receipt(BaseModel):
    amount: Decimal


@pytest.mark.parametrize(
    ("value", "result"),
    [
        pytest.param("text", "text", id="text"),
        pytest.param(None, None, id="nothing"),
        pytest.param(False, False, id="false"),
        pytest.param(2**70, 2**70, id="big-integer"),
        pytest.param(
            {"at": datetime(2026, 12, 1, tzinfo=UTC)}, {"at": "2026-12-01T00:00:00Z"}, id="time"
        ),
        pytest.param(Receipt(amount=Decimal("1.50")), {"amount": "1.50"}, id="pydantic-model"),
        pytest.param((1, {2: "a"}), [1, {"2": "a"}], id="tuple-and-number-as-key"),
        pytest.param(b"bytes", "bytes", id="bytes"),
        pytest.param("a\x00b", "a\x00b", id="nul"),
    ],
)
async def test_b125_results_become_json(value: object, result: JsonValue) -> None:
    outcome = await run_tool(make(lambda: value), CONTEXT, {})
    assert outcome == Output(value=result)
    dumps(result)


def _endless() -> list[object]:
    loop: list[object] = []
    loop.append(loop)
    return loop


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"score": float("nan")}, id="nan"),
        pytest.param([float("-inf")], id="infinity"),
        pytest.param(object(), id="object"),
        pytest.param({"f": lambda: 1}, id="function"),
        pytest.param(b"\xff", id="bytes-that-are-no-text"),
        pytest.param("\ud800", id="half-surrogate-pair"),
        pytest.param(_endless(), id="endless"),
        pytest.param({"a": [{"__proto__": 1}]}, id="key-that-ends-a-stream"),
    ],
)
async def test_b101_a_result_that_is_not_json_is_an_error_of_this_call(value: object) -> None:
    outcome = await run_tool(make(lambda: value), CONTEXT, {})
    assert outcome == ToolError(text=UNFIT_RESULT_TEXT)


def _raise(error: BaseException) -> Callable[[], object]:
    def function() -> object:
        raise error

    return function


@pytest.mark.req("R118")
@pytest.mark.parametrize(
    ("error", "text"),
    [
        pytest.param(ToolFailed("No such file"), "No such file", id="chosen-text"),
        pytest.param(ToolFailed(""), FAILED_TEXT, id="empty-text"),
        pytest.param(ToolFailed("a\ud800"), "a\ufffd", id="half-surrogate-pair"),
        pytest.param(RuntimeError("postgres://user:secret@db"), FAILED_TEXT, id="any-exception"),
        pytest.param(SystemExit(1), FAILED_TEXT, id="exit"),
        pytest.param(TimeoutError(), FAILED_TEXT, id="timeout"),
    ],
)
async def test_only_a_text_that_the_tool_chose_is_passed_on(
    error: BaseException, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def later(_context: ToolContext, _arguments: Mapping[str, object]) -> object:
        raise error

    with caplog.at_level(logging.INFO):
        for tool in (make(_raise(error)), schema_tool(name="act", input_schema={}, function=later)):
            assert await run_tool(tool, CONTEXT, {}) == ToolError(text=text)
    assert "secret" not in caplog.text


async def test_a_cancelled_error_of_the_tools_own_is_a_failure() -> None:
    async def function(_context: ToolContext, _arguments: Mapping[str, object]) -> object:
        raise asyncio.CancelledError

    tool = schema_tool(name="act", input_schema={}, function=function)
    assert await run_tool(tool, CONTEXT, {}) == ToolError(text=FAILED_TEXT)


async def test_cancelling_the_run_leaves_a_blocked_tool_behind() -> None:
    began, release = threading.Event(), threading.Event()

    def function() -> None:
        began.set()
        release.wait(30)

    task = asyncio.create_task(run_tool(make(function), CONTEXT, {}))
    await asyncio.to_thread(began.wait, 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    release.set()


async def test_blocking_tools_do_not_block_each_other_or_the_loop() -> None:
    barrier = threading.Barrier(12)
    tool = make(lambda: barrier.wait(30) >= 0)
    outcomes = await asyncio.gather(*(run_tool(tool, CONTEXT, {}) for _ in range(12)))
    assert outcomes == [Output(value=True)] * 12


async def test_context_variables_and_the_call_reach_the_tool() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")
    variable.set("set")
    seen: list[tuple[ToolContext, object, str, bool]] = []

    def function(context: ToolContext, arguments: Mapping[str, object]) -> None:
        on_loop = threading.current_thread() is threading.main_thread()
        seen.append((context, arguments, variable.get(), on_loop))

    tool = schema_tool(name="act", input_schema={}, function=function)
    await run_tool(tool, CONTEXT, {"a": 1})
    assert seen == [(CONTEXT, {"a": 1}, "set", False)]


async def test_a_function_that_returns_an_awaitable_is_awaited() -> None:
    async def later() -> int:
        return 3

    assert await run_tool(make(later), CONTEXT, {}) == Output(value=3)
