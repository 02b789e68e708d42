"""Finding transcripts: one scan, and only files whose stat is new are opened."""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING

from codexmem_hookspecs.json_lines import TAIL, NotUnderstood
from codexmem_hookspecs.session_files import changed_files, measured, newest_first
from codexmem_hookspecs.values.capture import Session

from codexmem_host_claude import records
from codexmem_host_claude.host import ClaudeHost
from codexmem_host_claude.records import Fork

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codexmem_hookspecs.services import Folder, Services
    from codexmem_hookspecs.values.capture import FileStat, SessionKind, SessionQuery

STORE = "projects"
SUFFIXES = (".jsonl", ".jsonl.zst")
HEAD_LINES = 50
"""Lines in which the session's id, folder and kind are looked for."""


def find(query: SessionQuery, services: Services) -> Iterable[Session]:
    """Sessions that are new or changed, newest first."""
    home = str(services.settings.get("home", "")) or next(iter(ClaudeHost().homes(services.environ)), "")
    files = changed_files(home, (STORE,), SUFFIXES, query, services)
    return newest_first(files, lambda locator, stat: describe(locator, stat, query, services), services)


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
    kind: SessionKind = "subagent" if head.aside or aside(stat.path) else "main"
    own = head.agent or stem if kind == "subagent" else head.own_id(stem, tail)
    session = Session(
        host=ClaudeHost.name,
        id=own,
        locator=locator,
        cwd=head.cwd,
        kind=kind,
        source=head.source,
        forked_from=head.parent(own) if kind == "main" else "",
    )
    return measured(session, stat, tail, length, services.clock.now_ms())


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
