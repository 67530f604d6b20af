"""The scripted model: what a script says, step by step, and nothing kept in memory."""

from __future__ import annotations

import pytest

from signoff.decisions import Reject, rejection_text
from signoff.events import Completed, Failed, ReasoningDelta, RunEvent, TextDelta
from signoff.json_text import JsonObject, dumps
from signoff.sources.models.base import ModelRequest
from signoff.sources.models.scripted import ScriptedFailure, ScriptedModel
from signoff.sources.scenario_file import CallSpec, Step, Turn
from signoff.sources.tool_loop import ToolLoop
from support.agents import MemoryThread, batches
from support.shop import Shop, asked

pytestmark = pytest.mark.anyio

ACT = CallSpec(id="c1", name="act", inputs={"a": 1})


def thread_of(*turns: Turn, gated: bool = False) -> MemoryThread:
    return MemoryThread(ToolLoop(ScriptedModel(turns), tools=[Shop().tool("act", gated)]))


def said(events: list[RunEvent]) -> str:
    return "".join(event.delta for event in events if isinstance(event, TextDelta))


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        pytest.param("please DELETE it", "first", id="in-any-case"),
        pytest.param("undeleted", "first", id="inside-a-word"),
        pytest.param("delete and pay", "first", id="the-first-turn-wins"),
        pytest.param("Straße zahlen", "second", id="case-folded"),
        pytest.param("anything", "Done.", id="no-match"),
        pytest.param("", "Done.", id="empty"),
    ],
)
async def test_the_newest_words_choose_the_turn(text: str, answer: str) -> None:
    thread = thread_of(
        Turn(when="delete", steps=[Step(text="first")]),
        Turn(when="STRASSE", steps=[Step(text="second")]),
    )
    await thread.say("delete, pay and strasse")
    assert said(await thread.say(text)) == answer


async def test_a_turn_without_words_takes_every_message() -> None:
    thread = thread_of(Turn(steps=[Step(text="any")]), Turn(when="never", steps=[]))
    assert said(await thread.say("never")) == "any"


async def test_steps_follow_each_other_and_each_message_begins_at_the_first() -> None:
    turn = Turn(
        steps=[Step(text="one", calls=[ACT]), Step(text="two", calls=[ACT]), Step(text="three")]
    )
    thread = thread_of(turn)
    assert said(await thread.say("go")) == "onetwothree"
    assert said(await thread.say("go")) == "onetwothree"


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        pytest.param([], "Done.", id="no-steps"),
        pytest.param([Step()], "Done.", id="silent-step"),
        pytest.param([Step(reasoning="hm")], "Done.", id="thought-only"),
        pytest.param([Step(calls=[ACT])], "Done.", id="after-the-last-step"),
        pytest.param([Step(text="I act. ", calls=[ACT])], "I act. Done.", id="after-the-last-said"),
        pytest.param([Step(text="Bye.")], "Bye.", id="said-already"),
    ],
)
async def test_a_turn_never_ends_without_a_word(steps: list[Step], text: str) -> None:
    thread = thread_of(Turn(steps=steps))
    events = await thread.say("go")
    assert said(events) == text
    assert isinstance(events[-1], Completed)


async def test_a_step_without_calls_ends_the_turn() -> None:
    thread = thread_of(Turn(steps=[Step(text="only"), Step(text="never")]))
    assert said(await thread.say("go")) == "only"


async def test_results_are_what_the_model_was_given_since_the_step_before() -> None:
    calls = [ACT, CallSpec(id="c2", name="act"), CallSpec(id="c3", name="none")]
    turn = Turn(
        steps=[
            Step(text="{results}", calls=[CallSpec(id="c0", name="act")]),
            Step(calls=calls),
            Step(text="{} {results} {0}"),
        ]
    )
    thread = thread_of(turn, gated=True)
    assert said(await thread.say("go")) == "[]"
    await thread.answer({"c0": "yes"})
    assert asked(thread) == ["c1", "c2"]
    answer = said(await thread.answer({"c1": "yes", "c2": Reject(reason="später")}))
    texts = [
        ["c1", "act ran"],
        ["c2", rejection_text("später")],
        ["c3", "TOOL NOT EXECUTED. There is no tool of this name. Use one of the offered tools."],
    ]
    assert answer == f"{{}} {dumps(texts)} {{0}}"


async def test_the_script_goes_on_in_another_process() -> None:
    turn = Turn(steps=[Step(calls=[ACT]), Step(text="after")])
    thread = thread_of(turn, gated=True)
    await thread.say("go")
    thread.source = thread_of(turn, gated=True).source
    assert said(await thread.answer({"c1": "yes"})) == "after"


async def test_text_comes_in_pieces_with_a_pause_between() -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    step = Step(reasoning="hmm", text="twelve chars", chunk=5, delay_seconds=0.5)
    model = ScriptedModel([Turn(steps=[step])], sleep=sleep)
    thread = MemoryThread(ToolLoop(model))
    events = await thread.say("go")
    assert [event.delta for event in events if isinstance(event, TextDelta)] == [
        "twelv",
        "e cha",
        "rs",
    ]
    assert [event.delta for event in events if isinstance(event, ReasoningDelta)] == ["hmm"]
    assert slept == [0.5] * 3


async def test_eight_characters_are_a_delta_and_no_pause_is_made() -> None:
    async def sleep(_seconds: float) -> None:
        raise AssertionError

    thread = MemoryThread(ToolLoop(ScriptedModel([Turn(steps=[Step(text="x" * 17)])], sleep=sleep)))
    events = await thread.say("go")
    assert [len(event.delta) for event in events if isinstance(event, TextDelta)] == [8, 8, 1]


@pytest.mark.parametrize("calls", [[], [ACT]], ids=["text", "calls"])
async def test_a_model_can_fail_after_what_it_said(calls: list[CallSpec]) -> None:
    thread = thread_of(
        Turn(when="go", steps=[Step(text="I will", calls=calls, fail=True)]),
        Turn(steps=[Step(text="fine")]),
    )
    events = await thread.say("go")
    assert said(events) == "I will"
    assert events[-1] == Failed()
    assert thread.ledger.log == []
    assert said(await thread.say("well?")) == "fine"


async def test_the_failure_is_the_models_own() -> None:
    model = ScriptedModel([Turn(steps=[Step(fail=True)])])
    with pytest.raises(ScriptedFailure):
        _ = [event async for event in model.respond(ModelRequest(history=()))]


@pytest.mark.parametrize(
    ("spec", "inputs", "raw"),
    [
        pytest.param(CallSpec(name="act", inputs={"n": 2**70}), {"n": 2**70}, None, id="inputs"),
        pytest.param(CallSpec(name="act"), {}, None, id="nothing"),
        pytest.param(CallSpec(name="act", arguments='{ "a": 1 }'), {"a": 1}, None, id="raw-text"),
        pytest.param(CallSpec(name="act", arguments='{"a'), {}, '{"a', id="broken-text"),
        pytest.param(CallSpec(name="act", arguments=""), {}, None, id="empty-text"),
    ],
)
async def test_what_a_call_of_the_script_sends(
    spec: CallSpec, inputs: JsonObject, raw: str | None
) -> None:
    thread = thread_of(Turn(steps=[Step(calls=[spec])]))
    await thread.say("go")
    made = batches(thread.messages)[0].calls[0].call
    assert (made.inputs, made.raw_arguments) == (inputs, raw)
