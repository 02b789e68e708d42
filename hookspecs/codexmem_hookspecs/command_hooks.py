"""Hosts whose hooks are commands that are given JSON and print JSON: Codex CLI, Claude Code and their relatives.

For plugins to use: subclass :class:`CommandHost` and set its attributes.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.hook_files import HookEntry, WantedHook, entries, hook_name, with_hooks
from codexmem_hookspecs.json_lines import whole_text
from codexmem_hookspecs.session_files import home_in
from codexmem_hookspecs.values.capture import Answer, Event, EventKind, Item, Moment, Session
from codexmem_hookspecs.values.read import Caller
from codexmem_hookspecs.values.setup import MCP_NAME, Edit, InstalledHook, SetupRequest

STARTS: Mapping[str, Moment] = MappingProxyType(
    {"startup": "startup", "resume": "resume", "clear": "clear", "compact": "compact", "fork": "fork"}
)
"""What a start hook says about where the session comes from."""

ANSWERS: Mapping[str, Moment] = MappingProxyType(
    {**{f"SessionStart-{source}": moment for source, moment in STARTS.items()}, "UserPromptSubmit": "prompt"}
)
"""Installed once for each matcher, so that what a session is given at its start lies ready and at a resume does not."""


def bare(event: str) -> str:
    """The host's own name of an event."""
    return event.partition("-")[0]


HOOK_S = 10
"""Seconds for a hook that does nothing but write a file and print another."""
SPARE_S = 5
"""Seconds beside those that a hook waits."""


def text_of(payload: Mapping[str, object], key: str) -> str:
    """A text field, whatever was sent; half characters replaced so that it can be stored."""
    value = payload.get(key)
    return whole_text(value) if isinstance(value, str) else ""


class Heard(NamedTuple):
    """That a hook of a host ran."""

    host: str
    event: str
    """Without what follows a dash."""
    kind: EventKind
    at_ms: int
    matched: str = ""
    """What followed the dash: what a start is for, if the payload does not say it."""

    @property
    def default_moment(self) -> Moment | Literal[""]:
        """For events that begin something, what for, as far as the name tells."""
        if self.kind == "start":
            return STARTS.get(self.matched, "startup")
        return "prompt" if self.kind == "prompt" else ""

    def told(self, payload: Mapping[str, object], turn_keys: Sequence[str], locator: str) -> Event:
        """The event, of a payload in the form that hooks have in common.

        ``turn_keys``: fields that tell two events of one kind and time apart, the finest first.
        """
        session_id = text_of(payload, "session_id")
        moment = self.default_moment
        if self.kind == "start":
            moment = STARTS.get(text_of(payload, "source")) or moment
        turn = next(filter(None, (text_of(payload, key) for key in turn_keys)), "")
        return Event(
            id=f"{self.at_ms:015d}-{self.host}-{session_id}-{self.event}-{turn}".rstrip("-"),
            host=self.host,
            kind=self.kind,
            session=Session(
                host=self.host,
                id=session_id,
                locator=locator,
                cwd=text_of(payload, "cwd"),
                updated_at_ms=self.at_ms,
                touched_at_ms=self.at_ms,
            ),
            at_ms=self.at_ms,
            moment=moment,
            prompt=text_of(payload, "prompt"),
            tool=text_of(payload, "tool_name"),
            answer=text_of(payload, "last_assistant_message") if self.kind == "stop" else "",
        )


