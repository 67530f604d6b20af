"""Scenario files: read, checked in words that help, and run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from signoff.errors import ConfigurationError
from signoff.events import ToolResult
from signoff.json_text import JsonObject, JsonValue, dumps
from signoff.outcomes import Output, ToolError
from signoff.policy import Gate, Mode
from signoff.sources.scenario import Scenario
from support.agents import MemoryThread
from support.shop import asked

# The example of the design, to the letter.
EXAMPLE = """{
  "tools": [
    {"name": "delete_file", "description": "Delete a file from the filesystem",
     "inputs": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
     "hints": {"destructive": true}, "approval": "Deleting a file is irreversible",
     "runs": "server", "result": {"deleted": true}}
  ],
  "turns": [
    {"when": "delete",
     "steps": [
       {"text": "I will delete it.", "calls": [{"id": "toolu_01", "name": "delete_file",
         "inputs": {"path": "/tmp/old.log"}}]},
       {"text": "Finished: {results}"}
     ]}
  ]
}"""


def lines(path: Path) -> list[JsonValue]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def scenario(tools: list[JsonObject], calls: list[JsonObject]) -> Scenario:
    return Scenario.parse(dumps({"tools": tools, "turns": [{"steps": [{"calls": calls}]}]}))


@pytest.mark.anyio
async def test_the_example_of_the_design(tmp_path: Path) -> None:
    (tmp_path / "scenario.json").write_text(EXAMPLE)
    loaded = Scenario.load(tmp_path / "scenario.json")
    assert loaded.suggestions == ("delete",)
    assert loaded.remarks == ()
    log = tmp_path / "executions.jsonl"
    thread = MemoryThread(loaded.source(executions=log))
    await thread.say("Delete the old log")
    assert lines(log) == []
    assert thread.suspension is not None
    shown = thread.suspension.calls[0].to_json()
    assert (shown["reason"], shown["risk"]) == ("Deleting a file is irreversible", "destructive")
    await thread.answer({"toolu_01": "yes"})
    assert lines(log) == [
        {
            "threadId": "t1",
            "callId": "toolu_01",
            "name": "delete_file",
            "inputs": {"path": "/tmp/old.log"},
        }
    ]
    assert thread.messages[-1].text == r'Finished: [["toolu_01","{\"deleted\":true}"]]'


@pytest.mark.anyio
async def test_every_execution_is_one_line_and_nothing_else_is(tmp_path: Path) -> None:
    log = tmp_path / "executions.jsonl"
    log.write_text('"kept"\n')
    source = scenario(
        [
            {"name": "fails", "error": "It broke."},
            {"name": "gated", "approval": True, "result": "ran"},
            {"name": "slow", "delay_seconds": 0.01, "result": [1, None]},
        ],
        [
            {"id": "c1", "name": "fails", "inputs": {"text": "line\nbreak \u2028 ü"}},
            {"id": "c2", "name": "gated"},
            {"id": "c3", "name": "slow"},
            {"id": "c4", "name": "unknown"},
            {"id": "c5", "name": "slow", "arguments": "{"},
        ],
    ).source(executions=log)
    thread = MemoryThread(source)
    await thread.say("go")
    events = await thread.answer({"c2": "no"})
    ran = [line["callId"] for line in lines(log)[1:] if isinstance(line, dict)]
    assert ran == ["c1", "c3"]
    outcomes = {event.call_id: event.outcome for event in events if isinstance(event, ToolResult)}
    assert outcomes["c1"] == ToolError(text="It broke.")
    assert outcomes["c3"] == Output(value=[1, None])


@pytest.mark.anyio
@pytest.mark.req("R4")
@pytest.mark.parametrize(
    ("tool", "asks"),
    [
        pytest.param({"approval": True}, (True, True, True), id="approval-true"),
        pytest.param({"approval": "why"}, (True, True, True), id="approval-reason"),
        pytest.param(
            {"approval": False, "hints": {"destructive": True}}, (False,) * 3, id="approval-false"
        ),
        pytest.param({}, (False, False, True), id="absent"),
        pytest.param({"approval": None}, (False, False, True), id="null-is-absent"),
        pytest.param({"hints": {"open_world": True}}, (False, True, True), id="open-world"),
        pytest.param({"hints": {"readonly": True}}, (False, False, False), id="read-only"),
    ],
)
async def test_approval_and_hints(tool: JsonObject, asks: tuple[bool, ...]) -> None:
    modes: tuple[Mode, ...] = ("off", "normal", "protective")
    for mode, asked_in_it in zip(modes, asks, strict=True):
        made = scenario([{"name": "act", **tool}], [{"id": "c1", "name": "act"}])
        thread = MemoryThread(made.source(), gate=Gate(mode=mode))
        await thread.say("go")
        assert asked(thread) == (["c1"] if asked_in_it else [])


PROBLEMS = [
    pytest.param("", "it is not valid JSON", id="empty"),
    pytest.param('{\n  "tools": [,]\n}', "line 2, column 13: it is not valid JSON", id="syntax"),
    pytest.param('{"turns":[],"turns":[]}', "a key stands twice", id="duplicate-key"),
    pytest.param("[]", "the file: this has to be an object", id="list"),
    pytest.param('{"turn":[]}', "turn: there is no such key", id="unknown-key"),
    pytest.param('{"tools":[{}]}', "tools[0].name: this key is missing", id="missing-name"),
    pytest.param('{"tools":[{"name":""}]}', "tools[0].name: String should have", id="empty-name"),
    pytest.param(
        '{"tools":[{"name":"a"},{"name":"a"}]}', "tools[1].name: another tool", id="same-name"
    ),
    pytest.param('{"tools":[{"name":"a","aproval":true}]}', "tools[0].aproval: there", id="typo"),
    pytest.param('{"tools":[{"name":"a","approval":1}]}', "tools[0].approval: ", id="approval"),
    pytest.param('{"tools":[{"name":"a","approval":""}]}', "tools[0].approval: ", id="no-reason"),
    pytest.param(
        '{"tools":[{"name":"a","hints":{"readOnly":true}}]}', "tools[0].hints.readOnly", id="hint"
    ),
    pytest.param(
        '{"tools":[{"name":"a","hints":{"readonly":"yes"}}]}', "tools[0].hints.readonly", id="word"
    ),
    pytest.param('{"tools":[{"name":"a","runs":"moon"}]}', "tools[0].runs: ", id="runs"),
    pytest.param(
        '{"tools":[{"name":"a","result":1,"error":"x"}]}', "tools[0]: a tool has a", id="outcome"
    ),
    pytest.param('{"tools":[{"name":"a","delay_seconds":-1}]}', "delay_seconds", id="delay"),
    pytest.param(
        '{"tools":[{"name":"a","inputs":{"type":"list"}}]}', "tools[0].inputs: ", id="schema"
    ),
    pytest.param(
        '{"tools":[{"name":"a","asks":{"$ref":"http://x.example"}}]}', "tools[0].asks: ", id="asks"
    ),
    pytest.param('{"turns":[{"when":""}]}', "turns[0].when: ", id="empty-when"),
    pytest.param(
        '{"turns":[{"steps":[{"calls":[{"id":"c"}]}]}]}',
        "turns[0].steps[0].calls[0].name: this key is missing",
        id="call-without-name",
    ),
    pytest.param(
        '{"turns":[{"steps":[{"calls":[{"name":"a","inputs":{},"arguments":""}]}]}]}',
        "turns[0].steps[0].calls[0]: a call has inputs or arguments",
        id="two-argument-texts",
    ),
    pytest.param('{"turns":[{"steps":[{"chunk":0}]}]}', "steps[0].chunk: ", id="chunk"),
    pytest.param('{"turns":[{"steps":[{"fail":1}]}]}', "steps[0].fail: ", id="fail"),
    pytest.param('{"turns":[{"steps":{}}]}', "turns[0].steps: ", id="steps-are-an-object"),
]


@pytest.mark.parametrize(("text", "what"), PROBLEMS)
def test_b86_a_slip_is_named_with_its_place(text: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / "scenario.json"
    path.write_text(text)
    with pytest.raises(ConfigurationError) as caught:
        Scenario.load(path)
    message = str(caught.value)
    assert what in message
    assert all(line.startswith(f"{path}: ") for line in message.splitlines())
    assert all(line.endswith(".") for line in message.splitlines())


def test_all_problems_are_named_at_once() -> None:
    with pytest.raises(ConfigurationError) as caught:
        Scenario.parse('{"tools":[{}],"turns":[{"steps":[{"chunk":0,"nope":1}]}]}')
    assert len(str(caught.value).splitlines()) == 3


@pytest.mark.parametrize("path", ["none.json", "."], ids=["missing", "folder"])
def test_files_that_cannot_be_read(path: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=str(tmp_path)):
        Scenario.load(tmp_path / path)


def test_a_call_of_a_tool_that_is_not_there_is_remarked() -> None:
    remarked = scenario([{"name": "act"}], [{"name": "act"}, {"name": "akt"}])
    assert remarked.remarks == (
        "turns[0].steps[0].calls[1].name: there is no tool 'akt'; the model will read that.",
    )


@pytest.mark.parametrize(
    ("tool", "what"),
    [
        pytest.param({"name": "a", "runs": "browser"}, "in the browser", id="browser"),
        pytest.param({"name": "a", "asks": {"type": "object"}}, "asks for input", id="asks"),
    ],
)
def test_what_comes_later_is_accepted_in_a_file_and_refused_in_an_agent(
    tool: JsonObject, what: str
) -> None:
    checked = scenario([tool], [])
    with pytest.raises(ConfigurationError, match=f"{what}.*not supported yet"):
        checked.source()


def test_an_executions_file_that_cannot_be_written_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="No such file"):
        Scenario.parse("{}").source(executions=tmp_path / "no" / "log.jsonl")
