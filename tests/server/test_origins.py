"""Which pages may use the server: a table of what a browser says of a request."""

from __future__ import annotations

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from signoff.errors import ConfigurationError
from signoff_server.origins import OriginGuard, check_origins

pytestmark = pytest.mark.anyio

LISTED = "https://chat.example"


async def fine(request: Request) -> Response:
    return PlainTextResponse("fine")


APP = Starlette(
    routes=[Route("/", fine, methods=["GET", "POST", "DELETE"])],
    middleware=[
        Middleware(
            OriginGuard,
            allowed_origins=[f"{LISTED}/"],
            allowed_hosts=["127.0.0.1", "localhost", "[::1]"],
        )
    ],
)


async def ask(method: str, headers: dict[str, str]) -> httpx.Response:
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(APP), base_url="http://127.0.0.1:8000"
    ) as client:
        return await client.request(method, "/", headers=headers)


@pytest.mark.parametrize("method", ["POST", "DELETE"])
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({}, 200, id="a-program"),
        pytest.param({"origin": "http://127.0.0.1:8000"}, 200, id="own-page"),
        pytest.param(
            {"origin": "http://127.0.0.1:8000", "sec-fetch-site": "same-origin"},
            200,
            id="own-page-modern",
        ),
        pytest.param({"sec-fetch-site": "none"}, 200, id="typed-by-hand"),
        pytest.param({"origin": LISTED}, 200, id="listed"),
        pytest.param({"origin": LISTED, "sec-fetch-site": "cross-site"}, 200, id="listed-modern"),
        pytest.param({"origin": "https://evil.example"}, 403, id="other-site"),
        pytest.param({"origin": "http://chat.example"}, 403, id="listed-host-other-scheme"),
        pytest.param({"origin": "http://127.0.0.1:9000"}, 403, id="other-port"),
        pytest.param({"origin": "null"}, 403, id="opaque"),
        pytest.param({"sec-fetch-site": "cross-site"}, 403, id="cross-site-without-origin"),
        pytest.param({"sec-fetch-site": "same-site"}, 403, id="same-site"),
        pytest.param({"host": "localhost:8000"}, 200, id="localhost"),
        pytest.param({"host": "[::1]:8000"}, 200, id="ipv6"),
        pytest.param({"host": "[::1]"}, 200, id="ipv6-without-port"),
        pytest.param(
            {"host": "evil.example:8000", "origin": "http://evil.example:8000"},
            403,
            id="rebound-name",
        ),
        pytest.param({"host": ""}, 403, id="no-name"),
    ],
)
async def test_what_another_page_sends_is_refused(
    method: str, headers: dict[str, str], status: int
) -> None:
    response = await ask(method, headers)
    assert response.status_code == status
    if status == 403:
        assert response.json()["code"] == "forbidden"


async def test_reading_needs_no_origin_but_the_right_name() -> None:
    assert (await ask("GET", {"origin": "https://evil.example"})).status_code == 200
    assert (await ask("GET", {"host": "evil.example"})).status_code == 403


NOT_ORIGINS = [
    "*",
    "https://*",
    "https://*.chat.example",
    "chat.example",
    "https://chat.example/page",
    "null",
    "https://",
    "https://me@chat.example",
    "ftp://chat.example",
    "",
]


@pytest.mark.parametrize("origin", NOT_ORIGINS)
def test_only_whole_origins_may_be_listed(origin: str) -> None:
    with pytest.raises(ConfigurationError):
        check_origins([LISTED, origin])


def test_listed_origins_are_read_without_regard_to_case_and_a_last_slash() -> None:
    assert check_origins(["HTTPS://Chat.Example/", "http://localhost:5173"]) == [
        LISTED,
        "http://localhost:5173",
    ]
