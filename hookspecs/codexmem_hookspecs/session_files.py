"""What hosts have in common that keep a session a file: finding those that are new or changed. For plugins to use."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused, Rewritten, Unreadable
from codexmem_hookspecs.json_lines import newest, revision
from codexmem_hookspecs.values.capture import FileStat, Presence, Session, SessionQuery

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Services

UNREADABLE = (Unreadable, Rewritten, Refused, OSError)
"""What reading a file may raise that says nothing about other files."""


def home_in(environ: Mapping[str, str], variable: str, name: str) -> Sequence[str]:
    """For ``Host.homes``: the variable's folder, else ``name`` in the user's home; none when neither is absolute."""
    chosen = environ.get(variable, "")
    if not os.path.isabs(chosen):
        chosen = os.path.join(environ.get("HOME", ""), name)
    return (os.path.normpath(chosen),) if os.path.isabs(chosen) else ()


def expanded(path: str, environ: Mapping[str, str]) -> str:
    """A path as a user writes it, with the user's home in place of ``~``."""
    return os.path.join(environ.get("HOME", ""), path[2:]) if path.startswith("~/") else path


def changed_files(
    root: str, stores: Sequence[str], suffixes: tuple[str, ...], query: SessionQuery, services: Services
) -> Iterator[tuple[str, FileStat]]:
    """Locators with stats of files that are not empty and that the engine does not hold in this state.

    stores: folders below ``root``. A folder that the user named is looked through instead, whatever is in it.
    """
    if query.folder:
        root, stores, suffixes = query.folder, ("",), ()
    for store in stores if root else ():
        try:
            folder = services.open_folder(root)
            before = folder.root.rstrip("/") + "/"
            for stat in folder.scan(store, suffixes=suffixes, links=True, known=query.known):
                if stat.size:
                    yield before + stat.path, stat
        except FileNotFoundError:
            continue
        except (Refused, OSError) as error:
            services.log.warning("a folder cannot be read", path=os.path.join(root, store), reason=str(error))


def newest_first(
    files: Iterable[tuple[str, FileStat]], describe: Callable[[str, FileStat], Session | None], services: Services
) -> list[Session]:
    """The sessions in these files; of two files of one session the longer. One that cannot be read stops no other."""
    found: dict[str, Session] = {}
    for locator, stat in files:
        try:
            session = describe(locator, stat)
        except UNREADABLE as error:
            services.log.warning("a session cannot be read", path=locator, reason=str(error))
            continue
        if session and (session.id not in found or session.size_bytes > found[session.id].size_bytes):
            found[session.id] = session
    return sorted(found.values(), key=lambda session: (session.updated_at_ms, session.id), reverse=True)


def measured(session: Session, stat: FileStat, tail: bytes, length: int, now_ms: int) -> Session:
    """The session with what its file says about activity and state: times, stamp, revision, size."""
    touched_at_ms = max(0, min(stat.mtime_ns // 1_000_000, now_ms))
    return replace(
        session,
        updated_at_ms=newest(tail, now_ms) or touched_at_ms,
        touched_at_ms=touched_at_ms,
        stamp=stat.stamp,
        revision=revision(tail, length),
        size_bytes=length,
    )


def presence(sessions: Iterable[Session], opened: Callable[[Session], object]) -> Mapping[str, Presence]:
    """Present where a file can be opened. Never gone: it may be moved, tidied away, or on a disk that is not there."""
    found: dict[str, Presence] = {}
    for session in sessions:
        try:
            opened(session)
        except UNREADABLE:
            found[session.id] = Presence.unknown
        else:
            found[session.id] = Presence.present
    return found
