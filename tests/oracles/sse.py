"""Server-sent events as text, and back: only what the clients themselves look at."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

# JSON as a peer wrote it: its shape is what a test is about to look at.
JsonObject: TypeAlias = dict[str, Any]
Frames: TypeAlias = str | bytes | Iterable[str | bytes | Mapping[str, Any]]


def sse(frames: Frames) -> str:
    """Join frames to one body: text and bytes as they are, a mapping as one `data:` event."""
    if isinstance(frames, str | bytes):
        return _text(frames)
    return "".join(map(_text, frames))


def _text(frame: str | bytes | Mapping[str, Any]) -> str:
    match frame:
        case str():
            return frame
        case bytes():
            return frame.decode()
        case _:
            return f"data: {json.dumps(frame)}\n\n"


def frames_of(text: str) -> list[JsonObject]:
    """Read the JSON of every `data:` event of a body; comments and `[DONE]` are left out."""
    data = [line.removeprefix("data:").strip() for line in text.splitlines() if line[:5] == "data:"]
    return [json.loads(one) for one in data if one != "[DONE]"]
