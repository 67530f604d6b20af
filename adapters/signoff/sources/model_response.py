"""One model response on its way: text passed on, calls put together."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from ..events import ReasoningDelta, RunEvent, TextDelta, ToolCallDelta
from .call_ids import CallIds
from .models.base import ModelCall, ModelCallDelta, ModelEvent, ModelReasoning, ModelText


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedCall:
    """A call as the model made it.

    Attributes:
        call_id: unique in the thread.
        model_call_id: the model's own id, where that one is empty or taken.
        name: the tool it names.
        arguments: the argument text it wrote.
    """

    call_id: str
    model_call_id: str | None
    name: str
    arguments: str


@dataclass(slots=True)
class _Pieces:
    id: str = ""
    name: str = ""
    arguments: str = ""
    ids: tuple[str, str | None] | None = None


class ModelResponse:
    """Folds the events of one response.

    Args:
        message_id: the assistant message that the response becomes.
        call_ids: gives each call an id of its own.
        streamed: names of the tools whose argument text may be sent on while it is written.
    """

    def __init__(
        self, *, message_id: str, call_ids: CallIds, streamed: Collection[str] = ()
    ) -> None:
        self.message_id = message_id
        self._call_ids = call_ids
        self._streamed = streamed
        self._calls: dict[str | int, _Pieces] = {}

    def take(self, event: ModelEvent) -> Iterator[RunEvent]:
        """Take one event; yields what can be told right away."""
        match event:
            case ModelText(delta=delta):
                if delta:
                    yield TextDelta(message_id=self.message_id, delta=clean(delta))
            case ModelReasoning(delta=delta):
                if delta:
                    yield ReasoningDelta(message_id=self.message_id, delta=clean(delta))
            case ModelCallDelta():
                yield from self._take_piece(event)
            case ModelCall(key=key):
                pieces = self._calls.setdefault(len(self._calls) if key is None else key, _Pieces())
                pieces.id, pieces.name = clean(event.id), clean(event.name)
                pieces.arguments = clean(event.arguments)
            case _:
                # Whatever the types say: a model is foreign code.
                raise TypeError(f"A model said {type(event).__name__}, which is no model event.")

    def calls(self) -> tuple[ProposedCall, ...]:
        """The calls of the complete response, in the order in which the model began them."""
        return tuple(self._propose(pieces) for pieces in self._calls.values())

    def _take_piece(self, event: ModelCallDelta) -> Iterator[RunEvent]:
        pieces = self._calls.setdefault(event.key, _Pieces())
        pieces.id = pieces.id or clean(event.id)
        pieces.name = pieces.name or clean(event.name)
        piece = clean(event.arguments)
        pieces.arguments += piece
        if piece and pieces.name in self._streamed:
            # What came before the name was known goes out with the first piece after it.
            delta = pieces.arguments if pieces.ids is None else piece
            yield ToolCallDelta(
                message_id=self.message_id,
                call_id=self._ids(pieces)[0],
                name=pieces.name,
                delta=delta,
            )

    def _propose(self, pieces: _Pieces) -> ProposedCall:
        call_id, model_call_id = self._ids(pieces)
        return ProposedCall(
            call_id=call_id,
            model_call_id=model_call_id,
            name=pieces.name,
            arguments=pieces.arguments,
        )

    def _ids(self, pieces: _Pieces) -> tuple[str, str | None]:
        if pieces.ids is None:
            pieces.ids = self._call_ids.take(pieces.id)
        return pieces.ids


def clean(text: str) -> str:
    """Text that can be stored and sent: surrogate pairs joined, half ones replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
