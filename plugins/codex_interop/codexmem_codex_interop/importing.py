"""Codex's consolidated files, mirrored into ``extensions/codex_import/``."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.values.interop import Mirror

from codexmem_codex_interop.codex import ARTIFACTS, Blocked, find_codex
from codexmem_codex_interop.ours import taking_part
from codexmem_codex_interop.texts import import_instructions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codexmem_hookspecs.services import Folder, Services, Workspace

    from codexmem_codex_interop.codex import CodexMemory

EXTENSION = "codex_import"
FOLDER = "codex"
WHOLE = "whole"
"""Name of the file of ours that says what was last read under Codex's lock, as a digest."""
LOCK_WAIT_S = 0.5
"""How long an import waits for Codex's lock. Codex may hold it for minutes; the next pass tries again. Nobody of ours
has it meanwhile: the engine makes imports and exports one after the other."""


def mirrors(workspace: Workspace, services: Services) -> Iterable[Mirror]:
    """The one extension; none while the import is off, not possible or not safe. Raises OSError and Refused."""
    if not services.settings["import"] or workspace.memory not in taking_part(services):
        return
    try:
        codex = find_codex(services)
    except Blocked as reason:
        services.log.warning("nothing is imported", reason=str(reason))
        return
    memory = codex.memory
    if not memory.exists:
        return
    files: Mapping[str, bytes] | None = _artifacts(memory, services)
    if files is not None and not _is_known(workspace, files) and not _is_whole(memory, files, services):
        files = _while_codex_rests(memory, services)
    if files is None:
        services.log.info("Codex consolidates just now; its memory is taken in afterwards", place=memory.root)
        return
    yield Mirror(
        extension=EXTENSION,
        instructions=import_instructions(memory.version, workspace.memory),
        files={f"{FOLDER}/{path}": content for path, content in files.items()},
    )


def _artifacts(memory: CodexMemory, services: Services) -> Mapping[str, bytes]:
    """What Codex consolidated last. A link is none of its files. Raises OSError and Refused."""
    trouble: list[OSError] = []
    folder = services.open_folder(memory.root)
    there = {stat.path for stat in folder.scan(suffixes=(".md",), on_error=lambda _path, error: trouble.append(error))}
    found: dict[str, bytes] = {}
    for path in ARTIFACTS[memory.version]:
        if path in there:
            found[path] = folder.read(path)
        elif trouble:
            raise trouble[0]  # not to be taken for gone
    return found


def _while_codex_rests(memory: CodexMemory, services: Services) -> Mapping[str, bytes] | None:
    """Read while Codex's agent cannot write; None when it is at work. A Codex that has no lock takes none."""
    home = services.open_folder(memory.home, write=True)
    if not _has_lock(home, memory):
        return _artifacts(memory, services)
    with home.lock(_lock_name(memory), LOCK_WAIT_S) as held:
        if not held:
            return None
        files = _artifacts(memory, services)
    services.folder.write(WHOLE, _digest(memory, files))
    return files


def _is_whole(memory: CodexMemory, files: Mapping[str, bytes], services: Services) -> bool:
    """Whether the same was read under the lock before.

    Our copies may differ from it all the same: what was forgotten and secrets do not come in.
    """
    try:
        return services.folder.read(WHOLE) == _digest(memory, files)
    except (FileNotFoundError, Refused):
        return False


def _digest(memory: CodexMemory, files: Mapping[str, bytes]) -> bytes:
    digest = hashlib.sha256(repr((memory.root, sorted(files.items()))).encode("utf-8", "surrogateescape"))
    return digest.hexdigest().encode()


def _has_lock(home: Folder, memory: CodexMemory) -> bool:
    """Older ones have none, and an import makes no files there."""
    try:
        home.stat(f"{_lock_name(memory)}.lock")
    except FileNotFoundError:
        return False
    return True


def _lock_name(memory: CodexMemory) -> str:
    return memory.root.removeprefix(memory.home).strip("/")


def _is_known(workspace: Workspace, files: Mapping[str, bytes]) -> bool:
    """Whether our copies hold the same: then nothing needs Codex's lock."""
    base = f"extensions/{EXTENSION}/resources/{FOLDER}"
    known = {path.removeprefix(f"{base}/") for path in workspace.walk(base)}
    return known == set(files) and all(
        workspace.read(f"{base}/{path}") == content.decode("utf-8", "replace") for path, content in files.items()
    )
