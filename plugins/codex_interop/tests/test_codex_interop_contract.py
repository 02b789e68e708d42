"""The exchange passes what every exchange must pass."""

from typing import ClassVar

import pytest
from codexmem_codex_interop import plugin
from codexmem_hookspecs.testing import InteropContract


class TestCodexInterop(InteropContract):
    plugin = plugin
    on: ClassVar = {"import": True, "export": True}
    source = ".codex"
    files: ClassVar = {
        "config.toml": b'[memories]\nversion = "v1"\n',
        "memories/MEMORY.md": b"# Task Group: shop\n- tabs\n",
        "memories/memory_summary.md": b"v1\n## User Profile\n",
    }
    removed = "memories/MEMORY.md"


class TestCodexInteropBehindTheEnginesGuard(TestCodexInterop):
    """The same with the engine's own reader of files."""

    @pytest.fixture
    def codexmem_services(self, guarded_services):
        return guarded_services
