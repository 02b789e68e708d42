"""Traces of what is forgotten outside of the memories: waiting events, ready answers, logs, copies of databases."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from codexmem_core.host.spool import BAD
from codexmem_core.readpath.forgetting.wanted import Removed
from codexmem_core.safety.files import atomic_write
from codexmem_core.store.errors import StoreError
from codexmem_core.store.on_disk import compact
from codexmem_core.store.scrubbing import scrub_sessions, scrub_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codexmem_core.paths import Home
    from codexmem_core.readpath.forgetting.wanted import Wanted

DATABASE_ENDINGS = (".db", ".db-wal", ".db-shm")
_LABEL = "forget"


def forget_traces(home: Home, wanted: Wanted) -> Iterator[Removed]:
    """Everything but the memories, the databases in use and plugins' own folders."""
    yield from _events(home, wanted)
    yield from _logs(home, wanted)
    for folder in (home.payloads, home.below("cache"), home.below("children")):
        for path in _files(folder):
            if wanted.holds_bytes(_content(path)) or wanted.texts.holds(os.path.basename(path)):
                os.unlink(path)
                yield Removed(store=_named(home, path), what="deleted")
    yield from _copies(home, wanted)


def leftovers(home: Home, wanted: Wanted, memories: list[str]) -> list[str]:
    """Files of the home that still hold it after everything was done, and those that cannot be searched."""
    left = []
    skipped = (home.catalogue, *(f"{home.catalogue}{end}" for end in ("-wal", "-shm")))
    for path in _files(home.root):
        inside_git = f"{os.sep}.git{os.sep}" in path
        if path in skipped or inside_git:
            continue  # the catalogue keeps which sessions there are; a squashed history was written anew
        if ".corrupt-" in os.path.basename(path):
            left.append(f"{path} was set aside as damaged and cannot be searched for certain: delete it if in doubt")
        elif wanted.holds_bytes(_content(path)):
            left.append(_reason(home, path, memories))
    return left


def rows(home: Home, path: str, wanted: Wanted) -> Iterator[Removed]:
    """Rows of a database in use; the file is not yet written anew."""
    yield from _scrubbed(path, _named(home, path), wanted)


def _scrubbed(path: str, name: str, wanted: Wanted) -> Iterator[Removed]:
    if not os.path.exists(path):
        return
    counts = [scrub_sessions(path, wanted.target.keys)] if wanted.target.keys else []
    if wanted.texts.by_words:
        counts.append(scrub_text(path, wanted.texts.holds, wanted.texts.without_json))
    for told in counts:
        for table, rows in sorted(told.items()):
            yield Removed(store=name, what=f"{table} rows", count=rows)


def _events(home: Home, wanted: Wanted) -> Iterator[Removed]:
    for folder in (home.spool, os.path.join(home.spool, BAD)):
        for path in _files(folder, deep=False):
            content = _content(path)
            if not (wanted.holds_bytes(content) or wanted.texts.holds(os.path.basename(path))):
                continue
            header, _, payload = content.partition(b"\n")
            cleaned = _event_without(payload, wanted)
            if cleaned is None:
                os.unlink(path)
                yield Removed(store=_named(home, path), what="deleted")
            else:
                atomic_write(path, header + b"\n" + cleaned, _LABEL)
                yield Removed(store=_named(home, path), what="rewritten")


def _event_without(payload: bytes, wanted: Wanted) -> bytes | None:
    """An event without a text; None when it is about a forgotten session, or no JSON."""
    try:
        value = wanted.texts.without_strings(json.loads(payload))
    except ValueError:
        return None
    cleaned = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    return None if wanted.holds_bytes(cleaned) else cleaned


def _logs(home: Home, wanted: Wanted) -> Iterator[Removed]:
    for path in _files(home.logs):
        text = _content(path).decode("utf-8", "replace")
        left = wanted.without(text)
        if left != text:
            atomic_write(path, left.encode(), _LABEL)
            yield Removed(store=_named(home, path), what="lines", count=text.count("\n") - left.count("\n"))


def _copies(home: Home, wanted: Wanted) -> Iterator[Removed]:
    """Copies of databases: rows go where the copy can be opened, else the copy when its bytes hold it."""
    for path in _files(home.backups):
        try:
            yield from _scrubbed(path, _named(home, path), wanted)
            compact(path)
        except (StoreError, OSError):
            yield from _deleted_if_held(home, path, wanted)
    for path in _files(home.root, deep=False):
        if ".corrupt-" in os.path.basename(path):
            yield from _deleted_if_held(home, path, wanted)


def _deleted_if_held(home: Home, path: str, wanted: Wanted) -> Iterator[Removed]:
    if wanted.holds_bytes(_content(path)):
        os.unlink(path)
        yield Removed(store=_named(home, path), what="deleted, for it cannot be changed")


def _reason(home: Home, path: str, memories: list[str]) -> str:
    name = _named(home, path)
    if name.startswith("plugins" + os.sep):
        return f"{name} still holds it; it belongs to a plugin"
    if any(path.startswith(root + os.sep) for root in memories) and f"{os.sep}extensions{os.sep}" in path:
        return f"{name} names the session; it is a note of its own: codexmem forget {path}"
    if path.endswith(DATABASE_ENDINGS):
        return f"{name} is in use by another process and still holds it in free pages; the next run tries again"
    return f"{name} still holds it"


def _named(home: Home, path: str) -> str:
    return os.path.relpath(path, home.root)


def _files(folder: str, *, deep: bool = True) -> list[str]:
    found = []
    for parent, folders, names in os.walk(folder):
        folders.sort()
        found += [os.path.join(parent, name) for name in sorted(names)]
        if not deep:
            break
    return [path for path in found if os.path.isfile(path) and not os.path.islink(path)]


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""
