"""Values that a page could show but not send back, or not even read: its thread was lost to it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from oracles.oracle import Oracle
from support.demo_server import DemoServer, JsonObject, playing

pytestmark = pytest.mark.oracle


def nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


def call(call_id: str, name: str, **inputs: object) -> JsonObject:
    # As text: a scenario file has a limit of its own.
    return {"id": call_id, "name": name, "arguments": json.dumps(inputs)}


ANY = {"type": "object"}
SCENARIO: JsonObject = {
    "tools": [
        {"name": "take", "inputs": ANY, "approval": True, "result": "taken"},
        {"name": "give", "inputs": ANY, "approval": True, "result": nested(60)},
    ],
    "turns": [
        {"when": "deep input", "steps": [{"calls": [call("c1", "take", of=nested(60))]}]},
        {"when": "deep output", "steps": [{"calls": [call("c1", "give")]}]},
        {"when": "odd id", "steps": [{"calls": [call("__proto__", "take")]}]},
        {"steps": [{"text": "Hello."}]},
    ],
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoServer]:
    with playing(SCENARIO, tmp_path_factory.mktemp("demo")) as demo:
        yield demo


@pytest.mark.parametrize("reloaded", [False, True], ids=["as it was", "reloaded"])
@pytest.mark.parametrize("case", ["deep input", "deep output", "odd id"])
def test_a_page_can_answer_and_go_on(
    server: DemoServer, oracle: Oracle, case: str, reloaded: bool
) -> None:
    thread = f"{case} {reloaded}"
    with oracle.vercel_open(server.base_url, chat_id=thread) as first:
        asked = first.send(case)
        (call_id,) = server.pending(thread)
        with oracle.vercel_open(server.base_url, chat_id=thread, hydrate=True) as second:
            page = second if reloaded else first
            answered = page.answer(call_id, approved=True)
            then = page.send("hello")

    assert (asked.error, asked.invalid) == (None, None)
    assert (answered.error, answered.invalid) == (None, None)
    assert server.executed(thread) == [call_id]
    assert (then.error, then.invalid) == (None, None)
    assert then.text() == "Hello."
