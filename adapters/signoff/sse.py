"""The bytes of one server-sent event.

Lines end in LF: the AG-UI client splits on a blank line and dies on CRLF (ag-ui.md §0). The payload
is JSON with its control characters escaped, so it cannot forge a line (B98).
"""

from __future__ import annotations

from .json_text import encode


def data_frame(payload: object) -> bytes:
    """``data: {json}`` and a blank line."""
    # Joined at once: each ``+`` copies the payload, and a snapshot may be large.
    return b"".join((b"data: ", encode(payload), b"\n\n"))


def named_frame(name: str, payload: object) -> bytes:
    """``event: {name}``, ``data: {json}`` and a blank line. ``name`` is ours, never a client's."""
    return b"".join((b"event: ", name.encode("ascii"), b"\ndata: ", encode(payload), b"\n\n"))


STREAM_HEADERS = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-store, no-transform",
    "x-accel-buffering": "no",
}
"""What every stream carries: no proxy may buffer, cache or compress it (B94, B95)."""
