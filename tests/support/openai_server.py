"""A provider on loopback that speaks OpenAI's streaming chat-completions format."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from signoff.json_text import JsonObject
from support.loopback import serving


def delta(**fields: object) -> JsonObject:
    """One chunk with a piece of the answer."""
    return _chunk({"index": 0, "delta": fields, "finish_reason": None})


def finish(reason: str) -> JsonObject:
    """The chunk that says why the answer ends."""
    return _chunk({"index": 0, "delta": {}, "finish_reason": reason})


def call_piece(index: int, arguments: str, *, id: str = "", name: str = "") -> JsonObject:
    """A piece of a call; the provider sends id and name with the first one only."""
    function: dict[str, object] = {"arguments": arguments}
    if name:
        function["name"] = name
    piece: dict[str, object] = {"index": index, "function": function}
    if id:
        piece |= {"id": id, "type": "function"}
    return delta(tool_calls=[piece])


def _chunk(choice: object) -> JsonObject:
    return json.loads(  # type: ignore[no-any-return]  # an object by construction
        json.dumps(
            {
                "id": "chatcmpl-1",
                "object": "chat.completion.chunk",
                "created": 1764547200,
                "model": "test-model",
                "choices": [choice],
            }
        )
    )


class OpenAIServer:
    """Answers one request after the other with the given chunks, or with an error status.

    ``bodies`` holds what it was sent.
    """

    def __init__(self, *answers: Sequence[JsonObject] | int) -> None:
        self._answers = iter(answers)
        self.bodies: list[dict[str, Any]] = []

    async def handle(self, request: Request) -> Response:
        self.bodies.append(await request.json())
        answer = next(self._answers)
        if isinstance(answer, int):
            error = {"message": "the provider's secret", "type": "invalid_request_error"}
            return JSONResponse({"error": error}, status_code=answer)
        return StreamingResponse(_frames(answer), media_type="text/event-stream")

    @contextmanager
    def running(self) -> Iterator[str]:
        """Serve, and give the base address of the interface."""
        app = Starlette(routes=[Route("/v1/chat/completions", self.handle, methods=["POST"])])
        with serving(app) as address:
            yield f"{address}/v1"


async def _frames(chunks: Sequence[JsonObject]) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield f"data: {json.dumps(chunk)}\n\n".encode()
    yield b"data: [DONE]\n\n"
