"""The content of a user message, in both directions.

Text is a string, or a list of parts::

    [{"type": "text", "text": "What is this?"},
     {"type": "image", "source": {"type": "data", "value": "iVBORw0…", "mimeType": "image/png"},
      "metadata": {"filename": "scan.png"}}]
"""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import InvalidBody
from ..json_text import JsonObject, JsonValue
from ..messages import FilePart, Part, ReasoningPart, TextPart

_MEDIA = ("image", "audio", "video")
_UNNAMED = {"image": "image/*", "audio": "audio/*", "video": "video/*", "document": "*/*"}


def read_content(value: JsonValue) -> tuple[Part, ...]:
    """The parts of a user message, texts as they were typed (R124).

    Raises:
        InvalidBody: no text and no file, or a part of an unknown kind. A provider's file id is one:
            no other client could show it.
    """
    if isinstance(value, str):
        parts: tuple[Part, ...] = (TextPart(text=value),) if value else ()
    elif isinstance(value, list):
        parts = tuple(part for part in map(_read_part, value) if part != TextPart(text=""))
    else:
        raise InvalidBody("A user message's content is text or a list of parts.")
    if not parts:
        raise InvalidBody("A user message has text or a file.")
    return parts


def write_content(parts: tuple[Part, ...]) -> JsonValue:
    """The same for a client: one text as a string, anything else as a list of parts."""
    match parts:
        case (TextPart(text=text),):
            return text
        case _:
            return [_write_part(part) for part in parts]


def _read_part(part: JsonValue) -> Part:
    read: Part | None = None
    if isinstance(part, Mapping):
        kind = _text(part, "type") or ""
        source = part.get("source")
        if kind == "text":
            text = _text(part, "text")
            read = None if text is None else TextPart(text=text)
        elif kind == "binary":
            # Of 0.0.x; retired in 1.0.
            read = _binary(part)
        elif kind in _UNNAMED and isinstance(source, Mapping):
            read = _file(part, source, _UNNAMED[kind])
    if read is None:
        raise InvalidBody("A content part is text, or a file by url or data.")
    return read


def _file(part: JsonObject, source: JsonObject, unnamed: str) -> FilePart | None:
    value, kind = _text(source, "value"), source.get("type")
    if value is None or kind not in ("url", "data"):
        return None
    metadata = part.get("metadata")
    return FilePart(
        media_type=_text(source, "mimeType") or unnamed,
        url=value if kind == "url" else None,
        data=value if kind == "data" else None,
        filename=_text(metadata, "filename") if isinstance(metadata, Mapping) else None,
    )


def _binary(part: JsonObject) -> FilePart | None:
    media_type, url, data = (_text(part, key) for key in ("mimeType", "url", "data"))
    if not media_type or (url is None) == (data is None):
        return None
    return FilePart(media_type=media_type, url=url, data=data, filename=_text(part, "filename"))


def _write_part(part: Part) -> JsonObject:
    match part:
        case TextPart(text=text) | ReasoningPart(text=text):
            return {"type": "text", "text": text}
        case FilePart():
            return _write_file(part)


def _write_file(part: FilePart) -> JsonObject:
    family = part.media_type.partition("/")[0]
    document: dict[str, JsonValue] = {
        "type": family if family in _MEDIA else "document",
        "source": {
            "type": "url" if part.url is not None else "data",
            "value": part.url if part.url is not None else part.data or "",
            "mimeType": part.media_type,
        },
    }
    if part.filename is not None:
        document["metadata"] = {"filename": part.filename}
    return document


def _text(document: JsonObject, key: str) -> str | None:
    value = document.get(key)
    return value if isinstance(value, str) else None
