"""Rollouts on disk, in the folders of a Codex home."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import msgspec

from codexmem_bench.rollouts import Rollouts
from codexmem_bench.standing_clock import LAST_DAY

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from pathlib import Path

BROKEN_LINE = b'{"timestamp":"2026-11-30T15:22:42.371Z","ordinal":9,"type":"response_item","payload":{"type":"mess\n'
BROKEN_EVERY, BROKEN_AT = 20, 7
"""Of so many rollouts one has a line that was cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """What was written."""

    home: Path
    """For CODEX_HOME."""
    files: tuple[Path, ...]
    size_bytes: int
    longest_line: int
    """Bytes."""
    secrets: tuple[str, ...]


def write_sessions(home: Path, *, count: int, kilobytes: int, seed: int) -> Corpus:
    """``count`` rollouts of about that length over 120 days."""
    rollouts = Rollouts(seed)
    files, longest = [], 0
    for number in range(count):
        began = LAST_DAY - timedelta(days=120) + timedelta(days=120 * number // count)
        session = rollouts.identifier()
        path = _place(home, session, began)
        lines: Iterable[bytes] = rollouts.lines(session, began, rollouts.around(kilobytes))
        if number % BROKEN_EVERY == BROKEN_AT:
            lines = (*lines, BROKEN_LINE)
        longest = max(longest, _write(path, lines, began))
        files.append(path)
    return _corpus(home, files, longest, rollouts)


def write_long(home: Path, *, megabytes: int, line_megabytes: int, seed: int) -> Corpus:
    """One rollout of that length; with ``line_megabytes`` a tool's output of so many more on one line at the end."""
    rollouts = Rollouts(seed)
    session = rollouts.identifier()
    path = _place(home, session, LAST_DAY)
    longest = _write(path, rollouts.lines(session, LAST_DAY, megabytes * 1_000_000), LAST_DAY)
    if line_megabytes:
        payload = {
            "type": "function_call_output",
            "call_id": "call_long",
            "output": _of_bytes(rollouts, line_megabytes * 1_000_000),
        }
        record = {"timestamp": "2026-11-30T19:00:00.000Z", "ordinal": 0, "type": "response_item", "payload": payload}
        line = msgspec.json.encode(record) + b"\n"
        longest = max(longest, len(line))
        with path.open("ab") as file:
            file.write(line)
    return _corpus(home, [path], longest, rollouts)


def write_stubs(home: Path, *, count: int, seed: int) -> Corpus:
    """``count`` rollouts of one line over 330 days."""
    rollouts = Rollouts(seed)
    files, longest = [], 0
    for number in range(count):
        began = LAST_DAY - timedelta(days=330) + timedelta(seconds=330 * 86_400 * number // count)
        session = rollouts.identifier()
        path = _place(home, session, began)
        meta = {
            "id": session,
            "timestamp": began.isoformat(),
            "cwd": f"/home/user/proj{number % 12}",
            "source": "cli",
            "thread_source": "user",
        }
        record = {"timestamp": began.isoformat(), "ordinal": 0, "type": "session_meta", "payload": meta}
        longest = max(longest, _write(path, [msgspec.json.encode(record) + b"\n"], began))
        files.append(path)
    return _corpus(home, files, longest, rollouts)


def _place(home: Path, session: str, began: datetime) -> Path:
    return home / began.strftime("sessions/%Y/%m/%d") / f"rollout-{began:%Y-%m-%dT%H-%M-%S}-{session}.jsonl"


def _write(path: Path, lines: Iterable[bytes], began: datetime) -> int:
    """Write, and give the longest line's length."""
    path.parent.mkdir(parents=True, exist_ok=True)
    longest = 0
    with path.open("wb") as file:
        for line in lines:
            file.write(line)
            longest = max(longest, len(line))
    os.utime(path, (began.timestamp(), began.timestamp()))
    return longest


def _of_bytes(rollouts: Rollouts, size: int) -> str:
    block = rollouts.output(min(size, 1_000_000))
    return block * (size // len(block.encode()) + 1)


def _corpus(home: Path, files: list[Path], longest: int, rollouts: Rollouts) -> Corpus:
    return Corpus(
        home=home,
        files=tuple(files),
        size_bytes=sum(path.stat().st_size for path in files),
        longest_line=longest,
        secrets=tuple(rollouts.secrets.values),
    )
