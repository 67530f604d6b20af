"""Secret inputs: what everyone is shown in their place, and how their values are kept out of texts.

A tool names its secret inputs. From the moment a call is judged, their values are apart from the
inputs that are shown, stored and sent (``ToolCall.inputs``), so that nothing has to remember to
mask them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from .json_text import JsonObject, JsonValue, dumps

MASK = "••••••"
"""Stands where a secret was: always the same, so that not even a length is told."""

_SHORTEST = 4
"""Shorter values stand in any text by chance, and to mask them would tell more than it hides."""


def mask_inputs(inputs: JsonObject, secret: Collection[str]) -> tuple[JsonObject, JsonObject]:
    """Part inputs in what is shown and the values of the secret ones, by their names."""
    secrets = {name: value for name, value in inputs.items() if name in secret}
    return {**inputs, **dict.fromkeys(secrets, MASK)}, secrets


def redact_text(text: str, secrets: JsonObject) -> str:
    """``text`` without the values of secrets: exact occurrences of strings, and of numbers as JSON
    writes them, of four characters or more, also inside of arrays and objects."""
    for value in _values(secrets):
        text = text.replace(value, MASK)
    return text


def redact_json(value: JsonValue, secrets: JsonObject) -> JsonValue:
    """The same for every string, key and number of a JSON value; a number becomes the mask."""
    values = _values(secrets)
    return _redact(value, values) if values else value


def _redact(value: JsonValue, secrets: list[str]) -> JsonValue:
    match value:
        case str():
            for secret in secrets:
                value = value.replace(secret, MASK)
            return value
        case bool() | None:
            return value
        case int() | float():
            return MASK if dumps(value) in secrets else value
        case Mapping():
            return {
                str(_redact(key, secrets)): _redact(item, secrets) for key, item in value.items()
            }
        case _:
            return [_redact(item, secrets) for item in value]


def _values(secrets: JsonObject) -> list[str]:
    # The longest first: a value that is part of another one would leave the rest of it standing.
    found = {text for text in _leaves(dict(secrets)) if len(text) >= _SHORTEST}
    return sorted(found, key=len, reverse=True)


def _leaves(value: JsonValue) -> Iterator[str]:
    match value:
        case str():
            yield value
            # As it stands inside of JSON, in a text that quotes it.
            yield dumps(value)[1:-1]
        case bool() | None:
            pass
        case int() | float():
            yield dumps(value)
        case Mapping():
            for item in value.values():
                yield from _leaves(item)
        case _:
            for item in value:
                yield from _leaves(item)
