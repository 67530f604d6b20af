"""``MODULE:NAME`` on the command line, as Python objects."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
import sysconfig
import traceback
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TypeGuard, cast

from starlette.types import ASGIApp

import signoff
from signoff.errors import ConfigurationError
from signoff.sources.base import RunSource
from signoff.tools import Tool

from .engine import Engine
from .http import Authenticate

_FOREIGN = (
    "<",
    *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    os.path.dirname(signoff.__file__),
    os.path.dirname(__file__),
)
"""Where code lies that is not the user's: Python's, installed packages', ours."""


def load(target: str) -> object:
    """Import ``package.module:name``, also from the current directory.

    Raises:
        ConfigurationError: another form, no such module or name, or the module does not import.
    """
    module_name, colon, name = target.partition(":")
    if module_name.endswith(".py"):
        module_name = module_name.removeprefix("./").removesuffix(".py").replace("/", ".")
        raise ConfigurationError(f"Name the module, not the file: {module_name}:{name or 'app'}.")
    if not (module_name and colon and name):
        raise ConfigurationError(f"{target!r} is not MODULE:NAME, such as my_agent:app.")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    found: object = _import(module_name)
    for step in name.split("."):
        if not hasattr(found, step):
            raise ConfigurationError(f"{module_name} has no {name!r}.")
        found = getattr(found, step)
    return found


def _import(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            raise ConfigurationError(
                f"There is no module {error.name!r} here or among the installed packages."
            ) from None
        raise ConfigurationError(f"{name} needs {error.name!r}, which is missing.") from error
    except (Exception, SystemExit) as error:
        raise ConfigurationError(
            f"{name} cannot be imported (--verbose shows the whole traceback).\n"
            f"{_place_of(error)}{_name_of(error)}"
        ) from error


def _place_of(error: BaseException) -> str:
    """``file:line: `` of the last step in the user's own code."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{_short(error.filename)}:{error.lineno}: "
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith(_FOREIGN)]
    return f"{_short(own[-1].filename)}:{own[-1].lineno}: " if own else ""


def _short(path: str) -> str:
    return path.removeprefix(os.path.join(os.getcwd(), ""))


def _name_of(error: BaseException) -> str:
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def is_agent(
    found: object,
) -> TypeGuard[Engine | RunSource | Mapping[str, RunSource]]:
    """Whether ``create_app`` takes it: an engine, a run source, or run sources by name."""
    if isinstance(found, Mapping):
        values = list(cast("Mapping[object, object]", found).values())
        return bool(values) and all(hasattr(value, "run") for value in values)
    if isinstance(found, type):
        return False
    if callable(getattr(found, "respond", None)):
        # No agent, but the engine says best what it is.
        return True
    return isinstance(found, Engine) or (hasattr(found, "run") and not callable(found))


def as_application(found: object, target: str) -> ASGIApp:
    """``found`` as an ASGI application.

    Raises:
        ConfigurationError: it is none.
    """
    if not callable(found) or isinstance(found, type | Tool) or not _takes(found, 3):
        raise ConfigurationError(
            f"{target} is a {type(found).__name__}; it has to be an ASGI application, a run "
            "source, a mapping of run sources, or an Engine."
        )
    return cast("ASGIApp", found)


def _takes(found: Callable[..., object], arguments: int) -> bool:
    try:
        inspect.signature(found).bind(*range(arguments))
    except (TypeError, ValueError):
        return False
    return True


def load_authenticate(target: str) -> Authenticate:
    """The function ``authenticate(request) -> Principal``.

    Raises:
        ConfigurationError: it cannot be imported or called.
    """
    found = load(target)
    if not callable(found) or isinstance(found, type | Tool) or not _takes(found, 1):
        raise ConfigurationError(f"{target} is not a function of a request.")
    return cast("Authenticate", found)
