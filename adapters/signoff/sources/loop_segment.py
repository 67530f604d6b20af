"""One segment of the built-in agent: from a message, or from answers, to a terminal event."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import assert_never

from ..errors import CorruptRecord, NotApproved
from ..events import (
    Cancelled,
    Completed,
    Failed,
    RunEvent,
    Suspended,
    ToolCallReady,
    ToolCallStarted,
    ToolResult,
    is_terminal,
)
from ..history import Recorder
from ..messages import AssistantMessage, Message, ToolCallMessage, last_batch, result_message_id
from ..outcomes import Outcome
from ..policy import Ask
from ..suspension import PendingCall, Suspension, ToolCall
from ..tools import ToolContext, ToolRegistry
from .base import Answers, Recover, RunRequest, UserTurn
from .call_ids import CallIds
from .execution import redact, run_tool
from .judging import Judge, JudgedCall, RepeatRejections, Runnable, Settled
from .model_response import ModelResponse
from .models.base import Model, ModelRequest
from .previews import make_preview

_LOG = logging.getLogger("signoff")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopSettings:
    """What ``ToolLoop`` was made with."""

    model: Model
    tools: ToolRegistry
    instructions: str | None
    max_turns: int
    repeat_rejections: RepeatRejections


class LoopSegment:
    """Runs once."""

    def __init__(self, settings: LoopSettings, request: RunRequest) -> None:
        self._settings = settings
        self._request = request
        self._call_ids = CallIds(request.history, request.used_call_ids, request.new_id)
        answers = request.input if isinstance(request.input, Answers) else Answers(decisions={})
        self._recorder = Recorder(
            run_id=request.run_id,
            clock=request.clock,
            next_seq=request.history[-1].seq + 1 if request.history else 1,
            batch=last_batch(request.history),
            decisions=answers.decisions,
            queued=answers.messages,
        )

    async def run(self) -> AsyncGenerator[RunEvent]:
        """The events of the segment, the terminal last."""
        async with aclosing(self._parts()) as parts:
            async for part in parts:
                async with aclosing(part) as events:
                    async for event in events:
                        self._recorder.record(event)
                        yield event
                        if is_terminal(event):
                            return

    async def _parts(self) -> AsyncGenerator[AsyncGenerator[RunEvent]]:
        match self._request.input:
            case UserTurn():
                pass
            case Answers(decisions=decisions):
                batch = last_batch(self._request.history)
                if batch is None:
                    raise CorruptRecord("There are answers, but no batch waits for them.")
                judge = self._judge()
                yield self._carry_out(
                    batch.id,
                    [judge.again(item, decisions.get(item.call.call_id)) for item in batch.calls],
                )
            case Recover():
                yield _say(Failed(code="interrupted", message="The run was interrupted."))
            case _:
                assert_never(self._request.input)
        while True:
            self._recorder.settle()
            response = ModelResponse(
                message_id=self._request.new_id("msg"),
                call_ids=self._call_ids,
                streamed=self._streamed(),
            )
            yield self._respond(response)
            yield self._act_on(response)

    async def _respond(self, response: ModelResponse) -> AsyncGenerator[RunEvent]:
        history = self._history()
        if self._request.cancel.is_set():
            yield Cancelled()
            return
        if self._turns_taken(history) >= self._settings.max_turns:
            yield Failed(code="too_many_turns", message="The run took too many turns.")
            return
        stream = self._settings.model.respond(
            ModelRequest(
                history=history,
                tools=tuple(self._settings.tools),
                instructions=self._settings.instructions,
            )
        )
        try:
            async for said in stream:
                for event in response.take(said):
                    yield event
        except Exception as error:  # noqa: BLE001 - a model is foreign code; its run fails, neutrally
            self._log_failure(error)
            yield Failed()
        finally:
            close = getattr(stream, "aclose", None)
            if close is not None:
                await close()

    async def _act_on(self, response: ModelResponse) -> AsyncGenerator[RunEvent]:
        judge = self._judge()
        judged = [judge.first(proposed) for proposed in response.calls()]
        if not judged:
            yield Completed()
            return
        for item in judged:
            yield _ready(response.message_id, item)
        async with aclosing(self._carry_out(response.message_id, judged)) as events:
            async for event in events:
                yield event

    async def _carry_out(
        self, message_id: str, judged: Sequence[JudgedCall]
    ) -> AsyncGenerator[RunEvent]:
        asked = [item for item in judged if isinstance(item.ruling, Ask)]
        if asked:
            calls = tuple(await asyncio.gather(*(self._pending(item) for item in asked)))
            yield Suspended(
                suspension=Suspension(kind="approval", message_id=message_id, calls=calls)
            )
            return
        for item in judged:
            if self._request.cancel.is_set():
                return
            match item.ruling:
                case Settled(outcome=outcome):
                    yield _result(item.call, outcome)
                case Runnable() as runnable:
                    async with aclosing(self._execute(item.call, runnable)) as events:
                        async for event in events:
                            yield event
                case Ask():
                    raise NotApproved("A call that has to be asked about was about to run.")
                case _:
                    assert_never(item.ruling)

    async def _execute(self, call: ToolCall, runnable: Runnable) -> AsyncGenerator[RunEvent]:
        ledger = self._request.ledger
        outcome = await ledger.begin(call)
        if outcome is None:
            yield ToolCallStarted(call_id=call.call_id)
            outcome = redact(
                await run_tool(runnable.tool, self._context(call), runnable.arguments), call.secrets
            )
            await ledger.finish(call.call_id, outcome)
        yield _result(call, outcome)

    async def _pending(self, item: JudgedCall) -> PendingCall:
        call, ruling = item.call, item.ruling
        if not isinstance(ruling, Ask):
            raise NotApproved("Only a call that is asked about can wait.")
        preview = await make_preview(item.tool, self._context(call), item.arguments, call.secrets)
        return PendingCall(call=call, reason=ruling.reason, risk=ruling.risk, preview=preview)

    def _context(self, call: ToolCall) -> ToolContext:
        return ToolContext(
            thread_id=self._request.thread_id,
            run_id=self._request.run_id,
            call_id=call.call_id,
            principal_id=self._request.principal.id,
        )

    def _judge(self) -> Judge:
        return Judge(
            tools=self._settings.tools,
            gate=self._request.gate,
            history=self._history(),
            run_id=self._request.run_id,
            repeat_rejections=self._settings.repeat_rejections,
        )

    def _history(self) -> tuple[Message, ...]:
        return (*self._request.history, *self._recorder.messages)

    def _turns_taken(self, history: Iterable[Message]) -> int:
        return sum(
            isinstance(message, (AssistantMessage, ToolCallMessage))
            and message.run_id == self._request.run_id
            for message in history
        )

    def _streamed(self) -> frozenset[str]:
        # One tool that can be asked about may hold a whole batch back, and what was streamed cannot
        # be taken back.
        tools, gate = self._settings.tools, self._request.gate
        if any(gate.can_ask(tool) for tool in tools):
            return frozenset()
        return frozenset(tool.name for tool in tools if tool.streamed)

    def _log_failure(self, error: Exception) -> None:
        # The exception's own text can hold inputs and secrets, so it is for debugging only.
        _LOG.error(
            "A model failed. thread=%s run=%s error=%s",
            self._request.internal_id,
            self._request.run_id,
            type(error).__name__,
        )
        _LOG.debug("Details of the failure", exc_info=error)


async def _say(event: RunEvent) -> AsyncGenerator[RunEvent]:
    yield event


def _ready(message_id: str, item: JudgedCall) -> ToolCallReady:
    ask = item.ruling if isinstance(item.ruling, Ask) else None
    return ToolCallReady(
        message_id=message_id,
        call=item.call,
        disposition="gated" if ask else "run",
        reason=ask.reason if ask else None,
    )


def _result(call: ToolCall, outcome: Outcome) -> ToolResult:
    return ToolResult(
        message_id=result_message_id(call.call_id), call_id=call.call_id, outcome=outcome
    )
