"""memory_inspect: what the memories hold, what their jobs do and why, and under which settings. Read-only."""

from __future__ import annotations

import os
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from codexmem_hookspecs.errors import Refused

from codexmem_core.readpath.readiness import readiness
from codexmem_core.readpath.roots import memory_folder
from codexmem_core.safety.redaction import redact, redact_strings
from codexmem_core.safety.text import estimate_tokens
from codexmem_core.store.errors import StoreError

if TYPE_CHECKING:
    from codexmem_core.readpath.access import MemoryAccess
    from codexmem_core.store.values import ConsolidationSnapshot, ExtractionSnapshot

_ERROR_CHARACTERS = 200
_FILES = 200
_NOTICES = 12
_STALE_S = 7 * 24 * 3600


def inspect(access: MemoryAccess, read: str, *, min_consolidated_threads: int = 0) -> dict[str, Any]:
    """Everything that a person who wonders about the memory asks first. ``read`` is the memory that is read.

    Times are ISO, UTC. ``min_consolidated_threads``: sessions that a memory needs to be ready; 0 for the setting.
    """
    catalogue = access.catalogue()
    known = catalogue.candidates()
    now_ms = access.clock.now_ms()
    value = {
        "read_version": read,
        "memories": {
            memory.name: _memory(access, plugin, min_consolidated_threads) for plugin, memory in access.memories.items()
        },
        "sessions": {
            "known": len(known),
            "excluded": len(catalogue.excluded()),
            "last_seen": _time(max((one.session.updated_at_ms for one in known), default=0)),
        },
        "eligibility": _eligibility(access),
        "backoff": [
            {"scope": one.scope, "until": _time(one.until_ms) or "the credentials change", "reason": one.reason}
            for one in catalogue.breakers()
        ],
        "options": {key: value.value for key, value in access.config().tables["memories"].items()},
        "config_warnings": list(access.config().warnings),
        "hooks_last_fired": {" ".join(key): _time(at) for key, at in sorted(catalogue.last_fired().items())},
        "recent_events": [
            f"{_time(notice.last_at_ms)} {notice.source}: {notice.text}" for notice in catalogue.notices()[-_NOTICES:]
        ],
        "now": _time(now_ms),
    }
    cleared = redact_strings(value)
    assert isinstance(cleared, dict)
    return cleared


def as_text(value: dict[str, Any]) -> str:
    """One fact a line, ``key: value``; what belongs to a memory begins with its name."""
    lines = [f"read_version: {value['read_version']}"]
    for name, memory in value["memories"].items():
        lines += [f"{name}.{key}: {_plain(part)}" for key, part in memory.items() if key != "files"]
    for key in ("sessions", "eligibility", "backoff", "options", "config_warnings", "hooks_last_fired"):
        lines.append(f"{key}: {_plain(value[key])}")
    lines += [f"recent_event: {event}" for event in value["recent_events"]]
    for name, memory in value["memories"].items():
        lines += [f"{name}.file: {path}" for path in memory["files"]]
    return "\n".join(lines)


