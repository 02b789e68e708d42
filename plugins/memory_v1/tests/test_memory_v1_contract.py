"""Memory V1 meets the contract of every memory."""

from codexmem_hookspecs.testing.memory import MemoryContract
from codexmem_memory_v1 import plugin as memory_v1


class TestMemoryV1(MemoryContract):
    plugin = memory_v1
