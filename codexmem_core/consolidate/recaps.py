"""Recap files: one a stored session, in rollout_summaries/, with a header that tells where it came from."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from codexmem_core.consolidate.layout import RECAPS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from codexmem_hookspecs.services import Folder
    from codexmem_hookspecs.values.consolidate import Stored

_SLUG_LIMIT = 60
_NEWEST_MS = 253_402_300_799_000  # the end of the year 9999
_HEADER = re.compile(r"([a-z_]+): ?(.*)")
_KNOWN = frozenset(
    {"session_id", "thread_id", "host", "updated_at", "rollout_path", "cwd", "git_branch", "usage_count"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recap:
    """What a recap file says, ours or Codex's."""

    session_id: str
    host: str
    """Empty when the file does not say, as Codex's do not."""
    updated_at_ms: int
    """UNIX milliseconds; 0 when the header has no time that can be read."""
    cwd: str
    usage_count: int
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecapsSynced:
    """Names below rollout_summaries/ that were written and removed."""

    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def recap_stem(session_id: str, updated_at_ms: int, slug: str = "", *, hash_digits: int = 4) -> str:
    """``<UTC time>-<start of the id's SHA-1>[-<slug>]``: the same for the same session and activity.

    The slug is made safe: lower-case letters, digits and ``_``, at most 60 characters.
    """
    digest = hashlib.sha1(session_id.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
    stem = f"{_time(updated_at_ms):%Y-%m-%dT%H-%M-%S}-{digest[:hash_digits]}"
    safe = re.sub(r"[^a-z0-9]+", "_", slug.lower()).strip("_")[:_SLUG_LIMIT].rstrip("_")
    return f"{stem}-{safe}" if safe else stem


def recap_files(sessions: Iterable[tuple[str, int, str]]) -> tuple[str, ...]:
    """File names for (session id, last activity in UNIX ms, slug) rows, in their order and never the same twice.

    Four digits of a hash meet sooner or later; the later row then gets eight, or all.
    """
    taken: set[str] = set()
    names = []
    for number, (session_id, updated_at_ms, slug) in enumerate(sessions):
        candidates = [f"{recap_stem(session_id, updated_at_ms, slug, hash_digits=digits)}.md" for digits in (4, 8, 40)]
        # The same id in two hosts has the same hash in full.
        name = next((one for one in candidates if one not in taken), f"{candidates[-1][:-3]}-{number}.md")
        taken.add(name)
        names.append(name)
    return tuple(names)


def render_recap(stored: Stored) -> str:
    """Text of a recap file."""
    session = stored.session
    header = (
        f"session_id: {_one_line(session.id)}",
        f"host: {_one_line(session.host)}",
        f"updated_at: {_time(session.updated_at_ms):%Y-%m-%dT%H:%M:%SZ}",
        f"cwd: {_one_line(session.cwd) or 'unknown'}",
        f"usage_count: {stored.usage_count}",
    )
    return "\n".join(header) + f"\n\n{stored.extraction.summary.strip()}\n"


def parse_recap(text: str) -> Recap:
    """Read a recap file back. Codex's form (``thread_id``) is understood; what has no header is all summary."""
    lines = text.replace("\r\n", "\n").removeprefix("\ufeff").split("\n")
    header: dict[str, str] = {}
    body_at = 0
    for number, line in enumerate(lines):
        match = _HEADER.fullmatch(line)
        if match is None or match[1] not in _KNOWN:
            body_at = number + 1 if header and not line.strip() else number
            break
        header.setdefault(match[1], match[2].strip())
        body_at = number + 1
    count = header.get("usage_count", "")
    cwd = header.get("cwd", "")
    return Recap(
        session_id=header.get("session_id") or header.get("thread_id", ""),
        host=header.get("host", ""),
        updated_at_ms=_parsed_time(header.get("updated_at", "")),
        cwd="" if cwd == "unknown" else cwd,
        usage_count=int(count) if re.fullmatch(r"[0-9]{1,18}", count) else 0,
        summary="\n".join(lines[body_at:]).strip(),
    )


def sync_recaps(folder: Folder, stored: Sequence[Stored]) -> RecapsSynced:
    """Write the recap of every stored session if it differs, then remove every other one that was written here.

    Recaps of Codex, which name a session and no host, have no row that could bring them back: they stay.

    Raises ValueError when two rows name one file, before anything is written; Refused when the folder is a link.
    """
    wanted = {row.recap_file: render_recap(row).encode("utf-8", "replace") for row in stored}
    if len(wanted) != len(stored):
        raise ValueError("two stored sessions have the same recap file")
    written = []
    for name, content in sorted(wanted.items()):
        if _content(folder, f"{RECAPS}/{name}") != content:
            folder.write(f"{RECAPS}/{name}", content)
            written.append(name)
    present = [file.path for file in folder.scan(RECAPS, suffixes=(".md",)) if file.path.count("/") == 1]
    removed = sorted(path.removeprefix(f"{RECAPS}/") for path in present)
    removed = [name for name in removed if name not in wanted and not _of_another(folder, f"{RECAPS}/{name}")]
    for name in removed:
        folder.remove(f"{RECAPS}/{name}")
    return RecapsSynced(written=tuple(written), removed=tuple(removed))


def recaps_without_notes(folder: Folder, noted: Collection[tuple[str, str]]) -> int:
    """How many recaps that were written here are of sessions that are not among ``noted``, (host, id) each."""
    count = 0
    for file in folder.scan(RECAPS, suffixes=(".md",)):
        recap = parse_recap((_content(folder, file.path) or b"").decode("utf-8", "replace"))
        count += bool(recap.session_id and recap.host) and (recap.host, recap.session_id) not in noted
    return count


def _of_another(folder: Folder, path: str) -> bool:
    recap = parse_recap((_content(folder, path) or b"").decode("utf-8", "replace"))
    return bool(recap.session_id) and not recap.host


def _content(folder: Folder, path: str) -> bytes | None:
    try:
        return folder.read(path)
    except FileNotFoundError:
        return None


def _one_line(text: str) -> str:
    return " ".join(text.split("\n")).replace("\r", " ").strip()


def _time(updated_at_ms: int) -> datetime:
    # Clocks go wrong: a time before 1970 or after 9999 must not stop a sync.
    return datetime.fromtimestamp(min(max(updated_at_ms, 0), _NEWEST_MS) / 1000, UTC)


def _parsed_time(text: str) -> int:
    try:
        stated = datetime.fromisoformat(text)
    except ValueError:
        return 0
    return int(stated.replace(tzinfo=stated.tzinfo or UTC).timestamp() * 1000)
