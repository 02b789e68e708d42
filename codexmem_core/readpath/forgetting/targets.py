"""From what the user typed to what is meant: a session, a file or a text."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from codexmem_hookspecs.values.capture import Session

from codexmem_core.consolidate.layout import EXTENSIONS, INSTRUCTIONS, RECAPS
from codexmem_core.consolidate.recaps import parse_recap
from codexmem_core.readpath.errors import ToolError
from codexmem_core.readpath.forgetting.wanted import Kind, Target
from codexmem_core.readpath.roots import roots_on_disk
from codexmem_core.readpath.tombstones import windows
from codexmem_core.store.errors import StoreError
from codexmem_core.store.on_disk import memory_databases

if TYPE_CHECKING:
    from codexmem_core.readpath.access import MemoryAccess

SHORTEST_TEXT = 3
"""Letters and digits, or any character of a script that has no spaces; a shorter text would take away too much."""
_ASCII = 128
_SHORTEST_LINE = 4
"""Words that a line of a forgotten note has at least to be known again elsewhere."""
_SUMMARY = "memory_summary.md"
_MADE_BY_US = (_SUMMARY, "MEMORY.md", "raw_memories.md", "generated_lines.txt")


def target_of(access: MemoryAccess, given: str, kind: Kind | None = None) -> Target:
    """Without a kind: a known session, else a file that is there, else a text. Raises ToolError."""
    if kind in (None, "session"):
        sessions = _sessions(access, given)
        if sessions or kind == "session":
            return _of_sessions(access, given, sessions)
    if kind in (None, "file"):
        found = _of_file(access, given)
        if found is not None:
            return found
        if kind == "file":
            raise ToolError(f"there is no such transcript or memory file: {given}")
    if kind == "text" and _sessions(access, given):
        # It is the key of what is kept: as a text it would come back with the session's next recap.
        raise ToolError(f"{given} is a session, not a text: codexmem forget --session {given}")
    return of_text(given)


def of_text(text: str) -> Target:
    """Raises ToolError for a text that is too short to mean anything."""
    found = windows(text)
    letters = "".join(word for window in found for word in window)
    if not letters or (len(letters) < SHORTEST_TEXT and ord(max(letters)) < _ASCII):
        raise ToolError(f"a text to forget needs at least {SHORTEST_TEXT} letters or digits")
    return Target(kind="text", name="", text=text, windows=tuple(dict.fromkeys(found)))


def of_sessions(sessions: tuple[Session, ...]) -> Target:
    """Sessions that their host says are gone."""
    return Target(kind="session", name=", ".join(f"{one.host}:{one.id}" for one in sessions), sessions=sessions)


def roots_of(access: MemoryAccess) -> dict[str, str]:
    """Memory root → plugin; empty for a memory that is only on disk."""
    installed = {access.root(plugin): plugin for plugin in access.memories}
    on_disk = dict.fromkeys(roots_on_disk(access.home.root), "")
    return {**on_disk, **{root: plugin for root, plugin in installed.items() if os.path.isdir(root)}}


def databases_of(access: MemoryAccess) -> dict[str, str]:
    """A memory's database → plugin, as above."""
    installed = {access.home.below(memory.database): plugin for plugin, memory in access.memories.items()}
    on_disk = dict.fromkeys(memory_databases(access.home.root), "")
    return {**on_disk, **{path: plugin for path, plugin in installed.items() if os.path.exists(path)}}


def _of_sessions(access: MemoryAccess, given: str, sessions: list[Session]) -> Target:
    if not sessions:
        raise ToolError(f"nothing matched: no host and no memory knows a session {given}")
    if len(sessions) > 1:
        told = " or ".join(f"{one.host}:{one.id}" for one in sessions)
        raise ToolError(f"several hosts have a session {given}: say {told}")
    _ = access
    return of_sessions((sessions[0],))


def _sessions(access: MemoryAccess, given: str) -> list[Session]:
    """Sessions with this id, or ``HOST:ID``, in the catalogue, in a memory's rows, or of a recap."""
    host, colon, rest = given.partition(":")
    wanted_host, wanted = (host, rest) if colon and rest else ("", given)
    keys: dict[tuple[str, str], Session] = {}
    for known in access.catalogue().candidates():
        keys[known.key] = known.session
    for path in databases_of(access):
        with suppress(StoreError), access.jobs_at(path) as jobs:  # one that cannot be read names none
            for key in (*jobs.keys_of([wanted]), *jobs.settled()):
                keys.setdefault((key[0], key[1]), Session(host=key[0], id=key[1]))
    for root in roots_of(access):
        for name in _recaps(root):
            recap = parse_recap(_text(os.path.join(root, RECAPS, name)))
            if recap.session_id and recap.host:
                key = (recap.host, recap.session_id)
                keys.setdefault(key, Session(host=recap.host, id=recap.session_id))
    return [
        session
        for (its_host, its_id), session in sorted(keys.items())
        if (its_id == wanted and wanted_host in ("", its_host)) or its_id == given
    ]


def _of_file(access: MemoryAccess, given: str) -> Target | None:
    for session in (known.session for known in access.catalogue().candidates()):
        if session.locator and os.path.realpath(session.locator) == os.path.realpath(given):
            return of_sessions((session,))
    for root in roots_of(access):
        path = os.path.normpath(os.path.join(root, given))  # an absolute one stays
        if not path.startswith(root + os.sep) or os.path.islink(path) or not os.path.isfile(path):
            continue
        return _of_memory_file(access, root, os.path.relpath(path, root).replace(os.sep, "/"))
    if os.path.isfile(given):
        raise ToolError(f"nothing matched: {given} is neither a transcript that was read nor a file of a memory")
    return None


def _of_memory_file(access: MemoryAccess, root: str, path: str) -> Target:
    absolute = os.path.join(root, path)
    text = _text(absolute)
    if any(part.startswith(".") for part in path.split("/")):
        raise ToolError(f"{path} is no file of the memory")
    if path in _MADE_BY_US:
        raise ToolError(f"{path} is made of many sessions: forget a session, a recap, a note or a text")
    if path.startswith(f"{RECAPS}/"):
        recap = parse_recap(text)
        sessions = _sessions(access, f"{recap.host}:{recap.session_id}" if recap.host else recap.session_id)
        if not recap.session_id:
            raise ToolError(f"{path} does not say which session it belongs to: delete it yourself")
        return _of_sessions(access, recap.session_id, sessions)
    forgotten: tuple[tuple[str, ...], ...] = ()
    body = ""
    if path.startswith(f"{EXTENSIONS}/") and not path.endswith(f"/{INSTRUCTIONS}"):
        # What a note says also stands in the session in which it was said.
        body = "\n".join(line for line in text.split("\n") if not line.startswith(("# ", "- created:", "- session:")))
        forgotten = tuple(
            dict.fromkeys(
                window for line in body.split("\n") for window in windows(line) if len(window) >= _SHORTEST_LINE
            )
        )
    return Target(kind="file", name=path, files=(absolute,), text=body.strip() if forgotten else "", windows=forgotten)


def _recaps(root: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(os.path.join(root, RECAPS)) if name.endswith(".md"))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""
