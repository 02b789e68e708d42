# ruff: noqa: N999 - migrations are named by their number
"""What hooks tell of a session: the process that it lives in, and the context that it was given.

Times are UNIX milliseconds; ``started`` is opaque, ``<clock ticks since boot>.<namespace of processes>`` on Linux.
"""

from typing import Any

STATEMENTS = (
    """CREATE TABLE session_processes (
        host TEXT NOT NULL,
        session_id TEXT NOT NULL,
        pid INTEGER NOT NULL,
        started TEXT NOT NULL,
        seen_at_ms INTEGER NOT NULL,
        PRIMARY KEY (host, session_id)
    )""",
    """CREATE TABLE session_contexts (
        host TEXT NOT NULL,
        session_id TEXT NOT NULL,
        generation TEXT NOT NULL,
        given_at_ms INTEGER NOT NULL,
        PRIMARY KEY (host, session_id)
    )""",
)


def up(migrator: Any, db: Any) -> None:  # noqa: ARG001 - the runner's signature
    """Make the tables."""
    for statement in STATEMENTS:
        db.execute_sql(statement)
