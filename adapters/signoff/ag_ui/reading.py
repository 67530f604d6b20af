"""A ``RunAgentInput`` as signoff reads it.

In full::

    {"threadId": "t1", "runId": "r1", "protocolVersion": "1.0", "state": {"mine": 1},
     "messages": [{"id": "u1", "role": "user", "content": "Delete the old log"}],
     "tools": [], "context": [], "forwardedProps": {},
     "resume": [{"interruptId": "toolu_01", "status": "resolved", "payload": {"approved": true}}]}

Read are the thread, the newest user messages, tool messages of open calls, ``resume``, and what is
handed to the agent: tools, state, context and forwarded properties. All else is tolerated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..commands import ClientContext
from ..errors import InvalidBody
from ..json_text import JsonObject, JsonValue
from .wire import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAgentInput:
    """What a client asks for.

    Attributes:
        thread_id: the client's thread; it selects what is worked on.
        run_id: echoed. CopilotKit uses one for several requests, so it selects nothing (R103).
        profile: what the client understands.
        messages: the conversation as the client has it.
        resume: its answers; None where it sent none.
        client: what is for the agent.
    """

    thread_id: str
    run_id: str
    profile: Profile
    messages: tuple[JsonObject, ...]
    resume: tuple[JsonObject, ...] | None
    client: ClientContext

    @property
    def message_ids(self) -> tuple[str, ...]:
        """The ids of the conversation as the client has it, in its order."""
        ids = (message.get("id") for message in self.messages)
        return tuple(item for item in ids if isinstance(item, str))


def read_input(body: JsonValue) -> RunAgentInput:
    """Read a body; optional fields may be null or missing.

    Raises:
        InvalidBody: not an object, no thread or run, or a field of another type.
    """
    if not isinstance(body, Mapping):
        raise InvalidBody("The request body is a JSON object.")
    resume = body.get("resume")
    return RunAgentInput(
        thread_id=_id(body, "threadId"),
        run_id=_id(body, "runId"),
        profile=_profile(body),
        messages=_objects(body, "messages"),
        resume=None if resume is None else _objects(body, "resume"),
        client=ClientContext(
            state=body.get("state"),
            has_state=body.get("state") is not None,
            tools=_objects(body, "tools"),
            context=_objects(body, "context"),
            forwarded_props=body.get("forwardedProps"),
        ),
    )


def _id(body: JsonObject, key: str) -> str:
    value = body.get(key)
    if not isinstance(value, str) or not value:
        raise InvalidBody(f"{key} is a non-empty string.")
    return value


def _profile(body: JsonObject) -> Profile:
    version = body.get("protocolVersion")
    if not isinstance(version, str | None):
        raise InvalidBody("protocolVersion is a string.")
    return profile_of(version)


def profile_of(version: str | None) -> Profile:
    """What a client of this protocol version understands; the least where it names none."""
    return "1.0" if version is not None and version.startswith("1.") else "0.0"


def _objects(body: JsonObject, key: str) -> tuple[JsonObject, ...]:
    value = body.get(key)
    if value is None:
        return ()
    if not isinstance(value, list):
        raise InvalidBody(f"{key} is a list.")
    objects = [item for item in value if isinstance(item, Mapping)]
    if len(objects) != len(value):
        raise InvalidBody(f"{key} is a list of objects.")
    return tuple(objects)
