"""Our consolidated files, as an extension of Codex's memory: Codex finds it by itself and consolidates it in.

Strictly additive: a folder that Codex has not begun is not begun for it, and its database is never opened.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from codexmem_hookspecs.memory_files.summary_format import FORMAT, HEADINGS, LIMIT_BYTES
from codexmem_hookspecs.values.interop import Mirror

from codexmem_codex_interop.codex import (
    HANDBOOK,
    ROOTS,
    SUMMARY,
    Blocked,
    codex_home,
    find_codex,
    memory_at,
    refuse_overlap,
)
from codexmem_codex_interop.ours import FOLDERS, taking_part
from codexmem_codex_interop.texts import export_instructions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from codexmem_hookspecs.services import Services
    from codexmem_hookspecs.values.interop import Snapshot

    from codexmem_codex_interop.codex import CodexMemory

EXTENSION = "codexmem_import"


def mirrors(snapshot: Snapshot, services: Services) -> Iterable[Mirror]:
    """Our extension in the memory that Codex uses, and what of it is left in the other one, to be removed.

    While the export is off nothing is said, except after something was forgotten: then every copy goes.
    """
    exporting = taking_part(services) if services.settings["export"] else ()
    if snapshot.memory not in exporting:
        if snapshot.forgotten and not exporting:
            yield from _withdrawn(services)
        return
    try:
        memory = find_codex(services).memory
    except Blocked as reason:
        services.log.warning("nothing is exported", reason=str(reason))
        if snapshot.forgotten:
            yield from _withdrawn(services)
        return
    yield from _withdrawn(services, but=memory)
    files = _files(snapshot)
    if memory.exists and (files or snapshot.forgotten):
        folder = FOLDERS[snapshot.memory]
        yield Mirror(
            extension=EXTENSION,
            instructions=export_instructions(memory.version, exporting),
            files={f"{folder}/{path}": content for path, content in files.items()},
            keep=tuple(FOLDERS[name] for name in exporting if name != snapshot.memory),
            root=memory.root,
            lock=memory.lock,
        )


def copies(services: Services) -> Iterator[CodexMemory]:
    """Codex's memories, of either version, in which our extension lies and may be touched."""
    home = codex_home(services)
    for version in ROOTS if home else ():
        memory = memory_at(home, version)
        if not os.path.isdir(os.path.join(memory.root, "extensions", EXTENSION)):
            continue
        try:
            refuse_overlap(memory, services)
        except Blocked:
            continue
        yield memory


def _withdrawn(services: Services, but: CodexMemory | None = None) -> Iterator[Mirror]:
    """Mirrors that remove our copies wherever they lie, but in one memory."""
    for memory in copies(services):
        if memory != but:
            yield Mirror(extension=EXTENSION, instructions="", files={}, root=memory.root, lock=memory.lock)


def _files(snapshot: Snapshot) -> Mapping[str, bytes]:
    """What of a memory goes out; nothing of one whose summary is not valid."""
    summary = snapshot.files.get(SUMMARY, b"")
    if not is_valid(summary, whole=snapshot.memory == "v2"):
        return {}
    wanted = (SUMMARY,) if snapshot.memory == "v2" else (HANDBOOK, SUMMARY)
    return {path: snapshot.files[path] for path in wanted if path in snapshot.files}


def is_valid(summary: bytes, *, whole: bool) -> bool:
    """Whether a summary is one that Codex would write; ``whole``: with its headings and within its size."""
    lines = summary.decode("utf-8", "replace").split("\n")
    if lines[0].removesuffix("\r") != FORMAT:
        return False
    present = {line.strip() for line in lines}
    return not whole or (len(summary) < LIMIT_BYTES and all(f"## {heading}" in present for heading in HEADINGS))
