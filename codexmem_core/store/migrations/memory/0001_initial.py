# ruff: noqa: N999 - migrations are named by their number
"""Notes and jobs of one memory.

``memory_jobs``: started_at, finished_at, succeeded_at, lease_until, retry_at are UNIX seconds; watermarks UNIX
milliseconds. All other times are UNIX milliseconds.
"""

from typing import Any

STATEMENTS = (
    """CREATE TABLE memory_stage1_outputs (
        host TEXT NOT NULL,
        session_id TEXT NOT NULL,
        locator TEXT NOT NULL DEFAULT '',
        source_updated_at INTEGER NOT NULL,
        raw_memory TEXT NOT NULL,
        rollout_summary TEXT NOT NULL,
        rollout_slug TEXT,
        cwd TEXT,
        extra TEXT NOT NULL DEFAULT '{}',
        generated_at INTEGER NOT NULL,
        retained_from INTEGER NOT NULL DEFAULT 0,
        usage_count INTEGER NOT NULL DEFAULT 0,
        last_usage INTEGER,
        selected_for_phase2 INTEGER NOT NULL DEFAULT 0,
        selected_for_phase2_source_updated_at INTEGER,
        PRIMARY KEY (host, session_id)
    )""",
    "CREATE INDEX memory_stage1_outputs_recency ON memory_stage1_outputs (source_updated_at DESC, session_id DESC)",
    """CREATE TABLE memory_findings (
        host TEXT NOT NULL,
        session_id TEXT NOT NULL,
        source_updated_at INTEGER NOT NULL,
        findings BLOB NOT NULL,
        PRIMARY KEY (host, session_id)
    )""",
    """CREATE TABLE memory_jobs (
        kind TEXT NOT NULL,
        job_key TEXT NOT NULL,
        status TEXT NOT NULL,
        worker_id TEXT,
        ownership_token TEXT,
        started_at INTEGER,
        finished_at INTEGER,
        succeeded_at INTEGER,
        lease_until INTEGER,
        retry_at INTEGER,
        retry_remaining INTEGER NOT NULL,
        last_error TEXT,
        failure TEXT,
        input_watermark INTEGER,
        last_success_watermark INTEGER,
        PRIMARY KEY (kind, job_key)
    )""",
    "CREATE INDEX memory_jobs_state ON memory_jobs (kind, status, retry_at, lease_until)",
    """CREATE TABLE consolidation_progress (
        singleton INTEGER PRIMARY KEY CHECK (singleton = 1),
        max_thread_count INTEGER NOT NULL DEFAULT 0
    )""",
    "INSERT INTO consolidation_progress (singleton, max_thread_count) VALUES (1, 0)",
    """CREATE TABLE memory_citation_usage (
        host TEXT NOT NULL,
        session_id TEXT NOT NULL,
        assistant_message_id TEXT NOT NULL,
        cited_host TEXT NOT NULL,
        cited_session_id TEXT NOT NULL,
        recorded_at INTEGER NOT NULL,
        PRIMARY KEY (host, session_id, assistant_message_id, cited_host, cited_session_id)
    )""",
)


def up(migrator: Any, db: Any) -> None:  # noqa: ARG001 - the runner's signature
    """Make the tables."""
    for statement in STATEMENTS:
        db.execute_sql(statement)
