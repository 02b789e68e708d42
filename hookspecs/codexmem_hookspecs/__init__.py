"""The contract of codexmem: what a plugin may implement, and what it is given.

A plugin is a module-level object whose methods carry :data:`hookimpl`, named by an entry point of the group
``codexmem``. Its module states ``HOOK_API = 1``, the version of this contract that it was written for.

Start reading in :mod:`codexmem_hookspecs.specs`; HOOKS.md is the same as one page.
"""

from codexmem_hookspecs.markers import HOOK_API, PROJECT, hookimpl

__all__ = ["HOOK_API", "PROJECT", "hookimpl"]
__version__ = "1.0.0"
