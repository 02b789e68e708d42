"""Finding rollouts: one scan, and only files whose stat is new are opened."""

from __future__ import annotations

import itertools
import os
import re
from typing import TYPE_CHECKING

from codexmem_hookspecs.json_lines import TAIL, NotUnderstood
from codexmem_hookspecs.session_files import changed_files, measured, newest_first
from codexmem_hookspecs.values.capture import Session

from codexmem_host_codex import records
from codexmem_host_codex.host import CodexHost
from codexmem_host_codex.records import Meta
from codexmem_host_codex.rollouts import COMPRESSED, exists

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codexmem_hookspecs.services import Folder, Services
    from codexmem_hookspecs.values.capture import FileStat, MemoryMode, SessionKind, SessionQuery

STORES = ("sessions", "archived_sessions")
SUFFIXES = (".jsonl", ".jsonl" + COMPRESSED)
HEAD_LINES = 20
"""Lines in which a session_meta is looked for; a fork may copy its parent's before its own."""
FORK_HEAD_LINES = 400
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def find(query: SessionQuery, services: Services) -> Iterable[Session]:
    """Sessions that are new or changed, newest first."""
    home = str(services.settings.get("home", "")) or next(iter(CodexHost().homes(services.environ)), "")
    files = changed_files(home, STORES, SUFFIXES, query, services)
    return newest_first(files, lambda locator, stat: describe(locator, stat, query, services), services)


def describe(locator: str, stat: FileStat, query: SessionQuery, services: Services) -> Session | None:
    """The session in a file; None when the file is not a rollout, or a compressed copy of one that is there plain."""
    name = os.path.basename(locator)
    folder = services.open_folder(os.path.dirname(locator))  # a scan follows links, a path through one is refused
    head = Head(folder, name)
    if query.folder:
        if not head.recognised:
            return None
        query.claim(locator)
    if name.endswith(COMPRESSED) and exists(folder, name.removesuffix(COMPRESSED)):
        return None
    named = UUID.findall(name)
    meta = head.meta
    if not meta.id:
        services.log.warning("a rollout does not say which session it is", path=locator, lines=head.lines)
        meta.id = named[-1] if named else name.split(".", 1)[0]
    tail, length = folder.tail(name, TAIL)
    session = Session(
        host=CodexHost.name,
        id=meta.id,
        locator=locator,
        cwd=meta.cwd or "",
        kind=kind(meta),
        source=source(meta),
        memory_mode=mode(meta, tail),
        forked_from=meta.forked_from_id or "",
    )
    return measured(session, stat, tail, length, services.clock.now_ms())


class Head:
    """The first lines of a file: whether it is a rollout, and the session_meta that is its own."""

    def __init__(self, folder: Folder, name: str) -> None:
        self.lines = 0
        self.recognised = False
        self.meta = Meta()
        named = UUID.findall(name)
        for line in itertools.islice(folder.lines(name), FORK_HEAD_LINES):
            self.lines += 1
            if self.lines > HEAD_LINES and not self.meta.id:
                break
            self._look(line.data)
            if self.meta.id and (not named or self.meta.id in named):
                break

    def _look(self, data: bytes) -> None:
        try:
            record = records.record(data)
            if record.type not in records.KNOWN or not records.head(record.payload).startswith(b"{"):
                return
            self.recognised = True
            if record.type == "session_meta":
                meta = records.payload(record.payload, Meta)
        except NotUnderstood:
            return
        if record.type == "session_meta" and meta.id:
            self.meta = meta


def kind(meta: Meta) -> SessionKind:
    """Whose session it is. ``exec`` counts as the user's, unlike in Codex's own memory."""
    started = meta.source if isinstance(meta.source, dict) else {}
    if "internal" in started or "memory_consolidation" in (meta.thread_source, started.get("subagent")):
        return "internal"
    if "subagent" in started or meta.thread_source == "subagent":
        return "subagent"
    return "subagent" if meta.parent_thread_id and not meta.thread_source else "main"


def source(meta: Meta) -> str:
    """How it was started, as text."""
    if isinstance(meta.source, dict):
        return next((f"{key}:{value}" if isinstance(value, str) else key for key, value in meta.source.items()), "")
    return meta.source or ""


def mode(meta: Meta, tail: bytes) -> MemoryMode:
    """What the session asked for last: Codex appends another session_meta when the user changes it."""
    asked = meta.memory_mode
    for line in tail.split(b"\n"):
        if b'"session_meta"' in line:
            try:
                later = records.payload(records.record(line).payload, Meta)
            except NotUnderstood:
                continue
            asked = later.memory_mode if later.id == meta.id else asked
    if asked == "disabled":
        return "disabled"
    return "polluted" if asked == "polluted" else "enabled"
