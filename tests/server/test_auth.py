"""The demo's cookie and the pages around it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from itsdangerous import URLSafeTimedSerializer
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from signoff.principal import Principal
from signoff_server import auth
from signoff_server.auth import COOKIE, SignedCookie
from signoff_server.http import guarded, json_reply
from signoff_server.pages import page_routes

pytestmark = pytest.mark.anyio

KEY = b"k" * 32


async def key() -> bytes:
    return KEY


async def whoami(request: Request, principal: Principal) -> Response:
    return json_reply(principal.id)


@pytest.fixture
def built(tmp_path: Path) -> Path:
    assets = tmp_path / "vercel" / "assets"
    assets.mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "vercel" / "index.html").write_text("<p>the page")
    (assets / "index-1.js").write_text("1")
    (assets / "index-1.css").write_text("a{}")
    return tmp_path


@pytest.fixture
async def browser(built: Path) -> AsyncIterator[httpx.AsyncClient]:
    cookie = SignedCookie(key)
    suggestions = ["delete", "<b>pay</b>"]
    app = Starlette(
        routes=[
            Route("/whoami", guarded(whoami, cookie)),
            *page_routes(cookie, suggestions=suggestions, directory=built),
        ]
    )
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://test"
    ) as client:
        yield client


async def test_without_a_cookie_one_is_demo(browser: httpx.AsyncClient) -> None:
    assert (await browser.get("/whoami")).json() == "demo"


@pytest.mark.req("R46")
async def test_a_signed_name_is_the_principal(browser: httpx.AsyncClient) -> None:
    response = await browser.post("/demo/principal", json={"id": "Zoë"})
    assert response.json() == {"id": "Zoë"}
    flags = response.headers["set-cookie"].lower()
    assert "httponly" in flags
    assert "samesite=lax" in flags
    assert (await browser.get("/whoami")).json() == "Zoë"


async def test_the_form_comes_back_to_the_start_page(browser: httpx.AsyncClient) -> None:
    response = await browser.post("/demo/principal", data={"id": " second "})
    assert (response.status_code, response.headers["location"]) == (303, "/")
    assert (await browser.get("/whoami")).json() == "second"
    assert 'value="second"' in (await browser.get("/")).text


def signed(value: object, key: bytes = KEY, salt: str = "signoff.demo.principal") -> str:
    serializer = URLSafeTimedSerializer(key, salt=salt, signer_kwargs={"key_derivation": "hmac"})
    token: str = serializer.dumps(value)
    return token


@pytest.mark.req("R46", "R125")
@pytest.mark.parametrize(
    "cookie",
    [
        "other",
        "",
        signed("other", b"x" * 32),
        signed("other", salt="another.purpose"),
        signed("other")[:-1],
    ],
    ids=["bare", "empty", "another-servers", "another-purpose", "cut"],
)
async def test_a_forged_cookie_is_nobody(browser: httpx.AsyncClient, cookie: str) -> None:
    response = await browser.get("/whoami", headers={"cookie": f"{COOKIE}={cookie}"})
    assert (response.status_code, response.json()["code"]) == (401, "unauthenticated")


async def test_an_old_cookie_is_nobody(
    browser: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    await browser.post("/demo/principal", json={"id": "other"})
    monkeypatch.setattr(auth, "MAX_AGE_SECONDS", -1)
    assert (await browser.get("/whoami")).status_code == 401


async def test_the_start_page_clears_a_foreign_cookie_and_says_so(
    browser: httpx.AsyncClient,
) -> None:
    page = await browser.get("/", headers={"cookie": f"{COOKIE}=other"})
    assert page.status_code == 200
    assert '<p  role="status">Your last cookie' in page.text
    assert f'{COOKIE}=""; ' in page.headers["set-cookie"]
    assert 'value="demo"' in page.text


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"id": ""}, "invalid_body"),
        ({"id": 1}, "invalid_body"),
        ([], "invalid_body"),
        ({"id": "a\nb"}, "invalid_body"),
        ({"id": "x" * 65}, "invalid_body"),
        ({"id": "x" * 5000}, "too_large"),
    ],
    ids=["empty", "number", "list", "line-break", "long", "huge"],
)
async def test_a_name_that_cannot_be_taken(
    browser: httpx.AsyncClient, body: object, code: str
) -> None:
    response = await browser.post("/demo/principal", json=body)
    assert response.json()["code"] == code
    assert "set-cookie" not in response.headers


async def test_a_huge_form_is_refused(browser: httpx.AsyncClient) -> None:
    assert (await browser.post("/demo/principal", data={"id": "x" * 5000})).status_code == 413


async def test_the_start_page_leads_to_both_pages_on_one_new_thread(
    browser: httpx.AsyncClient,
) -> None:
    first, second = [(await browser.get("/")).text for _ in range(2)]
    thread = first.split("/vercel/?thread=")[1].split('"')[0]
    assert f'"/copilotkit/?thread={thread}"' in first
    assert thread not in second
    assert "<li>delete</li><li>&lt;b&gt;pay&lt;/b&gt;</li>" in first
    assert "$" not in first


@pytest.mark.parametrize("path", ["/vercel", "/vercel/", "/vercel/?thread=t"])
async def test_a_built_page_is_served_with_its_policy(
    browser: httpx.AsyncClient, path: str
) -> None:
    page = await browser.get(path)
    assert (page.status_code, page.text) == (200, "<p>the page")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    policy = page.headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "'unsafe-inline'" not in policy
    assert "frame-ancestors 'none'" in policy
    assert page.headers["cache-control"] == "no-cache"


async def test_a_page_that_is_not_built_says_how_to_build_it(browser: httpx.AsyncClient) -> None:
    page = await browser.get("/copilotkit")
    assert page.status_code == 404
    assert "make pages" in page.text


@pytest.mark.parametrize(
    ("name", "media_type"),
    [("index-1.js", "text/javascript; charset=utf-8"), ("index-1.css", "text/css; charset=utf-8")],
)
async def test_assets_are_kept_for_ever(
    browser: httpx.AsyncClient, name: str, media_type: str
) -> None:
    asset = await browser.get(f"/vercel/assets/{name}")
    assert asset.status_code == 200
    assert asset.headers["content-type"] == media_type
    assert asset.headers["cache-control"] == "public, max-age=31536000, immutable"


@pytest.mark.parametrize(
    "path",
    ["none.js", "..%2F..%2Fsecret.txt", "%2e%2e", "%2Fetc%2Fpasswd", "a%00b", ".%2Findex-1.js"],
)
async def test_nothing_else_is_an_asset(browser: httpx.AsyncClient, path: str) -> None:
    assert (await browser.get(f"/vercel/assets/{path}")).status_code == 404
