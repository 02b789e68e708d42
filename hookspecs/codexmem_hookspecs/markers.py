"""The pluggy markers and the version of the contract."""

import pluggy

PROJECT = "codexmem"
"""pluggy's project name; also the entry-point group in which plugins announce themselves."""

HOOK_API = 1
"""Version of the contract. A plugin's module states the one that it speaks; another one is refused at load."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
