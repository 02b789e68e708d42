"""The memory that these tests are about."""

import pytest
from codexmem_memory_v2 import plugin


@pytest.fixture
def memory(consolidated_memory):
    return consolidated_memory(plugin)
