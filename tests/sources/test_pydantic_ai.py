"""A real model through pydantic-ai, against a server that speaks OpenAI's streaming format."""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest
from pydantic_ai.messages import (
    BinaryContent,
    DocumentUrl,
    ImageUrl,
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from signoff.decisions import Reject, rejection_text
from signoff.errors import ConfigurationError
from signoff.events import Completed, Failed, RunEvent, TextDelta, ToolCallReady
from signoff.json_text import JsonObject
from signoff.messages import (
    AssistantMessage,
    FilePart,
    Message,
    ReasoningPart,
    ResultRecord,
    TextPart,
    ToolResultMessage,
    UserMessage,
)
from signoff.outcomes import ExpiredOutcome, Indeterminate, Outcome, Output, Rejected, ToolError
from signoff.sources.models.base import ModelCall, ModelCallDelta, ModelReasoning
from signoff.sources.models.pydantic_ai import PydanticAIModel
from signoff.sources.models.pydantic_ai_stream import call_of, read, to_pydantic
from signoff.sources.tool_loop import ToolLoop
from signoff.suspension import ToolCall
from signoff.tools import Tool
from support.agents import MemoryThread
from support.openai_server import OpenAIServer, call_piece, delta, finish
from support.shop import Shop, asked

pytestmark = pytest.mark.anyio

NOON = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)


@asynccontextmanager
async def thread_with(server: OpenAIServer, *tools: Tool) -> AsyncIterator[MemoryThread]:
    async with httpx2.AsyncClient() as client:
        with server.running() as url:
            provider = OpenAIProvider(base_url=url, api_key="none", http_client=client)
            model = PydanticAIModel(OpenAIChatModel("test-model", provider=provider))
            yield MemoryThread(ToolLoop(model, tools=tools, instructions="Be brief."))


def said(events: list[RunEvent]) -> list[str]:
    return [event.delta for event in events if isinstance(event, TextDelta)]


def sent(server: OpenAIServer, request: int) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = server.bodies[request]["messages"]
    return messages


async def test_text_arrives_as_it_is_written() -> None:
    server = OpenAIServer(
        [
            delta(role="assistant", content=""),
            delta(content="Hel"),
            delta(content="lo."),
            finish("stop"),
        ]
    )
    async with thread_with(server) as thread:
        events = await thread.say("hi")
    assert said(events) == ["Hel", "lo."]
    assert isinstance(events[-1], Completed)
    assert server.bodies[0]["stream"] is True
    assert sent(server, 0) == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "hi"},
    ]


CALLS = [
    delta(role="assistant", content="Two rooms."),
    call_piece(0, "", id="call_a", name="book"),
    call_piece(1, '{"ro', id="call_b", name="book"),
    call_piece(0, '{"room"'),
    call_piece(1, 'om":2,"n":9007199254740993}'),
    call_piece(0, ":1}"),
    finish("tool_calls"),
]


async def test_b122_parallel_calls_in_interleaved_pieces_and_two_answers() -> None:
    shop = Shop()
    server = OpenAIServer(CALLS, [delta(role="assistant", content="Booked."), finish("stop")])
    schema: JsonObject = {"type": "object", "properties": {"room": {"type": "integer"}}}
    async with thread_with(server, shop.tool("book", True, schema=schema)) as thread:
        events = await thread.say("book")
        made = [event.call for event in events if isinstance(event, ToolCallReady)]
        assert [(item.call_id, item.inputs) for item in made] == [
            ("call_a", {"room": 1}),
            ("call_b", {"room": 2, "n": 9007199254740993}),
        ]
        assert asked(thread) == ["call_a", "call_b"]
        events = await thread.answer({"call_a": "yes", "call_b": Reject(reason="too dear")})
    assert said(events) == ["Booked."]
    assert shop.ran == [("book", {"room": 1})]
    (tool,) = server.bodies[0]["tools"]
    assert tool["function"]["name"] == "book"
    assert tool["function"]["parameters"]["properties"] == schema["properties"]
    *_, assistant, first, second = sent(server, 1)
    assert assistant["content"] == "Two rooms."
    assert [item["id"] for item in assistant["tool_calls"]] == ["call_a", "call_b"]
    assert '"n":9007199254740993' in assistant["tool_calls"][1]["function"]["arguments"]
    assert first == {"role": "tool", "tool_call_id": "call_a", "content": "book ran"}
    assert second == {
        "role": "tool",
        "tool_call_id": "call_b",
        "content": rejection_text("too dear"),
    }


async def test_b44_a_model_accepts_a_history_with_every_kind_of_call() -> None:
    shop = Shop()
    server = OpenAIServer(
        [
            call_piece(0, '{"broken', id="call_a", name="book"),
            call_piece(1, "", id="call_b", name="book"),
            call_piece(2, "{}", id="call_c", name="unknown"),
            finish("tool_calls"),
        ],
        [delta(content="Sorry."), finish("stop")],
        [delta(content="Yes?"), finish("stop")],
    )
    async with thread_with(server, shop.tool("book")) as thread:
        events = await thread.say("book")
        assert said(events) == ["Sorry."]
        assert isinstance(thread.messages[-2], ToolResultMessage)
        await thread.say("hello?")
    roles = [item["role"] for item in sent(server, 2)]
    assert roles == ["system", "user", "assistant", "tool", "tool", "tool", "assistant", "user"]
    calls = sent(server, 2)[2]["tool_calls"]
    results = sent(server, 2)[3:6]
    assert [item["id"] for item in calls] == [item["tool_call_id"] for item in results]
    assert [name for name, _ in shop.ran] == ["book"]


