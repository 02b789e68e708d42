"""Asks the backend that the user chose; what two memories ask of the built-in one is found once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs.values.extract import Reply

from codexmem_core.safety.redaction import redact_strings
from codexmem_core.services.single_flight import SingleFlight

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Services, Transcript
    from codexmem_hookspecs.values.extract import ExtractionRequest
    from codexmem_hookspecs.values.records import ModelBackend

FOUND_SESSIONS = 128


class ChosenModel:
    """The user's backend for one pass."""

    def __init__(self, backend: ModelBackend) -> None:
        self.backend = backend
        self._found: SingleFlight[Reply] = SingleFlight(entries=FOUND_SESSIONS)

    def ask(self, request: ExtractionRequest, transcript: Transcript, services: Services) -> Reply:
        """The reply, redacted. A backend that reads the transcript itself is asked once for all memories."""
        if self.backend.reads_transcript:
            return self._found.get(transcript.fingerprint, lambda: self._asked(request, transcript, services))
        return self._asked(request, transcript, services)

    def _asked(self, request: ExtractionRequest, transcript: Transcript, services: Services) -> Reply:
        reply = self.backend.ask(request, transcript, services)
        if reply.data is None:
            return reply
        data = redact_strings(reply.data)
        assert isinstance(data, dict)
        return Reply(data=data)


class BoundModels:
    """What a plugin is given as ``models``."""

    def __init__(self, model: ChosenModel, services: Services) -> None:
        self._model = model
        self._services = services

    def ask(self, request: ExtractionRequest, transcript: Transcript) -> Reply:
        """One question."""
        return self._model.ask(request, transcript, self._services)
