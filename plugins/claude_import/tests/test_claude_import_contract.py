"""The import passes what every exchange must pass."""

import json
from typing import ClassVar

import pytest
from codexmem_claude_import import plugin
from codexmem_hookspecs.testing import InteropContract


class TestClaudeImport(InteropContract):
    plugin = plugin
    on: ClassVar = {"enabled": True}
    source = ".claude"
    folders = ("shop",)
    files: ClassVar = {
        "projects/-home-user-shop/memory/MEMORY.md": b"- [Tabs](tabs.md)\n",
        "projects/-home-user-shop/memory/tabs.md": b"Use tabs.\n",
        "projects/-home-user-shop/session.jsonl": json.dumps({"cwd": "{home}/shop"}).encode() + b"\n",
    }
    removed = "projects/-home-user-shop/memory/tabs.md"


class TestClaudeImportBehindTheEnginesGuard(TestClaudeImport):
    """The same with the engine's own reader of files."""

    @pytest.fixture
    def codexmem_services(self, guarded_services):
        return guarded_services
