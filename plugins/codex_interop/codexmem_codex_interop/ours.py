"""Which of our memories take part: V1 always, V2 when its summary is to be exchanged too."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Services

FOLDERS = {"v1": "codexmem", "v2": "codexmem_v2"}
"""Below ``resources/`` of our extension in Codex's memory."""


def taking_part(services: Services) -> tuple[str, ...]:
    """Names of the installed memories that are exchanged."""
    wanted = ("v1", "v2") if services.settings["exchange_summary"] else ("v1",)
    return tuple(name for name in wanted if name in services.memories)
