"""The backend's answer as the note of one session, or nothing."""

from __future__ import annotations

from codexmem_hookspecs.memory_files.answers import texts
from codexmem_hookspecs.memory_files.findings import SLUG_CHARS, slug
from codexmem_hookspecs.values.extract import NOTHING, Extraction, Reply

from codexmem_memory_v1 import recap

FIELDS = ("rollout_summary", "rollout_slug", "raw_memory")
_PLACEHOLDERS = ("(one sentence: what the session was about)", "(nearly their words)", "(one line, easy to search)")
"""Words of our own template; a model that gives them back has not filled it in."""


def extraction(reply: Reply) -> Extraction:
    """The note, or NOTHING when there is nothing worth keeping. Raises ValueError for an answer that is not valid.

    A name may be missing as null. An answer of which either half is blank is nothing (Codex 0.171).
    """
    if reply.findings is not None:
        findings = reply.findings
        if not findings.substance:
            return NOTHING
        return Extraction(summary=recap.recap(findings), raw=recap.raw_memory(findings), slug=slug(findings))
    data = reply.data
    if data is not None and data.get("rollout_slug", "missing") is None:
        data = {**data, "rollout_slug": ""}
    answer = texts(data, FIELDS, _PLACEHOLDERS)
    summary, raw = answer["rollout_summary"].strip(), answer["raw_memory"].strip()
    if not summary or not raw:
        return NOTHING
    return Extraction(summary=summary, raw=raw, slug=answer["rollout_slug"].strip()[:SLUG_CHARS])
