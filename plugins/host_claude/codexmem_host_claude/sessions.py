"""Finding transcripts: one scan, and only files whose stat is new are opened."""

from __future__ import annotations

import hashlib
import itertools
import os
import re
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused, Rewritten, Unreadable
from codexmem_hookspecs.values.capture import Session

from codexmem_host_claude import records
from codexmem_host_claude.host import ClaudeHost
from codexmem_host_claude.records import Fork, NotUnderstood

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from codexmem_hookspecs.services import Folder, Services
    from codexmem_hookspecs.values.capture import FileStat, SessionKind, SessionQuery

STORE = "projects"
SUFFIXES = (".jsonl", ".jsonl.zst")
HEAD_LINES = 50
"""Lines in which the session's id, folder and kind are looked for."""
TAIL = 65_536
DIGESTED = 4_096
"""Bytes at the end whose digest tells two contents of one length apart."""
TIMESTAMP = re.compile(rb'"timestamp"\s*:\s*"([^"\\]{10,40})"')
UNREADABLE = (Unreadable, Rewritten, Refused, OSError)


def find(query: SessionQuery, services: Services) -> Iterable[Session]:
    """Sessions that are new or changed, newest first; of two files of one session the longer."""
    found: dict[str, Session] = {}
    for locator, stat in candidates(query, services):
        try:
            session = describe(locator, stat, query, services)
        except UNREADABLE as error:
            services.log.warning("a transcript cannot be read", path=locator, reason=str(error))
            continue
        if session and (session.id not in found or session.size_bytes > found[session.id].size_bytes):
            found[session.id] = session
    return sorted(found.values(), key=lambda session: (session.updated_at_ms, session.id), reverse=True)


def candidates(query: SessionQuery, services: Services) -> Iterator[tuple[str, FileStat]]:
    """Files whose state the engine does not hold. This loop runs for every file there is: it must stay bare."""
    unchanged = query.unchanged
    home = str(services.settings.get("home", "")) or next(iter(ClaudeHost().homes(services.environ)), "")
    place = query.folder or home
    if not place:
        return
    try:
        folder = services.open_folder(place)
        root = folder.root.rstrip("/") + "/"
        under, suffixes = ("", ()) if query.folder else (STORE, SUFFIXES)
        for stat in folder.scan(under, suffixes=suffixes, links=True):
            path, size, mtime_ns, inode = stat
            locator = root + path
            if unchanged(locator, f"{mtime_ns}:{size}:{inode}"):
                if query.folder:
                    query.claim(locator)
            elif size:
                yield locator, stat
    except FileNotFoundError:
        return
    except (Refused, OSError) as error:
        services.log.warning("a folder cannot be read", path=place, reason=str(error))


def describe(locator: str, stat: FileStat, query: SessionQuery, services: Services) -> Session | None:
    """The session in a file; None when the file holds no conversation."""
    name = os.path.basename(locator)
    stem = name.split(".", 1)[0]
    folder = services.open_folder(os.path.dirname(locator))  # a scan follows links, a path through one is refused
    head = Head(folder, name, stem)
    if query.folder:
        if not head.recognised:
            return None
        query.claim(locator)
    elif not head.known:
        services.log.warning("a transcript is in a form that is not known", path=locator, lines=head.lines)
    elif not head.recognised:
        return None  # titles and snapshots of files are kept in files of their own
    tail, length = folder.tail(name, TAIL)
    now_ms = services.clock.now_ms()
    touched_ms = max(0, min(stat.mtime_ns // 1_000_000, now_ms))
    kind: SessionKind = "subagent" if head.aside or aside(stat.path) else "main"
    own = head.agent or stem if kind == "subagent" else head.own_id(stem, tail)
    return Session(
        host=ClaudeHost.name,
        id=own,
        locator=locator,
        cwd=head.cwd,
        updated_at_ms=newest(tail, now_ms) or touched_ms,
        touched_at_ms=touched_ms,
        stamp=stat.stamp,
        revision=f"{length}:{hashlib.blake2b(tail[-DIGESTED:], digest_size=8).hexdigest()}",
        kind=kind,
        source=head.source,
        forked_from=head.parent(own) if kind == "main" else "",
        size_bytes=length,
    )


class Head:
    """The first lines of a file: whether it is a transcript, whose, and where it began."""

    def __init__(self, folder: Folder, name: str, stem: str) -> None:
        self.lines = 0
        self.known = False
        """Some line is of a type that Claude Code writes."""
        self.recognised = False
        """Some line belongs to a conversation."""
        self.aside: bool | None = None
        """Whether the first message is a subagent's."""
        self.agent = ""
        """Name of the subagent; its lines carry the parent's session id."""
        self.cwd = ""
        self.source = ""
        self.ids: list[str] = []
        self._forked_from = ""
        for line in itertools.islice(folder.lines(name), HEAD_LINES):
            self.lines += 1
            try:
                self._look(records.record(line.data))
            except NotUnderstood:
                continue
            if self.cwd and stem in self.ids and self.aside is not None:
                break

    def _look(self, record: records.Record) -> None:
        if record.type not in records.KNOWN:
            return
        self.known = True
        spoken = record.type in {"user", "assistant"} and record.message is not None and record.message.role
        if not (spoken or record.session_id):
            return
        self.recognised = True
        if record.session_id and record.session_id not in self.ids:
            self.ids.append(record.session_id)
        if spoken and self.aside is None:
            self.aside = bool(record.is_sidechain)
        self.cwd = self.cwd or record.cwd or ""
        self.agent = self.agent or (f"agent-{record.agent_id}" if record.agent_id else "")
        self.source = self.source or record.entrypoint or ""
        if record.forked_from and not self._forked_from:
            fork = record.forked_from
            self._forked_from = (fork.sessionId or "") if isinstance(fork, Fork) else fork

    def own_id(self, stem: str, tail: bytes) -> str:
        """The session's id. A fork may begin with its parent's lines, so the file's name speaks first."""
        if not self.ids or stem in self.ids or f'"{stem}"'.encode() in tail:
            return stem
        return self.ids[0]

    def parent(self, own: str) -> str:
        """The session whose lines this one repeats at its beginning, or empty."""
        return self._forked_from or next((other for other in self.ids if other != own), "")


def aside(path: str) -> bool:
    """Whether a file is named or placed as subagents' are."""
    *folders, name = path.split("/")
    return name.startswith("agent-") or "subagents" in folders


def newest(tail: bytes, now_ms: int) -> int:
    """The newest sane time that a line states, UNIX milliseconds; 0 when there is none."""
    return max((records.milliseconds(text.decode(), now_ms) for text in set(TIMESTAMP.findall(tail))), default=0)
