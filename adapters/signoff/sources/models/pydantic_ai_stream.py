"""One request and its response in pydantic-ai's terms. Imported only where pydantic-ai is there."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Literal, assert_never

from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    AudioUrl,
    BinaryContent,
    DocumentUrl,
    ImageUrl,
    ModelMessage,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
    VideoUrl,
)
from pydantic_ai.messages import ModelRequest as PydanticRequest
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from ...json_text import dumps
from ...messages import (
    AssistantMessage,
    FilePart,
    Message,
    Part,
    ReasoningPart,
    ResultRecord,
    ToolCallMessage,
    ToolResultMessage,
    UserMessage,
)
from ...messages import TextPart as OwnTextPart
from ...outcomes import (
    ExpiredOutcome,
    Indeterminate,
    Output,
    Rejected,
    ToolError,
    outcome_text,
)
from ...tools import Tool
from .base import (
    ModelCall,
    ModelCallDelta,
    ModelEvent,
    ModelReasoning,
    ModelRequest,
    ModelText,
)

_URLS: dict[str, type[ImageUrl | AudioUrl | VideoUrl | DocumentUrl]] = {
    "image": ImageUrl,
    "audio": AudioUrl,
    "video": VideoUrl,
}
_UNREADABLE_FILE = "(a file that could not be read)"


async def respond(
    model: Model, settings: ModelSettings | None, request: ModelRequest
) -> AsyncIterator[ModelEvent]:
    """Stream one response."""
    calls: dict[int, ToolCallPart] = {}
    async with model_request_stream(
        model,
        to_pydantic(request.history, request.instructions),
        model_settings=settings,
        model_request_parameters=ModelRequestParameters(
            function_tools=[_definition(tool) for tool in request.tools]
        ),
    ) as stream:
        async for event in stream:
            for said in read(event, calls):
                yield said
    # Some providers send arguments as objects, or replace a part that they began: what was put
    # together by index is the call, whatever was shown of it before.
    for index, part in calls.items():
        yield call_of(index, part)


def to_pydantic(history: Iterable[Message], instructions: str | None) -> list[ModelMessage]:
    """History as pydantic-ai messages. What a model thought is not sent back: most providers take
    only their own signed thoughts."""
    messages: list[ModelMessage] = []
    asked: list[ModelRequestPart] = []
    for message in history:
        match message:
            case UserMessage(content=content):
                asked.append(UserPromptPart(content=_prompt(content)))
            case ToolResultMessage(results=results):
                asked.extend(_return(result) for result in results)
            case AssistantMessage() | ToolCallMessage():
                if asked:
                    messages.append(PydanticRequest(parts=asked))
                    asked = []
                if parts := _said(message):
                    messages.append(ModelResponse(parts=parts))
            case _:
                assert_never(message)
    messages.append(PydanticRequest(parts=asked, instructions=instructions))
    return messages


def _said(message: AssistantMessage | ToolCallMessage) -> list[ModelResponsePart]:
    parts: list[ModelResponsePart] = [TextPart(content=message.text)] if message.text else []
    if isinstance(message, ToolCallMessage):
        parts += [
            ToolCallPart(
                tool_name=record.call.name,
                args=record.call.raw_arguments or dumps(record.call.inputs),
                tool_call_id=record.call.call_id,
            )
            for record in message.calls
        ]
    return parts


def _return(result: ResultRecord) -> ToolReturnPart:
    """Pydantic-ai tells providers that know the difference how the call ended; the text says it to
    all of them."""
    match result.outcome:
        case Output():
            outcome: Literal["success", "failed", "denied"] = "success"
        case Rejected() | ExpiredOutcome():
            outcome = "denied"
        case ToolError() | Indeterminate():
            outcome = "failed"
        case _:
            assert_never(result.outcome)
    return ToolReturnPart(
        tool_name=result.call.name,
        content=outcome_text(result.outcome),
        tool_call_id=result.call.call_id,
        outcome=outcome,
    )


def _prompt(content: tuple[Part, ...]) -> str | list[UserContent]:
    # Some providers take text alone, and only as plain text.
    match content:
        case (OwnTextPart(text=text),):
            return text
        case _:
            return [_content(part) for part in content]


def _content(part: Part) -> UserContent:
    match part:
        case OwnTextPart(text=text) | ReasoningPart(text=text):
            return text
        case FilePart():
            return _file(part)
        case _:
            assert_never(part)


def _file(part: FilePart) -> UserContent:
    url = part.url or ""
    try:
        if part.data is not None:
            data = base64.b64decode(part.data, validate=True)
            return BinaryContent(data=data, media_type=part.media_type)
        if url.startswith("data:"):
            return BinaryContent.from_data_uri(url)
    except ValueError:
        return _UNREADABLE_FILE
    if not url.startswith(("https://", "http://")):
        return _UNREADABLE_FILE
    kind = part.media_type.partition("/")[0]
    return _URLS.get(kind, DocumentUrl)(url=url, media_type=part.media_type)


def _definition(tool: Tool) -> ToolDefinition:
    return ToolDefinition(
        name=tool.name,
        description=tool.description or None,
        parameters_json_schema=dict(tool.input_schema),
    )


def read(event: ModelResponseStreamEvent, calls: dict[int, ToolCallPart]) -> Iterator[ModelEvent]:
    """What one stream event says; ``calls`` are put together by the index of their part."""
    match event:
        case (
            PartStartEvent(part=TextPart(content=text))
            | PartDeltaEvent(delta=TextPartDelta(content_delta=text))
        ):
            yield ModelText(delta=text)
        case (
            PartStartEvent(part=ThinkingPart(content=text))
            | PartDeltaEvent(delta=ThinkingPartDelta(content_delta=str() as text))
        ):
            yield ModelReasoning(delta=text)
        case PartStartEvent(index=index, part=ToolCallPart() as part):
            calls[index] = part
            yield ModelCallDelta(
                key=str(index),
                id=part.tool_call_id,
                name=part.tool_name,
                arguments=part.args if isinstance(part.args, str) else "",
            )
        case PartDeltaEvent(index=index, delta=ToolCallPartDelta() as delta) if index in calls:
            changed = delta.apply(calls[index])
            if isinstance(changed, ToolCallPart):
                calls[index] = changed
            if isinstance(delta.args_delta, str):
                yield ModelCallDelta(key=str(index), arguments=delta.args_delta)
        case _:
            pass


def call_of(index: int, part: ToolCallPart) -> ModelCall:
    """A complete call."""
    if isinstance(part.args, str):
        arguments = part.args
    else:
        arguments = dumps(part.args) if part.args else ""
    return ModelCall(key=str(index), id=part.tool_call_id, name=part.tool_name, arguments=arguments)
