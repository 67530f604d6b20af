"""The built-in agent: judged whole, held whole, each answer for its own call."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

from signoff.decisions import Approve, Decision, Reject, rejection_text
from signoff.errors import ConfigurationError, CorruptRecord, NotApproved
from signoff.events import (
    Cancelled,
    Completed,
    Failed,
    RunEvent,
    Suspended,
    ToolCallReady,
)
from signoff.json_text import JsonObject
from signoff.message_json import message_from_json, message_to_json
from signoff.messages import ToolResultMessage
from signoff.outcomes import Output, Rejected, ToolError, outcome_text
from signoff.schema_tools import schema_tool
from signoff.sources.base import Recover
from signoff.sources.judging import UNKNOWN_TEXT
from signoff.sources.models.base import ModelText
from signoff.sources.tool_loop import ToolLoop
from signoff.tools import Tool, Verdict
from support.agents import ListModel, MemoryThread, batches
from support.shop import DONE, Shop, asked, call, kinds, outcomes, thread_of

pytestmark = pytest.mark.anyio


@pytest.mark.req("R15", "R90")
async def test_free_calls_run_at_once_and_the_model_reads_the_results() -> None:
    shop = Shop()
    model = ListModel(
        [ModelText(delta="Let me see."), call("c1", "look"), call("c2", "look")], DONE
    )
    thread = MemoryThread(ToolLoop(model, tools=[shop.tool("look")], instructions="Be brief."))
    events = await thread.say("hi")
    assert kinds(events) == [
        "ToolCallReady",
        "ToolCallReady",
        "ToolCallStarted",
        "ToolResult",
        "ToolCallStarted",
        "ToolResult",
        "Completed",
    ]
    assert thread.ledger.log == [
        ("begin", "c1"),
        ("finish", "c1"),
        ("begin", "c2"),
        ("finish", "c2"),
    ]
    assert not thread.ledger.asked
    first, second = model.requests
    assert first.instructions == "Be brief."
    assert [tool.name for tool in first.tools] == ["look"]
    assert [message.text for message in second.history] == ["hi", "Let me see.", ""]
    results = second.history[-1]
    assert isinstance(results, ToolResultMessage)
    assert [outcome_text(item.outcome) for item in results.results] == ["look ran"] * 2


@pytest.mark.req("R13")
async def test_b61_one_gated_call_holds_the_whole_batch_and_asks_for_itself_alone() -> None:
    shop = Shop()
    thread = thread_of(
        [shop.tool("look"), shop.tool("delete", "It is gone then")],
        [call("c1", "look"), call("c2", "delete"), call("c3", "look")],
        DONE,
    )
    events = await thread.say("hi")
    assert shop.ran == []
    assert thread.ledger.log == []
    readies = [event for event in events if isinstance(event, ToolCallReady)]
    assert [(event.call.call_id, event.disposition, event.reason) for event in readies] == [
        ("c1", "run", None),
        ("c2", "gated", "It is gone then"),
        ("c3", "run", None),
    ]
    assert kinds(events)[-1] == "Suspended"
    assert asked(thread) == ["c2"]
    assert thread.suspension is not None
    assert thread.suspension.message_id == batches(thread.messages)[0].id
    events = await thread.answer({"c2": "yes"})
    assert thread.ledger.ran() == ["c1", "c2", "c3"]
    assert kinds(events) == ["ToolCallStarted", "ToolResult"] * 3 + ["Completed"]


async def test_b62_every_gated_call_is_listed_in_the_models_order() -> None:
    shop = Shop()
    gated = [shop.tool(name, True) for name in ("c", "a", "b")]
    thread = thread_of(gated, [call("c3", "c"), call("c1", "a"), call("c2", "b")])
    await thread.say("hi")
    assert asked(thread) == ["c3", "c1", "c2"]


@pytest.mark.req("R13")
async def test_the_batch_is_judged_before_its_first_call_runs() -> None:
    shop = Shop()
    seen: list[int] = []

    def policy(_inputs: JsonObject) -> Verdict:
        seen.append(len(shop.ran))
        return False

    thread = thread_of(
        [shop.tool("look"), shop.tool("act", policy)], [call("c1", "look"), call("c2", "act")], DONE
    )
    await thread.say("hi")
    assert seen == [0]
    assert [name for name, _ in shop.ran] == ["look", "act"]


@pytest.mark.parametrize(("first", "second", "third"), list(product(["yes", "no"], repeat=3)))
async def test_b70_each_answer_reaches_its_own_call(first: str, second: str, third: str) -> None:
    shop = Shop()
    answers = {"c1": first, "c2": second, "c3": third}
    thread = thread_of(
        [shop.tool("book", True)],
        [call(call_id, "book", f'{{"room":"{call_id}"}}') for call_id in answers],
        DONE,
    )
    await thread.say("hi")
    # Given in another order than asked: an id selects its call, a place never does (B68, B69).
    events = await thread.answer(dict(reversed(answers.items())))
    assert [inputs["room"] for _, inputs in shop.ran] == [
        call_id for call_id, answer in answers.items() if answer == "yes"
    ]
    assert outcomes(events) == {
        call_id: Output(value="book ran") if answer == "yes" else Rejected()
        for call_id, answer in answers.items()
    }
    assert list(outcomes(events)) == ["c1", "c2", "c3"]


async def test_b69_the_id_selects_the_call_and_its_place_never_does() -> None:
    shop = Shop()
    thread = thread_of(
        [shop.tool("ship", True), shop.tool("pay", True)],
        [call("c1", "ship"), call("c2", "pay")],
        DONE,
    )
    await thread.say("hi")
    # Reloaded between asking and answering, and answered in another order.
    thread.messages = tuple(
        message_from_json(message_to_json(message)) for message in thread.messages
    )
    await thread.answer({"c2": "yes", "c1": "no"})
    assert [name for name, _ in shop.ran] == ["pay"]


async def test_b72_five_gated_calls_are_answered_in_one_go() -> None:
    shop = Shop()
    made = [call(f"c{n}", "act", f'{{"n":{n}}}') for n in range(5)]
    thread = thread_of([shop.tool("act", True)], [*made], DONE)
    await thread.say("hi")
    assert asked(thread) == ["c0", "c1", "c2", "c3", "c4"]
    events = await thread.answer({f"c{n}": "yes" if n % 2 else "no" for n in range(5)})
    assert [inputs["n"] for _, inputs in shop.ran] == [1, 3]
    assert isinstance(events[-1], Completed)


async def test_b67_the_same_tool_twice_with_opposite_answers() -> None:
    shop = Shop()
    thread = thread_of(
        [shop.tool("book_room", True)],
        [call("c1", "book_room", '{"room":1}'), call("c2", "book_room", '{"room":2}')],
        DONE,
    )
    await thread.say("hi")
    await thread.answer({"c1": "no", "c2": "yes"})
    assert shop.ran == [("book_room", {"room": 2})]


@pytest.mark.req("R32")
async def test_the_model_reads_why_a_person_said_no() -> None:
    shop = Shop()
    model = ListModel([call("c1", "delete")], DONE)
    thread = MemoryThread(ToolLoop(model, tools=[shop.tool("delete", True)]))
    await thread.say("hi")
    events = await thread.answer({"c1": Reject(reason="use the other one")})
    assert shop.ran == []
    assert kinds(events) == ["ToolResult", "Completed"]
    results = model.requests[1].history[-1]
    assert isinstance(results, ToolResultMessage)
    assert outcome_text(results.results[0].outcome) == rejection_text("use the other one")


@pytest.mark.req("R14")
@pytest.mark.parametrize("name", ["wipe", "", "constructor", "__proto__", "Look"])
async def test_b88_an_unknown_tool_is_an_error_and_never_a_question(name: str) -> None:
    shop = Shop()
    thread = thread_of([shop.tool("look", True)], [call("c1", name, '{"path":"/"}')], DONE)
    events = await thread.say("hi")
    assert kinds(events) == ["ToolCallReady", "ToolResult", "Completed"]
    assert outcomes(events) == {"c1": ToolError(text=UNKNOWN_TEXT)}
    assert thread.ledger.log == []


@pytest.mark.req("R14")
async def test_b17_what_cannot_run_waits_beside_a_gated_call_and_is_never_asked_about() -> None:
    shop = Shop()
    thread = thread_of(
        [shop.tool("act", True, schema={"required": ["path"]})],
        [
            call("c1", "act", '{"pat'),
            call("c2", "nothing"),
            call("c3", "act", '{"path":"a"}'),
            call("c4", "act", "{}"),
        ],
        DONE,
    )
    events = await thread.say("hi")
    assert asked(thread) == ["c3"]
    assert kinds(events) == ["ToolCallReady"] * 4 + ["Suspended"]
    records = batches(thread.messages)[0].calls
    assert [record.call.raw_arguments for record in records] == ['{"pat', None, None, "{}"]
    events = await thread.answer({"c3": "yes"})
    results = outcomes(events)
    assert list(results) == ["c1", "c2", "c3", "c4"]
    assert results["c2"] == ToolError(text=UNKNOWN_TEXT)
    assert results["c4"] == ToolError(
        text='INVALID ARGUMENTS. inputs: "path" is a required property. '
        "Correct them and call the tool again."
    )
    assert [name for name, _ in shop.ran] == ["act"]


async def test_b18_the_model_is_not_called_while_a_call_is_undecided() -> None:
    shop = Shop()
    model = ListModel([call("c1", "look"), call("c2", "delete")])
    thread = MemoryThread(ToolLoop(model, tools=[shop.tool("look"), shop.tool("delete", True)]))
    await thread.say("hi")
    with pytest.raises(NotApproved):
        await thread.answer({})
    assert len(model.requests) == 1
    assert shop.ran == []


async def test_stop_is_looked_at_before_each_model_call_and_each_tool() -> None:
    shop = Shop()
    thread = thread_of([shop.tool("look")], [call("c1", "look"), call("c2", "look")], DONE)
    seen: list[RunEvent] = []
    thread.cancel.up = True
    assert kinds(await thread.say("hi")) == ["Cancelled"]
    thread.cancel.up = False
    request = thread.request(Recover())
    async for event in thread.source.run(request):
        seen.append(event)
    assert seen == [Failed(code="interrupted", message="The run was interrupted.")]


async def test_a_tool_that_stops_the_run_is_the_last_to_run() -> None:
    shop = Shop()
    thread = thread_of([], DONE)

    def stop(_context: object, _arguments: object) -> str:
        thread.cancel.up = True
        return "stopped"

    stopping = schema_tool(name="stop", input_schema={}, function=stop)
    thread.source = ToolLoop(
        ListModel([call("c1", "look"), call("c2", "stop"), call("c3", "look")], DONE),
        tools=[stopping, shop.tool("look")],
    )
    events = await thread.say("hi")
    assert isinstance(events[-1], Cancelled)
    assert list(outcomes(events)) == ["c1", "c2"]
    assert len(shop.ran) == 1


async def test_answers_without_a_batch_are_a_loud_error() -> None:
    thread = thread_of([], DONE)
    await thread.say("hi")
    answers: dict[str, Decision] = {"c1": Approve()}
    with pytest.raises(CorruptRecord):
        await thread.answer(answers)


def _browser_tool() -> Tool:
    return schema_tool(name="ask_page", input_schema={}, runs="browser")


@pytest.mark.parametrize(
    ("build", "what"),
    [
        pytest.param(
            lambda: ToolLoop(ListModel(), tools=[_browser_tool()]), "in the browser", id="browser"
        ),
        pytest.param(
            lambda: ToolLoop(ListModel(), tools=[Shop().tool("a"), Shop().tool("a")]),
            "Two tools",
            id="same-name",
        ),
        pytest.param(lambda: ToolLoop(ListModel(), max_turns=0), "max_turns", id="no-turns"),
        pytest.param(
            lambda: ToolLoop(ListModel(), tools=[print]),  # type: ignore[list-item]  # the case
            "print is not a tool: decorate it with @tool",
            id="plain-function",
        ),
        pytest.param(lambda: ToolLoop(None), "None is not a model", id="no-model"),  # type: ignore[arg-type]  # the case
        pytest.param(
            lambda: ToolLoop(ListModel(), repeat_rejections="yes"),  # type: ignore[arg-type]  # the case
            "repeat_rejections",
            id="unknown-option",
        ),
    ],
)
def test_b86_an_agent_that_cannot_work(build: Callable[[], ToolLoop], what: str) -> None:
    with pytest.raises(ConfigurationError, match=what):
        build()


async def test_a_pause_is_the_last_event() -> None:
    shop = Shop()
    thread = thread_of([shop.tool("act", True)], [call("c1", "act")], DONE)
    events = await thread.say("hi")
    assert isinstance(events[-1], Suspended)
    assert sum(isinstance(event, Suspended) for event in events) == 1
