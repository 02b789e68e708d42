"""Codex's own memory, of both versions, with what its database of threads says about them (Codex 0.171).

Its times are UNIX seconds. A file's number grows with its schema, so the highest one is the one in use.
"""

from __future__ import annotations

import os
import re
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, cast, get_args

from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.values.capture import MemoryMode

from codexmem_core.consolidate.recaps import parse_recap, recap_files
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
from codexmem_core.interop.exchange import LOCK_WAIT_S, TURN, TURN_S
from codexmem_core.readpath.errors import ToolError
from codexmem_core.safety.files import GuardedFolder
from codexmem_core.store.foreign import foreign_database
from codexmem_core.store.values import AdoptedNote, Key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from codexmem_core.store.foreign import ForeignDatabase, Row

SOURCE = "codex"
HOST = "codex"
FOLDERS = {"v1": "memories", "v2": "memories_v2"}
DATABASES = {"v1": re.compile(r"memories_(\d+)\.sqlite"), "v2": re.compile(r"memories_v2_(\d+)\.sqlite")}
THREADS = re.compile(r"state_(\d+)\.sqlite")
"""Before the memories had files of their own, their tables were here as well."""
EXPORTED = frozenset({"codexmem_import", "opencode_import"})
"""Extensions that were put into Codex's folder from outside, by us or by the plugin that we take over."""
_SECOND_MS = 1000

_NOTE = (
    "thread_id", "source_updated_at", "raw_memory", "rollout_summary", "rollout_slug", "generated_at", "usage_count",
    "last_usage",
)  # fmt: skip


@contextmanager
def codex_at_rest(home: str, locks: str) -> Iterator[None]:
    """Hold the locks under which Codex consolidates, where it has any: nothing is read half written.

    locks: our folder of locks. Raises ToolError while Codex is at work.
    """
    folder = GuardedFolder(home, write=True)
    names = [name for name in FOLDERS.values() if os.path.isfile(os.path.join(home, f"{name}.lock"))]
    with ExitStack() as held:
        if names:
            held.enter_context(GuardedFolder(locks, write=True).lock(TURN, TURN_S))
        for name in names:
            try:
                free = held.enter_context(folder.lock(name, LOCK_WAIT_S))
            except OSError:
                continue  # where nobody may write, as in a backup, Codex is at rest
            if not free:
                raise ToolError(f"{home}: Codex consolidates its memory just now; try again when it has ended")
        yield


def read_codex(home: str, place: str, known_ms: Callable[[Key], int]) -> Adoptable:
    """Everything in Codex's home; copies of its databases are made below ``place``.

    known_ms: the last activity of a session as its transcript says it here, 0 when it is not known. Raises
    NothingToAdopt and StoreError.
    """
    state = _newest(home, THREADS)
    databases = {memory: _newest(home, pattern) for memory, pattern in DATABASES.items()}
    if not any([*databases.values(), *(os.path.isdir(os.path.join(home, folder)) for folder in FOLDERS.values())]):
        raise NothingToAdopt(f"{home} has no memory of Codex: none of {', '.join(FOLDERS.values())} and no database")
    threads: dict[str, Row] = {}
    memories = []
    if state:
        with foreign_database(state, place) as copy:
            columns = ("id", "rollout_path", "cwd", "memory_mode", "updated_at")
            threads = {str(row["id"]): row for row in copy.rows("threads", columns)}
            if not databases["v1"] and copy.has("stage1_outputs"):
                databases["v1"] = state
    for memory, folder in FOLDERS.items():
        root = os.path.join(home, folder)
        database = databases[memory]
        found = AdoptableMemory(memory=memory, root=root)
        if database:
            with foreign_database(database, place) as copy:
                found = _memory(found, database, copy, threads, known_ms)
        memories.append(replace(found, recaps=_recaps(root, found.notes)))
    modes: dict[Key, MemoryMode] = {}
    for thread, row in threads.items():
        mode = row["memory_mode"]
        if mode in get_args(MemoryMode) and mode != "enabled":
            modes[Key(HOST, thread)] = cast("MemoryMode", mode)
    return Adoptable(
        source=SOURCE,
        place=home,
        memories=tuple(memories),
        modes=modes,
        not_files=EXPORTED,
    )


