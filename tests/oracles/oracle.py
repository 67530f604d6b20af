"""The oracles: frames folded by the real clients, and the clients themselves against a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from oracles.options import AgentOptions, AgentVersion, ChatOptions, Sdk, camel, chat_params, told
from oracles.process import OracleProcess
from oracles.results import AgentFold, ChatState, ClientError, VercelFold
from oracles.sse import Frames, JsonObject, sse
from oracles.tabs import AgentTab, ChatTab


class Oracle:
    """The real clients: `ai` 7.0.173 and 6.0.325, `@ag-ui/client` 1.0.0 and 0.0.59."""

    def __init__(self, process: OracleProcess) -> None:
        self._process = process

    def vercel_fold(
        self,
        frames: Frames,
        initial_message: JsonObject | None = None,
        *,
        sdk: Sdk = "7",
        chunk_bytes: int = 0,
    ) -> VercelFold:
        """Fold one reply into the assistant message it begins or continues.

        Args:
            frames: the SSE body; mappings are framed as one `data:` event each.
            initial_message: the assistant message of the page, where the reply continues one.
            sdk: the generation of the AI SDK.
            chunk_bytes: cut the body into pieces of so many bytes; 0 leaves it whole.
        """
        params = {"text": sse(frames), "message": initial_message, "sdk": sdk, "size": chunk_bytes}
        return VercelFold.model_validate(self._process.call("vercel_fold", params))

    def vercel_validate(
        self, messages: Sequence[JsonObject], *, sdk: Sdk = "7"
    ) -> ClientError | None:
        """Return what `validateUIMessages` throws, or None."""
        answer = self._process.call("vercel_validate", {"messages": messages, "sdk": sdk})
        return None if answer["error"] is None else ClientError.model_validate(answer["error"])

    def vercel_open(self, base_url: str, **options: Unpack[ChatOptions]) -> ChatTab:
        """Open a page against a live server."""
        params = {"baseUrl": base_url, **chat_params(options)}
        return ChatTab(self._process, self._process.call("vercel_open", params)["session"])

    def vercel_chat(
        self, base_url: str, actions: Sequence[Mapping[str, Any]], **options: Unpack[ChatOptions]
    ) -> ChatState:
        """Open a page, perform the actions one after the other, close it."""
        params = {"baseUrl": base_url, "actions": list(map(told, actions)), **chat_params(options)}
        return ChatState.model_validate(self._process.call("vercel_chat", params))

    def agui_fold(
        self,
        frames: Frames,
        *,
        version: AgentVersion = "1.0.0",
        initial_messages: Sequence[JsonObject] = (),
        initial_state: object = None,
        initial_pending: Sequence[JsonObject] = (),
        resume: Sequence[JsonObject] | None = None,
        thread_id: str = "t1",
        run_id: str = "r1",
        chunk_bytes: int = 0,
    ) -> AgentFold:
        """Run an HttpAgent on one reply: parse, verify, apply.

        With `resume` the client checks it against `initial_pending` before it would send; without,
        that check is left out, since the fold is about the reply.
        """
        params = {
            "text": sse(frames),
            "version": version,
            "messages": initial_messages,
            "state": {} if initial_state is None else initial_state,
            "pending": initial_pending,
            "resume": resume,
            "threadId": thread_id,
            "runId": run_id,
            "size": chunk_bytes,
        }
        return AgentFold.model_validate(self._process.call("agui_fold", told(params)))

    def agui_open(self, url: str, **options: Unpack[AgentOptions]) -> AgentTab:
        """Open a page with an agent for `url`, the address runs are posted to."""
        params = {"url": url, "threadId": "thread-1", **camel(options)}
        return AgentTab(self._process, self._process.call("agui_open", params)["session"])
