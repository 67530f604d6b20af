"""The gate: who is asked, and why. Doubt asks."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

from signoff.errors import ConfigurationError
from signoff.json_text import JsonObject
from signoff.policy import Ask, Gate, Judgement, Mode, Run
from signoff.schema_tools import schema_tool
from signoff.tools import Hints, Policy, Tool, Verdict

MODES: tuple[Mode, ...] = ("off", "normal", "protective")


def make(
    *, hints: Hints | None = None, approval: Policy | None = None, override: Policy | None = None
) -> Tool:
    tool = schema_tool(
        name="act",
        input_schema={},
        function=lambda _context, _arguments: None,
        hints=hints,
        approval=approval,
    )
    match override:
        case None:
            return tool
        case True:
            return tool.require_approval()
        case False:
            return tool.suppress_approval()
        case str() as reason:
            return tool.require_approval(reason)
        case policy:
            return tool.with_approval_policy(policy)


TABLE = [
    pytest.param(Hints(readonly=True), (False, False, False), id="read-only"),
    pytest.param(Hints(), (False, False, True), id="no-hints"),
    pytest.param(Hints(readonly=False), (False, False, True), id="mutating"),
    pytest.param(Hints(destructive=False), (False, False, True), id="only-not-destructive"),
    pytest.param(Hints(destructive=True), (False, True, True), id="destructive"),
    pytest.param(Hints(open_world=True), (False, True, True), id="open-world"),
    pytest.param(Hints(requires_approval=True), (False, True, True), id="requires-approval"),
    pytest.param(Hints(readonly=True, destructive=True), (False, True, True), id="contradictory"),
    pytest.param(
        Hints(readonly=True, open_world=True), (False, True, True), id="also-contradictory"
    ),
]


@pytest.mark.req("R4", "R5", "R6", "R7")
@pytest.mark.parametrize(("hints", "asks"), TABLE)
def test_mode_and_hints(hints: Hints, asks: tuple[bool, bool, bool]) -> None:
    tool = make(hints=hints)
    for mode, asked in zip(MODES, asks, strict=True):
        gate = Gate(mode=mode)
        assert isinstance(gate.judge(tool, {}), Ask) is asked
        assert gate.can_ask(tool) is asked


@pytest.mark.parametrize("mode", ["loud", "norma", "", None, True])
def test_b86_an_unknown_mode_is_never_read_as_another(mode: str) -> None:
    with pytest.raises(ConfigurationError):
        Gate(mode=mode)


@pytest.mark.req("R1")
@pytest.mark.parametrize("mode", MODES)
def test_a_tools_own_policy_speaks_before_the_mode(mode: Mode) -> None:
    gate = Gate(mode=mode)
    risky = Hints(destructive=True)
    assert gate.judge(make(hints=risky, approval=False), {}) == Run(rule="tool")
    assert gate.judge(make(approval="Think first"), {}) == Ask(
        reason="Think first", risk="mutating", rule="tool"
    )
    assert gate.judge(make(hints=risky, approval=True), {}) == Ask(
        reason="This action can destroy data.", risk="destructive", rule="tool"
    )


@pytest.mark.req("R3")
@pytest.mark.parametrize(("own", "override"), list(product([True, False, None], [True, False])))
def test_an_override_speaks_before_everything(own: bool | None, override: bool) -> None:
    for mode in MODES:
        judged = Gate(mode=mode).judge(make(approval=own, override=override), {})
        assert isinstance(judged, Ask) is override
        assert judged.rule == "override"


@pytest.mark.req("R1")
def test_a_policy_sees_the_inputs_that_would_run() -> None:
    seen: list[JsonObject] = []

    def policy(inputs: JsonObject) -> Verdict:
        seen.append(inputs)
        return "More than 100" if inputs["amount"] == 101 else False

    tool = make(approval=policy)
    judged: list[Judgement] = [Gate().judge(tool, {"amount": amount}) for amount in (100, 101)]
    assert judged == [
        Run(rule="tool"),
        Ask(reason="More than 100", risk="mutating", rule="tool"),
    ]
    assert seen == [{"amount": 100}, {"amount": 101}]
    assert Gate(mode="off").can_ask(tool)


def _raises(_inputs: JsonObject) -> Verdict:
    raise KeyError("secret")


def _says(value: object) -> Callable[[JsonObject], object]:
    return lambda _inputs: value


UNCLEAR = [_raises, _says(None), _says(""), _says(1), _says([])]


@pytest.mark.parametrize("policy", UNCLEAR, ids=["raises", "none", "empty", "number", "list"])
@pytest.mark.parametrize("mode", MODES)
def test_b86_a_policy_that_fails_or_says_nothing_asks(
    policy: Callable[[JsonObject], Verdict], mode: Mode
) -> None:
    judged = Gate(mode=mode).judge(make(approval=policy), {})
    assert isinstance(judged, Ask)
    assert judged.reason == "The approval policy of this tool gave no clear answer."
    assert isinstance(Gate(mode=mode).judge(make(override=policy), {}), Ask)


def test_a_policy_that_fails_is_logged_without_its_words(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="signoff"):
        Gate().judge(make(approval=_raises), {"path": "hidden"})
    assert [record.message for record in caplog.records] == [
        "A policy failed. tool=act error=KeyError"
    ]
    with caplog.at_level("DEBUG", logger="signoff"):
        Gate().judge(make(approval=_raises), {})
    assert "secret" in caplog.text


@pytest.mark.parametrize(
    ("hints", "risk", "reason"),
    [
        pytest.param(Hints(destructive=True), "destructive", "can destroy data", id="destructive"),
        pytest.param(Hints(open_world=True), "open_world", "outside", id="open-world"),
        pytest.param(
            Hints(requires_approval=True), "requires_approval", "needs approval", id="marked"
        ),
        pytest.param(Hints(), "mutating", "changes data", id="no-hints"),
        pytest.param(Hints(readonly=True), "policy", "needs approval", id="read-only"),
    ],
)
def test_a_person_reads_what_makes_it_risky(hints: Hints, risk: str, reason: str) -> None:
    judged = Gate().judge(make(hints=hints, approval=True), {})
    assert isinstance(judged, Ask)
    assert judged.risk == risk
    assert reason in judged.reason


def test_b115_a_gate_keeps_nothing() -> None:
    assert Gate.__slots__ == ("mode", "policy")
