"""Which paths a consolidation may name, and which of them it may write."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused

from codexmem_core.consolidate.diff import DIFF_FILE
from codexmem_core.consolidate.glob import fits
from codexmem_core.consolidate.layout import EXTENSIONS, RECAPS

if TYPE_CHECKING:
    from codexmem_hookspecs.values.consolidate import Memory

PATH_CHARS = 400
NAME_BYTES = 200
"""Below every file system's 255, with room for what a temporary name adds."""
DEPTH = 8

_WRITABLE_NAME = re.compile(r"[\w .,+=@#()&'!-]+")
_INPUTS = (f"{RECAPS}/**", RECAPS, f"{EXTENSIONS}/**", EXTENSIONS, DIFF_FILE)


def plain_path(path: str) -> str:
    """The path in its one spelling, or Refused for everything that is no plain way down from the memory root.

    What another file system, or an eye, could take for a way out is refused as well: names that become ``..``, a
    dotfile or a separator under Unicode's compatibility forms, invisible characters, dots and blanks at a name's end.
    """
    shown = f"{path[:80]!r}"
    if not path or len(path) > PATH_CHARS:
        raise Refused(f"{shown} is no path: it must have 1 to {PATH_CHARS} characters")
    if path.startswith(("/", "~")) or (len(path) > 1 and path[1] == ":"):
        raise Refused(f"{shown} leads out of the memory: paths are relative to its folder")
    if "\\" in path:
        raise Refused(f"{shown} holds a backslash: names are separated by /")
    if not path.isprintable():
        raise Refused(f"{shown} holds characters that cannot be seen")
    names = [name for name in path.split("/") if name not in ("", ".")]
    if not names or path.endswith("/"):
        raise Refused(f"{shown} names no file")
    if len(names) > DEPTH:
        raise Refused(f"{shown} lies more than {DEPTH} folders deep")
    for name in names:
        _refuse_odd(name, shown)
    return "/".join(names)


def plain_pattern(pattern: str) -> str:
    """The same for a pattern of paths."""
    return plain_path(pattern)


class Permits:
    """What consolidation may write in one memory: what the memory declares, and never its inputs."""

    def __init__(self, memory: Memory) -> None:
        self.declared = memory.agent_writes
        self._never = tuple(_key(pattern) for pattern in (*memory.generated, *_INPUTS))

    def writable(self, path: str) -> str:
        """The path in its one spelling; raises Refused when it may not be written."""
        path = plain_path(path)
        if fits(_key(path), self._never):
            raise Refused(f"{path} may not be written: it is an input of consolidation")
        if not fits(path, self.declared):
            raise Refused(f"{path} may not be written; what may be: {', '.join(self.declared) or 'nothing'}")
        for name in path.split("/"):
            if _WRITABLE_NAME.fullmatch(name) is None or unicodedata.normalize("NFKC", name) != name:
                raise Refused(f"{path} may not be written: use letters, digits, blanks and . , _ - + in names")
        return path


def same_name(path: str) -> str:
    """Equal for paths that some file system takes for the same file."""
    return _key(path)


def _key(path: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", path).casefold())


def _refuse_odd(name: str, shown: str) -> None:
    folded = unicodedata.normalize("NFKC", name)
    if name == ".." or folded == "..":
        raise Refused(f"{shown} leads out of the memory: .. is not followed")
    if folded.startswith("."):
        raise Refused(f"{shown}: there are no files whose names begin with a dot")
    if "/" in folded or "\\" in folded:
        raise Refused(f"{shown} holds a character that stands for a separator")
    if name != name.strip() or name.endswith("."):
        raise Refused(f"{shown}: a name may not begin or end with a blank, nor end with a dot")
    if len(name.encode("utf-8", "replace")) > NAME_BYTES:
        raise Refused(f"{shown} holds a name of more than {NAME_BYTES} bytes")
