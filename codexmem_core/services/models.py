"""Asks the backend that the user chose: redacted, counted, within the budget, and never past an open breaker."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from codexmem_hookspecs.errors import ModelRefused
from codexmem_hookspecs.values.extract import Reply
from codexmem_hookspecs.values.models import Message, ToolCall, Turn, Usage

from codexmem_core.models.exchange import estimated_tokens, question_tokens
from codexmem_core.models.refusals import NotAsked
from codexmem_core.safety.redaction import redact, redact_strings
from codexmem_core.services.single_flight import SingleFlight

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codexmem_hookspecs.services import Services, Transcript
    from codexmem_hookspecs.values.extract import ExtractionRequest
    from codexmem_hookspecs.values.models import TurnRequest
    from codexmem_hookspecs.values.records import ModelBackend

    from codexmem_core.models.breaker import Breaker
    from codexmem_core.models.budget import Budget
    from codexmem_core.models.selection import Stage

T = TypeVar("T")

FOUND_SESSIONS = 128
FIRST_PAUSE_S = 0.2
"""Before the second attempt; doubled before the third."""
STEP_S = 0.05
UNREACHABLE = 3
"""Questions in a row without an answer after which a pass asks nothing more."""


class ChosenModel:
    """The user's backend for one pass. Without budget and breaker (the built-in backend) nothing is counted."""

    def __init__(
        self,
        backend: ModelBackend,
        *,
        budget: Budget | None = None,
        breaker: Breaker | None = None,
        attempts: int = 1,
        names: Mapping[Stage, str] | None = None,
    ) -> None:
        self.backend = backend
        self._budget = budget
        self._breaker = breaker
        self._attempts = attempts
        self._names = names or {}
        self._found: SingleFlight[Reply] = SingleFlight(entries=FOUND_SESSIONS)
        self._lock = threading.Lock()
        self._heard = False
        self._unanswered = 0
        self._last_silence = ""

    def ask(
        self,
        request: ExtractionRequest,
        transcript: Transcript,
        services: Services,
        *,
        stage: Stage = "extraction",
    ) -> Reply:
        """The reply, redacted. Raises ModelRefused.

        A backend that reads the transcript itself is asked once for all memories.
        """
        if self.backend.reads_transcript:
            session = transcript.session
            # Two sessions may hold the same words; what is found in each names its own session.
            return self._found.get(
                (session.host, session.id, transcript.fingerprint),
                lambda: _redacted(self.backend.ask(request, transcript, services)),
            )
        clean = replace(
            request,
            instructions=redact(request.instructions),
            input=redact(request.input),
            model=self._names.get(stage, ""),
        )
        tokens = estimated_tokens(clean.instructions, clean.input)

        def once() -> tuple[Reply, Usage]:
            reply = self.backend.ask(clean, transcript, services)
            if not reply.tokens_in and not reply.tokens_out:
                spoken = estimated_tokens(*map(str, (reply.data or {}).values()))
                return reply, Usage(tokens_in=tokens, tokens_out=spoken)
            return reply, Usage(tokens_in=reply.tokens_in, tokens_out=reply.tokens_out)

        return _redacted(self._asked(once, stage, tokens, services))

    def turn(self, request: TurnRequest, services: Services) -> Turn:
        """The next turn of a consolidation, redacted. Raises ModelRefused, and LookupError without an agent."""
        backend_turn = self.backend.turn
        if backend_turn is None:
            raise LookupError(f"the model backend {self.backend.name} has no agent")
        messages = tuple(map(_redacted_message, request.messages))
        clean = replace(request, messages=messages, model=self._names.get("consolidation", ""))
        tokens = question_tokens(clean.messages)

        def once() -> tuple[Turn, Usage]:
            turn = backend_turn(clean, services)
            spent = turn.usage
            if not spent.tokens_in and not spent.tokens_out:
                spent = Usage(
                    tokens_in=tokens, tokens_out=question_tokens([Message(role="assistant", calls=turn.calls)])
                )
            return turn, spent

        turn = self._asked(once, "consolidation", tokens, services)
        return replace(turn, text=redact(turn.text), calls=tuple(map(_redacted_call, turn.calls)))

    def blocked(self, stage: Stage, payer: str = "") -> NotAsked | None:
        """Why nothing can be asked now, on this plugin's account, or None: worth knowing before work is claimed."""
        if self._unanswered >= UNREACHABLE:
            return NotAsked(f"not asked again in this pass: {self._last_silence}", "transport", hold=False)
        if self._breaker is not None and (open_now := self._breaker.forbids(stage)) is not None:
            return open_now
        return self._budget.spent_out(payer) if self._budget is not None else None

    def _asked(self, once: Callable[[], tuple[T, Usage]], stage: Stage, tokens: int, services: Services) -> T:
        """Ask, and ask again when no answer arrived. Nothing is sent past an open breaker or a spent budget."""
        pause_s = FIRST_PAUSE_S
        for attempt in range(1, self._attempts + 1):
            if (blocked := self.blocked(stage, _payer(services))) is not None:
                raise blocked
            try:
                value = self._counted(once, stage, tokens, services)
            except NotAsked:
                raise
            except ModelRefused as error:
                self._note(stage, error, services)
                if error.kind != "transport":
                    raise
                if attempt == self._attempts or services.deadline.left_s <= pause_s:
                    self._silent(error)
                    raise
                _pause(services, pause_s)
                pause_s *= 2
            else:
                self._answered()
                return value
        raise AssertionError("the last attempt either answers or raises")

    def _counted(self, once: Callable[[], tuple[T, Usage]], stage: Stage, tokens: int, services: Services) -> T:
        if self._budget is None:
            return once()[0]
        name = self._names.get(stage) or self.backend.name
        reservation = self._budget.reserve(stage, _payer(services), name, tokens)
        usage = Usage(tokens_in=tokens)
        try:
            value, usage = once()
        except ModelRefused as error:
            usage = error.usage
            raise
        finally:
            self._budget.settle(reservation, usage)
        return value

    def _note(self, stage: Stage, error: ModelRefused, services: Services) -> None:
        tripped = self._breaker.refused(stage, error) if self._breaker is not None else None
        if tripped is not None:
            services.log.warning("the model is not asked for now", scope=tripped.scope, reason=tripped.reason)

    def _answered(self) -> None:
        with self._lock:
            first, self._heard = not self._heard, True
            self._unanswered = 0
        if first and self._breaker is not None:
            self._breaker.answered()

    def _silent(self, error: ModelRefused) -> None:
        with self._lock:
            self._unanswered += 1
            self._last_silence = str(error)


