"""The content of user messages: one table, read and written."""

from __future__ import annotations

from typing import Any

import pytest
from ag_ui.core import UserMessage
from hypothesis import given
from hypothesis import strategies as st

from signoff.ag_ui.content import read_content, write_content
from signoff.errors import InvalidBody
from signoff.messages import FilePart, Part, ReasoningPart, TextPart
from support.strategies import json_values, texts

TEXT = TextPart(text="What is this?")


def media(kind: str, source: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": kind, "source": source, **more}


def by_url(mime_type: str, url: str = "https://x/y") -> dict[str, Any]:
    return {"type": "url", "value": url, "mimeType": mime_type}


BOTH: dict[str, tuple[Any, tuple[Part, ...]]] = {
    "text": (" What\n", (TextPart(text=" What\n"),)),
    "an image beside text": (
        [{"type": "text", "text": "What is this?"}, media("image", by_url("image/png"))],
        (TEXT, FilePart(media_type="image/png", url="https://x/y")),
    ),
    "inline, with a name": (
        [
            media(
                "document",
                {"type": "data", "value": "JVBERi0=", "mimeType": "application/pdf"},
                metadata={"filename": "a.pdf"},
            )
        ],
        (FilePart(media_type="application/pdf", data="JVBERi0=", filename="a.pdf"),),
    ),
    "audio": (
        [media("audio", by_url("audio/ogg"))],
        (FilePart(media_type="audio/ogg", url="https://x/y"),),
    ),
    "video": (
        [media("video", by_url("video/mp4"))],
        (FilePart(media_type="video/mp4", url="https://x/y"),),
    ),
    "two texts": (
        [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
        (TextPart(text="a"), TextPart(text="b")),
    ),
}


@pytest.mark.parametrize(("content", "parts"), BOTH.values(), ids=BOTH.keys())
def test_content_is_read_and_written(content: Any, parts: tuple[Part, ...]) -> None:
    assert read_content(content) == parts
    assert write_content(parts) == content
    UserMessage.model_validate({"id": "u1", "role": "user", "content": content})


READ: dict[str, tuple[Any, tuple[Part, ...]]] = {
    "one text in a list": ([{"type": "text", "text": "a", "id": "p1"}], (TextPart(text="a"),)),
    "an empty text beside": (
        [{"type": "text", "text": ""}, media("image", by_url("image/png"))],
        (FilePart(media_type="image/png", url="https://x/y"),),
    ),
    "no media type": (
        [media("image", {"type": "url", "value": "https://x/y"})],
        (FilePart(media_type="image/*", url="https://x/y"),),
    ),
    "the binary part of 0.0.x": (
        [{"type": "binary", "mimeType": "image/png", "data": "iVBO", "filename": "a.png"}],
        (FilePart(media_type="image/png", data="iVBO", filename="a.png"),),
    ),
}


@pytest.mark.parametrize(("content", "parts"), READ.values(), ids=READ.keys())
def test_other_forms_are_read(content: Any, parts: tuple[Part, ...]) -> None:
    assert read_content(content) == parts
    assert read_content(write_content(parts)) == parts


REFUSED: dict[str, Any] = {
    "null": None,
    "empty": "",
    "nothing": [],
    "nothing but an empty text": [{"type": "text", "text": ""}],
    "a text of another type": [{"type": "text", "text": 1}],
    "a provider's file id": [media("image", {"type": "file", "value": "file_1"})],
    "no source": [{"type": "image"}],
    "a source of another type": [media("image", {"type": "url", "value": 1})],
    "binary by id": [{"type": "binary", "mimeType": "image/png", "id": "file_1"}],
    "an unknown part": [{"type": "tool-delete_file", "state": "approval-responded"}],
}


@pytest.mark.parametrize("content", REFUSED.values(), ids=REFUSED.keys())
def test_content_that_cannot_be_kept_is_refused(content: Any) -> None:
    with pytest.raises(InvalidBody):
        read_content(content)


@given(json_values)
def test_any_content_is_read_or_refused(content: Any) -> None:
    try:
        parts = read_content(content)
    except InvalidBody:
        return
    assert read_content(write_content(parts)) == parts


@given(
    st.lists(
        st.builds(TextPart, text=texts.filter(bool))
        | st.builds(
            FilePart,
            media_type=st.sampled_from(["image/png", "text/csv", "audio/ogg", "x"]),
            url=texts,
            filename=st.none() | texts,
        ),
        min_size=1,
        max_size=4,
    ).map(tuple)
)
def test_what_is_written_reads_back(parts: tuple[Part, ...]) -> None:
    """A page sends it back with every request: read otherwise, it would be an edit."""
    assert read_content(write_content(parts)) == parts


def test_what_no_user_message_holds_is_shown_as_text() -> None:
    assert write_content((TEXT, ReasoningPart(text="Hm"))) == [
        {"type": "text", "text": "What is this?"},
        {"type": "text", "text": "Hm"},
    ]
