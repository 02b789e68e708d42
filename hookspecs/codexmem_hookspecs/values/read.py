"""What a new session gets, and what can be asked further."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

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
    """Without secrets and private spans: sources may send it away."""
    keeps_context: bool = True
    """Whether the session's history keeps what it is given (:attr:`Host.keeps_context`)."""


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
    allowed_ms: Callable[[Services], int] | None = None
    """How long it may take with the settings as they are, instead of ``deadline_ms``. 0: it has nothing to say now, and
    no host waits for it."""


Effect = Literal["reads", "adds", "changes", "deletes", "unknown"]
"""What a tool does to the world: nothing; adds without touching what is there; changes what can be changed back;
removes for good. Hosts ask the user by it: Codex refuses a tool of which nothing is said when nobody can be asked. The
engine lets sessions of a project that is kept apart call no tool that reads or writes what it does not want."""

Ask = Callable[[str], bool]
"""Puts a question to the user and waits; True only when the user agreed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool for agents that acts on something else than a memory; memory tools belong to the engine."""

    name: str
    summary: str
    schema: Mapping[str, object]
    """JSON schema of the arguments."""
    call: Callable[[Mapping[str, object], Session, Services], str]
    """Given the arguments, of which secrets have been taken out."""
    effect: Effect = "unknown"
    local: bool = False
    """Whether a call never leaves this machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolInfo:
    """A tool as it is listed to an agent."""

    name: str
    summary: str
    schema: Mapping[str, object]
    effect: Effect = "unknown"
    local: bool = False
    """Whether a call never leaves this machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who calls a tool, as far as the program that serves it can see. :meth:`Host.caller` finds the session in it."""

    host: str
    """Name of the host for which the tools are served; empty: not known."""
    cwd: str
    """Absolute folder that the serving program was started in; empty: not known, or gone."""
    parent: int = 0
    """Process id of the program that started the serving one; 0: not known."""
    started_ms: int = 0
    """When the serving program began, UNIX milliseconds."""
    meta: Mapping[str, object] = field(default_factory=dict)
    """What the host sent along with the call beside the arguments (MCP: ``_meta``)."""
