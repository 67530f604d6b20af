"""JSON as text: what two readers could read differently is refused, the rest survives as it is."""

from __future__ import annotations

import json
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signoff.json_text import JsonTextError, JsonValue, canonical, dumps, encode, parse
from signoff.sse import data_frame, named_frame
from support.strategies import json_objects, json_values, texts


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param('{"a":1}', {"a": 1}, id="object"),
        pytest.param(b'["\xc3\xa9"]', ["é"], id="utf-8"),
        pytest.param("9007199254740993", 9007199254740993, id="beyond-2-to-53"),
        pytest.param("12345678901234567890123", 12345678901234567890123, id="beyond-64-bits"),
        pytest.param("1.0", 1.0, id="float"),
        pytest.param(r'"\u0000"', "\x00", id="nul"),
        pytest.param(r'"\ud83d\ude00"', "\U0001f600", id="whole-surrogate-pair"),
        pytest.param("[" * 64 + "]" * 64, None, id="64-levels"),
    ],
)
def test_reads(text: str | bytes, value: JsonValue) -> None:
    read = parse(text)
    if value is not None:
        assert read == value
        assert type(read) is type(value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("", "not valid JSON", id="empty"),
        pytest.param("{", "not valid JSON", id="cut-off"),
        pytest.param("{'a':1}", "not valid JSON", id="single-quotes"),
        pytest.param("NaN", "NaN", id="nan"),
        pytest.param("[-Infinity]", "Infinity", id="infinity"),
        pytest.param("1e400", "too large", id="not-finite"),
        pytest.param('{"a":1,"a":1}', "twice", id="duplicate-key"),
        pytest.param('[{"b":{"a":1,"a":2}}]', "twice", id="duplicate-key-inside"),
        pytest.param(b'"\xff"', "UTF-8", id="invalid-utf-8"),
        pytest.param(b"\xef\xbb\xbf{}", "not valid JSON", id="byte-order-mark"),
        pytest.param(r'"\ud800"', "surrogate", id="half-surrogate-pair"),
        pytest.param(r'{"\udfff":1}', "surrogate", id="half-surrogate-pair-as-key"),
        pytest.param('"\ud800"', "surrogate", id="half-surrogate-pair-unescaped"),
        pytest.param("[" * 65 + "]" * 65, "deeply", id="65-levels"),
        pytest.param("[" * 100_000, "deeply", id="100000-levels"),
        pytest.param('{"a":' * 65 + "1" + "}" * 65, "deeply", id="65-levels-of-objects"),
    ],
)
def test_refuses(text: str | bytes, why: str) -> None:
    with pytest.raises(JsonTextError, match=why):
        parse(text)


def test_integers_that_would_take_for_ever_are_refused() -> None:
    with pytest.raises(JsonTextError):
        parse("9" * 100_000)


@given(json_values)
def test_b121_what_is_written_reads_back_the_same(value: JsonValue) -> None:
    for text in (dumps(value), canonical(value)):
        assert parse(text) == value
        assert parse(text.encode()) == value


@given(st.text() | st.binary())
def test_any_text_parses_or_is_refused(text: str | bytes) -> None:
    try:
        value = parse(text)
    except JsonTextError:
        return
    assert parse(dumps(value)) == value


@given(json_objects)
def test_canonical_text_ignores_the_order_of_keys_and_nothing_else(
    value: dict[str, JsonValue],
) -> None:
    backwards = dict(reversed(value.items()))
    assert canonical(value) == canonical(backwards)
    assert dumps(value) == json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert canonical([value, 1]) != canonical([value, 1.0])


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(float("nan"), id="nan"),
        pytest.param({"a": [float("inf")]}, id="infinity"),
        pytest.param(object(), id="object"),
        pytest.param({"a": b"x"}, id="bytes"),
        pytest.param("\ud800", id="half-surrogate-pair"),
    ],
)
def test_b101_what_is_not_json_is_never_written(value: JsonValue) -> None:
    for write in (dumps, canonical):
        with pytest.raises(JsonTextError):
            write(value)


@given(json_values)
def test_bytes_for_a_browser_are_json_on_one_line(value: JsonValue) -> None:
    data = encode(value)
    assert json.loads(data) == value
    # Python's own splitlines also cuts at U+0085, U+2028 and U+2029.
    assert len(data.decode().splitlines()) <= 1 or not _cuts(data.decode())


def _cuts(text: str) -> bool:
    return any(cut in text for cut in "\n\r\x85\u2028\u2029")


@pytest.mark.parametrize("cut", ["\x85", "\u2028", "\u2029", "\n", "\r"])
def test_b99_no_character_cuts_a_frame(cut: str) -> None:
    frame = data_frame({"note": f"a{cut}b"})
    assert frame.startswith(b'data: {"note":"a\\')
    assert frame.decode().splitlines() == [frame[:-2].decode(), ""]
    assert json.loads(frame.removeprefix(b"data: ")) == {"note": f"a{cut}b"}


def test_frames_have_a_name_where_they_need_one() -> None:
    assert named_frame("text_delta", {"delta": "hi"}) == (
        b'event: text_delta\ndata: {"delta":"hi"}\n\n'
    )


@pytest.mark.parametrize(
    ("value", "data"),
    [
        pytest.param(2**64, b"18446744073709551616", id="beyond-64-bits"),
        pytest.param("a\ud800b", '"a\ufffdb"'.encode(), id="half-surrogate-pair"),
        pytest.param("\ud83d\ude00", '"\U0001f600"'.encode(), id="surrogate-pair-in-two-halves"),
        pytest.param(
            MappingProxyType({"n": 2**70}), b'{"n":1180591620717411303424}', id="read-only-mapping"
        ),
    ],
)
def test_values_that_orjson_does_not_take(value: object, data: bytes) -> None:
    assert encode(value) == data


def test_b101_no_way_of_encoding_writes_nan() -> None:
    assert encode({"score": float("nan")}) == b'{"score":null}'
    with pytest.raises(ValueError, match="not JSON compliant"):
        encode({"score": float("nan"), "n": 2**70})


def test_values_of_any_depth_are_written_or_refused() -> None:
    value: JsonValue = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(JsonTextError, match="deeply"):
        dumps(value)


@given(texts)
def test_errors_do_not_repeat_the_text(secret: str) -> None:
    with pytest.raises(JsonTextError) as caught:
        parse('{"' + secret.replace('"', "").replace("\\", "") + "x")
    assert str(caught.value) == "it is not valid JSON"
