"""A model asked once, or turn by turn with tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from codexmem_hookspecs.values.extract import Effort
from codexmem_hookspecs.values.read import ToolInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a call cost, as the provider counted it; estimated at 4 characters a token when it did not."""

    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A model wants a tool to be called."""

    id: str
    name: str
    arguments: Mapping[str, object] = field(default_factory=dict)
    """Empty when the model's arguments were no JSON object; ``problem`` says so."""
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation."""

    role: Literal["system", "user", "assistant", "tool"]
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    """Of the assistant."""
    answers: str = ""
    """For ``tool``: id of the call that this is the result of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
    """A conversation so far, and the tools that the next turn may call."""

    messages: tuple[Message, ...]
    tools: tuple[ToolInfo, ...] = ()
    effort: Effort = "medium"
    model: str = ""
    """The model that the user chose; the engine fills it in. Empty: the backend's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The model's next message."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
