"""The demo's authentication: a signed cookie that names a principal.

Anyone who reaches the demo may become anyone in it, so it is for a loopback address. Your own
server passes its own ``authenticate(request) -> Principal`` to every route list instead.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable

from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.requests import Request
from starlette.responses import Response

from signoff.errors import InvalidBody, Unauthenticated
from signoff.principal import Principal

COOKIE = "signoff_demo"
MAX_AGE_SECONDS = 30 * 24 * 3600
NOBODY_IN_PARTICULAR = "demo"

_LONGEST_ID = 64


class SignedCookie:
    """Authenticates by the cookie ``signoff_demo``. Without one (curl, tests) it is ``demo``.

    A cookie that does not verify is refused rather than ignored: whoever sent it believes to be
    somebody else, and would be shown another one's threads.

    Args:
        server_key: gives the secret, such as ``Engine.server_key``: it lasts as long as the store.

    Raises:
        Unauthenticated: when called with a cookie of another server, an old or a forged one.
    """

    def __init__(self, server_key: Callable[[], Awaitable[bytes]]) -> None:
        self._server_key = server_key

    async def __call__(self, request: Request) -> Principal:
        cookie = request.cookies.get(COOKIE)
        if cookie is None:
            return Principal(id=NOBODY_IN_PARTICULAR)
        try:
            name: object = (await self._serializer()).loads(cookie, max_age=MAX_AGE_SECONDS)
        except BadSignature:
            raise Unauthenticated(
                "The demo's cookie is not one of this server's. Choose a name on the start page."
            ) from None
        if not isinstance(name, str) or not name:
            raise Unauthenticated
        return Principal(id=name)

    async def sign_in(self, request: Request, response: Response, principal_id: str) -> None:
        """Set the cookie that makes this browser ``principal_id``.

        Raises:
            InvalidBody: not a name of 1 to 64 printable characters.
        """
        if not principal_id.isprintable() or not 0 < len(principal_id) <= _LONGEST_ID:
            raise InvalidBody("A name has 1 to 64 printable characters.")
        response.set_cookie(
            COOKIE,
            (await self._serializer()).dumps(principal_id),
            max_age=MAX_AGE_SECONDS,
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https",
        )

    def sign_out(self, response: Response) -> None:
        """Remove the cookie: the browser is ``demo`` again."""
        response.delete_cookie(COOKIE, httponly=True, samesite="lax")

    async def _serializer(self) -> URLSafeTimedSerializer:
        return URLSafeTimedSerializer(
            await self._server_key(),
            salt="signoff.demo.principal",
            signer_kwargs={"key_derivation": "hmac", "digest_method": hashlib.sha256},
        )
