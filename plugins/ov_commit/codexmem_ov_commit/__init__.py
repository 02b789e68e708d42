"""OpenViking: every session's turns sent as they come, committed when its context is gone, recalled when wanted."""

from __future__ import annotations

__version__ = "1.0.0"
HOOK_API = 1

from codexmem_ov_commit.plugin import plugin

__all__ = ["HOOK_API", "__version__", "plugin"]
