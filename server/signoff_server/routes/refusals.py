"""How a refusal leaves: as a stream that puts a page right, or as problem JSON."""

from __future__ import annotations

from typing import Literal, TypeAlias

from starlette.responses import Response

from signoff.commands import Command, Refuse
from signoff.errors import (
    AlreadyDecided,
    AwaitingDecision,
    InvalidDecision,
    NothingPending,
    Refusal,
    UnknownCall,
    WrongKind,
)
from signoff.principal import Principal

from ..engine import Engine
from ..http import problem

Refusals: TypeAlias = Literal["stream", "error"]
"""``error`` answers with problem JSON where ``stream`` puts the page right (design §7)."""

STICKING = (
    AlreadyDecided,
    AwaitingDecision,
    InvalidDecision,
    NothingPending,
    UnknownCall,
    WrongKind,
)
"""Refusals that would leave any page stuck as HTTP errors."""


def is_streamed(
    refusal: Refusal,
    command: Command,
    *,
    refusals: Refusals,
    sticking: tuple[type[Refusal], ...] = STICKING,
) -> bool:
    """Whether the client is told by a stream why ``command`` was not taken."""
    return refusals == "stream" and (isinstance(command, Refuse) or isinstance(refusal, sticking))


async def refuse(
    engine: Engine, principal: Principal, thread_id: str, refusal: Refusal
) -> Response:
    """Problem JSON, with the thread's open actions as ``pending``."""
    return problem(refusal, pending=await engine.pending_approvals(principal, thread_id))
