"""One session's question to a model, and what becomes of the answer: a recap, or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from codexmem_hookspecs.cuts import cut_bytes
from codexmem_hookspecs.memory_files.answers import texts
from codexmem_hookspecs.memory_files.findings import SLUG_CHARS, slug
from codexmem_hookspecs.memory_files.prompts import Templates, extraction_request
from codexmem_hookspecs.values.extract import NOTHING, Extraction, ExtractionRequest, Reply

from codexmem_memory_v2.evidence import evidence
from codexmem_memory_v2.recap import recap

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Transcript

TEMPLATES: Final = Templates("codexmem_memory_v2")
RECAP_BYTES: Final = 9_000
"""Longest recap, UTF-8 (Codex 0.171: stored rollout_summary)."""
_CUT = "\n[... the middle of this recap was too long and is left out ...]\n"
_FIELDS = ("rollout_summary", "rollout_slug")
_PLACEHOLDERS = ("(one sentence: what the session was about)", "(their words, nearly)")
"""Words of our own template; a model that gives them back has not filled it in."""


def question(transcript: Transcript, budget_bytes: int) -> ExtractionRequest:
    """The question about one session, no longer than the budget."""
    return extraction_request(
        TEMPLATES,
        transcript,
        budget_bytes,
        lambda left: evidence(transcript, left, transcript.session.cwd),
        fields=_FIELDS,
        schema_name="memory_v2",
    )


def extraction(reply: Reply) -> Extraction:
    """The recap in at most 9,000 bytes, cut in its middle, or NOTHING when it is blank.

    Replies arrive redacted, so a cut leaves no half of a secret. Raises ValueError for an answer that is not valid.
    """
    if reply.findings is not None:
        found, name = recap(reply.findings, RECAP_BYTES), slug(reply.findings)
    else:
        answer = texts(reply.data, _FIELDS, _PLACEHOLDERS)
        found, name = answer["rollout_summary"].strip(), answer["rollout_slug"].strip()[:SLUG_CHARS]
    if not found:
        return NOTHING
    return Extraction(summary=cut_bytes(found, RECAP_BYTES, _CUT), slug=name)
