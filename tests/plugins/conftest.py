"""Small real plugins for the tests of loading and calling."""

from __future__ import annotations

import pytest
from codexmem_hookspecs import HOOK_API, hookimpl
from codexmem_hookspecs.values.consolidate import AgentRequest, Memory
from codexmem_hookspecs.values.extract import NOTHING, ExtractionRequest

from codexmem_core.plugins.discovery import GivenPlugin, Plugins


class SmallMemory:
    """A complete memory that keeps nothing."""

    def __init__(self, name: str = "small") -> None:
        self.name = name

    @hookimpl
    def codexmem_memory(self):
        return [Memory(name=self.name, folder=f"m_{self.name}", database=f"{self.name}.db")]

    @hookimpl
    def codexmem_extract_request(self, transcript, budget_bytes):
        return ExtractionRequest(instructions="", input="", schema={})

    @hookimpl
    def codexmem_extract_result(self, request, reply):
        return NOTHING

    @hookimpl
    def codexmem_consolidate_files(self, stored):
        return {}

    @hookimpl
    def codexmem_consolidate_request(self, workspace, changes):
        return AgentRequest(instructions="", prompt="")

    @hookimpl
    def codexmem_consolidate_offline(self, workspace, stored, changes, digest):
        return {}

    @hookimpl
    def codexmem_consolidate_check(self, workspace):
        return []

    @hookimpl
    def codexmem_read_summary(self, workspace, tools, citations):
        return ""


@pytest.fixture
def small_memory():
    return SmallMemory


@pytest.fixture
def load():
    """Load plugins given as (name, object) or (name, object, HOOK_API) or (name, exception)."""

    def load_them(*given, disabled=(), services_for=lambda plugin, deadline: plugin):
        candidates = [
            GivenPlugin(name=name, plugin=plugin, api=api[0] if api else HOOK_API, distribution=f"dist-{name}")
            for name, plugin, *api in given
        ]
        return Plugins(candidates, disabled=disabled, services_for=services_for)

    return load_them
