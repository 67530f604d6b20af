"""What a tool says a call would do, made once when a person is asked about it."""

from __future__ import annotations

import asyncio
import bisect
import logging
from collections.abc import Mapping

from ..json_text import JsonObject, dumps
from ..masking import redact_text
from ..tools import Tool, ToolContext
from .execution import call_foreign
from .model_response import clean

_LOG = logging.getLogger("signoff")

PREVIEW_SECONDS = 5.0
"""How long a preview may take; the person is asked without one then."""

MAX_PREVIEW_BYTES = 8192
"""Of a preview as JSON text (R50)."""

NO_PREVIEW = "[No preview: it could not be made.]"
CUT_LINE = "\n[The preview is longer: it was cut here.]"


async def make_preview(
    tool: Tool | None,
    context: ToolContext,
    arguments: Mapping[str, object],
    secrets: JsonObject,
    *,
    seconds: float = PREVIEW_SECONDS,
) -> str | None:
    """The tool's preview, None where it makes none.

    Whatever goes wrong with it is a marked line in its place, without the failure's own text; the
    call is asked about all the same (R79). A synchronous preview that takes too long goes on in
    its thread, and nobody waits for it.
    """
    if tool is None or tool.preview is None:
        return None
    try:
        async with asyncio.timeout(seconds):
            made = await call_foreign(tool.preview, context, arguments)
        if not isinstance(made, str):
            raise TypeError("a preview is a string")
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return NO_PREVIEW
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a preview is foreign code
        _LOG.error(
            "A preview failed. tool=%s call=%s run=%s error=%s",
            tool.name,
            context.call_id,
            context.run_id,
            type(error).__name__,
        )
        if not tool.secrets:
            _LOG.debug("Details of the failure", exc_info=error)
        return NO_PREVIEW
    return cut(redact_text(clean(made), secrets))


def cut(text: str) -> str:
    """``text``, or as much of it as fits into ``MAX_PREVIEW_BYTES`` with a line that says so."""
    if _size(text) <= MAX_PREVIEW_BYTES:
        return text
    text = text[:MAX_PREVIEW_BYTES]
    longest = bisect.bisect_right(
        range(len(text)), MAX_PREVIEW_BYTES, key=lambda length: _size(text[:length] + CUT_LINE)
    )
    return text[: longest - 1] + CUT_LINE


def _size(text: str) -> int:
    return len(dumps(text).encode())
