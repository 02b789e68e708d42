"""A model behind an HTTP address: one request a call, its answer understood or refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codexmem_hookspecs.errors import ModelRefused
from codexmem_hookspecs.models import actions
from codexmem_hookspecs.models.effort import nearest
from codexmem_hookspecs.models.structured import object_in, problems, schema_in_words
from codexmem_hookspecs.values.extract import Reply
from codexmem_hookspecs.values.models import Message, Turn, Usage
from codexmem_hookspecs.values.records import ModelBackend

from codexmem_core.models.exchange import Question, Said, estimated_tokens, question_tokens
from codexmem_core.models.reached import Reached, address
from codexmem_core.models.refusals import payload_of, refusal, refusal_in_answer
from codexmem_core.models.wires.events import events_in

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codexmem_hookspecs.services import Deadline, Services, Transcript
    from codexmem_hookspecs.values.extract import Effort, ExtractionRequest
    from codexmem_hookspecs.values.models import TurnRequest

    from codexmem_core.models.exchange import Exchange, HttpAnswer, Wire
    from codexmem_core.models.selection import ModelSettings, Stage

OK, REDIRECT = 200, 300
_STREAM = ("event:", "data:", ":")
"""How a stream begins, for servers that do not say that it is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a provider is and how one identifies oneself there."""

    name: str
    """The provider's name in messages."""
    url: str
    headers: Callable[[], Mapping[str, str]]
    """Made for each request; holds the key. Raises ModelRefused when there is none."""
    key: Callable[[], str]
    """The key, to keep it out of messages; empty when there is none."""


