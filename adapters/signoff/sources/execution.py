"""Running one tool on the server."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import logging
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import cast

from pydantic_core import to_jsonable_python

from ..errors import InvalidArguments, ToolFailed
from ..json_text import JsonObject, JsonValue, dumps
from ..masking import redact_json, redact_text
from ..outcomes import Outcome, Output, ToolError
from ..tools import Tool, ToolContext, ToolFunction, refuse_reserved_keys
from .model_response import clean

_LOG = logging.getLogger("signoff")

FAILED_TEXT = "The tool failed."
UNFIT_RESULT_TEXT = "The tool ran, but returned a value that cannot be passed on."

# Of our own: the event loop's default pool is small and resolves host names, too, so that a few
# slow tools would hold up everything else.
_THREADS = ThreadPoolExecutor(max_workers=64, thread_name_prefix="signoff-tool")


async def run_tool(tool: Tool, context: ToolContext, arguments: Mapping[str, object]) -> Outcome:
    """Run ``tool`` once. Every way it can end but cancellation is an outcome.

    Results and errors are shown in a browser, so the text of an exception is not passed on, unless
    the tool chose it by raising ``ToolFailed``.
    """
    try:
        value = await _call(tool, context, arguments)
    except ToolFailed as error:
        return ToolError(text=clean(str(error)) or FAILED_TEXT)
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return _failed(tool, context, error)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a tool is foreign code
        return _failed(tool, context, error)
    return _output(tool, context, value)


def redact(outcome: Outcome, secrets: JsonObject) -> Outcome:
    """The outcome without the values of the call's secrets, which a tool may quote."""
    match outcome:
        case Output(value=value):
            return Output(value=redact_json(value, secrets))
        case ToolError(text=text):
            return ToolError(text=redact_text(text, secrets))
        case _:
            return outcome


async def call_foreign(
    function: ToolFunction, context: ToolContext, arguments: Mapping[str, object]
) -> object:
    """Call foreign code: a coroutine function here, any other one in a thread."""
    if inspect.iscoroutinefunction(function):
        result: object = function(context, arguments)
    else:
        variables = contextvars.copy_context()
        result = await asyncio.get_running_loop().run_in_executor(
            _THREADS, lambda: variables.run(lambda: function(context, arguments))
        )
    return await result if inspect.isawaitable(result) else result


async def _call(tool: Tool, context: ToolContext, arguments: Mapping[str, object]) -> object:
    if tool.function is None:
        raise ToolFailed("This tool does not run on the server.")
    return await call_foreign(tool.function, context, arguments)


def _output(tool: Tool, context: ToolContext, value: object) -> Outcome:
    try:
        result = cast("JsonValue", to_jsonable_python(value))
        # NaN, half surrogate pairs and keys that the Vercel SDK's reader refuses would end the
        # page's stream instead of this call (B101).
        dumps(result)
        refuse_reserved_keys(result)
    except (ValueError, TypeError, RecursionError, InvalidArguments) as error:
        _log("A tool returned what is not JSON", tool, context, error)
        return ToolError(text=UNFIT_RESULT_TEXT)
    return Output(value=result)


def _failed(tool: Tool, context: ToolContext, error: BaseException) -> ToolError:
    _log("A tool failed", tool, context, error)
    return ToolError(text=FAILED_TEXT)


def _log(what: str, tool: Tool, context: ToolContext, error: BaseException) -> None:
    _LOG.error(
        "%s. tool=%s call=%s run=%s error=%s",
        what,
        tool.name,
        context.call_id,
        context.run_id,
        type(error).__name__,
    )
    if not tool.secrets:
        # A trace quotes what the failing code was given.
        _LOG.debug("Details of the failure", exc_info=error)
