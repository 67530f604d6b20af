"""Text has one form, whichever encoder wrote it: the hash of a call is taken over it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signoff.json_text import JsonTextError, canonical, dumps

_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(min_value=-0.001, max_value=0.001),
    st.text(),
)
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


def _by_the_standard_library(value: object, *, sort_keys: bool) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=sort_keys)


@given(_VALUES)
def test_the_form_is_the_standard_librarys(value: Any) -> None:
    assert dumps(value) == _by_the_standard_library(value, sort_keys=False)
    assert canonical(value) == _by_the_standard_library(value, sort_keys=True)


@pytest.mark.parametrize(
    "value",
    [1e16, 1.5e16, 1e22, 5e-324, 1e-5, 9.9e-5, 0.0001, -0.0, 123456789012345680.0, 2**64, "1e5"],
    ids=repr,
)
def test_numbers_that_encoders_write_differently(value: Any) -> None:
    assert dumps({"n": [value]}) == _by_the_standard_library({"n": [value]}, sort_keys=False)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")], ids=repr)
def test_b101_no_number_becomes_null(number: float) -> None:
    with pytest.raises(JsonTextError):
        dumps({"a": None, "b": number})
