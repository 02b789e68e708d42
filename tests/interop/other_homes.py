"""Homes of the tools whose memory is taken over, with their tables as they have them and contents that are made up."""

from __future__ import annotations

import sqlite3
from contextlib import closing

CODEX_MEMORY = """
CREATE TABLE stage1_outputs (thread_id TEXT PRIMARY KEY, source_updated_at INTEGER NOT NULL, raw_memory TEXT NOT NULL,
  rollout_summary TEXT NOT NULL, rollout_slug TEXT, generated_at INTEGER NOT NULL, usage_count INTEGER,
  last_usage INTEGER, selected_for_phase2 INTEGER NOT NULL DEFAULT 0, selected_for_phase2_source_updated_at INTEGER);
CREATE TABLE jobs (kind TEXT NOT NULL, job_key TEXT NOT NULL, status TEXT NOT NULL, worker_id TEXT,
  ownership_token TEXT, started_at INTEGER, finished_at INTEGER, lease_until INTEGER, retry_at INTEGER,
  retry_remaining INTEGER NOT NULL, last_error TEXT, input_watermark INTEGER, last_success_watermark INTEGER,
  PRIMARY KEY (kind, job_key));
CREATE TABLE consolidation_progress (singleton INTEGER PRIMARY KEY CHECK (singleton = 1),
  max_thread_count INTEGER NOT NULL DEFAULT 0);
"""
CODEX_THREADS = """
CREATE TABLE threads (id TEXT PRIMARY KEY, rollout_path TEXT NOT NULL, updated_at INTEGER NOT NULL, cwd TEXT NOT NULL,
  memory_mode TEXT NOT NULL DEFAULT 'enabled');
"""
OPENCODE = """
CREATE TABLE schema_version (version INTEGER NOT NULL, applied_at INTEGER NOT NULL);
CREATE TABLE memory_stage1_outputs (session_id TEXT PRIMARY KEY, source_updated_at INTEGER NOT NULL,
  raw_memory TEXT NOT NULL, rollout_summary TEXT NOT NULL, rollout_slug TEXT, cwd TEXT, generated_at INTEGER NOT NULL,
  usage_count INTEGER DEFAULT 0, last_usage INTEGER, selected_for_phase2 INTEGER NOT NULL DEFAULT 0,
  selected_for_phase2_source_updated_at INTEGER);
CREATE TABLE memory_jobs (kind TEXT NOT NULL, job_key TEXT NOT NULL, status TEXT NOT NULL, worker_id TEXT,
  ownership_token TEXT, started_at INTEGER, finished_at INTEGER, lease_until INTEGER, retry_at INTEGER,
  retry_remaining INTEGER NOT NULL, last_error TEXT, input_watermark INTEGER, last_success_watermark INTEGER,
  PRIMARY KEY (kind, job_key));
CREATE TABLE memory_session_meta (session_id TEXT PRIMARY KEY, memory_mode TEXT NOT NULL DEFAULT 'enabled',
  polluted INTEGER NOT NULL DEFAULT 0, updated_at INTEGER NOT NULL);
"""
OPENCODE_3 = """
CREATE TABLE consolidation_progress (singleton INTEGER PRIMARY KEY CHECK (singleton = 1),
  max_thread_count INTEGER NOT NULL DEFAULT 0);
CREATE TABLE memory_session_versions (session_id TEXT PRIMARY KEY, version TEXT NOT NULL);
"""
RAW = """---
description: {what}
task: {what}
task_group: harbor
task_outcome: success
cwd: {cwd}
keywords: {what}
---

### Task 1: {what}

Preference signals:
- always {what} first

Reusable knowledge:
- {what} takes a minute
"""
SUMMARY = """v1

## User Profile

Builds boats.

## User preferences

- two coats of paint

## General Tips

- the mast light is called gannet

## What's in Memory

### {cwd}

#### 2026-11-29

- paint: hull
  - desc: rollout_summaries/{recap}
"""


def database(path, schema, **tables):
    """A database in WAL mode that its program has not folded in yet, with rows by table."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(schema)
        fill(connection, tables)
    return path


def fill(connection, tables):
    for table, rows in tables.items():
        for row in rows:
            marks = ", ".join("?" * len(row))
            connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))
    connection.commit()


def write(root, **files):
    for path, text in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
