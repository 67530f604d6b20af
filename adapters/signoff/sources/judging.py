"""What happens to each call of a batch, decided for the whole batch before any of it runs (R13)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from ..decisions import Decision, Reject
from ..errors import InvalidArguments, NotApproved
from ..json_text import JsonObject, JsonTextError, canonical, dumps, parse
from ..masking import MASK, mask_inputs, redact_text
from ..messages import CallRecord, Message, ToolResultMessage
from ..outcomes import Outcome, Rejected, ToolError
from ..policy import Ask, Gate
from ..suspension import ToolCall, call_hash
from ..tools import BoundInputs, Tool, ToolRegistry, refuse_reserved_keys
from .model_response import ProposedCall

RepeatRejections: TypeAlias = Literal["reject", "ask"]

UNKNOWN_TEXT = "TOOL NOT EXECUTED. There is no tool of this name. Use one of the offered tools."
GONE_TEXT = "TOOL NOT EXECUTED. This tool is no longer available."
UNFIT_TEXT = "The arguments do not fit the tool's input schema"
CHANGED_TEXT = "TOOL NOT EXECUTED. The tool no longer takes these inputs as they are on record."


@dataclass(frozen=True, slots=True, kw_only=True)
class Runnable:
    """The call may run, with these arguments."""

    tool: Tool
    arguments: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The call does not run: its outcome is known."""

    outcome: Outcome


Ruling: TypeAlias = Runnable | Ask | Settled


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedCall:
    """A call and what happens to it; ``arguments`` are there for one that is asked about."""

    call: ToolCall
    ruling: Ruling
    tool: Tool | None = None
    arguments: Mapping[str, object] = field(default_factory=dict[str, object], repr=False)


class Judge:
    """Judges the calls of one batch.

    Args:
        tools: the tools that are offered now.
        gate: says who is asked.
        history: the thread's messages.
        run_id: the run whose rejections count.
        repeat_rejections: ``reject`` answers a call that repeats one rejected earlier in the run
            (same tool, same inputs) with the same rejection, without asking again (R39).
    """

    def __init__(
        self,
        *,
        tools: ToolRegistry,
        gate: Gate,
        history: Iterable[Message],
        run_id: str,
        repeat_rejections: RepeatRejections,
    ) -> None:
        self._tools = tools
        self._gate = gate
        self._rejected = (
            _rejections(history, run_id) if repeat_rejections == "reject" else dict[str, Rejected]()
        )

    def first(self, proposed: ProposedCall) -> JudgedCall:
        """Judge a call that the model has just made.

        A tool that is not offered, and arguments that the tool does not take, are the model's
        error: nobody is asked about them (R14, B17, B120).
        """
        tool = self._tools.get(proposed.name)
        inputs: JsonObject = {}
        try:
            inputs = read_arguments(proposed.arguments)
            if tool is not None:
                bound = _bind(tool, inputs)
                return self._judge(tool, _call(proposed, bound.effective, tool), bound)
            call = _call(proposed, inputs)
            outcome = ToolError(text=UNKNOWN_TEXT)
        except InvalidArguments as error:
            call = _unfit_call(proposed, inputs, tool)
            outcome = _invalid(tool, error) if tool is not None else ToolError(text=UNKNOWN_TEXT)
        return JudgedCall(call=call, ruling=Settled(outcome=outcome))

    def again(self, record: CallRecord, decision: Decision | None) -> JudgedCall:
        """Judge a call of a batch that waited. A decided call is never asked about again (B35);
        what nobody was asked about is judged anew, since policies and tools may have changed (R2).

        Raises:
            NotApproved: the call was asked about and there is no answer. Silence is no consent.
        """
        call = record.call
        tool = self._tools.get(call.name)
        if isinstance(decision, Reject):
            ruling: Ruling = Settled(outcome=Rejected(reason=decision.reason))
        elif decision is None and record.asked:
            raise NotApproved("A batch was resumed before all of it was answered.")
        elif tool is None:
            text = UNKNOWN_TEXT if decision is None else GONE_TEXT
            ruling = Settled(outcome=ToolError(text=text))
        elif call.raw_arguments is not None:
            ruling = Settled(outcome=_invalid_again(tool, call.raw_arguments))
        else:
            return self._on_record(tool, call, approved=decision is not None)
        return JudgedCall(call=call, ruling=ruling)

    def _on_record(self, tool: Tool, call: ToolCall, *, approved: bool) -> JudgedCall:
        changed = Settled(outcome=ToolError(text=CHANGED_TEXT))
        # A value that is not on record any more must not run as the mask that stands for it, and
        # one that the tool keeps secret since then was shown to people.
        if not set(call.masked) == set(call.secrets) == set(tool.secrets).intersection(call.inputs):
            return JudgedCall(call=call, ruling=changed)
        try:
            bound = _bind(tool, call.true_inputs)
        except InvalidArguments:
            return JudgedCall(call=call, ruling=changed)
        if call_hash(call.name, bound.effective) != call_hash(call.name, call.true_inputs):
            return JudgedCall(call=call, ruling=changed)
        if approved:
            return JudgedCall(call=call, ruling=Runnable(tool=tool, arguments=bound.arguments))
        return self._judge(tool, call, bound)

    def _judge(self, tool: Tool, call: ToolCall, bound: BoundInputs) -> JudgedCall:
        # With secrets nothing on record says whether this is the rejected call again: ask again.
        repeated = None if call.masked else self._rejected.get(call_hash(call.name, call.inputs))
        if repeated is not None:
            return JudgedCall(call=call, ruling=Settled(outcome=repeated))
        judgement = self._gate.judge(tool, call.true_inputs)
        if isinstance(judgement, Ask):
            # A policy sees the true inputs, and may quote them.
            asked = replace(judgement, reason=redact_text(judgement.reason, call.secrets))
            return JudgedCall(call=call, ruling=asked, tool=tool, arguments=bound.arguments)
        return JudgedCall(call=call, ruling=Runnable(tool=tool, arguments=bound.arguments))


