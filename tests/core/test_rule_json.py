"""What a standing rule matches, as JSON."""

from __future__ import annotations

import pytest

from signoff.json_text import JsonValue
from signoff.rule_json import match_from_json, match_to_json
from signoff.rules import AnyInputs, EqualFields, GlobFields, Match, SameInputs


@pytest.mark.parametrize(
    "match",
    [
        AnyInputs(),
        SameInputs(hash="ab"),
        EqualFields(fields={"to": "ada", "n": 2**70, "nothing": None}),
        GlobFields(patterns={"path": "/tmp/*.log"}),
    ],
)
def test_the_round_trip_is_the_identity(match: Match) -> None:
    assert match_from_json(match_to_json(match)) == match


@pytest.mark.parametrize(
    "document",
    [
        None,
        "any",
        {},
        {"kind": "all"},
        {"kind": "any", "unless": "rm"},
        {"kind": "same"},
        {"kind": "same", "hash": 1},
        {"kind": "same", "hash": "ab", "only": 1},
        {"kind": "fields", "fields": {}},
        {"kind": "globs", "patterns": {"path": 1}},
        {"kind": "globs", "patterns": {"path": "a" * 501}},
        {"kind": ["any"]},
    ],
)
def test_anything_else_is_unreadable(document: JsonValue) -> None:
    assert match_from_json(document) is None
