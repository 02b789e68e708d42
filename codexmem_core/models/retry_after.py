"""How long a provider asks us to wait."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

SHORTEST_S, LONGEST_S, UNSAID_S = 1.0, 86_400.0, 3_600.0
"""Seconds: what is said is kept within a second and a day; without a word, an hour."""

_NUMBER = re.compile(r"\s*[+-]?[0-9]+(\.[0-9]*)?\s*")


def retry_after_s(headers: Mapping[str, str], now_ms: int) -> float:
    """Seconds from ``retry-after-ms`` or ``retry-after`` (a number or an HTTP date); 0 when neither can be read.

    A date counts from the answer's own ``date``, so that a wrong clock here does not matter. Header names are in lower
    case.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return clamped(milliseconds / 1000)
    given = headers.get("retry-after", "").strip()
    seconds = _number(given)
    if seconds is not None:
        return clamped(seconds)
    at = _date(given)
    if at is None:
        return 0.0
    now = _date(headers.get("date", "")) or datetime.fromtimestamp(now_ms / 1000, UTC)
    return clamped((at - now).total_seconds())


def clamped(seconds: float) -> float:
    """Between a second and a day."""
    return LONGEST_S if math.isnan(seconds) else min(max(seconds, SHORTEST_S), LONGEST_S)


def wait_s(retry_after: float) -> float:
    """How long to wait on a refusal: what it says, else an hour."""
    return clamped(retry_after) if retry_after else UNSAID_S


def _number(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text) else None


def _date(text: str) -> datetime | None:
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at
