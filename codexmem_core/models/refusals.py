"""Why a model gave no usable answer, told from a status and a message."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from codexmem_hookspecs.errors import ModelRefused
from codexmem_hookspecs.models.refusal_kinds import kind_of, told_kind

from codexmem_core.models.retry_after import retry_after_s
from codexmem_core.safety.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codexmem_hookspecs.errors import RefusalKind
    from codexmem_hookspecs.values.models import Usage

    from codexmem_core.models.exchange import HttpAnswer

MESSAGE_CHARS = 500


class NotAsked(ModelRefused):
    """The call was never made: the budget is spent, a breaker is open, or the model does not answer in this pass."""

    def __init__(self, message: str, kind: RefusalKind, *, hold: bool, retry_after_s: float = 0.0) -> None:
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


def payload_of(answer: HttpAnswer, who: str, usage: Usage) -> Mapping[str, Any]:
    """The JSON object of a 2xx answer. Raises ModelRefused for HTML, other text and cut JSON."""
    try:
        payload = json.loads(answer.text)
    except (ValueError, RecursionError):
        kind = answer.headers.get("content-type", "no content type")
        message = f"{who}: HTTP {answer.status} with {kind} that is no JSON: {redact(_line(answer.text))[:80]}"
        raise ModelRefused(message, "invalid", usage=usage) from None
    if not isinstance(payload, dict):
        raise ModelRefused(f"{who}: HTTP {answer.status} with JSON that is no object", "invalid", usage=usage)
    return payload
