"""What goes out to a model and what comes back, the same for every provider."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codexmem_hookspecs.values.models import Message, ToolCall, Usage
    from codexmem_hookspecs.values.read import ToolInfo

CHARS_A_TOKEN = 4
"""The estimate of the sources (Codex 0.171, opencode-codex-memory)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """An HTTP answer as it came, or why there was none."""

    status: int = 0
    """0 when nothing came back."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case."""
    text: str = ""
    error: str = ""
    """Why the answer is missing or ends early; empty when it is whole."""


class Exchange(Protocol):
    """Sends one JSON document to a model's address. Never raises."""

    def post(self, url: str, *, json: object, headers: Mapping[str, str], timeout_s: float) -> HttpAnswer:
        """The answer, whatever its status. Redirects are not followed."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One request to a model."""

    model: str
    messages: tuple[Message, ...]
    schema: Mapping[str, object] | None = None
    """JSON schema that the provider shall enforce; None for free text."""
    schema_name: str = "answer"
    tools: tuple[ToolInfo, ...] = ()
    effort: str = ""
    """A level that the model knows; empty sends none."""
    max_tokens: int = 0
    """Longest answer in tokens; 0 leaves it to the provider."""
    stream: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A model's answer."""

    text: str = ""
    data: Mapping[str, object] | None = None
    """Structured already, where a provider gives it so."""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    """As the provider counted; None when it did not."""
    unfinished: str = ""
    """Why the answer is not whole: ``length``, ``overflow``, or a refusal in the model's words; empty when it is."""


class Wire(Protocol):
    """How a provider spells questions and answers."""

    path: str
    """Below the base URL."""

    def body(self, question: Question) -> dict[str, Any]:
        """The request's JSON."""
        ...

    def said(self, payload: Mapping[str, Any]) -> Said:
        """The answer's JSON, understood. Raises ValueError when it is no such answer."""
        ...

    def assembled(self, events: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
        """Stream events as the JSON that would have come without streaming; None when the stream was cut."""
        ...


def estimated_tokens(*texts: str) -> int:
    """How many tokens the texts are, about."""
    return sum(len(text) for text in texts) // CHARS_A_TOKEN


def question_tokens(messages: Sequence[Message]) -> int:
    """How many tokens a conversation is, about."""
    return estimated_tokens(
        *(message.text for message in messages),
        *(str(value) for message in messages for call in message.calls for value in call.arguments.values()),
    )