def read_arguments(text: str) -> JsonObject:
    """A model's argument text as inputs. Blank text is no arguments (B119).

    Raises:
        InvalidArguments: not a JSON object, read strictly (B120).
    """
    if not text.strip():
        return {}
    try:
        value = parse(text)
    except JsonTextError as error:
        raise InvalidArguments(f"The arguments cannot be read: {error}") from None
    if not isinstance(value, dict):
        raise InvalidArguments("The arguments are not a JSON object")
    return value


def _bind(tool: Tool, inputs: JsonObject) -> BoundInputs:
    try:
        refuse_reserved_keys(inputs)
        bound = tool.bind(inputs)
        canonical(bound.effective)
    except InvalidArguments:
        raise
    except Exception:  # noqa: BLE001 - a binder is foreign code, and its failure is no consent (B86)
        raise InvalidArguments("The inputs could not be checked") from None
    return bound


def _invalid_again(tool: Tool, raw_arguments: str) -> ToolError:
    try:
        _bind(tool, read_arguments(raw_arguments))
    except InvalidArguments as error:
        return _invalid(tool, error)
    return ToolError(text=CHANGED_TEXT)


def _invalid(tool: Tool, error: InvalidArguments) -> ToolError:
    # What a schema or a validator says of a value may quote it, also in part.
    what = UNFIT_TEXT if tool.secrets else str(error).rstrip(". ")
    return ToolError(text=f"INVALID ARGUMENTS. {what}. Correct them and call the tool again.")


def _call(
    proposed: ProposedCall,
    inputs: JsonObject,
    tool: Tool | None = None,
) -> ToolCall:
    try:
        refuse_reserved_keys(inputs)
    except InvalidArguments:
        inputs = {}
    shown, secrets = mask_inputs(inputs, tool.secrets if tool else ())
    return ToolCall(
        call_id=proposed.call_id,
        name=proposed.name or "unnamed",
        inputs=shown,
        description=tool.description if tool else "",
        model_call_id=proposed.model_call_id,
        masked=tuple(secrets),
        secrets=secrets,
    )


def _unfit_call(proposed: ProposedCall, inputs: JsonObject, tool: Tool | None) -> ToolCall:
    call = _call(proposed, inputs, tool)
    raw = proposed.arguments
    if tool is not None and tool.secrets:
        # Where the text cannot be read, nobody can say which part of it is secret.
        raw = dumps(call.inputs) if call.inputs else MASK
    return replace(call, raw_arguments=raw, secrets={})


def _rejections(history: Iterable[Message], run_id: str) -> dict[str, Rejected]:
    return {
        call_hash(result.call.name, result.call.inputs): result.outcome
        for message in history
        if isinstance(message, ToolResultMessage) and message.run_id == run_id
        for result in message.results
        if isinstance(result.outcome, Rejected)
    }
