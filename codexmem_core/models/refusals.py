"""Why a model gave no usable answer, told from a status and a message."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Literal

from codexmem_hookspecs.errors import ModelRefused
from codexmem_hookspecs.values.models import Usage

from codexmem_core.models.retry_after import retry_after_s
from codexmem_core.safety.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codexmem_core.models.exchange import HttpAnswer

Kind = Literal["capacity", "credentials", "overflow", "invalid", "transport"]

MESSAGE_CHARS = 500

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


class Unusable(ModelRefused):
    """A refusal that still cost something."""

    def __init__(self, message: str, kind: Kind, usage: Usage, retry_after_s: float = 0.0) -> None:
        super().__init__(message, kind, retry_after_s)
        self.usage = usage


class NotAsked(ModelRefused):
    """The call was never made: the budget is spent, a breaker is open, or the model does not answer in this pass."""

    def __init__(self, message: str, kind: Kind, *, hold: bool, retry_after_s: float = 0.0) -> None:
        super().__init__(message, kind, retry_after_s)
        self.hold = hold
        """Whether to come back only after ``retry_after_s``; else as soon as what forbids it has changed."""


def refusal(answer: HttpAnswer, who: str, now_ms: int) -> ModelRefused:
    """What an answer other than 2xx means. ``who`` names provider and model."""
    if answer.status == 0:
        return ModelRefused(_told(who, answer.error or "no answer"), "transport")
    detail = error_detail(answer.text)
    wait = retry_after_s(answer.headers, now_ms)
    kind = kind_of(answer.status, detail, waits=wait > 0)
    return ModelRefused(_told(who, f"HTTP {answer.status}: {detail}"), kind, wait if kind == "capacity" else 0.0)


def refusal_in_answer(error: object, who: str) -> ModelRefused:
    """What an error object inside an answer with status 200, or in a stream, means."""
    detail = _detail(error)
    return ModelRefused(_told(who, detail), told_kind(detail) or "transport")


def kind_of(status: int, detail: str, *, waits: bool) -> Kind:
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


def told_kind(text: str) -> Kind | None:
    """The kind that a message alone tells, or None."""
    if _OVERFLOW.search(text):
        return "overflow"
    if _CAPACITY.search(text):
        return "capacity"
    return "credentials" if _CREDENTIALS.search(text) else None


def error_detail(text: str) -> str:
    """The message in an error's body: its type, code and words; other text in one line."""
    try:
        payload = json.loads(text)
    except (ValueError, RecursionError):
        return _line(text)
    if isinstance(payload, dict):
        return _detail(payload.get("error", payload.get("detail", payload)))
    return _line(text)


def _detail(error: object) -> str:
    if isinstance(error, dict):
        parts = [error.get(key) for key in ("type", "code", "message")]
        told = [str(part) for part in parts if part]
        return _line(" ".join(told) if told else json.dumps(error))
    return _line(str(error))


def _told(who: str, detail: str) -> str:
    return f"{who}: {redact(detail)}"


def _line(text: str) -> str:
    return " ".join(text.split())[:MESSAGE_CHARS] or "no message"


def cost_of(refused: ModelRefused) -> Usage:
    """What a refused call cost."""
    return refused.usage if isinstance(refused, Unusable) else Usage()


def payload_of(answer: HttpAnswer, who: str, usage: Usage) -> Mapping[str, Any]:
    """The JSON object of a 2xx answer. Raises Unusable for HTML, other text and cut JSON."""
    try:
        payload = json.loads(answer.text)
    except (ValueError, RecursionError):
        kind = answer.headers.get("content-type", "no content type")
        message = f"{who}: HTTP {answer.status} with {kind} that is no JSON: {redact(_line(answer.text))[:80]}"
        raise Unusable(message, "invalid", usage) from None
    if not isinstance(payload, dict):
        raise Unusable(f"{who}: HTTP {answer.status} with JSON that is no object", "invalid", usage)
    return payload
