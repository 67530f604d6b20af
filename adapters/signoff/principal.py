"""Who is asking."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who is asking, from authentication and never from a body (R46).

    Threads belong to (tenant, id); nobody else can see that they exist.
    """

    id: str
    tenant: str = ""
    roles: frozenset[str] = frozenset()
