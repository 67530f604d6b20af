"""How much one request may ask of the server (design §8, §12)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on a request body.

    Attributes:
        body_bytes: size of a body. Pages restate their whole history with every request, so this is
            generous: 8 MiB.
        depth: nested levels of JSON.
    """

    body_bytes: int = 8 * 1024 * 1024
    depth: int = 64
