"""Why a model gave no usable answer, told from a status and a message."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codexmem_hookspecs.errors import RefusalKind

BAD_REQUEST, UNAUTHORIZED, PAYMENT, FORBIDDEN, NOT_FOUND, METHOD = 400, 401, 402, 403, 404, 405
TIMED_OUT, TOO_LARGE, TOO_MANY, SERVER, UNAVAILABLE, OVERLOADED = 408, 413, 429, 500, 503, 529

_CAPACITY = re.compile(
    r"usage limit|free usage exceeded|provider capacity exhausted|rate[ _-]?limit|quota|too many requests|\b429\b"
    r"|resource_exhausted|insufficient_quota|billing hard limit|credit balance|overloaded",
    re.IGNORECASE,
)
"""opencode-codex-memory 7.1, and Anthropic's words."""
_OVERFLOW = re.compile(
    r"context[ _](?:length|window|size)|maximum context|prompt is too long|input is too long|exceed_context_size"
    r"|too many (?:input )?tokens|reduce the length|request too large|request_too_large|string_above_max_length",
    re.IGNORECASE,
)
_CREDENTIALS = re.compile(
    r"\b40[13]\b|unauthori[sz]ed|authentication[_ ]error|invalid (?:x-)?api[ -]key|incorrect api key|not logged in"
    r"|please (?:run /?)?log ?in|permission_error|token (?:has )?expired",
    re.IGNORECASE,
)


def kind_of(status: int, detail: str, *, waits: bool) -> RefusalKind:
    """The kind of a refusal with this status.

    An unknown model or address (404, 405) counts as capacity: it costs no session a retry and opens again by itself,
    or at once when the model is changed. A rate limit that one request alone exceeds is an overflow: it would never
    fit.
    """
    if status in (UNAUTHORIZED, FORBIDDEN):
        return "credentials"
    if _OVERFLOW.search(detail) or status == TOO_LARGE:
        return "overflow"
    if status in (PAYMENT, NOT_FOUND, METHOD, TOO_MANY, OVERLOADED) or _CAPACITY.search(detail):
        return "capacity"
    if status == UNAVAILABLE and waits:
        return "capacity"
    answered = BAD_REQUEST <= status < SERVER and status != TIMED_OUT
    return "invalid" if answered else "transport"


def told_kind(text: str) -> RefusalKind | None:
    """The kind that a message alone tells, or None."""
    if _OVERFLOW.search(text):
        return "overflow"
    if _CAPACITY.search(text):
        return "capacity"
    return "credentials" if _CREDENTIALS.search(text) else None
