"""The gate: who is asked before a call runs, and why.

The first that speaks wins (design §6): the attach-time override, the tool's own policy, then mode ×
hints. Doubt asks: a policy that raises or returns nonsense gates the call (B86).

| mode | read-only | mutating, or no hints | destructive, open_world, requires_approval |
|---|---|---|---|
| off | run | run | run |
| normal | run | run | ask |
| protective | run | ask | ask |
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Literal, TypeAlias, assert_never, get_args

from .errors import ConfigurationError
from .json_text import JsonObject
from .suspension import Risk
from .tools import Hints, Policy, Tool

_LOG = logging.getLogger("signoff")

Mode: TypeAlias = Literal["off", "normal", "protective"]
Rule: TypeAlias = Literal["override", "tool", "mode"]
"""Which of the gate's sources decided."""


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
        mode: how careful it is where nobody said anything about a tool.

    Raises:
        ConfigurationError: an unknown mode; it is never read as another one.
    """

    __slots__ = ("mode",)

    def __init__(self, *, mode: Mode = "normal") -> None:
        if mode not in get_args(Mode):
            raise ConfigurationError(f"Mode must be off, normal or protective, not {mode!r}.")
        self.mode: Mode = mode

    def judge(self, tool: Tool, inputs: JsonObject) -> Judgement:
        """Whether a call of ``tool`` with these effective inputs is asked about.

        ``inputs`` are what would run: cast, defaults filled in, every rewrite done (R12).
        """
        if tool.override is not None:
            return self._by_policy(tool, tool.override, inputs, "override")
        if tool.approval is not None:
            return self._by_policy(tool, tool.approval, inputs, "tool")
        return self._by_mode(tool)

    def can_ask(self, tool: Tool) -> bool:
        """Whether some inputs of ``tool`` could be asked about."""
        policy = tool.override if tool.override is not None else tool.approval
        if policy is None:
            return isinstance(self._by_mode(tool), Ask)
        return policy is not False

    def _by_policy(self, tool: Tool, policy: Policy, inputs: JsonObject, rule: Rule) -> Judgement:
        verdict: object = policy
        if callable(policy):
            try:
                verdict = policy(inputs)
            except Exception as error:  # noqa: BLE001 - a policy is foreign code, and its failure means "ask"
                _log_failure(tool, error)
                verdict = None
        match verdict:
            case False:
                return Run(rule=rule)
            case True:
                return Ask(reason=_reason(tool.hints), risk=_risk(tool.hints), rule=rule)
            case str() as reason if reason:
                return Ask(reason=reason, risk=_risk(tool.hints), rule=rule)
            case _:
                return Ask(
                    reason="The approval policy of this tool gave no clear answer.",
                    risk=_risk(tool.hints),
                    rule=rule,
                )

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
