"""Numbers and words of the job engine (Codex 0.171). Seconds unless said otherwise."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from codexmem_core.store.values import Key

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Clock

EXTRACTION, CONSOLIDATION = "memory_stage1", "memory_consolidate_global"
GLOBAL = "global"
LEASE_S = 3_600
RETRIES = 3
RETRY_S = 3_600
HEARTBEAT_S = 90
FRESH_S = 3 * HEARTBEAT_S
"""An owner whose lease was renewed within this time counts as alive whatever the process table says."""
COOLDOWN_S = 21_600
"""Between successful consolidations that cost money."""
ERROR_CHARS = 4_000
PRUNE_BATCH = 200
DAY_MS = 86_400_000

UP_TO_DATE = "up to date"
RUNNING_ELSEWHERE = "running elsewhere"
RETRIES_EXHAUSTED = "retries exhausted"
CAP_REACHED = "running cap reached"
LIMIT_REACHED = "limit reached"


def job_key(key: tuple[str, str]) -> str:
    """``<host>:<session id>``; a host's name holds no colon."""
    return f"{key[0]}:{key[1]}"


def session_key(job: str) -> Key:
    """The session of an extraction's job key."""
    host, _, session = job.partition(":")
    return Key(host, session)


def seconds(clock: Clock) -> int:
    """UNIX seconds."""
    return clock.now_ms() // 1_000


def error_text(error: object) -> str:
    """What is kept of an error: its words or its kind, at most 4,000 characters, never nothing."""
    try:
        text = str(error).strip()
    except Exception:  # noqa: BLE001 - an exception whose words cannot be had must still end its job
        text = ""
    if not text:
        text = "unknown error" if isinstance(error, str) else type(error).__name__
    return text[:ERROR_CHARS]


def at_iso(unix_s: int) -> str:
    """ISO 8601 in UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(unix_s))
