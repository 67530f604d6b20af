"""The scenario that `signoff demo` plays: every turn works, whatever a person answers."""

from __future__ import annotations

from pathlib import Path

import pytest

import signoff_server
from signoff.events import Completed, ToolResult
from signoff.outcomes import ToolError
from signoff.sources.scenario import Scenario
from support.agents import MemoryThread

pytestmark = pytest.mark.anyio

FILE = Path(signoff_server.__file__).parent / "demo_scenario.json"


@pytest.fixture
def quick() -> Scenario:
    """The demo's scenario, without its waits."""
    scenario = Scenario.load(FILE)
    tools = [tool.model_copy(update={"delay_seconds": 0}) for tool in scenario.file.tools]
    turns = [
        turn.model_copy(
            update={"steps": [step.model_copy(update={"delay_seconds": 0}) for step in turn.steps]}
        )
        for turn in scenario.file.turns
    ]
    return Scenario(scenario.file.model_copy(update={"tools": tools, "turns": turns}))


async def play(scenario: Scenario, words: str, answers: str) -> tuple[list[int], MemoryThread]:
    """Say ``words`` and answer each question in turn with "yes" or "no"."""
    thread = MemoryThread(scenario.source())
    events = await thread.say(words)
    pauses: list[int] = []
    while thread.suspension is not None:
        calls = thread.suspension.calls
        pauses.append(len(calls))
        events = await thread.answer({call.call_id: answers for call in calls})
    assert isinstance(events[-1], Completed)
    return pauses, thread


@pytest.mark.parametrize("answer", ["yes", "no"])
@pytest.mark.parametrize(
    ("words", "pauses"),
    [
        pytest.param("Please delete the old log", [1], id="delete"),
        pytest.param("pay the invoices", [2], id="pay"),
        pytest.param("Release it", [1, 1], id="release"),
        pytest.param("Send the mail", [1], id="mail"),
        pytest.param("balance?", [], id="balance"),
        pytest.param("Explain yourself", [], id="explain"),
        pytest.param("hello", [], id="anything-else"),
    ],
)
async def test_every_turn_ends_well(
    quick: Scenario, words: str, pauses: list[int], answer: str
) -> None:
    seen, thread = await play(quick, words, answer)
    assert seen == pauses
    last = thread.messages[-1].text
    assert last
    assert last != "Done."


async def test_two_invoices_are_answered_differently_beside_a_free_call(quick: Scenario) -> None:
    thread = MemoryThread(quick.source())
    await thread.say("pay")
    events = await thread.answer({"toolu_pay_01": "yes", "toolu_pay_02": "no"})
    ended = {
        event.call_id: type(event.outcome).__name__
        for event in events
        if isinstance(event, ToolResult)
    }
    assert ended == {
        "toolu_pay_01": "Output",
        "toolu_pay_02": "Rejected",
        "toolu_balance_01": "Output",
    }


async def test_an_approved_tool_can_fail(quick: Scenario) -> None:
    thread = MemoryThread(quick.source())
    await thread.say("mail")
    events = await thread.answer({"toolu_mail_01": "yes"})
    (outcome,) = [event.outcome for event in events if isinstance(event, ToolResult)]
    assert outcome == ToolError(text="The mail server does not know this recipient.")


def test_pages_can_suggest_every_turn() -> None:
    scenario = Scenario.load(FILE)
    assert set(scenario.suggestions) == {"delete", "pay", "release", "mail", "balance", "explain"}
    assert scenario.remarks == ()
    # The last turn takes whatever else is said, and names the words.
    last = scenario.file.turns[-1]
    assert last.when is None
    assert all(word in last.steps[0].text for word in scenario.suggestions)
