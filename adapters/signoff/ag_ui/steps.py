"""The open steps of a stream."""

from __future__ import annotations

from collections.abc import Iterator

from ..events import StepFinished, StepStarted
from .wire import Frame, Profile, step


class StepStream:
    """Clients know steps by their names alone; one that is open at the end of a run is fatal (B05).

    Args:
        profile: what the client understands.
    """

    __slots__ = ("_depths", "_profile")

    def __init__(self, profile: Profile) -> None:
        self._profile: Profile = profile
        self._depths: dict[str, int] = {}

    def start(self, event: StepStarted) -> Iterator[Frame]:
        """A step within one of the same name is part of that."""
        depth = self._depths[event.name] = self._depths.get(event.name, 0) + 1
        if depth == 1:
            yield step(event.name, event.metadata, opens=True, profile=self._profile)

    def finish(self, event: StepFinished) -> Iterator[Frame]:
        """A step that began in an earlier segment was closed there."""
        depth = self._depths.get(event.name, 0)
        if depth > 1:
            self._depths[event.name] = depth - 1
        elif depth == 1:
            del self._depths[event.name]
            yield step(event.name, event.metadata, opens=False, profile=self._profile)

    def close(self) -> Iterator[Frame]:
        """End what is open, innermost first."""
        names = list(reversed(self._depths))
        self._depths.clear()
        for name in names:
            yield step(name, None, opens=False, profile=self._profile)