class CommandHost:
    """What such a host is; a plugin's subclass says what differs."""

    name = ""
    title = ""
    limit_bytes = 0
    home_variable = ""
    """Environment variable that names the host's home."""
    home_folder = ""
    """The home's name in the user's home without it."""
    kinds: Mapping[str, EventKind] = MappingProxyType({})
    """Hook events → what they are; others are nothing."""
    answers: Mapping[str, Moment] = ANSWERS
    notices: frozenset[str] = frozenset()
    """Hook events after which a line for the user is shown."""
    turn_keys: tuple[str, ...] = ("tool_use_id",)
    """Payload fields that tell two events of one kind apart, the finest first."""
    hides_citations = False
    keeps_context = True
    gives_tools = False
    hook_file = ""
    """Name in the home of the JSON file that lists hooks (see ``hook_files``); empty: nothing is set up."""
    installs: Mapping[EventKind, Sequence[tuple[str, str]]] = MappingProxyType({})
    """Hooks, as event and matcher (empty: none), by the kind for which they are installed."""
    longest_s: Mapping[str, int] = MappingProxyType({})
    """Most seconds that the host lets a hook of an event run, or that its user should wait for it."""

    def tool_name(self, name: str) -> str:
        """``mcp__SERVER__TOOL``."""
        return f"mcp__{MCP_NAME}__{name}"

    def caller(
        self,
        caller: Caller,  # noqa: ARG002 - the contract's
        environ: Mapping[str, str],  # noqa: ARG002
        read: Callable[[str], bytes | None],  # noqa: ARG002
    ) -> str:
        """Not told, unless a subclass knows where."""
        return ""

    def homes(self, environ: Mapping[str, str]) -> Sequence[str]:
        """The one home."""
        return home_in(environ, self.home_variable, self.home_folder)

    def counts(self, payload: Mapping[str, object]) -> bool:
        """Whether the event is the user's own session's. In a subagent every hook carries the parent's session id."""
        return not payload.get("agent_id")

    def decode(self, event: str, payload: Mapping[str, object], at_ms: int) -> Sequence[Event]:
        """One event, or none."""
        event, _, matched = event.partition("-")
        kind = self.kinds.get(event)
        if kind is None or not text_of(payload, "session_id") or not self.counts(payload):
            return ()
        heard = Heard(self.name, event, kind, at_ms, matched)
        return (heard.told(payload, self.turn_keys, text_of(payload, "transcript_path")),)

    def encode(self, event: str, answer: Answer) -> bytes:
        """Only keys that the event's output may have; nothing at all when there is nothing to say."""
        output: dict[str, object] = {}
        event = bare(event)
        if answer.context and event in map(bare, self.answers):
            output["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": answer.context}
        if answer.notice and event in self.notices:
            output["systemMessage"] = answer.notice
        return whole_text(json.dumps(output, ensure_ascii=False)).encode() if output else b""

    def own_text(self, item: Item) -> bool:
        """Context that a hook gave; nothing else must be given the role of the system."""
        return item.tier == "context" and item.role == "system"

    def own_agent(self, session: Session) -> bool:
        """The host's memory agent, where it marks that as internal."""
        return session.kind == "internal"

    # Setting up

    def home(self, request: SetupRequest) -> str:
        """The folder that holds the host's settings: the one that the plugin's table names, else the one in use.

        Raises Refused when there is none.
        """
        chosen = request.settings.get("home") or next(iter(self.homes(request.environ)), "")
        if not isinstance(chosen, str) or not os.path.isabs(chosen):
            raise Refused(f"{self.title} has no home folder: neither {self.home_variable} nor HOME is an absolute path")
        return os.path.normpath(chosen)

    def hook_path(self, request: SetupRequest) -> str:
        """The file that lists hooks."""
        return os.path.join(self.home(request), self.hook_file)

    def wanted_hooks(self, request: SetupRequest) -> Sequence[WantedHook]:
        """The entries that the request comes to, in the order of :attr:`installs`."""
        return [
            WantedHook(event, matcher, request.command(hook_name(event, matcher)), self.timeout_s(event, wait_s))
            for kind, hooks in self.installs.items()
            if (wait_s := request.kinds.get(kind)) is not None
            for event, matcher in hooks
        ]

    def timeout_s(self, event: str, wait_s: float) -> int:
        """Seconds after which the host gives our hook up: long enough for its wait, short enough for a stuck disk."""
        longest = self.longest_s.get(event, 0)
        needed = max(HOOK_S, math.ceil(wait_s) + SPARE_S)
        return min(needed, longest) if longest else needed

    def plan(self, request: SetupRequest) -> Sequence[Edit]:
        """The file of hooks. A subclass adds its own files."""
        if not self.hook_file:
            return ()
        path = self.hook_path(request)
        before, wanted = request.read(path), self.wanted_hooks(request)
        after = with_hooks(path, before, wanted)
        if after == before:
            return ()
        summary = f"{len(wanted)} hooks" if wanted else "codexmem's hooks go"
        return (Edit(path=path, before=before, after=after, summary=summary),)

    def installed(self, request: SetupRequest) -> Sequence[InstalledHook]:
        """Entries in the file of hooks. A subclass adds what its own files say."""
        if not self.hook_file:
            return ()
        path = self.hook_path(request)
        return [
            InstalledHook(event=entry.name, path=path, command=entry.command, problem=self.trouble(entry, request))
            for entry in entries(path, request.read(path))
            if entry.ours
        ]

    def trouble(self, entry: HookEntry, request: SetupRequest) -> str:
        """Why the host would not do with the entry what is meant."""
        timeout, kind = entry.hook.get("timeout"), self.kinds.get(entry.place.event)
        needed = self.timeout_s(entry.place.event, request.kinds.get(kind, 0.0) if kind else 0.0)
        if not isinstance(timeout, int) or timeout < needed:
            return f"its timeout is {timeout or 'not set'}, {needed} s are needed"
        return "it is asynchronous, so it may never run" if entry.hook.get("async") else ""