@pytest.mark.req("R118")
@pytest.mark.parametrize("status", [400, 401, 404])
async def test_a_provider_that_refuses_fails_the_run_neutrally(
    status: int, caplog: pytest.LogCaptureFixture
) -> None:
    server = OpenAIServer(status)
    async with thread_with(server) as thread:
        events = await thread.say("hi")
    assert events == [Failed()]
    assert "secret" not in "".join(record.getMessage() for record in caplog.records)


async def test_a_provider_that_breaks_off_fails_the_run_after_what_it_said() -> None:
    server = OpenAIServer([delta(content="Hel"), {"not": "a chunk", "choices": 3}])
    async with thread_with(server) as thread:
        events = await thread.say("hi")
    assert said(events) == ["Hel"]
    assert events[-1] == Failed()


def user(*content: TextPart | FilePart) -> UserMessage:
    return UserMessage(id="u", seq=1, created_at=NOON, run_id="r", content=content)


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        pytest.param(
            FilePart(media_type="image/png", url="https://x.example/a.png"),
            ImageUrl,
            id="image-url",
        ),
        pytest.param(
            FilePart(media_type="application/pdf", url="https://x.example/a.pdf"),
            DocumentUrl,
            id="document-url",
        ),
        pytest.param(FilePart(media_type="image/png", data="AAEC"), BinaryContent, id="data"),
        pytest.param(
            FilePart(media_type="image/png", url="data:image/png;base64,AAEC"),
            BinaryContent,
            id="data-url",
        ),
        pytest.param(
            FilePart(media_type="image/png", url="file:///etc/passwd"), str, id="file-url"
        ),
        pytest.param(FilePart(media_type="image/png", data="%%%"), str, id="broken-data"),
        pytest.param(FilePart(media_type="image/png", url="data:,x"), str, id="broken-data-url"),
        pytest.param(FilePart(media_type="image/png"), str, id="nothing"),
    ],
)
def test_files_of_a_message(part: FilePart, kind: type) -> None:
    (request,) = to_pydantic([user(TextPart(text="see"), part)], None)
    (prompt,) = request.parts
    assert isinstance(prompt, UserPromptPart)
    assert prompt.content[0] == "see"
    assert isinstance(prompt.content[1], kind)


@pytest.mark.parametrize(
    ("outcome", "known_as"),
    [
        pytest.param(Output(value=1), "success", id="output"),
        pytest.param(ToolError(text="x"), "failed", id="error"),
        pytest.param(Rejected(), "denied", id="rejected"),
        pytest.param(ExpiredOutcome(), "denied", id="expired"),
        pytest.param(Indeterminate(), "failed", id="indeterminate"),
    ],
)
def test_outcomes_in_the_terms_of_the_provider(outcome: Outcome, known_as: str) -> None:
    record = ResultRecord(
        call=ToolCall(call_id="c1", name="act", inputs={}), outcome=outcome, message_id="m"
    )
    history: list[Message] = [
        user(TextPart(text="hi")),
        AssistantMessage(
            id="a",
            seq=2,
            created_at=NOON,
            run_id="r",
            content=(ReasoningPart(text="thought only"),),
        ),
        ToolResultMessage(id="t", seq=3, created_at=NOON, run_id="r", results=(record,)),
    ]
    first, last = to_pydantic(history, "Be brief.")
    assert not isinstance(last, ModelResponse)
    assert last.instructions == "Be brief."
    (part,) = last.parts
    assert isinstance(part, ToolReturnPart)
    assert (part.outcome, part.tool_call_id) == (known_as, "c1")
    assert not isinstance(first, ModelResponse)


def test_arguments_that_come_as_objects_or_not_at_all() -> None:
    calls: dict[int, ToolCallPart] = {}
    events: list[ModelResponseStreamEvent] = [
        PartStartEvent(index=0, part=ThinkingPart(content="hm")),
        PartDeltaEvent(index=0, delta=ThinkingPartDelta(content_delta="m")),
        PartStartEvent(index=1, part=ToolCallPart("a", {"n": 2**70}, "c1")),
        PartStartEvent(index=2, part=ToolCallPart("b", None, "c2")),
        PartDeltaEvent(index=1, delta=ToolCallPartDelta(args_delta={"m": 1})),
        PartDeltaEvent(index=9, delta=ToolCallPartDelta(args_delta="{}")),
    ]
    said_of = [item for event in events for item in read(event, calls)]
    assert said_of == [
        ModelReasoning(delta="hm"),
        ModelReasoning(delta="m"),
        ModelCallDelta(key="1", id="c1", name="a"),
        ModelCallDelta(key="2", id="c2", name="b"),
    ]
    assert [call_of(index, part) for index, part in calls.items()] == [
        ModelCall(key="1", id="c1", name="a", arguments='{"n":1180591620717411303424,"m":1}'),
        ModelCall(key="2", id="c2", name="b", arguments=""),
    ]


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real_import = builtins.__import__

    def without(name: str, *args: object, **kwargs: object) -> object:
        if name.partition(".")[0] == "pydantic_ai":
            raise ImportError("no such package", name="pydantic_ai")
        return real_import(name, *args, **kwargs)  # type: ignore[arg-type]  # passed on as it came

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ConfigurationError, match=r"signoff\[pydantic-ai\]"):
        PydanticAIModel("openai:gpt-5")


@pytest.mark.parametrize("name", ["gpt-5", "nobody:nothing", "openai:gpt-5"])
def test_a_model_that_cannot_be_made(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigurationError):
        PydanticAIModel(name)
