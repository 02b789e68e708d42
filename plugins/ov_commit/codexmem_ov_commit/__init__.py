"""OpenViking: every session's turns sent as they come, committed when its context is gone, recalled when wanted."""

from codexmem_ov_commit.plugin import plugin

HOOK_API = 1

__version__ = "1.0.0"

__all__ = ["HOOK_API", "__version__", "plugin"]
