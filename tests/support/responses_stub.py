"""A local server that speaks as much of OpenAI's streaming Responses API as an agent needs: every
answer is one that a test put down beforehand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

Item: TypeAlias = dict[str, Any]


def call(call_id: str, name: str, arguments: dict[str, Any]) -> Item:
    return {
        "type": "function_call",
        "id": f"fc_{call_id}",
        "call_id": call_id,
        "name": name,
        "arguments": json.dumps(arguments),
        "status": "completed",
    }


def text(said: str) -> Item:
    return {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": said, "annotations": []}],
    }


@dataclass
class ResponsesStub:
    """Attributes: ``answers``, one item for each request; ``requests``, the bodies that came."""

    answers: list[Item]
    requests: list[Item] = field(default_factory=list)

    @property
    def app(self) -> Starlette:
        return Starlette(routes=[Route("/v1/responses", self._respond, methods=["POST"])])

    async def _respond(self, request: Request) -> StreamingResponse:
        self.requests.append(await request.json())
        item = self.answers[len(self.requests) - 1]
        return StreamingResponse(map(_frame, _events(item)), media_type="text/event-stream")


def _events(item: Item) -> Iterator[Item]:
    response: Item = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "gpt-5",
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    place = {"output_index": 0, "item_id": item["id"]}
    yield {
        "type": "response.created",
        "response": response | {"status": "in_progress", "output": []},
    }
    if item["type"] == "function_call":
        begun = item | {"arguments": "", "status": "in_progress"}
        yield {"type": "response.output_item.added", "output_index": 0, "item": begun}
        for character in item["arguments"]:
            yield {"type": "response.function_call_arguments.delta", "delta": character} | place
    else:
        begun = item | {"content": [], "status": "in_progress"}
        yield {"type": "response.output_item.added", "output_index": 0, "item": begun}
        said = item["content"][0]["text"]
        yield {"type": "response.output_text.delta", "content_index": 0, "delta": said} | place
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield {
        "type": "response.completed",
        "response": response | {"status": "completed", "output": [item]},
    }


def _frame(event: Item) -> str:
    return f"event: {event['type']}\ndata: {json.dumps({'sequence_number': 0} | event)}\n\n"
