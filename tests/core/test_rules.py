"""Standing rules: which calls they cover."""

from __future__ import annotations

import fnmatch
import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signoff.errors import ConfigurationError
from signoff.json_text import JsonObject, JsonValue
from signoff.rules import (
    MAX_PATTERN_LENGTH,
    AnyInputs,
    EqualFields,
    GlobFields,
    Match,
    RuleEffect,
    SameInputs,
    StandingRule,
    covers,
    glob_matches,
    permitting,
    refusing,
)
from signoff.suspension import call_hash

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)


def rule(
    match: Match | None, effect: RuleEffect = "always", expires_at: datetime | None = None
) -> StandingRule:
    return StandingRule(
        id=f"rule_{effect}",
        tool="shell",
        effect=effect,
        match=match,
        created_by="ada",
        created_at=NOW,
        call_id="c1",
        expires_at=expires_at,
    )


SAME = SameInputs(hash=call_hash("shell", {"command": "git status"}))
NO_INPUTS = SameInputs(hash=call_hash("shell", {}))
FIELDS = EqualFields(fields={"command": "git", "times": 1})


@pytest.mark.parametrize(
    ("match", "inputs", "expected"),
    [
        (AnyInputs(), {}, True),
        (AnyInputs(), {"command": "rm"}, True),
        (SAME, {"command": "git status"}, True),
        (SAME, {"command": "git push --force"}, False),
        (SAME, {"command": "git status", "force": True}, False),
        (FIELDS, {"command": "git", "times": 1, "other": 2}, True),
        (FIELDS, {"command": "git", "times": True}, False),
        (FIELDS, {"command": "git", "times": 1.0}, False),
        (FIELDS, {"command": "git"}, False),
    ],
)
def test_what_a_rule_covers(match: Match, inputs: JsonObject, expected: bool) -> None:
    assert covers(rule(match), "shell", inputs, NOW) is expected
    assert covers(rule(match, "never"), "shell", inputs, NOW) is expected


def test_no_inputs_are_not_any_inputs() -> None:
    assert covers(rule(NO_INPUTS), "shell", {}, NOW)
    assert not covers(rule(NO_INPUTS), "shell", {"force": True}, NOW)


def test_a_rule_for_one_command_does_not_cover_another() -> None:
    assert not covers(rule(SAME), "shell", {"command": "git push --force"}, NOW)
    assert not covers(rule(AnyInputs()), "crm/shell", {"command": "git status"}, NOW)


@pytest.mark.parametrize(
    ("value", "always", "never"),
    [
        ("/tmp/a.log", True, True),
        ("/tmp/deep/a.log", True, True),
        ("/etc/passwd", False, False),
        ("x/tmp/a.log", False, False),
        ("/tmp/a.log\n", False, True),
        ("/tmp/../etc/passwd.log", False, True),
        ("/tmp/%2E%2e/etc/passwd.log", False, True),
        ("/tmp/%252e%252e/a.log", False, True),
        ("/tmp\\a.log", False, True),
        ("/tmp/\uff0e\uff0e/a.log", False, True),
        ("/tmp/\u200ba.log", False, True),
        (7, False, True),
        (None, False, True),
        (["/tmp/a.log"], False, True),
    ],
)
def test_doubtful_values_are_read_against_the_call(
    value: JsonValue, always: bool, never: bool
) -> None:
    match = GlobFields(patterns={"path": "/tmp/*.log"})
    assert covers(rule(match), "shell", {"path": value}, NOW) is always
    assert covers(rule(match, "never"), "shell", {"path": value}, NOW) is never


def test_an_unreadable_rule_permits_nothing_and_refuses_its_whole_tool() -> None:
    assert not covers(rule(None), "shell", {}, NOW)
    assert covers(rule(None, "never"), "shell", {}, NOW)
    assert not covers(rule(None, "never"), "mail", {}, NOW)


@pytest.mark.parametrize(("seconds", "expected"), [(-1, False), (0, False), (1, True)])
def test_a_rule_ends_at_its_expiry(seconds: int, expected: bool) -> None:
    ending = rule(AnyInputs(), expires_at=NOW + timedelta(seconds=seconds))
    assert covers(ending, "shell", {}, NOW) is expected


@pytest.mark.parametrize("order", [("always", "never"), ("never", "always")])
def test_never_stands_before_always(order: tuple[RuleEffect, RuleEffect]) -> None:
    rules = [rule(AnyInputs(), effect) for effect in order]
    refused = refusing(rules, "shell", {}, NOW)
    assert refused is not None
    assert refused.effect == "never"
    assert permitting(rules, "shell", {}, NOW) is None
    assert permitting([rule(AnyInputs())], "shell", {}, NOW) == rule(AnyInputs())


@pytest.mark.parametrize("pattern", ["", "a" * (MAX_PATTERN_LENGTH + 1)])
def test_a_pattern_has_bounds(pattern: str) -> None:
    with pytest.raises(ConfigurationError):
        GlobFields(patterns={"path": pattern})


def test_a_match_names_fields() -> None:
    with pytest.raises(ConfigurationError):
        GlobFields(patterns={})
    with pytest.raises(ConfigurationError):
        EqualFields(fields={})


@given(st.text(alphabet="ab*", max_size=8), st.text(alphabet="ab*", max_size=12))
def test_globs_say_what_the_standard_library_says(pattern: str, value: str) -> None:
    expected = re.compile(fnmatch.translate(pattern)).match(value) is not None
    assert glob_matches(pattern, value) is expected


def test_globs_do_not_backtrack() -> None:
    assert not glob_matches("*a" * 249 + "*b", "a" * 1_000_000)
