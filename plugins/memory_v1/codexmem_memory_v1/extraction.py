"""The backend's answer as the note of one session, or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs.values.extract import NOTHING, Extraction, Reply

from codexmem_memory_v1 import recap

if TYPE_CHECKING:
    from collections.abc import Mapping

_FIELDS = ("rollout_summary", "rollout_slug", "raw_memory")
_PLACEHOLDERS = ("(one sentence: what the session was about)", "(nearly their words)", "(one line, easy to search)")
"""Words of our own template; a model that gives them back has not filled it in."""


def extraction(reply: Reply) -> Extraction:
    """The note, or NOTHING when there is nothing worth keeping.

    Raises ValueError when a model's answer lacks a string, has a field that was not asked for (Codex rejects these
    too), or echoes the template. An answer of which either half is blank is nothing (Codex 0.171).
    """
    if reply.findings is not None:
        findings = reply.findings
        if not findings.substance:
            return NOTHING
        return Extraction(summary=recap.recap(findings), raw=recap.raw_memory(findings), slug=recap.slug(findings))
    if reply.data is None:
        raise ValueError("the reply has neither data nor findings")
    return _from_model(reply.data)


def _from_model(data: Mapping[str, object]) -> Extraction:
    unknown = sorted(set(data) - set(_FIELDS))
    if unknown:
        raise ValueError(f"fields that were not asked for: {', '.join(unknown)}")
    summary, raw = _text(data, "rollout_summary"), _text(data, "raw_memory")
    slug = "" if data.get("rollout_slug", "missing") is None else _text(data, "rollout_slug")
    for text in (summary, raw):
        if any(placeholder in text for placeholder in _PLACEHOLDERS):
            raise ValueError("the answer echoes the template instead of filling it in")
    if not summary.strip() or not raw.strip():
        return NOTHING
    return Extraction(summary=summary.strip(), raw=raw.strip(), slug=slug.strip()[: recap.SLUG_CHARS])


def _text(data: Mapping[str, object], field: str) -> str:
    value = data.get(field)
    if not isinstance(value, str):
        raise ValueError(f"{field} is missing or no string")  # noqa: TRY004 - the contract names ValueError
    return value
