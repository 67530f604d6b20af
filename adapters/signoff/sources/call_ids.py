"""callIds that are unique within a thread, whatever ids models give."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..messages import Message, ToolCallMessage


class CallIds:
    """Gives out callIds.

    Args:
        history: the thread's messages: their ids are taken.
        used: ids that are taken beside those.
        new_id: makes an id from a prefix.
    """

    __slots__ = ("_new_id", "_taken")

    def __init__(
        self, history: Iterable[Message], used: Iterable[str], new_id: Callable[[str], str]
    ) -> None:
        self._new_id = new_id
        self._taken = set(used)
        for message in history:
            if isinstance(message, ToolCallMessage):
                self._taken.update(record.call.call_id for record in message.calls)

    def take(self, model_call_id: str) -> tuple[str, str | None]:
        """The callId for a model's id: that id as it is (B128), or a new one where it is empty or
        taken. The second value is the model's own id where it was replaced."""
        if model_call_id and model_call_id not in self._taken:
            self._taken.add(model_call_id)
            return model_call_id, None
        call_id = self._new_id("call")
        while call_id in self._taken:
            call_id = self._new_id("call")
        self._taken.add(call_id)
        return call_id, model_call_id
