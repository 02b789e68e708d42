"""Times in file names and in arguments, all UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_STATED = re.compile(r"(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2})")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def stated_time(path: str) -> int:
    """UNIX milliseconds of a name that begins with ``YYYY-MM-DDTHH-MM-SS``; -1 for any other."""
    match = _STATED.match(path.rpartition("/")[2])
    if match is None:
        return -1
    try:
        stated = datetime.fromisoformat(f"{match[1]}T{match[2]}:{match[3]}:{match[4]}+00:00")
    except ValueError:
        return -1
    return int(stated.timestamp() * 1000)


def name_time(now_ms: int) -> str:
    """The form in which file names state a time: ``2026-11-30T12-00-00``."""
    return f"{_time(now_ms):%Y-%m-%dT%H-%M-%S}"


def iso_time(ms: int) -> str:
    """``2026-11-30T12:00:00Z``."""
    return f"{_time(ms):%Y-%m-%dT%H:%M:%SZ}"


def point_in_time(text: str, *, end_of_day: bool = False) -> int:
    """UNIX milliseconds of a day, ``YYYY-MM-DD``, or an ISO time. Raises ValueError.

    A day is its first millisecond, or with ``end_of_day`` its last; a time without a zone is UTC.
    """
    text = text.strip()
    moment = datetime.fromisoformat(text)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if _DAY.fullmatch(text) and end_of_day:
        moment += timedelta(days=1, milliseconds=-1)
    return int(moment.timestamp() * 1000)


def _time(ms: int) -> datetime:
    return datetime.fromtimestamp(max(ms, 0) / 1000, UTC)
