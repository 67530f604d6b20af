"""JSON as text, where the exact text matters.

What a person approves and what later runs must be the same inputs, so they are kept as canonical
JSON *text*: integers beyond 2^53 and U+0000 survive, and nothing is rounded by a database or a
browser on the way (field failures B121, B124).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias, cast

import orjson

JsonValue: TypeAlias = (
    bool | int | float | str | Sequence["JsonValue"] | Mapping[str, "JsonValue"] | None
)
JsonObject: TypeAlias = Mapping[str, JsonValue]


_AS_IT_STANDS = (
    orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_PASSTHROUGH_SUBCLASS
)
_SORTED = _AS_IT_STANDS | orjson.OPT_SORT_KEYS

# Text has one form, the standard library's. ``orjson`` is ten times as fast and writes the same but
# for exponents, small fractions, and NaN, which it writes as null. Three patterns, each of which
# begins with one character: as one they take four times as long.
_NULL = re.compile(rb"null").search
_SMALL = re.compile(rb"\.0000").search
_EXPONENT = re.compile(rb"e(?<=[0-9]e)").search


class JsonTextError(ValueError):
    """Text that is not the JSON signoff reads. ``str()`` says what is wrong, without the text."""


def parse(text: str | bytes, *, max_depth: int = 64) -> JsonValue:
    """Read JSON strictly.

    Refused, because two readers could disagree on what it says: duplicate keys, ``NaN`` and
    ``Infinity`` (also numbers too large to be finite), lone surrogates, invalid UTF-8, a byte order
    mark, more than ``max_depth`` nested levels.

    Raises:
        JsonTextError: the text is not such JSON.
    """
    try:
        decoded = text.decode("utf-8") if isinstance(text, bytes) else text
        value: JsonValue = json.loads(
            decoded,
            object_pairs_hook=_unique_keys,
            parse_constant=_refuse_constant,
            parse_float=_finite_float,
        )
    except JsonTextError:
        raise
    except UnicodeDecodeError:
        raise JsonTextError("it is not valid UTF-8") from None
    except RecursionError:
        raise JsonTextError("it is nested too deeply") from None
    except ValueError:
        raise JsonTextError("it is not valid JSON") from None
    if _too_deep(value, max_depth):
        raise JsonTextError("it is nested too deeply")
    if "\\u" in decoded or not isinstance(text, bytes):
        _refuse_lone_surrogates(value)
    return value


def dumps(value: JsonValue) -> str:
    """Compact JSON text in the order of the keys as they stand.

    Raises:
        JsonTextError: a number is not finite, or a string has a lone surrogate.
    """
    return _dump(value, sort_keys=False)


def canonical(value: JsonValue) -> str:
    """Compact JSON text with sorted keys: equal values give equal text."""
    return _dump(value, sort_keys=True)


def encode(value: object) -> bytes:
    """JSON bytes for a browser: fast, and without characters that cut a line for some readers.

    U+0085, U+2028 and U+2029 end a line for Python's ``splitlines`` and others (B99), so they go
    out escaped. ``orjson`` takes no integer beyond 64 bits and no lone surrogate; those rare values
    take the standard library's way instead, a lone surrogate as U+FFFD.
    """
    try:
        data = orjson.dumps(value)
    except TypeError:
        text = json.dumps(
            value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain
        )
        data = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
    # Most text is ASCII, and that is by far the cheapest question.
    if not data.isascii() and (b"\xe2\x80" in data or b"\xc2\x85" in data):
        return (
            data.replace(b"\xe2\x80\xa8", b"\\u2028")
            .replace(b"\xe2\x80\xa9", b"\\u2029")
            .replace(b"\xc2\x85", b"\\u0085")
        )
    return data


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, object]", value))
    raise TypeError(f"{type(value).__name__} is not JSON")


def _dump(value: JsonValue, *, sort_keys: bool) -> str:
    try:
        data = orjson.dumps(value, option=_SORTED if sort_keys else _AS_IT_STANDS)
    except TypeError:
        return _dump_slowly(value, sort_keys=sort_keys)
    if _NULL(data) or _SMALL(data) or _EXPONENT(data):
        return _dump_slowly(value, sort_keys=sort_keys)
    return data.decode()


def _dump_slowly(value: JsonValue, *, sort_keys: bool) -> str:
    try:
        text = json.dumps(
            value,
            ensure_ascii=False,
            allow_nan=False,
            separators=(",", ":"),
            sort_keys=sort_keys,
        )
        text.encode()
    except UnicodeEncodeError:
        raise JsonTextError("a string holds half a surrogate pair") from None
    except RecursionError:
        raise JsonTextError("it is nested too deeply") from None
    except (TypeError, ValueError):
        raise JsonTextError("it is not a JSON value") from None
    return text


def _unique_keys(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise JsonTextError("a key stands twice in one object")
    return result


def _refuse_constant(name: str) -> JsonValue:
    raise JsonTextError(f"{name} is not a JSON number")


def _finite_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise JsonTextError("a number is too large")
    return number


def _too_deep(value: JsonValue, max_depth: int) -> bool:
    level: list[JsonValue] = [value]
    for _ in range(max_depth + 1):
        containers = [item for item in level if isinstance(item, (dict, list))]
        if not containers:
            return False
        level = [
            inner
            for item in containers
            for inner in (item.values() if isinstance(item, dict) else item)
        ]
    return True


def _refuse_lone_surrogates(value: JsonValue) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise JsonTextError("a string holds half a surrogate pair") from None
