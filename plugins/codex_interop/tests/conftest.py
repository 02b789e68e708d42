"""A Codex home with a memory that tests fill, and a memory root of ours beside it."""

from pathlib import Path

import pytest
from codexmem_codex_interop import plugin
from codexmem_hookspecs.values.interop import Snapshot
from codexmem_memory_v1 import MEMORY as MEMORY_V1
from codexmem_memory_v2 import MEMORY as MEMORY_V2

from codexmem_core.consolidate.workspace import MemoryWorkspace
from codexmem_core.interop.mirror import apply_mirror
from codexmem_core.safety.files import GuardedFolder

DEFAULTS = {setting.key: setting.default for setting in plugin.codexmem_settings()}
SUMMARY = "v1\n\n## User Profile\n\n## User preferences\n\n## General Tips\n\n## What's in Memory\n"
MEMORIES = {"v1": MEMORY_V1, "v2": MEMORY_V2}


class Codex:
    """Writes Codex's side, and asks the plugin for both directions."""

    def __init__(self, services):
        self.services = services
        services.settings = {**DEFAULTS, "import": True, "export": True}
        self.home = Path(services.home, ".codex")
        self.home.mkdir()
        self.user = Path(services.home)
        services.memories["v2"] = str(self.user / "codexmem" / "memories_v2")
        for root in services.memories.values():
            Path(root).mkdir(parents=True)

    # Codex's side

    def remembers(self, version="v1", **files):
        """Codex has consolidated."""
        root = self.root(version)
        root.mkdir(exist_ok=True)
        given = files or {"MEMORY.md": "# Task Group: shop\n- tabs\n", "memory_summary.md": SUMMARY}
        for path, text in given.items():
            (root / path).write_text(text)
        return root

    def root(self, version="v1"):
        return self.home / {"v1": "memories", "v2": "memories_v2"}[version]

    def configure(self, text):
        (self.home / "config.toml").write_text(text)

    # Ours

    def imports(self, memory="v1"):
        workspace = MemoryWorkspace(MEMORIES[memory], self.services.memories[memory])
        return list(plugin.codexmem_interop_import(workspace=workspace, services=self.services))

    def imported(self, memory="v1"):
        """Import, and say what lies in the extension: path → text."""
        for mirror in self.imports(memory):
            apply_mirror(GuardedFolder(self.services.memories[memory], write=True), mirror)
        return texts(Path(self.services.memories[memory], "extensions/codex_import"))

    def exports(self, memory="v1", *, forgotten=False, **files):
        given = files or {"MEMORY.md": "ours\n", "memory_summary.md": SUMMARY, "raw_memories.md": "raw\n"}
        snapshot = Snapshot(
            memory=memory, files={path: text.encode() for path, text in given.items()}, forgotten=forgotten
        )
        return list(plugin.codexmem_interop_export(snapshot=snapshot, services=self.services))

    def exported(self, memory="v1", *, version="v1", forgotten=False, **files):
        """Export, and say what lies in our extension of Codex's memory."""
        for mirror in self.exports(memory, forgotten=forgotten, **files):
            apply_mirror(GuardedFolder(mirror.root, write=True), mirror)
        return texts(self.root(version) / "extensions/codexmem_import")

    def state(self):
        (check,) = plugin.codexmem_doctor_checks()
        assert check.in_status
        return [(found.level, found.message) for found in check.run(self.services)]


def texts(folder):
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def codex(guarded_services):
    return Codex(guarded_services)
