"""Settings of the command line, from the environment: ``SIGNOFF_STORE`` and so on."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from signoff.errors import ConfigurationError
from signoff.policy import Mode

from .limits import Limits
from .logs import LogLevel

_PREFIX = "SIGNOFF_"


class Settings(BaseSettings):
    """What an option of the command line overrides.

    Attributes:
        store: ``sqlite:///FILE``; each command has a default of its own.
        host: address to listen on.
        port: port to listen on, 0 for any free one.
        mode: how careful the gate is where nobody said anything about a tool.
        allowed_origins: other sites whose pages may use the server, separated by commas.
        body_bytes: the largest request body.
        log: the level from which on to log; None: as Python does, warnings and errors.
    """

    model_config: ClassVar[SettingsConfigDict] = SettingsConfigDict(
        env_prefix=_PREFIX, extra="ignore"
    )

    store: str | None = None
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8000
    mode: Mode = "normal"
    allowed_origins: Annotated[tuple[str, ...], NoDecode] = ()
    body_bytes: Annotated[int, Field(ge=1024)] = Limits().body_bytes
    log: LogLevel | None = None

    @property
    def set_for_agents(self) -> tuple[str, ...]:
        """The variables that are set and that an application of one's own does not read."""
        return tuple(
            variable_of(name)
            for name in ("store", "mode", "allowed_origins", "body_bytes")
            if name in self.model_fields_set
        )

    @field_validator("allowed_origins", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(item for item in (piece.strip() for piece in value.split(",")) if item)
        return value

    @field_validator("log", mode="before")
    @classmethod
    def _lower(cls, value: object) -> object:
        return value.lower() if isinstance(value, str) else value


def variable_of(setting: str) -> str:
    """The environment variable of a setting."""
    return f"{_PREFIX}{setting.upper()}"


def load_settings() -> Settings:
    """Read the environment.

    Raises:
        ConfigurationError: a variable has a value that cannot be used; one line for each.
    """
    try:
        return Settings()
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        lines = [f"{variable_of(str(item['loc'][0]))}: {item['msg']}." for item in problems]
        raise ConfigurationError("\n".join(lines)) from None
