"""The built-in agent goes on: what is decided, what is asked again, what no longer runs."""

from __future__ import annotations

import gc
from collections.abc import Callable

import pytest

from signoff.decisions import Approve, Reject
from signoff.errors import NotApproved
from signoff.events import (
    Completed,
    Failed,
    ToolCallStarted,
)
from signoff.json_text import JsonObject
from signoff.message_json import message_from_json, message_to_json
from signoff.messages import last_batch
from signoff.outcomes import Outcome, Output, Rejected, ToolError
from signoff.policy import Gate
from signoff.sources.base import Answers
from signoff.sources.judging import CHANGED_TEXT, GONE_TEXT, RepeatRejections
from signoff.sources.models.base import ModelEvent
from signoff.sources.tool_loop import ToolLoop
from signoff.tools import Tool, Verdict
from support.agents import ListModel, MemoryThread, batches
from support.shop import DONE, Shop, asked, call, kinds, outcomes, thread_of

pytestmark = pytest.mark.anyio


async def test_b35_a_decided_call_is_never_judged_again() -> None:
    judged: list[JsonObject] = []

    def policy(inputs: JsonObject) -> Verdict:
        judged.append(inputs)
        return True

    for answer, ran in (("yes", 1), ("no", 0)):
        judged.clear()
        shop = Shop()
        thread = thread_of([shop.tool("delete", policy)], [call("c1", "delete")], DONE)
        await thread.say("hi")
        events = await thread.answer({"c1": answer})
        assert len(judged) == 1
        assert len(shop.ran) == ran
        assert isinstance(events[-1], Completed)


@pytest.mark.req("R2")
async def test_a_sibling_that_is_gated_by_now_pauses_the_batch_again() -> None:
    shop = Shop()
    strict = False
    thread = thread_of(
        [shop.tool("delete", True), shop.tool("look", lambda _inputs: strict and "Now it matters")],
        [call("c1", "delete"), call("c2", "look"), call("c3", "delete")],
        DONE,
    )
    await thread.say("hi")
    assert asked(thread) == ["c1", "c3"]
    strict = True
    events = await thread.answer({"c1": "yes", "c3": "no"})
    assert kinds(events) == ["Suspended"]
    assert asked(thread) == ["c2"]
    assert shop.ran == []
    assert thread.suspension is not None
    assert thread.suspension.message_id == batches(thread.messages)[0].id
    assert thread.suspension.calls[0].reason == "Now it matters"
    assert len(batches(thread.messages)) == 1, "the snapshot is written once"
    events = await thread.answer({"c2": "yes"})
    assert outcomes(events) == {
        "c1": Output(value="delete ran"),
        "c2": Output(value="look ran"),
        "c3": Rejected(),
    }
    assert isinstance(events[-1], Completed)


@pytest.mark.req("R64")
async def test_a_second_pause_in_one_run_and_turns_count_over_both() -> None:
    shop = Shop()
    model = ListModel([call("c1", "act")], [call("c2", "act")], [call("c3", "act")])
    thread = MemoryThread(ToolLoop(model, tools=[shop.tool("act", True)], max_turns=2))
    await thread.say("hi")
    assert asked(thread) == ["c1"]
    await thread.answer({"c1": "yes"})
    assert asked(thread) == ["c2"]
    events = await thread.answer({"c2": "yes"})
    assert events[-1] == Failed(code="too_many_turns", message="The run took too many turns.")
    assert len(model.requests) == 2
    assert len(shop.ran) == 2


async def test_b114_a_model_that_always_calls_again_is_stopped() -> None:
    shop = Shop()
    responses: list[list[ModelEvent]] = [[call("", "look")] for _ in range(10)]
    model = ListModel(*responses)
    thread = MemoryThread(ToolLoop(model, tools=[shop.tool("look")], max_turns=5))
    events = await thread.say("hi")
    assert isinstance(events[-1], Failed)
    assert len(shop.ran) == 5


