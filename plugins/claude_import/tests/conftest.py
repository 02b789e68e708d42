"""A Claude Code home that tests fill, and a memory root into which its memories are imported."""

import json
import os
from pathlib import Path

import pytest
from codexmem_claude_import import plugin
from codexmem_claude_import.scope import key_of
from codexmem_memory_v1 import MEMORY

from codexmem_core.consolidate.workspace import MemoryWorkspace
from codexmem_core.interop.mirror import apply_mirror
from codexmem_core.safety.files import GuardedFolder

EXTENSION = "extensions/external_agent_import"
DEFAULTS = {setting.key: setting.default for setting in plugin.codexmem_settings()}


class Claude:
    """Writes memories and transcripts, and imports them."""

    def __init__(self, services):
        self.services = services
        services.settings = {**DEFAULTS, "enabled": True}
        self.home = Path(services.home, ".claude")
        self.user = Path(services.home)
        self.root = Path(services.home, "codexmem", "memories")
        self.root.mkdir(parents=True)
        self.written = 0

    # Claude Code's side

    def directory(self, name):
        """A working directory of the user's."""
        path = self.user / name
        path.mkdir(parents=True, exist_ok=True)
        return str(path)

    def put(self, path, text):
        target = self.home / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        return target

    def memory(self, cwd, path="MEMORY.md", text="- a fact\n"):
        return self.put(f"projects/{key_of(cwd)}/memory/{path}", text)

    def session(self, cwd, *, key="", lines=None, name=""):
        """A transcript; each is newer than the one before."""
        self.written += 1
        if lines is None:
            lines = [{"type": "mode", "sessionId": "s"}, {"type": "user", "cwd": cwd, "message": {"role": "user"}}]
        text = "".join(json.dumps(line) + "\n" if isinstance(line, dict) else line for line in lines)
        path = self.put(f"projects/{key or key_of(cwd)}/{name or f'session-{self.written}'}.jsonl", text)
        os.utime(path, (1_700_000_000 + self.written, 1_700_000_000 + self.written))
        return path

    def project(self, name, **files):
        """A directory with a session and memories; returns its path."""
        cwd = self.directory(name)
        self.session(cwd)
        for path, text in (files or {"MEMORY.md": "- a fact\n"}).items():
            self.memory(cwd, path, text)
        return cwd

    # Ours

    @property
    def workspace(self):
        return MemoryWorkspace(MEMORY, str(self.root))

    def mirrors(self):
        return list(plugin.codexmem_interop_import(workspace=self.workspace, services=self.services))

    def imported(self):
        """Import, and say what lies in the extension's resources: path → text."""
        for mirror in self.mirrors():
            apply_mirror(GuardedFolder(str(self.root), write=True), mirror)
        return self.resources()

    def resources(self):
        base = self.root / EXTENSION / "resources"
        return {str(path.relative_to(base)): path.read_text() for path in sorted(base.rglob("*")) if path.is_file()}

    def state(self):
        """Lines of ``status``."""
        (check,) = plugin.codexmem_doctor_checks()
        assert check.in_status
        return [(found.level, found.message) for found in check.run(self.services)]


@pytest.fixture
def claude(guarded_services):
    return Claude(guarded_services)
