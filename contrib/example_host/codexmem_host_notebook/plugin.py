"""The plugin: the four hooks that every host implements."""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from operator import attrgetter

from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.errors import Refused, Unreadable
from codexmem_hookspecs.hosts import Host
from codexmem_hookspecs.services import Folder, Services
from codexmem_hookspecs.values.capture import FileStat, Item, Presence, Session, SessionQuery, Skipped

from codexmem_host_notebook.host import NotebookHost
from codexmem_host_notebook.records import header, item, milliseconds, record


class NotebookPlugin:
    """Capture for Notebook."""

    def __init__(self) -> None:
        self.host = NotebookHost()

    @hookimpl
    def codexmem_capture_host(self) -> Iterable[Host]:
        """The one host of this plugin."""
        return [self.host]

    @hookimpl
    def codexmem_capture_sessions(self, query: SessionQuery, services: Services) -> Iterable[Session]:
        """Every session file below the home, or below the folder that the user named; newest first."""
        roots = [query.folder] if query.folder else self.host.homes(services.environ)
        found = [session for root in roots for session in look(root, query, services)]
        return sorted(found, key=attrgetter("updated_at_ms"), reverse=True)

    @hookimpl
    def codexmem_capture_transcript(self, session: Session, after: int, services: Services) -> Iterator[Item | Skipped]:
        """What was said past a position, a byte of the file."""
        root, name = os.path.split(session.locator)
        lines = services.open_folder(root).lines(name, after)
        if not after and not any(header(line.data) for line in islice(lines, 1)):
            raise Unreadable(f"{session.locator} does not begin like a session of Notebook")
        for line in lines:
            read = item(line)
            yield replace(read, line=0) if after and isinstance(read, Skipped) else read

    @hookimpl
    def codexmem_capture_presence(self, sessions: Sequence[Session], services: Services) -> Mapping[str, Presence]:
        """Notebook never says that it deleted something, so a missing file is unknown, not gone."""
        return {session.id: presence(session, services) for session in sessions}


def look(root: str, query: SessionQuery, services: Services) -> Iterator[Session]:
    """Sessions below one folder, recognised by their first line."""
    try:
        folder = services.open_folder(root)
        stats = list(folder.scan(suffixes=(".jsonl",), known=query.known))
    except FileNotFoundError:
        return  # Notebook was never used here
    for stat in stats:
        locator = os.path.join(folder.root, stat.path)
        try:
            session = described(folder, stat, locator, services.clock.now_ms())
        except (OSError, Refused, Unreadable):
            continue
        if session.id:
            query.claim(locator)
            yield session


def described(folder: Folder, stat: FileStat, locator: str, now_ms: int) -> Session:
    """A session from the head and the end of its file, without reading what lies between; no id when it is none."""
    first = next((header(line.data) for line in folder.lines(stat.path)), {})
    end, size = folder.tail(stat.path)
    touched = min(stat.mtime_ns // 1_000_000, now_ms)
    stated = max((milliseconds(record(line)) for line in end.splitlines()), default=0)
    return Session(
        host=NotebookHost.name,
        id=first.get("id", ""),
        locator=locator,
        cwd=str(first.get("folder", "")),
        updated_at_ms=min(stated, now_ms) or touched,
        touched_at_ms=touched,
        stamp=stat.stamp,
        revision=f"{size}:{hashlib.sha256(end).hexdigest()}",
        size_bytes=size,
    )


def presence(session: Session, services: Services) -> Presence:
    """Whether the session's file is still there."""
    root, name = os.path.split(session.locator)
    try:
        services.open_folder(root).stat(name)
    except (OSError, Refused):
        return Presence.unknown
    return Presence.present
