"""What an engine is given to run, checked before the first message needs it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import cast

from signoff.errors import ConfigurationError
from signoff.sources.base import RunSource


def checked_sources(sources: object) -> dict[str, RunSource]:
    """The run sources by name; a single one is named ``default``.

    Raises:
        ConfigurationError: none, or something that is no run source.
    """
    named = cast(
        "Mapping[str, object]", sources if isinstance(sources, Mapping) else {"default": sources}
    )
    if not named:
        raise ConfigurationError("An engine needs a run source.")
    for name, source in named.items():
        what = wrong_with(source)
        if what is not None:
            raise ConfigurationError(f"The run source {name!r} cannot be used: {what}")
    return cast("dict[str, RunSource]", dict(named))


def wrong_with(source: object) -> str | None:
    """Why something is no run source, with what to do; None where it is one."""
    kind = type(source)
    if isinstance(source, type):
        return f"{source.__name__} is a class. Pass an instance of it."
    if kind.__module__.partition(".")[0] == "pydantic_ai":
        return (
            f"it is a pydantic-ai {kind.__name__}. Pass its model and its tools instead: "
            'ToolLoop(PydanticAIModel("openai:gpt-5"), tools=[...]).'
        )
    run = getattr(source, "run", None)
    if callable(getattr(source, "respond", None)) and not callable(run):
        return f"{kind.__name__} is a model. Wrap it: ToolLoop(model, tools=[...])."
    if not callable(run):
        return f"{kind.__name__} has no run(request)."
    if inspect.iscoroutinefunction(run):
        return (
            f"{kind.__name__}.run is a coroutine function. A run source's run(request) returns an "
            "async iterator of run events."
        )
    return None
