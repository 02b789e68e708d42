"""Copies that other tools were given, made anew at once after something was forgotten."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from codexmem_core.consolidate.workspace import MemoryWorkspace
from codexmem_core.interop.exchange import Exchange
from codexmem_core.interop.given_out import GivenOut
from codexmem_core.readpath.forgetting import pending
from codexmem_core.safety.files import GuardedFolder

if TYPE_CHECKING:
    from codexmem_core.readpath.access import MemoryAccess


def export_anew(access: MemoryAccess) -> list[str]:
    """Export every installed memory as it is now, and take copies back from where nothing goes any more.

    What could not be done is returned, and tried again by each pass.
    """
    roots = {plugin: access.root(plugin) for plugin in access.memories}
    given_out = GivenOut(access.catalogue())
    exchange = Exchange(
        access.stages, access.tombstones(), roots.values(), access.home.locks, access.log, given_out.remember
    )
    problems: list[str] = []
    for plugin, root in roots.items():
        if not os.path.islink(root):  # nothing is read from behind a link, and nothing was exported from there
            workspace = MemoryWorkspace(access.memories[plugin], root)
            problems += exchange.give_out(GuardedFolder(root), workspace, forgotten=True)
    problems += exchange.withdraw(given_out.elsewhere(exchange.places))
    if problems:
        access.catalogue().keep_forgetting(pending.ENGINE, pending.EXPORTS, "; ".join(problems))
    else:
        access.catalogue().forgotten(pending.ENGINE, pending.EXPORTS)
    return problems
