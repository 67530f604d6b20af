"""The database's schema: made, checked and brought up to date by Alembic."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from signoff.errors import ConfigurationError

_MIGRATIONS = Path(__file__).parent / "migrations"


def migrate(connection: Connection) -> None:
    """Bring the schema to the newest revision, from any earlier one or from nothing."""
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def check(connection: Connection) -> None:
    """Make an empty database's schema; refuse one that is not the newest.

    Raises:
        ConfigurationError: the schema is older or newer than this program.
    """
    current = MigrationContext.configure(connection).get_current_revision()
    if current is None:
        migrate(connection)
    elif current != ScriptDirectory.from_config(_config()).get_current_head():
        raise ConfigurationError(
            "The database's schema does not match this version. Run: signoff migrate --store URL"
        )


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
