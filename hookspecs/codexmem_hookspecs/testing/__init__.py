"""The test kit for plugin authors; needs pytest.

Subclass :class:`FileHostContract`, :class:`HostContract`, :class:`MemoryContract` or :class:`InteropContract`, set
their attributes, and run pytest. The fixtures ``codexmem_home``, ``codexmem_services`` and ``codexmem_model`` come with
the distribution's pytest plugin.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codexmem_hookspecs.testing.file_host import FileHostContract
    from codexmem_hookspecs.testing.folder import PlainFolder
    from codexmem_hookspecs.testing.host import HostContract
    from codexmem_hookspecs.testing.interop import InteropContract
    from codexmem_hookspecs.testing.memory import MemoryContract
    from codexmem_hookspecs.testing.model import ScriptedModel
    from codexmem_hookspecs.testing.samples import DictWorkspace, ListTranscript, digest
    from codexmem_hookspecs.testing.services import FixedClock, PlainServices, RecordingLog
    from codexmem_hookspecs.testing.store import LinesStore

__all__ = [
    "DictWorkspace",
    "FileHostContract",
    "FixedClock",
    "HostContract",
    "InteropContract",
    "LinesStore",
    "ListTranscript",
    "MemoryContract",
    "PlainFolder",
    "PlainServices",
    "RecordingLog",
    "ScriptedModel",
    "digest",
]

_MODULES = {
    "FileHostContract": "file_host",
    "HostContract": "host",
    "InteropContract": "interop",
    "LinesStore": "store",
    "DictWorkspace": "samples",
    "ListTranscript": "samples",
    "MemoryContract": "memory",
    "digest": "samples",
    "ScriptedModel": "model",
    "FixedClock": "services",
    "PlainFolder": "folder",
    "PlainServices": "services",
    "RecordingLog": "services",
}


def __getattr__(name: str) -> object:
    """Import a part when it is asked for: pytest loads this package in every run, whatever is tested."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
