"""The home of opencode-codex-memory: two databases of its own, one of which holds the sessions' modes for both.

Its times are UNIX milliseconds, those of jobs seconds; columns that a version has not are empty (its schemas 1 to 3).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast, get_args

from codexmem_hookspecs.values.capture import MemoryMode

from codexmem_core.interop.adoptable import (
    Adoptable,
    AdoptableMemory,
    NothingToAdopt,
    identity,
    location,
    number,
    text,
    understood,
)
from codexmem_core.store.foreign import foreign_database
from codexmem_core.store.values import AdoptedNote, Key

if TYPE_CHECKING:
    from codexmem_core.store.foreign import ForeignDatabase, Row

SOURCE = "opencode-codex-memory"
HOST = "opencode"
PARTS = {"v1": ("memory.db", "memories"), "v2": ("memory_v2.db", "memories_v2")}
"""Database and folder of each memory."""

_NOTE = (
    "session_id", "source_updated_at", "raw_memory", "rollout_summary", "rollout_slug", "cwd", "generated_at",
    "usage_count", "last_usage",
)  # fmt: skip


_JOB = ("kind", "job_key", "last_success_watermark")


def read_opencode_memory(folder: str, place: str) -> Adoptable:
    """Everything in a home; copies of its databases are made below ``place``. Raises NothingToAdopt and StoreError."""
    there = [name for part in PARTS.values() for name in part if os.path.exists(os.path.join(folder, name))]
    if not there:
        looked_for = ", ".join(name for part in PARTS.values() for name in part)
        raise NothingToAdopt(f"{folder} is no home of {SOURCE}: it has none of {looked_for}")
    memories = []
    modes: dict[Key, MemoryMode] = {}
    reads: dict[Key, str] = {}
    skipped: list[str] = []
    for memory, (database, files) in PARTS.items():
        root, path = os.path.join(folder, files), os.path.join(folder, database)
        if not os.path.exists(path):
            memories.append(AdoptableMemory(memory=memory, root=root))
            continue
        with foreign_database(path, place) as copy:
            memories.append(_memory(memory, root, path, copy))
            if memory == "v1":  # the catalogue of both
                _catalogue(copy, path, modes, reads, skipped)
    return Adoptable(
        source=SOURCE,
        place=folder,
        memories=tuple(memories),
        modes=modes,
        reads=reads,
        skipped=tuple(skipped),
    )


def _memory(memory: str, root: str, path: str, copy: ForeignDatabase) -> AdoptableMemory:
    skipped: list[str] = []
    notes = understood(
        copy.rows("memory_stage1_outputs", _NOTE), _note, f"{path}: the note of {{session_id!r}}", skipped
    )
    jobs = (row for row in copy.rows("memory_jobs", _JOB) if row["kind"] == "memory_stage1")
    settled = understood(jobs, _settled, f"{path}: the job of {{job_key!r}}", skipped)
    progress = copy.rows("consolidation_progress", ("max_thread_count",))
    covered = understood(progress, lambda row: number(row, "max_thread_count"), f"{path}: the progress", skipped)
    return AdoptableMemory(
        memory=memory,
        root=root,
        notes=tuple(notes),
        settled={key: until_ms for key, until_ms in settled if until_ms},
        covered=max(covered, default=0),
        skipped=tuple(skipped),
    )


def _note(row: Row) -> AdoptedNote:
    return AdoptedNote(
        host=HOST,
        id=identity(row, "session_id"),
        source_updated_at=number(row, "source_updated_at"),
        raw_memory=text(row, "raw_memory"),
        rollout_summary=text(row, "rollout_summary"),
        rollout_slug=text(row, "rollout_slug"),
        cwd=location(row, "cwd"),
        generated_at=number(row, "generated_at"),
        usage_count=number(row, "usage_count"),
        last_usage=number(row, "last_usage"),
    )


def _settled(row: Row) -> tuple[Key, int]:
    return Key(HOST, identity(row, "job_key")), number(row, "last_success_watermark")


def _catalogue(
    copy: ForeignDatabase, path: str, modes: dict[Key, MemoryMode], reads: dict[Key, str], skipped: list[str]
) -> None:
    """Modes that keep a session out, and the memory that each session was given."""
    for row in copy.rows("memory_session_meta", ("session_id", "memory_mode", "polluted")):
        mode = "polluted" if row["polluted"] else row["memory_mode"]
        if mode not in get_args(MemoryMode):
            skipped.append(f"{path}: the mode of {row['session_id']!r} is {mode!r}")
        elif mode != "enabled":
            modes[Key(HOST, str(row["session_id"]))] = cast("MemoryMode", mode)
    for row in copy.rows("memory_session_versions", ("session_id", "version")):
        if row["version"] in PARTS:
            reads[Key(HOST, str(row["session_id"]))] = str(row["version"])