class BoundModels:
    """What a plugin is given as ``models``."""

    def __init__(self, model: ChosenModel, services: Services) -> None:
        self._model = model
        self._services = services

    def ask(self, request: ExtractionRequest, transcript: Transcript) -> Reply:
        """One question. Raises ModelRefused."""
        return self._model.ask(request, transcript, self._services)


def _payer(services: Services) -> str:
    """The plugin that the services are bound to; the contract does not tell it."""
    return str(getattr(services, "plugin", ""))


def _redacted(reply: Reply) -> Reply:
    if reply.data is None:
        return reply
    data = redact_strings(reply.data)
    assert isinstance(data, dict)
    return Reply(data=data, tokens_in=reply.tokens_in, tokens_out=reply.tokens_out)


def _redacted_message(message: Message) -> Message:
    return replace(message, text=redact(message.text), calls=tuple(map(_redacted_call, message.calls)))


def _redacted_call(call: ToolCall) -> ToolCall:
    arguments = redact_strings(dict(call.arguments))
    assert isinstance(arguments, dict)
    return replace(call, arguments=arguments, problem=redact(call.problem))


def _pause(services: Services, seconds: float) -> None:
    """Wait, unless the work is no longer wanted."""
    ends_at = time.monotonic() + seconds
    while time.monotonic() < ends_at and not services.deadline.cancelled:
        time.sleep(min(STEP_S, seconds))
