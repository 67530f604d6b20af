"""The same requests in the words of each protocol, for tests that hold for all of them.

Bodies have the shape of those recorded from the clients (tests/oracles/fixtures), cut down to what
a server reads.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import httpx
import orjson
from starlette.applications import Starlette
from starlette.requests import Request

from signoff.principal import Principal

from .gated_source import GatedSource

Body: TypeAlias = dict[str, Any]
Answer: TypeAlias = bool | str
"""True approves, a text rejects with that reason, False rejects without one."""


def by_header(request: Request) -> Principal:
    """The principal that a test wants to be."""
    return Principal(id=request.headers.get("x-user", "me"))


@dataclass
class Reply:
    """What a client can tell of a reply: its status, its refusal if it is one, its text."""

    status: int
    code: str | None
    text: str


class Protocol(ABC):
    """One protocol's way to say things."""

    name: ClassVar[str]
    chat_path: ClassVar[str]

    @abstractmethod
    def path(self, thread: str) -> str: ...

    @abstractmethod
    def message(self, thread: str, text: str, message_id: str) -> Body: ...

    @abstractmethod
    def answers(self, thread: str, answers: Mapping[str, Answer]) -> Body: ...

    def refusal(self, response: httpx.Response) -> str | None:
        """The code of what was refused: as JSON, or inside the stream."""
        if "json" in response.headers["content-type"]:
            code: str | None = response.json().get("code")
            return code
        for frame in frames(response.text):
            if (found := self.refused_in(frame)) is not None:
                return found
        return None

    def refused_in(self, frame: Body) -> str | None:
        return None

    async def send_message(
        self,
        client: httpx.AsyncClient,
        thread: str,
        text: str,
        *,
        message_id: str = "m1",
        user: str = "me",
    ) -> Reply:
        return await self.post(client, thread, self.message(thread, text, message_id), user)

    async def answer(
        self,
        client: httpx.AsyncClient,
        thread: str,
        answers: Mapping[str, Answer],
        *,
        user: str = "me",
    ) -> Reply:
        return await self.post(client, thread, self.answers(thread, answers), user)

    async def post(self, client: httpx.AsyncClient, thread: str, body: Body, user: str) -> Reply:
        response = await client.post(self.path(thread), json=body, headers={"x-user": user})
        return Reply(response.status_code, self.refusal(response), response.text)


class Native(Protocol):
    name = "native"

    def path(self, thread: str) -> str:
        return f"/threads/{thread}/chat"

    def message(self, thread: str, text: str, message_id: str) -> Body:
        return {"message": text, "id": message_id}

    def answers(self, thread: str, answers: Mapping[str, Answer]) -> Body:
        return {"decisions": {call_id: _short(answer) for call_id, answer in answers.items()}}


class AgUi(Protocol):
    name = "ag_ui"

    def path(self, thread: str) -> str:
        return "/ag-ui"

    def message(self, thread: str, text: str, message_id: str) -> Body:
        user = {"id": message_id, "role": "user", "content": text}
        return {**_run_input(thread), "messages": [user]}

    def answers(self, thread: str, answers: Mapping[str, Answer]) -> Body:
        resume = [
            {"interruptId": call_id, "status": "resolved", "payload": _payload(answer)}
            for call_id, answer in answers.items()
        ]
        return {**_run_input(thread), "messages": [], "resume": resume}

    def refused_in(self, frame: Body) -> str | None:
        if frame.get("type") == "CUSTOM" and frame.get("name") == "signoff.refused":
            code: str = frame["value"]["code"]
            return code
        return None


class CopilotKit(AgUi):
    name = "copilotkit"

    def path(self, thread: str) -> str:
        return "/copilotkit/agent/default/run"


class CopilotKitSingle(CopilotKit):
    """The single-endpoint form: the same body in an envelope."""

    name = "copilotkit_single"

    def path(self, thread: str) -> str:
        return "/copilotkit"

    def message(self, thread: str, text: str, message_id: str) -> Body:
        return _envelope(super().message(thread, text, message_id))

    def answers(self, thread: str, answers: Mapping[str, Answer]) -> Body:
        return _envelope(super().answers(thread, answers))


class Vercel(Protocol):
    name = "vercel"

    def path(self, thread: str) -> str:
        return "/vercel/chat"

    def message(self, thread: str, text: str, message_id: str) -> Body:
        return {
            "id": thread,
            "messages": [_vercel_user(text, message_id)],
            "trigger": "submit-message",
        }

    def answers(self, thread: str, answers: Mapping[str, Answer]) -> Body:
        parts = [_answered_part(call_id, answer) for call_id, answer in answers.items()]
        page = {"id": "a1", "role": "assistant", "parts": [{"type": "step-start"}, *parts]}
        return {
            "id": thread,
            "messages": [_vercel_user("…", "m1"), page],
            "trigger": "submit-message",
            "messageId": "a1",
        }

    def refused_in(self, frame: Body) -> str | None:
        if frame.get("type") == "data-signoff-refused":
            code: str = frame["data"]["code"]
            return code
        return None


PROTOCOLS: tuple[Protocol, ...] = (Native(), AgUi(), Vercel(), CopilotKit(), CopilotKitSingle())


@dataclass
class World:
    """A server with every protocol, and the agent behind it."""

    app: Starlette
    client: httpx.AsyncClient
    source: GatedSource

    async def view(self, thread: str, user: str = "me") -> Body:
        response = await self.client.get(f"/threads/{thread}", headers={"x-user": user})
        document: Body = response.json()
        return document

    async def ask(self, words: str = "delete /a /b", *, thread: str = "t") -> list[str]:
        """Bring a thread to a pause; the callIds that wait."""
        await Native().send_message(self.client, thread, words, message_id="m1")
        view = await self.view(thread)
        assert view["status"] == "awaiting_approval"
        return [action["id"] for action in view["pending"]]


Start: TypeAlias = Callable[[], AbstractAsyncContextManager[World]]
"""Starts a server on a test's store; again for a restart."""


def frames(text: str) -> list[Body]:
    """The JSON objects of an event stream."""
    lines = [line.removeprefix("data: ") for line in text.split("\n") if line.startswith("data: ")]
    return [orjson.loads(line) for line in lines if line != "[DONE]"]


def _short(answer: Answer) -> Any:
    if answer is True:
        return "approve"
    return ["reject", answer] if answer else "reject"


def _payload(answer: Answer) -> Body:
    if isinstance(answer, bool):
        return {"approved": answer}
    return {"approved": False, "reason": answer}


def _run_input(thread: str) -> Body:
    return {
        "threadId": thread,
        "runId": "r1",
        "protocolVersion": "1.0",
        "state": {},
        "tools": [],
        "context": [],
        "forwardedProps": {},
    }


def _envelope(body: Body) -> Body:
    return {"method": "agent/run", "params": {"agentId": "default"}, "body": body}


def _vercel_user(text: str, message_id: str) -> Body:
    return {"id": message_id, "role": "user", "parts": [{"type": "text", "text": text}]}


def _answered_part(call_id: str, answer: Answer) -> Body:
    approval: Body = {"id": call_id, "approved": answer is True}
    if isinstance(answer, str):
        approval["reason"] = answer
    return {
        "type": "tool-delete_file",
        "toolCallId": call_id,
        "state": "approval-responded",
        "input": {"path": "/etc"},
        "providerExecuted": True,
        "approval": approval,
    }
