"""What is durable, as SQLAlchemy Core tables. JSON columns are text: integers beyond 2^53 and
U+0000 survive there, and nothing is rounded by a database (design §5)."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

metadata: MetaData = MetaData()


def _thread_key() -> Column[str]:
    return Column("thread_id", String, ForeignKey("threads.id", ondelete="CASCADE"), nullable=False)


threads: Table = Table(
    "threads",
    metadata,
    Column("id", String, primary_key=True),
    Column("tenant", String, nullable=False),
    Column("owner", String, nullable=False),
    Column("client_id", String, nullable=False),
    Column("status", String, nullable=False),
    Column("run_id", String),
    Column("fence", Integer, nullable=False, server_default=text("0")),
    Column("state", Text),
    Column("created_at", String, nullable=False),
    Column("updated_at", String, nullable=False),
    UniqueConstraint("tenant", "owner", "client_id", name="uq_threads_key"),
    Index("ix_threads_status", "status", "updated_at"),
)
"""``fence`` counts the segments of a thread: every write of a segment names it, so that a late
writer loses. ``status`` is a ``ThreadStatus``. ``id`` is the thread's ``internal_id``, to which
``thread_id`` refers in the other tables; ``client_id`` is its ``thread_id``, the client's."""

runs: Table = Table(
    "runs",
    metadata,
    Column("id", String, primary_key=True),
    _thread_key(),
    Column("source", String, nullable=False),
    Column("assistant_id", String, nullable=False),
    Column("client", Text, nullable=False),
    Column("queued", Text, nullable=False, server_default=text("'[]'")),
    Column("state", LargeBinary),
    Column("failure_code", String),
    Column("failure_message", String),
    Column("created_at", String, nullable=False),
    Column("ended_at", String),
    Index("ix_runs_thread", "thread_id"),
)
"""``assistant_id`` is the run's UIMessage id on Vercel; ``queued`` the user messages that came
beside answers and wait for the results; ``state`` what the source gave with its last pause."""

messages: Table = Table(
    "messages",
    metadata,
    _thread_key(),
    Column("seq", Integer, nullable=False),
    Column("id", String, nullable=False),
    Column("run_id", String, nullable=False),
    Column("fence", Integer, nullable=False),
    Column("superseded", Boolean, nullable=False, server_default=text("0")),
    Column("body", Text, nullable=False),
    PrimaryKeyConstraint("thread_id", "seq", name="pk_messages"),
    Index(
        "uq_messages_id",
        "thread_id",
        "id",
        unique=True,
        sqlite_where=text("superseded = 0"),
        postgresql_where=text("superseded = false"),
    ),
)
"""``fence`` is the segment that made the message, so that a reader who joins a running segment can
be given what stood before it."""

suspensions: Table = Table(
    "suspensions",
    metadata,
    Column("id", String, primary_key=True),
    _thread_key(),
    Column("run_id", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("message_id", String, nullable=False),
    Column("fence", Integer, nullable=False),
    Column("state", String, nullable=False),
    Column("created_at", String, nullable=False),
    Column("closed_at", String),
    Index("ix_suspensions_thread", "thread_id", "state"),
)
"""``fence`` is the segment that paused: pauses have an order even within one millisecond."""

asked_calls: Table = Table(
    "asked_calls",
    metadata,
    _thread_key(),
    Column("call_id", String, nullable=False),
    Column(
        "suspension_id",
        String,
        ForeignKey("suspensions.id", ondelete="CASCADE"),
        nullable=False,
    ),
    Column("position", Integer, nullable=False),
    Column("body", Text, nullable=False),
    Column("hash", String, nullable=False),
    Column("decision", Text),
    Column("note", Text),
    Column("decided_by", String),
    Column("decided_at", String),
    Column("protocol", String),
    PrimaryKeyConstraint("thread_id", "call_id", name="pk_asked_calls"),
    Index("ix_asked_calls_suspension", "suspension_id"),
)
"""One row a call that a person is asked about. ``hash`` is the plain hash of what was shown; the
published fingerprint is keyed and stands in ``body``."""

call_secrets: Table = Table(
    "call_secrets",
    metadata,
    _thread_key(),
    Column("call_id", String, nullable=False),
    Column("body", Text, nullable=False),
    PrimaryKeyConstraint("thread_id", "call_id", name="pk_call_secrets"),
)
"""The values of secret inputs, nowhere else: only while their batch waits for people."""

executions: Table = Table(
    "executions",
    metadata,
    _thread_key(),
    Column("call_id", String, nullable=False),
    Column("run_id", String, nullable=False),
    Column("fence", Integer, nullable=False),
    Column("hash", String, nullable=False),
    Column("began_at", String, nullable=False),
    Column("finished_at", String),
    Column("outcome", Text),
    PrimaryKeyConstraint("thread_id", "call_id", name="pk_executions"),
)
"""The at-most-once ledger. A row without an outcome began and did not finish: it is
never run again."""

audit: Table = Table(
    "audit",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("at", String, nullable=False),
    Column("thread_id", String, nullable=False),
    Column("tenant", String, nullable=False),
    Column("owner", String, nullable=False),
    Column("run_id", String),
    Column("call_id", String),
    Column("tool", String),
    Column("hash", String),
    Column("event", String, nullable=False),
    Column("actor", String),
    Column("means", String),
    Column("protocol", String),
    Column("detail", Text),
    Column("seq", Integer),
    Column("mac", String),
    Index("ix_audit_thread", "thread_id"),
    Index("uq_audit_seq", "thread_id", "seq", unique=True),
    sqlite_autoincrement=True,
)
"""Who did what to which call, when and by which means. It outlives its thread: no foreign key.
``seq`` counts a thread's rows from 1; ``mac`` binds a row to the one before it (``chain``)."""

server_settings: Table = Table(
    "server_settings",
    metadata,
    Column("name", String, primary_key=True),
    Column("value", LargeBinary, nullable=False),
)