def _memory(access: MemoryAccess, plugin: str, wanted: int) -> dict[str, Any]:
    files = _files(access, plugin)
    try:
        with access.jobs(plugin) as jobs:
            stale_before = access.clock.now_ms() // 1000 - _STALE_S
            extraction = jobs.extraction_snapshot(stale_before_s=stale_before)
            consolidation = jobs.consolidation_snapshot()
    except StoreError as error:
        return {"error": str(error), **files}
    state = readiness(access, plugin, sessions=consolidation.covered, needed=wanted)
    return {
        "outputs": extraction.outputs,
        "consolidated_sessions": consolidation.covered,
        "ready": state.ready,
        "missing": list(state.missing),
        **_extraction(extraction),
        **_consolidation(consolidation, access.clock.now_ms() // 1000),
        **files,
    }


def _extraction(snapshot: ExtractionSnapshot) -> dict[str, Any]:
    return {
        "extraction_jobs": dict(snapshot.by_status),
        "extraction_failures": dict(snapshot.failures),
        "extraction_stale_exhausted": snapshot.stale_exhausted,
        "extraction_errors": [
            f"{':'.join(one.key)} {one.state}: {one.error[:_ERROR_CHARACTERS]}" for one in snapshot.recent_errors
        ],
    }


def _consolidation(snapshot: ConsolidationSnapshot, now_s: int) -> dict[str, Any]:
    attempt, success = snapshot.attempt, snapshot.success
    running = attempt is not None and attempt.outcome == "running"
    return {
        "consolidation_status": snapshot.status,
        "consolidation_in_flight": running,
        "consolidation_last_attempt": "none"
        if attempt is None
        else {
            **asdict(attempt),
            "started_at": _second(attempt.started_at),
            "finished_at": _second(attempt.finished_at),
        },
        "consolidation_running_for_s": now_s - attempt.started_at if running and attempt else 0,
        "consolidation_last_success": _second(success.finished_at) if success else "none",
        "consolidation_success_watermark": _time(success.watermark_ms) if success else "none",
        "consolidation_lease_until": _second(snapshot.lease_until),
        "consolidation_retry_at": _second(snapshot.retry_at),
        "consolidation_note": _note(snapshot),
    }


def _note(snapshot: ConsolidationSnapshot) -> str:
    if snapshot.status == "pending":
        return "queued: the last state is not the newest"
    if snapshot.status == "failed":
        return "the last attempt failed; what was consolidated before it stands"
    if snapshot.attempt is not None and snapshot.attempt.outcome == "stalled":
        return "its owner is gone; the next run takes it over"
    return ""


def _files(access: MemoryAccess, plugin: str) -> dict[str, Any]:
    root, memory = access.root(plugin), access.memories[plugin]
    empty: dict[str, Any] = {"root": root, "summary_characters": 0, "summary_tokens": 0, "files": []}
    try:
        folder = memory_folder(root)
    except Refused as error:
        return {**empty, "problem": str(error)}
    try:
        summary = folder.read(memory.summary).decode("utf-8", "replace").strip()
    except FileNotFoundError:
        summary = ""
    except (OSError, Refused) as error:
        return {**empty, "problem": str(error), "files": _tree(root)}
    return {
        **empty,
        "summary_characters": len(summary),
        "summary_tokens": estimate_tokens(summary),
        "files": _tree(root),
    }


def _tree(root: str) -> list[str]:
    """Folders with ``/``, links with ``@`` and never gone through; hidden ones left out. The first 200."""
    found: list[str] = []
    waiting = [""]
    while waiting and len(found) < _FILES:
        prefix = waiting.pop()
        try:
            with os.scandir(os.path.join(root, prefix)) as listed:
                entries = sorted(listed, key=lambda entry: entry.name)
        except OSError:
            continue
        folders = []
        for entry in entries:
            if entry.name.startswith("."):
                continue
            path = prefix + entry.name
            if entry.is_symlink():
                found.append(f"{path}@")
            elif entry.is_dir(follow_symlinks=False):
                found.append(f"{path}/")
                folders.append(f"{path}/")
            else:
                found.append(path)
        waiting += reversed(folders)
    return sorted(found)[:_FILES]


def _eligibility(access: MemoryAccess) -> str:
    config = access.config()
    if not config.flag("memories", "generate_memories"):
        return "nothing is learned: generate_memories is off"
    hours = config.number("memories", "min_rollout_idle_hours")
    days = config.number("memories", "max_rollout_age_days")
    return f"sessions idle for {hours} hours, or ended, and active within {days} days"


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}={_plain(part)}" for key, part in value.items()) or "none"
    if isinstance(value, (list, tuple)):
        return "; ".join(_plain(part) for part in value) or "none"
    return "none" if value in ("", None) else redact(str(value))


def _second(at_s: int) -> str:
    return _time(at_s * 1000)


def _time(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if at_ms else ""