def _memory(
    found: AdoptableMemory,
    path: str,
    copy: ForeignDatabase,
    threads: Mapping[str, Row],
    known_ms: Callable[[Key], int],
) -> AdoptableMemory:
    skipped: list[str] = []

    def note(row: Row) -> AdoptedNote:
        thread = threads.get(str(row["thread_id"]), {"cwd": None, "rollout_path": None})
        return AdoptedNote(
            host=HOST,
            id=identity(row, "thread_id"),
            source_updated_at=number(row, "source_updated_at", _SECOND_MS),
            raw_memory=text(row, "raw_memory"),
            rollout_summary=text(row, "rollout_summary"),
            rollout_slug=text(row, "rollout_slug"),
            locator=location(thread, "rollout_path"),
            cwd=location(thread, "cwd"),
            generated_at=number(row, "generated_at", _SECOND_MS),
            usage_count=number(row, "usage_count"),
            last_usage=number(row, "last_usage", _SECOND_MS),
        )

    def settled(row: Row) -> tuple[Key, int]:
        key = Key(HOST, identity(row, "job_key"))
        return key, _settled_ms(key, number(row, "last_success_watermark"), threads, known_ms)

    notes = understood(copy.rows("stage1_outputs", _NOTE), note, f"{path}: the note of {{thread_id!r}}", skipped)
    jobs = (
        row
        for row in copy.rows("jobs", ("kind", "job_key", "last_success_watermark"))
        if row["kind"] == "memory_stage1" and row["last_success_watermark"]
    )
    until = understood(jobs, settled, f"{path}: the job of {{job_key!r}}", skipped)
    progress = copy.rows("consolidation_progress", ("max_thread_count",))
    covered = understood(progress, lambda row: number(row, "max_thread_count"), f"{path}: the progress", skipped)
    return replace(
        found,
        notes=tuple(notes),
        settled=dict(until),
        covered=max(covered, default=0),
        skipped=tuple(skipped),
    )


def _settled_ms(key: Key, watermark_s: int, threads: Mapping[str, Row], known_ms: Callable[[Key], int]) -> int:
    """Up to when a session was extracted, in the milliseconds that its transcript states.

    Codex counts whole seconds. A thread that it has not seen change since is extracted to its end, whatever the last
    record's own time is.
    """
    until_ms = watermark_s * _SECOND_MS + _SECOND_MS - 1
    row = threads.get(key.id)
    unchanged = row is not None and number(row, "updated_at") <= watermark_s
    return max(until_ms, known_ms(key)) if unchanged else until_ms


def _recaps(root: str, notes: tuple[AdoptedNote, ...]) -> dict[str, str]:
    """Recap files that belong to a note, by the names that they will have: texts refer to them."""
    by_id = {note.id: note for note in notes}
    folder = GuardedFolder(root)
    found = {}
    try:
        paths = [stat.path for stat in folder.scan("rollout_summaries", suffixes=(".md",))]
    except (OSError, Refused):
        return {}
    for path in paths:
        try:
            note = by_id.get(parse_recap(folder.read(path).decode("utf-8", "replace")).session_id)
        except (OSError, Refused):
            continue
        if note is not None:
            (name,) = recap_files([(note.id, note.source_updated_at, note.rollout_slug)])
            found[os.path.basename(path)] = name
    return found


def _newest(home: str, pattern: re.Pattern[str]) -> str:
    """The file of that kind with the highest number; empty when there is none."""
    try:
        names = os.listdir(home)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NothingToAdopt(f"{home} is not there") from error
    numbered = [(int(match[1]), name) for name in names if (match := pattern.fullmatch(name))]
    return os.path.join(home, max(numbered)[1]) if numbered else ""
