"""From a model's fragments to calls with inputs: ids, texts, and what is no input at all."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signoff.errors import InvalidArguments
from signoff.events import (
    Completed,
    Failed,
    ReasoningDelta,
    RunEvent,
    TextDelta,
    ToolCallDelta,
    ToolCallReady,
)
from signoff.json_text import JsonObject, dumps
from signoff.message_json import message_to_json
from signoff.outcomes import ToolError
from signoff.policy import Gate, Mode
from signoff.schema_tools import schema_tool
from signoff.sources.base import UserTurn
from signoff.sources.call_ids import CallIds
from signoff.sources.judging import read_arguments
from signoff.sources.model_response import ModelResponse, clean
from signoff.sources.models.base import (
    ModelCall,
    ModelCallDelta,
    ModelEvent,
    ModelReasoning,
    ModelRequest,
    ModelText,
)
from signoff.sources.tool_loop import ToolLoop
from support.agents import ListModel, MemoryThread, ids
from support.shop import DONE, Shop, asked, call, outcomes, thread_of
from support.strategies import json_objects, texts


def response(streamed: tuple[str, ...] = ()) -> ModelResponse:
    return ModelResponse(
        message_id="m1", call_ids=CallIds((), (), ids()), streamed=frozenset(streamed)
    )


def fold(events: list[ModelEvent], into: ModelResponse) -> list[RunEvent]:
    return [said for event in events for said in into.take(event)]


def piece(key: str, arguments: str = "", *, id: str = "", name: str = "") -> ModelCallDelta:
    return ModelCallDelta(key=key, id=id, name=name, arguments=arguments)


BEGUN = [piece("0", id="c1", name="a"), piece("1", id="c2", name="b")]


@pytest.mark.parametrize(
    "fragments",
    [
        pytest.param(
            [piece("0", '{"x"'), piece("1", '{"y"'), piece("0", ":1}"), piece("1", ":2}")],
            id="interleaved",
        ),
        pytest.param(
            [piece("0", '{"x":'), piece("0", "1}"), piece("1", '{"y":'), piece("1", "2}")],
            id="one-after-the-other",
        ),
        pytest.param([piece("1", '{"y":2}'), piece("0", '{"x":1}')], id="last-first"),
    ],
)
def test_b122_fragments_of_parallel_calls_stay_apart(fragments: list[ModelEvent]) -> None:
    folded = response()
    assert fold([*BEGUN, *fragments], folded) == []
    assert [(made.call_id, made.name, made.arguments) for made in folded.calls()] == [
        ("c1", "a", '{"x":1}'),
        ("c2", "b", '{"y":2}'),
    ]


@given(st.lists(json_objects, min_size=1, max_size=4), st.data())
def test_b122_any_cut_and_any_order_of_fragments(
    objects: list[JsonObject], data: st.DataObject
) -> None:
    waiting = {str(index): dumps(value) for index, value in enumerate(objects)}
    events: list[ModelEvent] = [piece(key, id=f"c{key}", name="a") for key in waiting]
    expected = list(waiting.values())
    while any(waiting.values()):
        key = data.draw(st.sampled_from([key for key, rest in waiting.items() if rest]))
        size = data.draw(st.integers(1, len(waiting[key])))
        events.append(piece(key, waiting[key][:size]))
        waiting[key] = waiting[key][size:]
    folded = response()
    fold(events, folded)
    assert [made.arguments for made in folded.calls()] == expected


def test_a_whole_call_replaces_its_pieces_and_calls_without_a_key_are_their_own() -> None:
    folded = response()
    fold(
        [
            piece("0", '{"half', id="c1", name="a"),
            ModelCall(id="c2", name="b", arguments="{}"),
            ModelCall(id="c3", name="b", arguments="{}"),
            ModelCall(key="0", id="c1", name="a", arguments='{"whole":1}'),
        ],
        folded,
    )
    assert [(made.call_id, made.arguments) for made in folded.calls()] == [
        ("c1", '{"whole":1}'),
        ("c2", "{}"),
        ("c3", "{}"),
    ]


def test_text_and_thought_go_on_at_once_and_empty_pieces_do_not() -> None:
    said = fold(
        [
            ModelText(delta=""),
            ModelReasoning(delta=""),
            ModelReasoning(delta="a"),
            ModelText(delta="b"),
        ],
        response(),
    )
    assert said == [
        ReasoningDelta(message_id="m1", delta="a"),
        TextDelta(message_id="m1", delta="b"),
    ]


def test_argument_text_is_streamed_only_for_tools_that_may() -> None:
    folded = response(("look",))
    said = fold(
        [
            piece("0", '{"a', id="c1"),
            piece("0", name="look"),
            piece("0", '":1'),
            piece("1", "{}", id="c2", name="delete"),
            piece("0", "}"),
        ],
        folded,
    )
    assert said == [
        ToolCallDelta(message_id="m1", call_id="c1", name="look", delta='{"a":1'),
        ToolCallDelta(message_id="m1", call_id="c1", name="look", delta="}"),
    ]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("mode", "streams"),
    [
        pytest.param("normal", True, id="nothing-can-be-asked-about"),
        pytest.param("protective", False, id="another-tool-can"),
    ],
)
async def test_b19_nothing_is_streamed_that_may_have_to_be_held_back(
    mode: Mode, streams: bool
) -> None:
    shop = Shop()
    look = schema_tool(
        name="look", input_schema={}, function=lambda _context, _arguments: 1, streamed=True
    )
    model = ListModel([piece("0", "{}", id="c1", name="look")], DONE)
    thread = MemoryThread(ToolLoop(model, tools=[look, shop.tool("write")]), gate=Gate(mode=mode))
    events = await thread.say("hi")
    assert any(isinstance(event, ToolCallDelta) for event in events) is streams


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param(" \n\t", id="blank"),
        pytest.param("{}", id="object"),
    ],
)
def test_b119_no_arguments(text: str) -> None:
    assert read_arguments(text) == {}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"a":', id="cut-off"),
        pytest.param("null", id="null"),
        pytest.param("5", id="number"),
        pytest.param("[]", id="list"),
        pytest.param('"x"', id="text"),
        pytest.param("{}{}", id="two-objects"),
        pytest.param("path=a", id="no-json"),
        pytest.param('{"a":1,"a":2}', id="duplicate-key"),
        pytest.param('{"a":NaN}', id="nan"),
        pytest.param('{"e":1e400}', id="not-finite"),
        pytest.param(r'{"a":"\ud800"}', id="half-surrogate-pair"),
        pytest.param('{"a":' * 1000 + "1" + "}" * 1000, id="1000-levels"),
        pytest.param('{"__proto__":{}}', id="reserved-key"),
    ],
)
@pytest.mark.anyio
async def test_b120_b86_what_nobody_could_read_is_never_asked_about(text: str) -> None:
    shop = Shop()
    thread = thread_of([shop.tool("act", True)], [call("c1", "act", text)], DONE)
    events = await thread.say("hi")
    outcome = outcomes(events)["c1"]
    assert isinstance(outcome, ToolError)
    assert outcome.text.startswith("INVALID ARGUMENTS. ")
    assert outcome.text.endswith(". Correct them and call the tool again.")
    assert "__proto__" not in outcome.text or "__proto__" in text
    assert asked(thread) == []
    assert shop.ran == []
    ready = next(event for event in events if isinstance(event, ToolCallReady))
    assert (ready.call.inputs, ready.call.raw_arguments, ready.disposition) == ({}, text, "run")
    assert isinstance(events[-1], Completed)


@pytest.mark.anyio
async def test_b121_big_integers_reach_the_tool_as_the_model_wrote_them() -> None:
    shop = Shop()
    text = '{"id":9007199254740993,"n":12345678901234567890,"f":1.0}'
    thread = thread_of([shop.tool("act", True)], [call("c1", "act", text)], DONE)
    await thread.say("hi")
    assert thread.suspension is not None
    assert '"id": 9007199254740993' in str(thread.suspension.calls[0].to_json()["description"])
    assert '"n":12345678901234567890' in dumps(message_to_json(thread.messages[1]))
    await thread.answer({"c1": "yes"})
    ((_, inputs),) = shop.ran
    assert dumps(inputs) == text


@pytest.mark.anyio
async def test_b86_a_binder_that_fails_in_its_own_way_refuses_the_call() -> None:
    class Broken:
        def __call__(self, _inputs: JsonObject) -> object:
            raise KeyError("secret")

    shop = Shop()
    tool = shop.tool("act")
    object.__setattr__(tool, "bind", Broken())
    thread = thread_of([tool], [call("c1", "act")], DONE)
    events = await thread.say("hi")
    assert outcomes(events)["c1"] == ToolError(
        text="INVALID ARGUMENTS. The inputs could not be checked. "
        "Correct them and call the tool again."
    )
    assert shop.ran == []


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("given_ids", "kept"),
    [
        pytest.param(["a b:/c", "😀", "x" * 256], ["a b:/c", "😀", "x" * 256], id="as-they-are"),
        pytest.param(["", ""], ["call_4", "call_5"], id="empty"),
        pytest.param(["c", "c"], ["c", "call_4"], id="repeated"),
        pytest.param(["__proto__"], ["__proto__"], id="property-name"),
    ],
)
async def test_b128_call_ids_are_unique_and_otherwise_the_models_own(
    given_ids: list[str], kept: list[str]
) -> None:
    shop = Shop()
    thread = thread_of([shop.tool("look")], [call(given, "look") for given in given_ids], DONE)
    events = await thread.say("hi")
    made = [event.call for event in events if isinstance(event, ToolCallReady)]
    assert [item.call_id for item in made] == kept
    for item, given_id in zip(made, given_ids, strict=True):
        assert item.model_call_id == (None if item.call_id == given_id else given_id)
    assert thread.ledger.ran() == kept


@pytest.mark.anyio
async def test_b67_an_id_of_an_earlier_run_or_of_what_was_superseded_is_taken() -> None:
    shop = Shop()
    again: list[ModelEvent] = [call("c1", "act"), call("c9", "act")]
    thread = thread_of([shop.tool("act")], [call("c1", "act")], DONE, again, DONE)
    await thread.say("hi")
    thread.used_call_ids = frozenset({"c9"})
    events = await thread.say("hi again")
    made = [event.call for event in events if isinstance(event, ToolCallReady)]
    assert [item.model_call_id for item in made] == ["c1", "c9"]
    assert len({item.call_id for item in made} | {"c1", "c9"}) == 4
    assert len(shop.ran) == 3


def test_a_made_id_may_be_taken_too() -> None:
    call_ids = CallIds((), ("call_1", "call_2"), ids())
    assert call_ids.take("") == ("call_3", "")


@given(st.text())
def test_text_from_a_model_can_always_be_stored(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode()
    assert clean(cleaned) == cleaned


@given(texts)
def test_good_text_stays_as_it_is(text: str) -> None:
    assert clean(text) == text


def test_halves_of_a_surrogate_pair_are_joined_or_replaced() -> None:
    assert clean("\ud83d\ude00") == "\U0001f600"
    assert clean("a\ud83db") == "a\ufffdb"


@given(st.text())
def test_any_argument_text_is_inputs_or_an_error(text: str) -> None:
    try:
        inputs = read_arguments(text)
    except InvalidArguments:
        return
    assert isinstance(inputs, dict)


@pytest.mark.req("R118")
@pytest.mark.anyio
async def test_a_model_that_fails_fails_the_run_after_what_it_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    shop = Shop()
    model = ListModel(
        [ModelText(delta="I will "), call("c1", "look"), ConnectionError("secret of the provider")]
    )
    thread = MemoryThread(ToolLoop(model, tools=[shop.tool("look")]))
    events = await thread.say("hi")
    assert events[0] == TextDelta(message_id="msg_3", delta="I will ")
    assert events[1:] == [Failed()]
    assert shop.ran == []
    assert [message.text for message in thread.messages] == ["hi", "I will "]
    assert "ConnectionError" in caplog.text
    assert "secret of the provider" not in "".join(record.getMessage() for record in caplog.records)


class Watched:
    """A model stream that is no generator, and notes that it was closed."""

    def __init__(self) -> None:
        self.closed = False

    def respond(self, _request: ModelRequest) -> Watched:
        return self

    def __aiter__(self) -> Watched:
        return self

    async def __anext__(self) -> ModelEvent:
        return ModelText(delta="on and on")

    async def aclose(self) -> None:
        self.closed = True


@pytest.mark.anyio
async def test_a_run_that_is_given_up_closes_the_models_stream() -> None:
    model = Watched()
    thread = MemoryThread(ToolLoop(model))
    events = ToolLoop(model).run(thread.request(UserTurn()))
    assert isinstance(await anext(events), TextDelta)
    assert not model.closed
    assert isinstance(events, AsyncGenerator)
    await events.aclose()
    assert model.closed


class Plain:
    """A model stream with nothing to close."""

    def respond(self, _request: ModelRequest) -> Plain:
        return self

    def __aiter__(self) -> Plain:
        return self

    async def __anext__(self) -> ModelEvent:
        raise StopAsyncIteration


@pytest.mark.anyio
async def test_a_response_may_be_empty() -> None:
    assert await MemoryThread(ToolLoop(Plain())).say("hi") == [Completed()]
