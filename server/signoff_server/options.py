"""The options that commands share, most of them over a setting whose variable the help names."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer
from typer.models import OptionInfo

from signoff.policy import Mode

from .settings import Settings, variable_of

DEMO_STORE = "sqlite:///signoff-demo.db"
STORE = "sqlite:///signoff.db"


def _help(text: str, setting: str, default: str | None = None) -> str:
    """The help of an option that overrides a setting. typer's own words for a default are cut off
    where they are long, and its own reading of variables would leave ``Settings`` out."""
    return f"{text} Default: {variable_of(setting)}, or {default or _default(setting)}."


def _default(setting: str) -> str:
    return str(Settings.model_fields[setting].default)


def _store(default: str) -> OptionInfo:
    help_text = _help("Where threads are kept: sqlite:///FILE.", "store", default)
    option: OptionInfo = typer.Option("--store", metavar="URL", help=help_text)
    return option


DemoStoreOption: TypeAlias = Annotated[str | None, _store(DEMO_STORE)]
StoreOption: TypeAlias = Annotated[str | None, _store(STORE)]
HostOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--host", metavar="ADDRESS", help=_help("Address to listen on.", "host")),
]
PortOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--port",
        metavar="NUMBER",
        min=0,
        max=65535,
        help=_help("Port to listen on, 0 for any free one.", "port"),
    ),
]
ModeOption: TypeAlias = Annotated[
    Mode | None,
    typer.Option("--mode", help=_help("How careful to be where no tool's policy speaks.", "mode")),
]
VerboseOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help="Log everything, with the tracebacks of failing tools. They may show inputs.",
    ),
]

SERVER_EPILOG = (
    "Settings without an option: "
    f"{variable_of('allowed_origins')} (other sites whose pages may use the server, separated by "
    f"commas), {variable_of('body_bytes')} (the largest request body, {_default('body_bytes')} "
    f"bytes by default), {variable_of('log')} (debug, info, warning, error or critical)."
)
