# ruff: noqa: N999 - migrations are named by their number
"""What every memory shares: sessions, modes, deliveries, usage, breaker. All times are UNIX milliseconds."""

from typing import Any

STATEMENTS = (
    """CREATE TABLE sessions (
        host TEXT NOT NULL,
        id TEXT NOT NULL,
        locator TEXT NOT NULL,
        cwd TEXT NOT NULL DEFAULT '',
        updated_at_ms INTEGER NOT NULL,
        touched_at_ms INTEGER NOT NULL,
        stamp TEXT NOT NULL DEFAULT '',
        revision TEXT NOT NULL DEFAULT '',
        kind TEXT NOT NULL DEFAULT 'main',
        source TEXT NOT NULL DEFAULT '',
        memory_mode TEXT NOT NULL DEFAULT 'enabled',
        forked_from TEXT NOT NULL DEFAULT '',
        size_bytes INTEGER NOT NULL DEFAULT 0,
        first_seen_ms INTEGER NOT NULL,
        present TEXT NOT NULL DEFAULT 'present',
        PRIMARY KEY (host, id)
    )""",
    "CREATE INDEX sessions_recency ON sessions (updated_at_ms DESC)",
    "CREATE INDEX sessions_excluded ON sessions (host, id) WHERE memory_mode <> 'enabled'",
    """CREATE TABLE session_locators (
        host TEXT NOT NULL,
        locator TEXT NOT NULL,
        session_id TEXT NOT NULL,
        stamp TEXT NOT NULL,
        PRIMARY KEY (host, locator)
    )""",
    "CREATE INDEX session_locators_session ON session_locators (host, session_id)",
    """CREATE TABLE session_ends (
        host TEXT NOT NULL,
        session_id TEXT NOT NULL,
        ended_at_ms INTEGER NOT NULL,
        PRIMARY KEY (host, session_id)
    )""",
    """CREATE TABLE memory_session_meta (
        host TEXT NOT NULL,
        session_id TEXT NOT NULL,
        memory_mode TEXT NOT NULL DEFAULT 'enabled',
        polluted INTEGER NOT NULL DEFAULT 0,
        updated_at INTEGER NOT NULL,
        PRIMARY KEY (host, session_id)
    )""",
    """CREATE TABLE memory_session_versions (
        host TEXT NOT NULL,
        session_id TEXT NOT NULL,
        version TEXT NOT NULL,
        frozen_at_ms INTEGER NOT NULL,
        PRIMARY KEY (host, session_id)
    )""",
    """CREATE TABLE own_sessions (
        host TEXT NOT NULL,
        session_id TEXT NOT NULL,
        registered_at_ms INTEGER NOT NULL,
        PRIMARY KEY (host, session_id)
    )""",
    """CREATE TABLE events (
        id TEXT PRIMARY KEY,
        host TEXT NOT NULL,
        session_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        at_ms INTEGER NOT NULL
    )""",
    "CREATE INDEX events_session ON events (host, session_id, id)",
    """CREATE TABLE deliveries (
        event_id TEXT NOT NULL,
        plugin TEXT NOT NULL,
        host TEXT NOT NULL,
        session_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        payload TEXT NOT NULL,
        state TEXT NOT NULL DEFAULT 'pending',
        attempts INTEGER NOT NULL DEFAULT 0,
        retry_at_ms INTEGER NOT NULL DEFAULT 0,
        error TEXT NOT NULL DEFAULT '',
        updated_at_ms INTEGER NOT NULL,
        PRIMARY KEY (event_id, plugin)
    )""",
    "CREATE INDEX deliveries_order ON deliveries (state, plugin, host, session_id, event_id)",
    """CREATE TABLE events_seen (
        host TEXT NOT NULL,
        event TEXT NOT NULL,
        fired_at_ms INTEGER NOT NULL,
        PRIMARY KEY (host, event)
    )""",
    """CREATE TABLE forget_pending (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        plugin TEXT NOT NULL,
        selector TEXT NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0,
        error TEXT NOT NULL DEFAULT '',
        asked_at_ms INTEGER NOT NULL,
        UNIQUE (plugin, selector)
    )""",
    """CREATE TABLE usage_ledger (
        day TEXT NOT NULL,
        stage TEXT NOT NULL,
        memory TEXT NOT NULL,
        model TEXT NOT NULL,
        calls INTEGER NOT NULL DEFAULT 0,
        tokens_in INTEGER NOT NULL DEFAULT 0,
        tokens_out INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (day, stage, memory, model)
    )""",
    """CREATE TABLE breaker (
        scope TEXT PRIMARY KEY,
        until_ms INTEGER NOT NULL,
        reason TEXT NOT NULL,
        fingerprint TEXT NOT NULL DEFAULT ''
    )""",
    """CREATE TABLE marks (
        key TEXT PRIMARY KEY,
        value TEXT NOT NULL
    )""",
    """CREATE TABLE notices (
        source TEXT NOT NULL,
        text TEXT NOT NULL,
        first_at_ms INTEGER NOT NULL,
        last_at_ms INTEGER NOT NULL,
        times INTEGER NOT NULL DEFAULT 1,
        PRIMARY KEY (source, text)
    )""",
)


def up(migrator: Any, db: Any) -> None:  # noqa: ARG001 - the runner's signature
    """Make the tables."""
    for statement in STATEMENTS:
        db.execute_sql(statement)
