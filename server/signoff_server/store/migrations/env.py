"""Alembic's entry point: runs the revisions on the connection that ``schema.migrate`` gives."""

from __future__ import annotations

from alembic import context
from sqlalchemy import Connection

from signoff_server.store.tables import metadata

connection: Connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
context.run_migrations()
