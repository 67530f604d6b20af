"""The decision contract."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

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
