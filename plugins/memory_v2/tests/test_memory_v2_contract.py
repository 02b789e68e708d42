"""Memory V2 meets the contract of every memory."""

from codexmem_hookspecs.testing.memory import MemoryContract
from codexmem_memory_v2 import plugin as memory_v2


class TestMemoryV2(MemoryContract):
    plugin = memory_v2