@pytest.mark.req("R63")
async def test_b117_a_tool_that_is_gone_does_not_run_and_the_run_goes_on() -> None:
    shop = Shop()
    delete, look = shop.tool("delete", True), shop.tool("look")
    thread = thread_of([delete, look], [call("c1", "delete"), call("c2", "look")])
    await thread.say("hi")
    thread.source = ToolLoop(ListModel(DONE), tools=[look])
    events = await thread.answer({"c1": "yes"})
    assert outcomes(events) == {
        "c1": ToolError(text=GONE_TEXT),
        "c2": Output(value="look ran"),
    }
    assert isinstance(events[-1], Completed)


@pytest.mark.req("R47")
@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"required": ["force"]}, id="stricter-schema"),
        pytest.param({"properties": {"path": {"type": "integer"}}}, id="another-type"),
    ],
)
async def test_b117_inputs_that_the_tool_no_longer_takes_do_not_run(changed: JsonObject) -> None:
    shop = Shop()
    thread = thread_of([shop.tool("delete", True)], [call("c1", "delete", '{"path":"a"}')])
    await thread.say("hi")
    thread.source = ToolLoop(ListModel(DONE), tools=[shop.tool("delete", True, schema=changed)])
    events = await thread.answer({"c1": "yes"})
    assert outcomes(events) == {"c1": ToolError(text=CHANGED_TEXT)}
    assert shop.ran == []


@pytest.mark.req("R12", "R47")
async def test_b127_inputs_that_would_be_rewritten_after_approval_do_not_run() -> None:
    from signoff.function_tools import tool

    ran: list[int] = []

    @tool(approval=True)
    def transfer(amount: int) -> None:
        """Transfer money."""
        ran.append(amount)

    thread = thread_of([transfer], [call("c1", "transfer", '{"amount":"100"}')])
    await thread.say("hi")
    assert thread.suspension is not None
    assert thread.suspension.calls[0].call.inputs == {"amount": 100}

    @tool(name="transfer", approval=True)
    def transfer_with_fee(amount: int, fee: int = 5) -> None:
        """Transfer money and take a fee."""
        ran.append(amount + fee)

    thread.source = ToolLoop(ListModel(DONE), tools=[transfer_with_fee])
    events = await thread.answer({"c1": "yes"})
    assert outcomes(events) == {"c1": ToolError(text=CHANGED_TEXT)}
    assert ran == []


async def test_arguments_that_the_tool_takes_by_now_still_do_not_run_unasked() -> None:
    shop = Shop()
    strict: JsonObject = {"required": ["path"]}
    thread = thread_of(
        [shop.tool("act", False, schema=strict), shop.tool("delete", True)],
        [call("c1", "act"), call("c2", "delete")],
    )
    await thread.say("hi")
    thread.source = ToolLoop(ListModel(DONE), tools=[shop.tool("act"), shop.tool("delete", True)])
    events = await thread.answer({"c2": "yes"})
    assert outcomes(events)["c1"] == ToolError(text=CHANGED_TEXT)
    assert [name for name, _ in shop.ran] == ["delete"]


@pytest.mark.req("R47", "R76")
async def test_the_ledger_has_the_last_word() -> None:
    shop = Shop()
    thread = thread_of([shop.tool("delete", True)], [call("c1", "delete")])
    await thread.say("hi")
    request = thread.request(Answers(decisions={"c1": Approve()}))
    # The source says yes, the record does not: nobody approved this call.
    with pytest.raises(NotApproved):
        async for _event in ToolLoop(ListModel(DONE), tools=[shop.tool("delete", True)]).run(
            request
        ):
            pass
    assert shop.ran == []


@pytest.mark.req("R76")
async def test_b71_what_has_run_is_not_run_again() -> None:
    shop = Shop()
    thread = thread_of(
        [shop.tool("look"), shop.tool("delete", True)],
        [call("c1", "look"), call("c2", "delete")],
        DONE,
    )
    await thread.say("hi")
    thread.ledger.outcomes["c1"] = Output(value="as it was")
    events = await thread.answer({"c2": "yes"})
    assert outcomes(events) == {"c1": Output(value="as it was"), "c2": Output(value="delete ran")}
    assert [name for name, _ in shop.ran] == ["delete"]
    started = [event.call_id for event in events if isinstance(event, ToolCallStarted)]
    assert started == ["c2"]


def _by_tool(shop: Shop) -> tuple[Tool, Gate]:
    return shop.tool("act", True), Gate(mode="off")


