"""What a session is called on the server and in the state folder. Both follow from the host's session id alone.

Two different rules, as the original plugin has them (OpenViking Codex plugin 0.7.5): a dot stays in the server's name
and not in a file's. Neither can be turned back: ``a:b`` and ``a/b`` meet.
"""

from __future__ import annotations

import hashlib
import string
from types import MappingProxyType
from typing import TYPE_CHECKING

from codexmem_ov_commit import utf16

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIXES: Mapping[str, str] = MappingProxyType({"codex": "cx", "claude": "cc", "opencode": "oc"})
"""Of server names by host."""

FILE_NAME_UNITS = 180
"""Longest stem of a file name; what is longer ends in a digest, so that markers and locks fit into 255 bytes."""

_LETTERS = frozenset(string.ascii_letters + string.digits + "_-")


def prefix(host: str) -> str:
    """``cx``, ``cc``, ``oc``; for any other host its own name, made safe."""
    return PREFIXES.get(host) or utf16.replaced(host, _LETTERS.__contains__, "_") or "xx"


def server_name(host: str, session_id: str) -> str:
    """``cx-<id>``: every session of a host has one, and always the same one."""
    safe = utf16.replaced(session_id, lambda character: character in _LETTERS or character == ".", "_")
    return f"{prefix(host)}-{safe or 'unknown'}"


def file_stem(session_id: str) -> str:
    """Name of the session's state file, markers and lock, without their endings."""
    stem = utf16.replaced(session_id, _LETTERS.__contains__, "_")
    if len(stem) <= FILE_NAME_UNITS:
        return stem
    digest = hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{stem[: FILE_NAME_UNITS - 17]}-{digest}"
