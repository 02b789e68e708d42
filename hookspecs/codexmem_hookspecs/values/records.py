"""What plugins register: settings, models, commands, checks; and forgetting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import click

    from codexmem_hookspecs.services import Services, Transcript
    from codexmem_hookspecs.values.capture import Session
    from codexmem_hookspecs.values.extract import ExtractionRequest, Reply
    from codexmem_hookspecs.values.models import Turn, TurnRequest

SettingValue = bool | int | float | str | tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A switch that is offered to whoever sets a host up, while it is off."""

    host: str
    """The host's name."""
    question: Callable[[Services], str]
    """What to ask, in one line, so that yes turns it on; empty when there is nothing to offer now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One key of the plugin's table in config.toml. A wrong value is a warning and the default is used."""

    key: str
    default: SettingValue
    """Its type is the setting's type."""
    help: str
    low: float | None = None
    """Smaller numbers are raised to this, with a warning."""
    high: float | None = None
    choices: tuple[str, ...] = ()
    project: bool = False
    """Whether a project's .codexmem.toml may set it. Never for connections, keys or paths."""
    offer: Offer | None = None
    """For a setting whose default is false."""
    path: bool = False
    """Whether a string is a path. A relative one in the file counts from the file's folder; elsewhere it is wrong,
    since nobody knows the folder in which the worker was started. ``~/`` becomes the user's home."""

    @property
    def name(self) -> str:
        """The key, under which registered settings are sorted."""
        return self.key


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelBackend:
    """A way to reach a model. The services that it is called with are those of the plugin that registers it."""

    name: str
    summary: str
    costs: bool
    """Whether a call may cost money or quota. Then limits apply, and nothing runs until the user chose it."""
    ask: Callable[[ExtractionRequest, Transcript, Services], Reply]
    """One question with a JSON answer. Raises ModelRefused."""
    turn: Callable[[TurnRequest, Services], Turn] | None = None
    """The next turn of a conversation with tools; None: consolidation is done without an agent. Raises ModelRefused."""
    reads_transcript: bool = False
    """Whether it reads the transcript itself and ignores the request: then one reply serves every memory."""
    budget_bytes: int = 600_000
    """Longest input of a request (Codex 0.171: 150,000 tokens of 4 bytes)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A click command, imported when it is run. ``ctx.obj`` is the plugin's services."""

    name: str
    summary: str
    load: Callable[[], click.Command]
    serves_tools: bool = False
    """Whether ``codexmem NAME HOST`` gives HOST's agents the tools, as an MCP server over standard input and output.
    ``setup`` enters it into hosts, and sessions are told of the tools only when there is such a command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of ``codexmem doctor``."""

    level: Literal["ok", "info", "warn", "fail"]
    message: str
    """What and where."""
    fix: str = ""
    """What to do; a command where there is one."""

    def shown(self, check: str) -> str:
        """For people, on a line, with the fix on a second one."""
        mark = self.level.upper() if self.level in ("warn", "fail") else self.level
        fix = f"\n      → {self.fix}" if self.fix else ""
        return f"{mark:4}  {check}: {self.message}{fix}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorCheck:
    """A check, and where possible its repair."""

    name: str
    summary: str
    run: Callable[[Services], Iterable[Finding]]
    fix: Callable[[Services], Iterable[Finding]] | None = None
    in_status: bool = False
    """Whether ``codexmem status`` shows what it finds as well: how a plugin tells its own state. Must be quick then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """What to forget: sessions, a text, or (``everything``) all."""

    sessions: tuple[Session, ...] = ()
    text: str = ""
    everything: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What a store of a plugin's own removed, and what it could not."""

    store: str
    removed: int
    left: tuple[str, ...] = ()