def _by_function(shop: Shop) -> tuple[Tool, Gate]:
    return shop.tool("act", lambda _inputs: "because"), Gate(mode="off")


def _by_override(shop: Shop) -> tuple[Tool, Gate]:
    return shop.tool("act", False).require_approval(), Gate(mode="off")


def _by_mode(shop: Shop) -> tuple[Tool, Gate]:
    return shop.tool("act"), Gate(mode="protective")


@pytest.mark.req("R3")
@pytest.mark.parametrize("way", [_by_tool, _by_function, _by_override, _by_mode])
async def test_b110_a_pause_is_a_pause_whatever_asked_for_it(
    way: Callable[[Shop], tuple[Tool, Gate]],
) -> None:
    shop = Shop()
    tool, gate = way(shop)
    thread = thread_of([tool], [call("c1", "act")], DONE, gate=gate)
    await thread.say("hi")
    assert asked(thread) == ["c1"]
    assert last_batch(thread.messages) is not None
    events = await thread.answer({"c1": "yes"})
    assert isinstance(events[-1], Completed)
    assert len(shop.ran) == 1


@pytest.mark.req("R59")
async def test_b111_two_restores_of_one_pause_are_independent() -> None:
    shop = Shop()
    thread = thread_of([shop.tool("act", True)], [call("c1", "act")])
    await thread.say("hi")
    stored = [message_to_json(message) for message in thread.messages]
    asked_then = dict(thread.ledger.asked)
    del thread
    gc.collect()
    endings: list[dict[str, Outcome]] = []
    for answer in ("yes", "no"):
        restored = thread_of([shop.tool("act", True)], DONE)
        restored.messages = tuple(message_from_json(document) for document in stored)
        restored.run_id = restored.messages[-1].run_id
        restored.ledger.asked = dict(asked_then)
        endings.append(outcomes(await restored.answer({"c1": answer})))
    assert endings == [{"c1": Output(value="act ran")}, {"c1": Rejected()}]
    assert len(shop.ran) == 1


@pytest.mark.req("R39")
@pytest.mark.parametrize(
    ("option", "second", "arguments"),
    [
        pytest.param("reject", [], '{"b":2,"a":1}', id="rejected-like-the-first"),
        pytest.param("ask", ["c2"], '{"b":2,"a":1}', id="asked-where-that-is-wanted"),
        pytest.param("reject", ["c2"], '{"a":1,"b":3}', id="other-inputs-are-another-call"),
    ],
)
async def test_a_call_that_repeats_a_rejected_one(
    option: RepeatRejections, second: list[str], arguments: str
) -> None:
    shop = Shop()
    model = ListModel([call("c1", "act", '{"a":1,"b":2}')], [call("c2", "act", arguments)], DONE)
    loop = ToolLoop(model, tools=[shop.tool("act", True)], repeat_rejections=option)
    thread = MemoryThread(loop)
    await thread.say("hi")
    events = await thread.answer({"c1": Reject(reason="never that")})
    assert asked(thread) == second
    assert shop.ran == []
    if not second:
        assert outcomes(events)["c2"] == Rejected(reason="never that")
        assert isinstance(events[-1], Completed)


@pytest.mark.req("R39")
async def test_a_rejection_counts_for_its_own_run_only() -> None:
    shop = Shop()
    thread = thread_of(
        [shop.tool("act", True)], [call("c1", "act")], DONE, [call("c2", "act")], DONE
    )
    await thread.say("hi")
    await thread.answer({"c1": "no"})
    await thread.say("do it after all")
    assert asked(thread) == ["c2"]


async def test_a_message_beside_the_answers_is_read_after_the_results() -> None:
    shop = Shop()
    model = ListModel([call("c1", "act")], DONE)
    thread = MemoryThread(ToolLoop(model, tools=[shop.tool("act", True)]))
    await thread.say("hi")
    beside = thread.messages[0]
    await thread.answer({"c1": "yes"}, beside=[beside])  # type: ignore[list-item]  # a UserMessage
    kinds_read = [type(message).__name__ for message in model.requests[1].history]
    assert kinds_read == ["UserMessage", "ToolCallMessage", "ToolResultMessage", "UserMessage"]
