"""The backend that every installation has and uses until the user chooses another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs.values.extract import ExtractionRequest, Reply
from codexmem_hookspecs.values.records import ModelBackend

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Services, Transcript


def _ask(_request: ExtractionRequest, transcript: Transcript, _services: Services) -> Reply:
    from codexmem_core.models.extractive import find  # its patterns are dear to compile, and most commands ask nothing

    return Reply(findings=find(transcript))


EXTRACTIVE = ModelBackend(
    name="extractive",
    summary="built in: finds what was asked, preferred, tried and decided in the transcript itself; offline and free",
    costs=False,
    ask=_ask,
    reads_transcript=True,
)
