"""What is exchanged with Codex's memory now, and why the rest is not; for ``doctor`` and ``status``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from codexmem_hookspecs.values.records import Finding

from codexmem_codex_interop.codex import Blocked, find_codex
from codexmem_codex_interop.exporting import EXTENSION
from codexmem_codex_interop.ours import taking_part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codexmem_hookspecs.services import Services

    from codexmem_codex_interop.codex import Codex

OLDER = "opencode_import"
"""The extension of the plugin whose memories we take over. It is that plugin's, and stays as it is."""


def findings(services: Services) -> Iterator[Finding]:
    """Looks only."""
    wanted = [direction for direction in ("import", "export") if services.settings[direction]]
    if not wanted:
        yield Finding(
            level="info",
            message="off: nothing is exchanged with Codex's own memory",
            fix="set import = true, export = true or both in [codex-interop]",
        )
        return
    memories = taking_part(services)
    if "v1" not in services.memories:
        yield Finding(
            level="warn",
            message="exchange with Codex needs Memory V1, which is not installed"
            + (": only the summary of V2 is exchanged" if memories else ": nothing is exchanged"),
            fix="install the extra v1"
            + ("" if memories or "v2" not in services.memories else ", or set exchange_summary = true"),
        )
    if not memories:
        return
    try:
        codex = find_codex(services)
    except Blocked as reason:
        yield Finding(level="warn", message=f"nothing is exchanged: {reason}", fix="mend it, or turn the exchange off")
        return
    yield from _exchanged(wanted, memories, codex)


def _exchanged(wanted: list[str], memories: tuple[str, ...], codex: Codex) -> Iterator[Finding]:
    memory = codex.memory
    if not memory.exists:
        yield Finding(
            level="info",
            message=f"nothing is exchanged yet: Codex has not begun a memory in {memory.root}",
            fix="" if codex.remembers else "Codex begins one with memories = true in [features] of its config.toml",
        )
        return
    verbs = " and ".join({"import": "imports from", "export": "exports to"}[direction] for direction in wanted)
    ours = " and ".join(memories)
    yield Finding(level="ok", message=f"{ours} {verbs} {memory.root} (Codex's memory {memory.version})")
    if not codex.remembers:
        yield Finding(
            level="info",
            message="Codex's own memory is switched off, so it does not change and takes nothing in",
            fix="set memories = true in [features] of Codex's config.toml",
        )
    older = os.path.join(memory.root, "extensions", OLDER)
    if os.path.isdir(older):
        yield Finding(
            level="info",
            message=f"{older} comes from another plugin and is not touched; with {EXTENSION} Codex learns twice",
            fix="remove it when that plugin is not used any more",
        )
