"""The overview of what was committed of a session, for one that goes on and whose own history is gone.

Only a session of which the server holds nothing that is not committed gets it: otherwise the host goes on from its own
transcript (OpenViking DESIGN: resume).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from codexmem_ov_commit import utf16
from codexmem_ov_commit.server import path
from codexmem_ov_commit.wrapping import wrapped

if TYPE_CHECKING:
    from codexmem_ov_commit.server import Server

HEADER: Final = "OpenViking session archive digest:"
MORE: Final = "More detail: use the OpenViking MCP tools openviking_read and openviking_search with "
_CUT: Final = "\n... [archive truncated]"
_OWN_SPACE_SINCE: Final = (0, 5)
"""Servers from this version on know the caller's own space as ``~`` and refuse addresses without an owner."""


def archive_block(server: Server, name: str, version: str, *, tokens: int, units: int) -> str:
    """The latest archive's overview, at most so many UTF-16 units, in its marks; empty when there is none."""
    answer = server.context(name, tokens)
    overview = utf16.trimmed(answer.text("latest_archive_overview")) if answer.ok else ""
    if not overview:
        return ""
    if utf16.length(overview) > units:
        overview = utf16.head(overview, units - utf16.length(_CUT)).rstrip() + _CUT
    more = f"{MORE}{history(name, version)} when exact commands, paths or values matter."
    return wrapped(f"{HEADER}\n{overview}\n\n{more}", "session-resume", "archive-digest")


def history(name: str, version: str) -> str:
    """Where everything that was committed of a session can be read, as the server of this version spells it."""
    owner = "~" if _numbers(version) >= _OWN_SPACE_SINCE else "user"
    return f"viking://{owner}/sessions/{path(name)}/history/"


def _numbers(version: str) -> tuple[int, ...]:
    found = re.match(r"v?(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else (0, 0)
