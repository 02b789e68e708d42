"""A recap that was opened was of use: its session is kept longer and ranks higher in the next consolidation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_core.consolidate.layout import RECAPS
from codexmem_core.consolidate.recaps import parse_recap
from codexmem_core.readpath.times import iso_time
from codexmem_core.store.errors import StoreError

if TYPE_CHECKING:
    from codexmem_hookspecs.values.capture import Session

    from codexmem_core.readpath.access import MemoryAccess

COMMAND_LINE = "command line"
"""Who reads when no session does."""


def record_opened(access: MemoryAccess, plugin: str, session: Session, recap_text: str) -> bool:
    """Count it once a reading session, however many windows it took; once a day for the command line.

    Codex's recaps do not name their host and are not counted. What cannot be counted now is no reason not to read.
    """
    recap = parse_recap(recap_text)
    if not (recap.session_id and recap.host):
        return False
    reader = session.id or iso_time(access.clock.now_ms())[:10]
    try:
        with access.jobs(plugin) as jobs:
            cited = [(recap.host, recap.session_id)]
            return bool(jobs.record_usage_once(session.host or COMMAND_LINE, reader, "memory_read", cited))
    except StoreError as error:
        access.log.warning("use not counted", error=str(error))
        return False


def is_recap(path: str) -> bool:
    """Whether a file belongs to one session."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return len(parts) == 2 and parts[0] == RECAPS  # noqa: PLR2004 - folder and name
