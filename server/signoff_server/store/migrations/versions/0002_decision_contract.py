"""The decision contract."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from signoff_server.store import chain, keys

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "call_secrets",
        sa.Column(
            "thread_id", sa.String, sa.ForeignKey("threads.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("call_id", sa.String, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("thread_id", "call_id", name="pk_call_secrets"),
    )
    op.add_column("audit", sa.Column("seq", sa.Integer))
    op.add_column("audit", sa.Column("mac", sa.String))
    _chain_rows(op.get_bind())
    op.create_index("uq_audit_seq", "audit", ["thread_id", "seq"], unique=True)


def _chain_rows(connection: sa.Connection) -> None:
    """Rows of the first schema are chained as they are found: what was done to them before this
    cannot be told."""
    names = [name for name in chain.FIELDS if name != "seq"]
    table = sa.table("audit", *(sa.column(name) for name in ("id", "seq", "mac", *names)))
    rows = connection.execute(sa.select(table).order_by(table.c.id)).mappings().all()
    ends: dict[str, tuple[int, str]] = {}
    for row in rows:
        seq, previous = ends.get(row["thread_id"], (0, ""))
        chained = {**{name: row[name] for name in names}, "seq": seq + 1}
        mac = chain.mac(keys.server_key(connection), chained, previous)
        connection.execute(
            sa.update(table).where(table.c.id == row["id"]).values(seq=seq + 1, mac=mac)
        )
        ends[row["thread_id"]] = (seq + 1, mac)
