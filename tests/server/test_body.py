"""Reading request bodies: what is refused, with which code, and that reading stops at the limit."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response

from signoff.errors import TooLarge
from signoff.principal import Principal
from signoff_server.http import Limits, RawRoute, guarded, json_reply, read_json

pytestmark = pytest.mark.anyio

JSON = "application/json"
LIMITS = Limits(body_bytes=1000, depth=64)


async def echo(request: Request, principal: Principal) -> Response:
    return json_reply(await read_json(request, LIMITS))


APP = Starlette(
    routes=[RawRoute("/echo", guarded(echo, lambda request: Principal(id="me")), methods=["POST"])]
)


async def post(content: bytes, content_type: str | None = JSON) -> httpx.Response:
    headers = {} if content_type is None else {"content-type": content_type}
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(APP), base_url="http://test"
    ) as client:
        return await client.post("/echo", content=content, headers=headers)


@pytest.mark.req("R116")
@pytest.mark.parametrize(
    ("content", "content_type", "status", "code"),
    [
        pytest.param(b"{}", None, 415, "unsupported_media_type", id="no-type"),
        pytest.param(b"{}", "text/plain", 415, "unsupported_media_type", id="text"),
        pytest.param(
            b"a=1",
            "application/x-www-form-urlencoded",
            415,
            "unsupported_media_type",
            id="form",
        ),
        pytest.param(b"{}", "text/json", 415, "unsupported_media_type", id="text-json"),
        pytest.param(b"", JSON, 400, "invalid_body", id="empty"),
        pytest.param(b"{", JSON, 400, "invalid_body", id="not-json"),
        pytest.param(b"{} x", JSON, 400, "invalid_body", id="trailing"),
        pytest.param(b'{"a": NaN}', JSON, 400, "invalid_body", id="nan"),
        pytest.param(b'{"a": 1e999}', JSON, 400, "invalid_body", id="infinite"),
        pytest.param(b'{"a": "\xff"}', JSON, 400, "invalid_body", id="not-utf-8"),
        pytest.param(b"\xef\xbb\xbf{}", JSON, 400, "invalid_body", id="byte-order-mark"),
        pytest.param(b'{"a": "\\ud800"}', JSON, 400, "invalid_body", id="half-a-surrogate"),
        pytest.param(b'{"a": 1, "a": 2}', JSON, 400, "invalid_body", id="duplicate-key"),
        pytest.param(b"[" * 65 + b"1" + b"]" * 65, JSON, 400, "invalid_body", id="65-levels"),
        pytest.param(b"[" * 499 + b"]" * 499, JSON, 400, "invalid_body", id="499-levels"),
        pytest.param(b'"' + b"a" * 999 + b'"', JSON, 413, "too_large", id="one-byte-too-many"),
    ],
)
async def test_a_bad_body_gets_its_code(
    content: bytes, content_type: str | None, status: int, code: str
) -> None:
    response = await post(content, content_type)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["code"] == code


@pytest.mark.parametrize(
    "content_type",
    [
        JSON,
        "application/json; charset=utf-8",
        "Application/JSON;charset=UTF-8",
        "application/vnd.example+json",
    ],
)
async def test_json_types_are_taken(content_type: str) -> None:
    response = await post(b'{"n": 123456789012345678901234567890}', content_type)
    assert response.status_code == 200
    assert response.content == b'{"n":123456789012345678901234567890}'


async def test_the_limit_is_inclusive() -> None:
    assert (await post(b'"' + b"a" * 998 + b'"')).status_code == 200
    assert (await post(b"[" * 64 + b"1" + b"]" * 64)).status_code == 200


@pytest.mark.req("R118")
@pytest.mark.parametrize("content", [b'{"secret-value": NaN}', b'{"secret-value": 1'])
async def test_a_refusal_quotes_nothing_of_the_body(content: bytes) -> None:
    assert "secret-value" not in (await post(content)).text


def request_of(chunks: Iterator[bytes], headers: dict[str, str]) -> Request:
    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": next(chunks), "more_body": True}

    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "method": "POST", "path": "/", "headers": raw}, receive)


async def test_an_endless_body_is_read_up_to_the_limit_only() -> None:
    taken = 0

    def endless() -> Iterator[bytes]:
        nonlocal taken
        while True:
            taken += 1
            yield b" " * 100

    with pytest.raises(TooLarge):
        await read_json(request_of(endless(), {"content-type": JSON}), LIMITS)
    assert taken == 11


async def test_an_announced_size_is_refused_unread() -> None:
    headers = {"content-type": JSON, "content-length": "1001"}
    with pytest.raises(TooLarge):
        await read_json(request_of(iter(()), headers), LIMITS)
