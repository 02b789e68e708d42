"""What a new session gets, and what can be asked further."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_hookspecs.values.capture import Moment, Session

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Services


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """A host asks what to tell the model now."""

    host: str
    moment: Moment
    session: Session
    prompt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBlock:
    """A piece of context. The engine fences it as reference and shares the host's budget by priority."""

    source: str
    """Shown in the fence."""
    text: str
    """Empty: nothing to say."""
    notice: str = ""
    """A line for the user, not for the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSource:
    """Context beside the memory's own, computed when a host asks."""

    name: str
    moments: frozenset[Moment]
    deadline_ms: int
    provide: Callable[[ContextRequest, Services], ContextBlock]
    priority: int = 50
    """Lower comes first and is cut last; guidance is 0, the memory 10, profiles 90."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool for agents that acts on something else than a memory; memory tools belong to the engine."""

    name: str
    summary: str
    schema: Mapping[str, object]
    """JSON schema of the arguments."""
    call: Callable[[Mapping[str, object], Session, Services], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolInfo:
    """A tool as it is listed to an agent."""

    name: str
    summary: str
    schema: Mapping[str, object]
