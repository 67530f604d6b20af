"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def _thread_key() -> sa.Column[str]:
    return sa.Column(
        "thread_id", sa.String, sa.ForeignKey("threads.id", ondelete="CASCADE"), nullable=False
    )


def upgrade() -> None:
    op.create_table(
        "threads",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("tenant", sa.String, nullable=False),
        sa.Column("owner", sa.String, nullable=False),
        sa.Column("client_id", sa.String, nullable=False),
        sa.Column("status", sa.String, nullable=False),
        sa.Column("run_id", sa.String),
        sa.Column("fence", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("state", sa.Text),
        sa.Column("created_at", sa.String, nullable=False),
        sa.Column("updated_at", sa.String, nullable=False),
        sa.UniqueConstraint("tenant", "owner", "client_id", name="uq_threads_key"),
    )
    op.create_index("ix_threads_status", "threads", ["status", "updated_at"])
    op.create_table(
        "runs",
        sa.Column("id", sa.String, primary_key=True),
        _thread_key(),
        sa.Column("source", sa.String, nullable=False),
        sa.Column("assistant_id", sa.String, nullable=False),
        sa.Column("client", sa.Text, nullable=False),
        sa.Column("queued", sa.Text, nullable=False, server_default=sa.text("'[]'")),
        sa.Column("state", sa.LargeBinary),
        sa.Column("failure_code", sa.String),
        sa.Column("failure_message", sa.String),
        sa.Column("created_at", sa.String, nullable=False),
        sa.Column("ended_at", sa.String),
    )
    op.create_index("ix_runs_thread", "runs", ["thread_id"])
    op.create_table(
        "messages",
        _thread_key(),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("id", sa.String, nullable=False),
        sa.Column("run_id", sa.String, nullable=False),
        sa.Column("fence", sa.Integer, nullable=False),
        sa.Column("superseded", sa.Boolean, nullable=False, server_default=sa.text("0")),
        sa.Column("body", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("thread_id", "seq", name="pk_messages"),
    )
    op.create_index(
        "uq_messages_id",
        "messages",
        ["thread_id", "id"],
        unique=True,
        sqlite_where=sa.text("superseded = 0"),
        postgresql_where=sa.text("superseded = false"),
    )
    op.create_table(
        "suspensions",
        sa.Column("id", sa.String, primary_key=True),
        _thread_key(),
        sa.Column("run_id", sa.String, nullable=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("message_id", sa.String, nullable=False),
        sa.Column("fence", sa.Integer, nullable=False),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("created_at", sa.String, nullable=False),
        sa.Column("closed_at", sa.String),
    )
    op.create_index("ix_suspensions_thread", "suspensions", ["thread_id", "state"])
    op.create_table(
        "asked_calls",
        _thread_key(),
        sa.Column("call_id", sa.String, nullable=False),
        sa.Column(
            "suspension_id",
            sa.String,
            sa.ForeignKey("suspensions.id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("hash", sa.String, nullable=False),
        sa.Column("decision", sa.Text),
        sa.Column("note", sa.Text),
        sa.Column("decided_by", sa.String),
        sa.Column("decided_at", sa.String),
        sa.Column("protocol", sa.String),
        sa.PrimaryKeyConstraint("thread_id", "call_id", name="pk_asked_calls"),
    )
    op.create_index("ix_asked_calls_suspension", "asked_calls", ["suspension_id"])
    op.create_table(
        "executions",
        _thread_key(),
        sa.Column("call_id", sa.String, nullable=False),
        sa.Column("run_id", sa.String, nullable=False),
        sa.Column("fence", sa.Integer, nullable=False),
        sa.Column("hash", sa.String, nullable=False),
        sa.Column("began_at", sa.String, nullable=False),
        sa.Column("finished_at", sa.String),
        sa.Column("outcome", sa.Text),
        sa.PrimaryKeyConstraint("thread_id", "call_id", name="pk_executions"),
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("at", sa.String, nullable=False),
        sa.Column("thread_id", sa.String, nullable=False),
        sa.Column("tenant", sa.String, nullable=False),
        sa.Column("owner", sa.String, nullable=False),
        sa.Column("run_id", sa.String),
        sa.Column("call_id", sa.String),
        sa.Column("tool", sa.String),
        sa.Column("hash", sa.String),
        sa.Column("event", sa.String, nullable=False),
        sa.Column("actor", sa.String),
        sa.Column("means", sa.String),
        sa.Column("protocol", sa.String),
        sa.Column("detail", sa.Text),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_audit_thread", "audit", ["thread_id"])
    op.create_table(
        "server_settings",
        sa.Column("name", sa.String, primary_key=True),
        sa.Column("value", sa.LargeBinary, nullable=False),
    )
