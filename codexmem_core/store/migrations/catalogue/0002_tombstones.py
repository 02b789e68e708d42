# ruff: noqa: N999 - migrations are named by their number
"""What was forgotten and must not come back. Times are UNIX milliseconds."""

from typing import Any

STATEMENTS = (
    """CREATE TABLE forgotten_sessions (
        host TEXT NOT NULL,
        session_id TEXT NOT NULL,
        forgotten_at_ms INTEGER NOT NULL,
        PRIMARY KEY (host, session_id)
    )""",
    """CREATE TABLE forgotten_texts (
        window TEXT PRIMARY KEY,
        first TEXT NOT NULL,
        words INTEGER NOT NULL,
        forgotten_at_ms INTEGER NOT NULL
    )""",
)


def up(migrator: Any, db: Any) -> None:  # noqa: ARG001 - the runner's signature
    """Make the tables."""
    for statement in STATEMENTS:
        db.execute_sql(statement)
