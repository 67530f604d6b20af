r"""Standing rules: what a person said once about a tool in a thread, for the calls that follow.

Pure: rules and the time are arguments, and nothing is kept. A never rule is looked for before any
policy, an always rule only where a person would be asked (design §6, "Gate")::

    if rule := refusing(rules, call.name, call.inputs, now): ...   # does not run, nobody is asked
    if asks and (rule := permitting(rules, call.name, call.inputs, now)): ...   # runs

Doubt means that the call does not run: a rule that cannot be read, and a value that may not mean
what it looks like, are read against the call.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, TypeAlias, assert_never

from .errors import ConfigurationError
from .json_text import JsonObject, JsonValue, canonical
from .suspension import call_hash

RuleEffect: TypeAlias = Literal["always", "never"]

MAX_PATTERN_LENGTH: Final = 500
"""Characters of a glob."""

_DEVIOUS: Final = ("..", "\\", "%2e", "%5c", "%2f", "%25")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyInputs:
    """Every call of the tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SameInputs:
    """Calls whose ``call_hash`` is this one. A call without inputs has one, too: "no inputs" is
    not "any inputs" (B126)."""

    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EqualFields:
    """Calls whose named inputs are these, as JSON: ``1``, ``1.0`` and ``true`` differ.

    Raises:
        ConfigurationError: no fields, which would be every call.
    """

    fields: Mapping[str, JsonValue]

    def __post_init__(self) -> None:
        if not self.fields:
            raise ConfigurationError("A rule for equal fields names at least one.")


@dataclass(frozen=True, slots=True, kw_only=True)
class GlobFields:
    """Calls whose named inputs are texts of these forms: ``*`` is any characters, ``/`` included,
    everything else is itself. The whole value has to match.

    Raises:
        ConfigurationError: no patterns, or one that is empty or longer than
            ``MAX_PATTERN_LENGTH``.
    """

    patterns: Mapping[str, str]

    def __post_init__(self) -> None:
        if not self.patterns:
            raise ConfigurationError("A rule for patterns names at least one field.")
        if not all(0 < len(text) <= MAX_PATTERN_LENGTH for text in self.patterns.values()):
            raise ConfigurationError(f"A pattern has 1 to {MAX_PATTERN_LENGTH} characters.")


Match: TypeAlias = AnyInputs | SameInputs | EqualFields | GlobFields


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingRule:
    """One rule of one thread.

    Attributes:
        id: unique in the thread.
        tool: the tool it is about.
        effect: ``always`` runs a covered call without asking, ``never`` refuses it.
        match: which calls it covers; None where the stored one cannot be read.
        created_by: the principal who made it, from authentication.
        created_at: aware UTC.
        expires_at: aware UTC time from which it covers nothing; None is never.
        call_id: the call that was answered when it was made.
    """

    id: str
    tool: str
    effect: RuleEffect
    match: Match | None
    created_by: str
    created_at: datetime
    call_id: str
    expires_at: datetime | None = None


def covers(rule: StandingRule, tool_name: str, inputs: JsonObject, now: datetime) -> bool:
    """Whether ``rule`` speaks of a call with these effective inputs.

    An unreadable always rule covers nothing, an unreadable never rule its whole tool.
    """
    if rule.tool != tool_name or (rule.expires_at is not None and now >= rule.expires_at):
        return False
    never = rule.effect == "never"
    match rule.match:
        case None:
            return never
        case AnyInputs():
            return True
        case SameInputs(hash=expected):
            return call_hash(tool_name, inputs) == expected
        case EqualFields(fields=fields):
            return all(
                name in inputs and canonical([inputs[name]]) == canonical([value])
                for name, value in fields.items()
            )
        case GlobFields(patterns=patterns):
            return all(
                name in inputs and _fits(pattern, inputs[name], in_doubt=never)
                for name, pattern in patterns.items()
            )
        case _:
            assert_never(rule.match)


def refusing(
    rules: Iterable[StandingRule], tool_name: str, inputs: JsonObject, now: datetime
) -> StandingRule | None:
    """The first never rule that covers the call."""
    return _first("never", rules, tool_name, inputs, now)


def permitting(
    rules: Iterable[StandingRule], tool_name: str, inputs: JsonObject, now: datetime
) -> StandingRule | None:
    """The first always rule that covers the call. A never rule that covers it, too, stands before
    it, in whatever order they were made."""
    standing = tuple(rules)
    if refusing(standing, tool_name, inputs, now) is not None:
        return None
    return _first("always", standing, tool_name, inputs, now)


def _first(
    effect: RuleEffect,
    rules: Iterable[StandingRule],
    tool_name: str,
    inputs: JsonObject,
    now: datetime,
) -> StandingRule | None:
    return next(
        (rule for rule in rules if rule.effect == effect and covers(rule, tool_name, inputs, now)),
        None,
    )


def _fits(pattern: str, value: JsonValue, *, in_doubt: bool) -> bool:
    if not isinstance(value, str) or _is_devious(value):
        return in_doubt
    return glob_matches(pattern, value)


def _is_devious(value: str) -> bool:
    """Whether a tool may read the text as another place than the one that a glob reads: steps
    upwards, also encoded or in look-alike characters, and characters that nobody sees."""
    plain = unicodedata.normalize("NFKC", value).lower()
    return not value.isprintable() or any(piece in plain for piece in _DEVIOUS)


def glob_matches(pattern: str, value: str) -> bool:
    """Whether the whole of ``value`` is of the form ``pattern``, in time linear in both.

    A regular expression would do the same, with backtracking: ``*a*a*a*`` takes it minutes.
    """
    first, *rest = pattern.split("*")
    if not rest:
        return value == pattern
    last = rest.pop()
    if len(value) < len(first) + len(last) or not value.startswith(first):
        return False
    end = len(value) - len(last)
    if not value.endswith(last):
        return False
    place = len(first)
    for piece in rest:
        found = value.find(piece, place, end)
        if found < 0:
            return False
        place = found + len(piece)
    return True
