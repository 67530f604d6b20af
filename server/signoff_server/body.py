"""Request bodies: JSON, read strictly and never past the limit."""

from __future__ import annotations

from starlette.requests import Request

from signoff.errors import InvalidBody, TooLarge, UnsupportedMediaType
from signoff.json_text import JsonTextError, JsonValue, parse

from .limits import Limits


async def read_json(request: Request, limits: Limits) -> JsonValue:
    """The body as JSON, before anything is done with it.

    The content type has to be JSON. That is also a guard: a form on another site cannot send it
    without asking the browser's permission first.

    Raises:
        UnsupportedMediaType: another content type, or none.
        TooLarge: more bytes than ``limits.body_bytes``; raised while reading, so that no more than
            that is ever held.
        InvalidBody: not the JSON that ``signoff.json_text.parse`` reads.
    """
    if not _is_json(request.headers.get("content-type", "")):
        raise UnsupportedMediaType
    body = await _read(request, limits.body_bytes)
    try:
        return parse(body, max_depth=limits.depth)
    except JsonTextError as error:
        raise InvalidBody(f"The request body cannot be read: {error}.") from None


def _is_json(content_type: str) -> bool:
    media_type = content_type.partition(";")[0].strip().lower()
    return media_type == "application/json" or (
        media_type.startswith("application/") and media_type.endswith("+json")
    )


async def _read(request: Request, limit: int) -> bytes:
    announced = request.headers.get("content-length", "")
    if announced.isascii() and announced.isdigit() and int(announced) > limit:
        raise TooLarge
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise TooLarge
    return bytes(body)