class HttpProvider:
    """``ask`` and ``turn`` of a backend."""

    def __init__(
        self,
        endpoint: Endpoint,
        wire: Wire,
        settings: ModelSettings,
        defaults: Mapping[Stage, str],
        exchange: Callable[[Deadline], Exchange],
    ) -> None:
        self._endpoint = endpoint
        self._wire = wire
        self._settings = settings
        self._defaults = defaults
        self._exchange = exchange

    def reached(self, summary: str, variable: str) -> Reached:
        """The backend, with ``variable`` as the environment variable of its key; empty: it needs none."""
        name, url, key = self._endpoint.name, self._endpoint.url, self._endpoint.key
        backend = ModelBackend(
            name=name,
            summary=summary,
            costs=self._settings.costs,
            ask=self.ask,
            turn=self.turn,
            budget_bytes=self._settings.budget_bytes,
        )
        return Reached(
            backend=backend,
            provider=f"{name} at {address(url)}",
            credentials=lambda: f"{variable}={key()}",
            defaults=self._defaults,
            lacks=self._lacks,
        )

    def ask(self, request: ExtractionRequest, _transcript: Transcript, services: Services) -> Reply:
        """One question with a JSON answer. Raises ModelRefused."""
        enforced = self._settings.structured
        words = request.instructions if enforced else f"{request.instructions}\n\n{schema_in_words(request.schema)}"
        question = self._question(
            "extraction",
            (Message(role="system", text=words), Message(role="user", text=request.input)),
            request.effort,
            schema=request.schema if enforced else None,
            schema_name=request.schema_name,
        )
        said, usage = self._exchanged(question, services)
        try:
            data = said.data if enforced and said.data is not None else object_in(said.text)
            wrong = problems(data, request.schema)
            if wrong:
                raise ValueError("; ".join(wrong))
        except ValueError as error:
            raise ModelRefused(f"{self._who(question)}: {error}", "invalid", usage=usage) from None
        return Reply(data=dict(data), tokens_in=usage.tokens_in, tokens_out=usage.tokens_out)

    def turn(self, request: TurnRequest, services: Services) -> Turn:
        """The next turn. Raises ModelRefused."""
        if not self._settings.tool_calls:
            messages = (
                Message(role="system", text=actions.instructions(request)),
                Message(role="user", text=actions.conversation(request.messages)),
            )
            said, usage = self._exchanged(self._question("consolidation", messages, request.effort), services)
            return actions.turn(said.text, request.messages, usage)
        question = self._question("consolidation", request.messages, request.effort, tools=request.tools)
        said, usage = self._exchanged(question, services)
        return Turn(text=said.text, calls=said.calls, usage=usage)

    def _lacks(self) -> str:
        try:
            self._endpoint.headers()
        except ModelRefused as error:
            return str(error)
        return ""

    def _question(self, stage: Stage, messages: tuple[Message, ...], effort: Effort, **more: Any) -> Question:
        return Question(
            model=self._settings.model(stage, self._defaults),
            messages=messages,
            effort=nearest(effort, self._settings.efforts),
            max_tokens=self._settings.max_output_tokens,
            stream=self._settings.stream,
            **more,
        )

    def _exchanged(self, question: Question, services: Services) -> tuple[Said, Usage]:
        """One request. Raises ModelRefused for everything but a whole answer."""
        who = self._who(question)
        answer = self._exchange(services.deadline).post(
            self._endpoint.url + self._wire.path,
            json=self._wire.body(question),
            headers=self._endpoint.headers(),
            timeout_s=self._settings.timeout_s,
        )
        sent = question_tokens(question.messages)
        answer = self._without_key(answer)
        if not OK <= answer.status < REDIRECT:
            raise refusal(answer, who, services.clock.now_ms())
        payload = self._payload(answer, who, sent)
        if payload.get("error"):
            raise refusal_in_answer(payload["error"], who)
        try:
            said = self._wire.said(payload)
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            raise ModelRefused(f"{who}: {error}", "invalid", usage=Usage(tokens_in=sent)) from None
        usage = said.usage or Usage(tokens_in=sent, tokens_out=_spoken(said))
        if said.unfinished == "overflow":
            raise ModelRefused(f"{who}: the context window is full", "overflow", usage=usage)
        if said.unfinished:
            told = "the answer was cut at its longest length" if said.unfinished == "length" else said.unfinished
            raise ModelRefused(f"{who}: {told}", "invalid", usage=usage)
        return said, usage

    def _payload(self, answer: HttpAnswer, who: str, sent: int) -> Mapping[str, Any]:
        usage = Usage(tokens_in=sent, tokens_out=estimated_tokens(answer.text))
        if "text/event-stream" in answer.headers.get("content-type", "") or answer.text.startswith(_STREAM):
            try:
                payload = self._wire.assembled(events_in(answer.text))
            except (ValueError, TypeError, AttributeError, KeyError) as error:
                raise ModelRefused(f"{who}: a stream that makes no sense: {error}", "invalid", usage=usage) from None
            if payload is None:
                raise ModelRefused(
                    f"{who}: the stream was cut ({answer.error or 'no last event'})", "transport", usage=usage
                )
            return payload
        if answer.error:
            raise ModelRefused(f"{who}: {answer.error}", "transport", usage=usage)
        return payload_of(answer, who, Usage(tokens_in=sent))

    def _without_key(self, answer: HttpAnswer) -> HttpAnswer:
        """Some servers repeat the key in their error."""
        key = self._endpoint.key()
        if not key or (key not in answer.text and key not in answer.error):
            return answer
        return type(answer)(
            status=answer.status,
            headers=answer.headers,
            text=answer.text.replace(key, "[REDACTED]"),
            error=answer.error.replace(key, "[REDACTED]"),
        )

    def _who(self, question: Question) -> str:
        return f"{self._endpoint.name} {question.model}"


def missing_key(name: str, variable: str) -> ModelRefused:
    """The variable that should hold the key is not set."""
    return ModelRefused(f"{name}: no key: the environment variable {variable} is not set", "credentials")


def _spoken(said: Said) -> int:
    return estimated_tokens(said.text, *(str(dict(call.arguments)) for call in said.calls))
