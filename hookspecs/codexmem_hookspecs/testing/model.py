"""A model that says what a test told it to say, in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codexmem_hookspecs.values.extract import Findings, Reply
from codexmem_hookspecs.values.records import ModelBackend

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Services, Transcript
    from codexmem_hookspecs.values.extract import ExtractionRequest


@dataclass
class ScriptedModel:
    """Canned replies. An exception in the list is raised instead; past its end the reply has no findings."""

    replies: list[Reply | Exception] = field(default_factory=list)
    requests: list[ExtractionRequest] = field(default_factory=list)
    """Every question that was asked."""

    def ask(self, request: ExtractionRequest, transcript: Transcript, services: Services | None = None) -> Reply:  # noqa: ARG002
        """The next reply, as ``services.models`` and as a backend's ``ask``."""
        self.requests.append(request)
        reply = self.replies.pop(0) if self.replies else Reply(findings=Findings())
        if isinstance(reply, Exception):
            raise reply
        return reply

    def backend(self, name: str = "scripted") -> ModelBackend:
        """The same as a backend that can be registered."""
        return ModelBackend(name=name, summary="canned replies", costs=False, ask=self.ask)
