"""The host policy, the spoken modes, and the tools that never ask."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signoff import ConfigurationError, Gate, Hints, Tool, unattended
from signoff.json_text import JsonObject
from signoff.policy import Ask, Run
from signoff.tools import BoundInputs, ToolRegistry

MODES = ("off", "normal", "protective")


def make(name: str = "t", **fields: Any) -> Tool:
    return Tool(
        name=name,
        description="",
        input_schema={"type": "object"},
        bind=lambda inputs: BoundInputs(effective=inputs, arguments=inputs),
        function=lambda context, arguments: None,
        **fields,
    )


@pytest.mark.parametrize(
    ("spoken", "mode"),
    [(" Paranoid ", "protective"), ("HIGH", "protective"), ("balanced", "normal"), ("yolo", "off")],
)
def test_a_spoken_mode_is_its_canonical_one(spoken: str, mode: str) -> None:
    assert Gate(mode=spoken).mode == mode


@pytest.mark.req("R11")
@pytest.mark.parametrize("mode", MODES)
def test_the_host_policy_decides_alone_both_ways(mode: str) -> None:
    safe = make(hints=Hints(readonly=True), override=False)
    risky = make(hints=Hints(destructive=True), override=True)
    asked = Gate(mode=mode, policy=lambda tool, inputs: "Month end").judge(safe, {})
    assert isinstance(asked, Ask)
    assert asked.reason == "Month end"
    assert asked.rule == "host"
    assert Gate(mode=mode, policy=lambda tool, inputs: False).judge(risky, {}) == Run(rule="host")
    assert Gate(mode=mode, policy=lambda tool, inputs: None).judge(safe, {}) == Run(rule="override")


def test_the_host_policy_gets_a_copy_of_the_inputs() -> None:
    def meddles(tool: Tool, inputs: Any) -> bool:
        inputs["paths"] = []
        return False

    inputs: JsonObject = {"paths": ["a"]}
    Gate(policy=meddles).judge(make(), inputs)
    assert inputs == {"paths": ["a"]}


async def _later() -> bool:
    return False


def _raises(tool: Tool, inputs: JsonObject) -> bool:
    raise RuntimeError("secret")


@pytest.mark.parametrize(
    "policy",
    [_raises, lambda t, i: 0, lambda t, i: "", lambda t, i: _later()],
    ids=["raises", "number", "blank", "coroutine"],
)
def test_a_host_policy_without_a_clear_answer_gates_the_call(policy: Any) -> None:
    judged = Gate(mode="off", policy=policy).judge(make(), {})
    assert isinstance(judged, Ask)
    assert "this application" in judged.reason


def test_a_host_policy_that_is_no_plain_function_is_refused() -> None:
    for policy in (True, _later):
        with pytest.raises(ConfigurationError):
            Gate(policy=policy)  # type: ignore[arg-type]


said = st.sampled_from([None, True, False])
policies = st.sampled_from([None, True, False, "why", lambda inputs: True])


@given(
    mode=st.sampled_from(MODES),
    fields=st.lists(st.tuples(said, said, said, policies, policies), max_size=6),
)
def test_what_is_unattended_is_never_asked_about(mode: str, fields: list[Any]) -> None:
    tools = [
        make(f"t{n}", hints=Hints(readonly=r, destructive=d, open_world=o), approval=a, override=v)
        for n, (r, d, o, a, v) in enumerate(fields)
    ]
    registry, gate = ToolRegistry(tools), Gate(mode=mode)
    names = [tool.name for tool in reversed(tools)]
    kept = unattended(["unknown", *names], tools=registry, gate=gate)
    runs = [n for n in names if isinstance(gate.judge(registry.get(n) or make(), {}), Run)]
    assert kept == runs
    host = Gate(mode=mode, policy=lambda tool, inputs: None)
    assert unattended(names, tools=registry, gate=host) == []
