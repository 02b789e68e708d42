"""Where Codex keeps its memory, and in which of its two versions; whatever is not clear is a reason to do nothing.

``[memories] version`` in Codex's config.toml says it. Without it Codex takes V1 when the folder ``memories`` exists,
however empty, and V2 otherwise (Codex 0.171). What its profiles, a project or its command line say is not known here.
"""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.places import overlap
from codexmem_hookspecs.session_files import expanded, home_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codexmem_hookspecs.services import Services

Version = Literal["v1", "v2"]

ROOTS: Mapping[Version, str] = {"v1": "memories", "v2": "memories_v2"}
"""Of each version; its lock lies beside it, ``memories.lock``."""
HANDBOOK, SUMMARY = "MEMORY.md", "memory_summary.md"
ARTIFACTS: Mapping[Version, tuple[str, ...]] = {"v1": (HANDBOOK, SUMMARY), "v2": (SUMMARY,)}
"""What each version consolidates into."""
CONFIG = "config.toml"
CONFIG_BYTES = 4 * 1024 * 1024


class Blocked(Exception):  # noqa: N818 - a state that a caller handles
    """Nothing may be exchanged; the message says why, in words for the user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodexMemory:
    """One version of Codex's memory on disk."""

    version: Version
    home: str
    root: str

    @property
    def lock(self) -> str:
        """Codex holds it while it consolidates."""
        return f"{self.root}.lock"

    @property
    def exists(self) -> bool:
        """Whether Codex has begun it; we never do."""
        return os.path.isdir(self.root)


@dataclass(frozen=True, slots=True, kw_only=True)
class Codex:
    """Codex's home, as its settings say."""

    home: str
    version: Version
    remembers: bool
    """Whether Codex's own memory is switched on there."""

    @property
    def memory(self) -> CodexMemory:
        """The one that Codex reads and writes."""
        return memory_at(self.home, self.version)


def codex_home(services: Services) -> str:
    """Absolute, with links resolved: the setting, else CODEX_HOME, else ``~/.codex``; empty when no home is known."""
    chosen = expanded(str(services.settings["codex_home"]), services.environ)
    home = os.path.abspath(chosen) if chosen else next(iter(home_in(services.environ, "CODEX_HOME", ".codex")), "")
    return os.path.realpath(home) if home else ""


def memory_at(home: str, version: Version) -> CodexMemory:
    """The memory of that version, whether Codex uses it or not."""
    return CodexMemory(version=version, home=home, root=os.path.join(home, ROOTS[version]))


def find_codex(services: Services) -> Codex:
    """Codex's home and its memory's version. Raises Blocked when that is not clear, or not safe to touch."""
    home = codex_home(services)
    if not home:
        raise Blocked("neither CODEX_HOME nor HOME says where Codex is; set codex_home in [codex-interop]")
    config = _config(home, services)
    codex = Codex(home=home, version=_version(home, config), remembers=_remembers(config))
    refuse_overlap(codex.memory, services)
    return codex


def refuse_overlap(memory: CodexMemory, services: Services) -> None:
    """Raise Blocked where Codex's folder is a link, or one of ours."""
    if os.path.islink(memory.root):
        raise Blocked(f"{memory.root} is a link; Codex refuses such a memory, and so does the exchange")
    for name, root in services.memories.items():
        if overlap(memory.root, root):
            raise Blocked(f"Codex's memory {memory.root} and codexmem's own memory {name} ({root}) overlap")


def _config(home: str, services: Services) -> Mapping[str, object]:
    """Codex's settings; empty when it has none."""
    path = os.path.join(home, CONFIG)
    try:
        text = services.open_folder(home).read(CONFIG, CONFIG_BYTES)
        return tomllib.loads(text.decode("utf-8"))
    except FileNotFoundError:
        return {}
    except (Refused, OSError, ValueError) as error:
        raise Blocked(f"{path} cannot be read ({error}), so the version of Codex's memory is not known") from error


def _version(home: str, config: Mapping[str, object]) -> Version:
    memories = config.get("memories", {})
    if not isinstance(memories, dict):
        raise Blocked(f"{os.path.join(home, CONFIG)}: memories is no table, so the version of the memory is not known")
    version = memories.get("version")
    if version is None:
        return "v1" if os.path.isdir(os.path.join(home, ROOTS["v1"])) else "v2"
    if version not in ROOTS:
        raise Blocked(f"{os.path.join(home, CONFIG)}: memories.version is {version!r}, which is neither v1 nor v2")
    return "v1" if version == "v1" else "v2"


def _remembers(config: Mapping[str, object]) -> bool:
    features = config.get("features", {})
    return isinstance(features, dict) and features.get("memories") is True
