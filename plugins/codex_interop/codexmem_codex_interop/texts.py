"""Instructions for whoever consolidates, put together from the files of ``instructions/``."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codexmem_codex_interop.codex import Version


def import_instructions(codex: Version, memory: str) -> str:
    """How one of our memories takes in Codex's, of either version."""
    return _filled("import", files=_text(f"import_files_{codex}"), target=_text(f"into_{memory}"), tool="Codex")


def export_instructions(codex: Version, memories: Sequence[str]) -> str:
    """How Codex's memory takes in ours. The same whichever of ours is written just now."""
    listed = "\n".join(_text(f"export_files_{name}") for name in memories)
    return _filled("export", files=listed, target=_text(f"into_{codex}"), tool="codexmem")


def _filled(template: str, **places: str) -> str:
    """A text with its places filled in their order: one may stand in what fills another."""
    text = _text(template)
    for name, value in places.items():
        text = text.replace(f"{{{{ {name} }}}}", value)
    return text + "\n"


def _text(name: str) -> str:
    return files(__package__).joinpath("instructions", f"{name}.md").read_text("utf-8").rstrip("\n")
