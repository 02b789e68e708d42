"""The queue of OpenViking's other clients on this machine: writes that found no server, sent again at session starts.

We put nothing into it, since transcript and cursor own our retries; but what lies there is a user's all the same. An
entry is ours once its file is gone and ``.processing`` stands for it; whoever loses that race leaves it alone.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from codexmem_hookspecs.errors import Refused

from codexmem_ov_commit.rejected import stands_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from codexmem_hookspecs.services import Folder, Services

    from codexmem_ov_commit.place import Place
    from codexmem_ov_commit.server import Answer

PROCESSING = ".processing"
ABANDONED_MS = 600_000
"""A client that claimed an entry so long ago has died."""
DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A write that waits."""

    path: str
    kind: Literal["addMessage", "commitSession"]
    session: str
    """On the server."""
    payload: Mapping[str, object]
    created_at_ms: int
    retries: int
    raw: Mapping[str, object]


def replay(place: Place, services: Services) -> int:
    """Send what waits, oldest first, until one must wait again; returns how many were taken."""
    path = place.settings.path("pending_dir")
    folder = services.open_folder(path, write=True)
    if not os.path.isdir(path) or not (waiting := list(_waiting(folder, services.clock.now_ms()))):
        return 0
    if not place.reach.probe_for(place.server, place.settings.connection.timeout_s).ok:
        return 0
    waiting.sort(key=lambda one: one.created_at_ms)
    taken = 0
    for entry in waiting[: place.settings.number("pending_replay_limit")]:
        if services.deadline.cancelled:
            break
        if not _claim(folder, entry):
            continue
        outcome = _replayed(place, folder, services, entry)
        folder.remove(entry.path + PROCESSING)
        taken += outcome == "sent"
        if outcome == "waits" and entry.kind == "addMessage":
            break  # a later message must not overtake it
    return taken


def _replayed(place: Place, folder: Folder, services: Services, entry: Entry) -> Literal["sent", "waits", "dropped"]:
    oldest = services.clock.now_ms() - place.settings.number("pending_ttl_days") * DAY_MS
    if entry.created_at_ms < oldest:
        services.log.warning("a queued write is too old and was dropped", session=entry.session)
        return "dropped"
    answer = _send(place, entry)
    if answer.ok:
        return "sent"
    if answer.retryable:
        _wait_again(place, folder, services, entry)
        return "waits"
    if entry.kind == "addMessage":
        place.rejected.keep(entry.session, dict(entry.payload), answer)
    return "dropped"


def forget(folder: Folder, name: str) -> int:
    """Remove a session's entries, also those that a client has claimed; returns how many."""
    return _remove(folder, lambda entry: entry.session == name)


def forget_text(folder: Folder, text: str) -> int:
    """Remove those in which a text stands; returns how many."""
    return _remove(folder, lambda entry: stands_in(text, dict(entry.payload)))


def _remove(folder: Folder, unwanted: Callable[[Entry], bool]) -> int:
    found = [*entries(folder), *entries(folder, f".json{PROCESSING}")]
    return sum(folder.remove(entry.path) for entry in found if unwanted(entry))


def _waiting(folder: Folder, now_ms: int) -> Iterator[Entry]:
    for found in list(folder.scan(suffixes=(PROCESSING,))):
        if now_ms - found.mtime_ns // 1_000_000 > ABANDONED_MS:
            path = found.path.removesuffix(PROCESSING)
            if not any(_key(other.path) == _key(path) for other in folder.scan(suffixes=(".json",))):
                folder.write(path, folder.read(found.path))  # else it waits again already, for its next try
            folder.remove(found.path)
    yield from entries(folder)


def entries(folder: Folder, ending: str = ".json") -> Iterator[Entry]:
    """What can be read of it."""
    try:
        paths = [found.path for found in folder.scan(suffixes=(ending,)) if "/" not in found.path]
    except FileNotFoundError:
        return
    for path in paths:
        try:
            raw = json.loads(folder.read(path))
        except (OSError, ValueError, RecursionError, Refused):
            continue
        if (entry := _decoded(path, raw)) is not None:
            yield entry


def _decoded(path: str, raw: object) -> Entry | None:
    """None for what is no entry: it is not ours to touch."""
    if not isinstance(raw, dict) or raw.get("type") not in ("addMessage", "commitSession"):
        return None
    session, payload = raw.get("sessionId"), raw.get("payload") or {}
    if not isinstance(session, str) or not session or not isinstance(payload, dict):
        return None
    return Entry(
        path=path,
        kind=raw["type"],
        session=session,
        payload=payload,
        created_at_ms=_number(raw.get("createdAt")),
        retries=_number(raw.get("retries")),
        raw=raw,
    )


def _number(value: object) -> int:
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0 else 0


def _claim(folder: Folder, entry: Entry) -> bool:
    try:
        folder.write(entry.path + PROCESSING, folder.read(entry.path), exclusive=True)
    except (FileExistsError, FileNotFoundError):
        return False
    return folder.remove(entry.path)


def _send(place: Place, entry: Entry) -> Answer:
    if entry.kind == "addMessage":
        return place.server.send_one(entry.session, entry.payload)
    keep = entry.payload.get("keep_recent_count")
    return place.server.commit(entry.session, keep if isinstance(keep, int) else -1)


def _wait_again(place: Place, folder: Folder, services: Services, entry: Entry) -> None:
    entry = replace(entry, retries=entry.retries + 1)
    if entry.retries > place.settings.number("pending_max_retries"):
        services.log.warning("a queued write failed too often and was dropped", session=entry.session)
        return
    text = json.dumps({**entry.raw, "retries": entry.retries}, ensure_ascii=False, separators=(",", ":"))
    folder.write(f"{_key(entry.path)}_{entry.retries}.json", text.encode("utf-8", "replace"))


def _key(path: str) -> str:
    """What names an entry however often it was tried: its file's name without the number of tries."""
    stem = path.removesuffix(".json")
    return stem.rpartition("_")[0] or stem
