"""``MODULE:NAME`` on the command line, as Python objects."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from typing import TypeGuard, cast

from starlette.types import ASGIApp

from signoff.errors import ConfigurationError
from signoff.sources.base import RunSource

from .engine import Engine
from .http import Authenticate


def load(target: str) -> object:
    """Import ``package.module:name``, also from the current directory.

    Raises:
        ConfigurationError: another form, no such module or name, or the module does not import.
    """
    module_name, colon, name = target.partition(":")
    if not (module_name and colon and name):
        raise ConfigurationError(f"{target!r} is not MODULE:NAME, such as my_agent:app.")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: object = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name == module_name:
            raise ConfigurationError(
                f"There is no module {module_name!r} here or among the installed packages."
            ) from None
        raise ConfigurationError(f"{module_name} needs {error.name!r}, which is missing.") from None
    for step in name.split("."):
        if not hasattr(found, step):
            raise ConfigurationError(f"{module_name} has no {name!r}.")
        found = getattr(found, step)
    return found


def is_agent(
    found: object,
) -> TypeGuard[Engine | RunSource | Mapping[str, RunSource]]:
    """Whether ``create_app`` takes it: an engine, a run source, or run sources by name."""
    if isinstance(found, Mapping):
        values = list(cast("Mapping[object, object]", found).values())
        return bool(values) and all(hasattr(value, "run") for value in values)
    return isinstance(found, Engine) or (hasattr(found, "run") and not callable(found))


def as_application(found: object, target: str) -> ASGIApp:
    """``found`` as an ASGI application.

    Raises:
        ConfigurationError: it is none.
    """
    if not callable(found):
        raise ConfigurationError(
            f"{target} is a {type(found).__name__}; it has to be an ASGI application, a run "
            "source, a mapping of run sources, or an Engine."
        )
    return cast("ASGIApp", found)


def load_authenticate(target: str) -> Authenticate:
    """The function ``authenticate(request) -> Principal``.

    Raises:
        ConfigurationError: it cannot be imported or called.
    """
    found = load(target)
    if not callable(found):
        raise ConfigurationError(f"{target} is not a function of a request.")
    return cast("Authenticate", found)
