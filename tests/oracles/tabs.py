"""Open pages: one tab is one instance of a real client against a live server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self, Unpack

from oracles.options import AgentSettings, Goal, camel, told
from oracles.process import OracleProcess
from oracles.results import AgentState, ChatState
from oracles.sse import JsonObject


class _Tab:
    def __init__(self, process: OracleProcess, session: str) -> None:
        self._process = process
        self._session = session
        self._open = True

    def close(self) -> None:
        """Close the tab; a stream that still runs is let go, as by a closed browser tab."""
        if self._open:
            self._open = False
            self._process.call("close", {"session": self._session})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _act(self, action: Mapping[str, Any]) -> Any:
        return self._process.call("act", {"session": self._session, "action": told(action)})

    def _state(self) -> Any:
        return self._process.call("state", {"session": self._session})


class ChatTab(_Tab):
    """One open page of `useChat`.

    Every action waits until the page is idle, unless `wait=False`; a wait in vain (20 s) raises
    OracleError with the state of that moment.
    """

    def send(self, text: str, *, message_id: str | None = None, wait: bool = True) -> ChatState:
        """Send a user message; `message_id` becomes its id."""
        return self.act({"do": "send", "text": text, "id": message_id, "wait": wait})

    def answer(
        self,
        call_id: str | None = None,
        *,
        approved: object,
        reason: str | None = None,
        approval_id: str | None = None,
        wait: bool = True,
    ) -> ChatState:
        """Answer an open approval, the first if none is named; `approval_id` goes unchecked."""
        return self.act(
            {
                "do": "answer",
                "callId": call_id,
                "approvalId": approval_id,
                "approved": approved,
                "reason": reason,
                "wait": wait,
            }
        )

    def output(
        self, call_id: str, *, tool: str, output: object = None, error_text: str | None = None
    ) -> ChatState:
        """Give the result of a browser call, or the text of its error."""
        result = {"output": output} if error_text is None else {"errorText": error_text}
        return self.act({"do": "output", "callId": call_id, "tool": tool, **result})

    def regenerate(self, message_id: str | None = None) -> ChatState:
        return self.act({"do": "regenerate", "messageId": message_id})

    def resume(self, *, wait: bool = True) -> ChatState:
        """Reconnect to the running stream, if there is one."""
        return self.act({"do": "resume", "wait": wait})

    def stop(self) -> ChatState:
        """Close the socket: with resumable streams the server takes that as a disconnect."""
        return self.act({"do": "stop"})

    def cancel(self) -> ChatState:
        """Post to `{api}/{id}/stop`, then close the socket."""
        return self.act({"do": "cancel"})

    def wait(self, until: Goal = "ready") -> ChatState:
        """Wait until `ready`, `streaming`, `approval` (one is open), `tool` (one is handed over),
        `{"posts": n}`, `{"text": part of the messages' JSON}`, or for so many milliseconds.
        """
        return self.act({"do": "wait", "until": until})

    def act(self, action: Mapping[str, Any]) -> ChatState:
        """Perform any action that `src/vercel_chat.mjs` knows."""
        return ChatState.model_validate(self._act(action))

    def state(self) -> ChatState:
        return ChatState.model_validate(self._state())


class AgentTab(_Tab):
    """One open page with an HttpAgent of its own. Waits like ChatTab."""

    def send(
        self,
        text: str,
        *,
        message_id: str | None = None,
        resume: Sequence[JsonObject] | None = None,
        run_id: str | None = None,
        wait: bool = True,
    ) -> AgentState:
        """Add a user message and run."""
        action = {"do": "send", "text": text, "id": message_id, "resume": resume}
        return self.act({**action, "runId": run_id, "wait": wait})

    def run(
        self,
        *,
        resume: Sequence[JsonObject] | None = None,
        run_id: str | None = None,
        wait: bool = True,
    ) -> AgentState:
        """Run with the messages as they are; none at all asks the server for the thread."""
        return self.act({"do": "run", "resume": resume, "runId": run_id, "wait": wait})

    def answer(self, answers: Mapping[str, Any], *, wait: bool = True) -> AgentState:
        """Resume: a payload by interrupt id; `None` cancels that interrupt."""
        return self.act({"do": "answer", "answers": answers, "wait": wait})

    def answer_all(self, payload: object, *, wait: bool = True) -> AgentState:
        """Resume with one payload for everything that is pending; `None` cancels it all."""
        return self.answer(dict.fromkeys(self.state().pending_ids(), payload), wait=wait)

    def connect(self, *, wait: bool = True) -> AgentState:
        """`connectAgent()`, posted to `{url}/connect`."""
        return self.act({"do": "connect", "wait": wait})

    def add(self, *messages: JsonObject) -> AgentState:
        """Add messages without running: a tool message before `run`, say."""
        return self.act({"do": "add", "messages": messages})

    def set(self, **settings: Unpack[AgentSettings]) -> AgentState:
        return self.act({"do": "set", **camel(settings)})

    def abort(self) -> AgentState:
        return self.act({"do": "abort"})

    def wait(self, until: Goal = "idle") -> AgentState:
        """Wait until `idle`, `{"event": type}` came in this run, `{"text": part of the messages'
        JSON}`, or for so many milliseconds.
        """
        return self.act({"do": "wait", "until": until})

    def act(self, action: Mapping[str, Any]) -> AgentState:
        """Perform any action that `src/agui_client.mjs` knows."""
        return AgentState.model_validate(self._act(action))

    def state(self) -> AgentState:
        return AgentState.model_validate(self._state())
