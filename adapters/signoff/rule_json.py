"""What a standing rule matches, as JSON and read back.


{"kind": "any"}
{"kind": "same", "hash": "…"}
{"kind": "fields", "fields": {"recipient": "ada@example.com"}}
{"kind": "globs", "patterns": {"path": "/tmp/*.log"}}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from .errors import ConfigurationError
from .json_text import JsonObject, JsonValue
from .rules import AnyInputs, EqualFields, GlobFields, Match, SameInputs


def match_to_json(match: Match) -> JsonObject:
    match match:
        case AnyInputs():
            return {"kind": "any"}
        case SameInputs(hash=hash_):
            return {"kind": "same", "hash": hash_}
        case EqualFields(fields=fields):
            return {"kind": "fields", "fields": dict(fields)}
        case GlobFields(patterns=patterns):
            return {"kind": "globs", "patterns": dict(patterns)}
        case _:
            assert_never(match)


def match_from_json(document: JsonValue) -> Match | None:
    """Read a match; None for anything that is not exactly one of the four forms, as
    ``StandingRule.match`` has it: a key that is not known could narrow what is covered."""
    if not isinstance(document, Mapping):
        return None
    try:
        return _read(dict(document))
    except ConfigurationError:
        return None


def _read(document: dict[str, JsonValue]) -> Match | None:
    kind = document.pop("kind", None)
    if kind == "any" and not document:
        return AnyInputs()
    if len(document) != 1:
        return None
    match kind, document:
        case "same", {"hash": str() as hash_}:
            return SameInputs(hash=hash_)
        case "fields", {"fields": Mapping() as fields}:
            return EqualFields(fields=dict(fields))
        case "globs", {"patterns": Mapping() as patterns}:
            texts = {name: text for name, text in patterns.items() if isinstance(text, str)}
            return GlobFields(patterns=texts) if len(texts) == len(patterns) else None
        case _:
            return None
