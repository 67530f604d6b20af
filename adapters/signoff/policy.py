"""The gate: who is asked before a call runs, and why.

The first that speaks wins (design §6): the host policy, the attach-time override, the tool's own
policy, then mode × hints. Doubt asks: a policy that raises or returns nonsense gates the
call (B86).

| mode | read-only | mutating, or no hints | destructive, open_world, requires_approval |
|---|---|---|---|
| off | run | run | run |
| normal | run | run | ask |
| protective | run | ask | ask |
"""

from __future__ import annotations

import copy
import inspect
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, assert_never

from .errors import ConfigurationError
from .json_text import JsonObject
from .suspension import Risk
from .tools import Hints, Policy, Tool, ToolRegistry, Verdict

_LOG = logging.getLogger("signoff")

Mode: TypeAlias = Literal["off", "normal", "protective"]
Rule: TypeAlias = Literal["host", "override", "tool", "mode"]
"""Which of the gate's sources decided."""

HostPolicy: TypeAlias = Callable[[Tool, JsonObject], Verdict | None]
"""The application's word on a call, above every other; None is "no opinion" (R11)."""

_MODES: dict[str, Mode] = {
    "off": "off",
    "none": "off",
    "yolo": "off",
    "autonomous": "off",
    "normal": "normal",
    "default": "normal",
    "balanced": "normal",
    "standard": "normal",
    "protective": "protective",
    "paranoid": "protective",
    "careful": "protective",
    "cautious": "protective",
    "high": "protective",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The call may run without asking."""

    rule: Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A person is asked first."""

    reason: str
    risk: Risk
    rule: Rule


Judgement: TypeAlias = Run | Ask


class Gate:
    """Judges calls. Holds no state, so one gate serves every thread (B115).

    Args:
        mode: how careful it is where nobody said anything about a tool. Spoken synonyms, such as
            ``careful`` or ``yolo``, are taken in any case, with blanks around them.
        policy: the application's own word on each call, both ways and in every mode. It is handed
            a copy of the inputs.

    Raises:
        ConfigurationError: an unknown mode, which is never read as another one; or a policy that
            is no plain function.
    """

    __slots__ = ("mode", "policy")

    def __init__(self, *, mode: str = "normal", policy: HostPolicy | None = None) -> None:
        known = _MODES.get(mode.strip().lower()) if isinstance(mode, str) else None
        if known is None:
            raise ConfigurationError(f"Mode must be off, normal or protective, not {mode!r}.")
        if policy is not None and (not callable(policy) or inspect.iscoroutinefunction(policy)):
            raise ConfigurationError(
                "The gate's policy must be a plain function of tool and inputs."
            )
        self.mode: Mode = known
        self.policy = policy

    def judge(self, tool: Tool, inputs: JsonObject) -> Judgement:
        """Whether a call of ``tool`` with these effective inputs is asked about.

        ``inputs`` are what would run: cast, defaults filled in, every rewrite done (R12).
        """
        host = self.policy
        if host is not None:
            verdict = _ask_policy(tool, lambda: host(tool, copy.deepcopy(inputs)))
            if verdict is not None:
                return _by_verdict(tool, verdict, "host")
        if tool.override is not None:
            return self._by_policy(tool, tool.override, inputs, "override")
        if tool.approval is not None:
            return self._by_policy(tool, tool.approval, inputs, "tool")
        return self._by_mode(tool)

    def can_ask(self, tool: Tool) -> bool:
        """Whether some inputs of ``tool`` could be asked about."""
        if self.policy is not None:
            return True
        policy = tool.override if tool.override is not None else tool.approval
        if policy is None:
            return isinstance(self._by_mode(tool), Ask)
        return policy is not False

    def _by_policy(self, tool: Tool, policy: Policy, inputs: JsonObject, rule: Rule) -> Judgement:
        verdict: object = policy
        if callable(policy):
            verdict = _ask_policy(tool, lambda: policy(inputs))
        return _by_verdict(tool, verdict, rule)

    def _by_mode(self, tool: Tool) -> Judgement:
        hints = tool.hints
        risky = bool(hints.destructive or hints.open_world or hints.requires_approval)
        match self.mode:
            case "off":
                asks = False
            case "normal":
                asks = risky
            case "protective":
                asks = risky or not hints.readonly
            case _:
                assert_never(self.mode)
        if not asks:
            return Run(rule="mode")
        return Ask(reason=_reason(hints), risk=_risk(hints), rule="mode")


def unattended(names: Iterable[str], *, tools: ToolRegistry, gate: Gate) -> list[str]:
    """The names, in their order, whose calls ``gate`` asks nobody about, whatever their inputs.

    A caller that offers only these never meets a suspension. Unknown names and browser tools are
    dropped; a policy that depends on inputs counts as asking, so under a host
    policy nothing is left.
    """
    found = ((name, tools.get(name)) for name in names)
    return [
        name
        for name, tool in found
        if tool is not None and tool.runs == "server" and not gate.can_ask(tool)
    ]


_UNCLEAR = object()


def _ask_policy(tool: Tool, policy: Callable[[], object]) -> object:
    try:
        verdict = policy()
    except Exception as error:  # noqa: BLE001 - a policy is foreign code, and its failure means "ask"
        _log_failure(tool, error)
        return _UNCLEAR
    if inspect.iscoroutine(verdict):
        verdict.close()
        return _UNCLEAR
    return verdict


def _by_verdict(tool: Tool, verdict: object, rule: Rule) -> Judgement:
    match verdict:
        case False:
            return Run(rule=rule)
        case True:
            return Ask(reason=_reason(tool.hints), risk=_risk(tool.hints), rule=rule)
        case str() as reason if reason:
            return Ask(reason=reason, risk=_risk(tool.hints), rule=rule)
        case _:
            whose = "this application" if rule == "host" else "this tool"
            return Ask(
                reason=f"The approval policy of {whose} gave no clear answer.",
                risk=_risk(tool.hints),
                rule=rule,
            )


def _log_failure(tool: Tool, error: Exception) -> None:
    # The exception's own text can hold inputs and secrets, so it is for debugging only.
    _LOG.error("A policy failed. tool=%s error=%s", tool.name, type(error).__name__)
    _LOG.debug("Details of the failure", exc_info=error)


def _risk(hints: Hints) -> Risk:
    if hints.destructive:
        return "destructive"
    if hints.open_world:
        return "open_world"
    if hints.requires_approval:
        return "requires_approval"
    return "policy" if hints.readonly else "mutating"


def _reason(hints: Hints) -> str:
    match _risk(hints):
        case "destructive":
            return "This action can destroy data."
        case "open_world":
            return "This action reaches systems outside of this application."
        case "mutating":
            return "This action changes data."
        case "requires_approval" | "policy":
            return "This action needs approval."
