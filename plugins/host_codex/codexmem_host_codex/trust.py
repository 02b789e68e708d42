"""Codex's trust in hooks: what it keeps about each one in config.toml (Codex 0.171).

``[hooks.state."<file>:<event>:<group>:<index>"]`` holds ``trusted_hash``, a digest of what the hook does. A hook whose
digest is another one, or whose place in the file is, is not run: ``codex exec`` passes over it in silence.
"""

from __future__ import annotations

import hashlib
import json
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from codexmem_hookspecs.toml_text import read, renamed, value_at, with_table, without_tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codexmem_hookspecs.hook_files import HookEntry, HookPlace

STATE = ("hooks", "state")
HASH = "trusted_hash"
DEFAULT_S = 600
SHORT_S: Mapping[str, tuple[int, int]] = MappingProxyType({"SessionEnd": (1, 3), "Interrupt": (1, 3)})
"""Default and longest timeout of events that have others than the rest."""
WITHOUT_MATCHER = frozenset({"Stop", "UserPromptSubmit", "Interrupt"})
WITH_CONTEXT = frozenset({"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart"})
"""Events whose hooks may say how much context they give."""


def snake(event: str) -> str:
    """An event's name as Codex writes it in keys."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()


def state_key(file: str, place: HookPlace) -> str:
    """Under which a hook's state is kept."""
    return f"{file}:{snake(place.event)}:{place.group}:{place.position}"


def trusted_hash(entry: HookEntry) -> str:
    """The digest of what a hook does, with the timeout that Codex gives it in the end."""
    event, hook = entry.place.event, entry.hook
    default, longest = SHORT_S.get(event, (DEFAULT_S, 0))
    timeout = hook.get("timeout")
    seconds = max(1, timeout) if isinstance(timeout, int) else default
    handler = {
        "type": "command",
        "command": entry.command,
        "timeout": min(seconds, longest) if longest else seconds,
        "async": bool(hook.get("async", False)),
    }
    handler |= {key: hook[key] for key in ("statusMessage",) if hook.get(key) is not None}
    if event in WITH_CONTEXT:
        handler |= {key: hook[key] for key in ("additionalContextLimit",) if hook.get(key) is not None}
    identity: dict[str, object] = {"event_name": snake(event), "hooks": [handler]}
    if entry.group.get("matcher") is not None and event not in WITHOUT_MATCHER:
        identity["matcher"] = entry.group["matcher"]
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode(errors="replace")).hexdigest()


class TrustBook(NamedTuple):
    """The trust that config.toml keeps about one file of hooks, under each name by which Codex may know that file."""

    names: tuple[str, ...]

    def states(self, document: Mapping[str, object], entry: HookEntry) -> list[Mapping[str, object]]:
        """What is kept about a hook; empty where nothing is."""
        kept = value_at(document, STATE)
        found = [value_at(kept, [state_key(name, entry.place)]) for name in self.names]
        return [state if isinstance(state, dict) else {} for state in found]

    def trusts(self, document: Mapping[str, object], entry: HookEntry) -> bool:
        """Whether Codex runs the hook, whatever name it has for the file."""
        digest = trusted_hash(entry)
        return all(state.get(HASH) == digest for state in self.states(document, entry))

    def renewed(self, text: str, before: Sequence[HookEntry], after: Sequence[HookEntry]) -> str:
        """The settings, once the file's hooks are ``after`` and not ``before`` any more.

        Ours are trusted where they stand. Those of others that were trusted are so in their new places. Raises
        OtherFormError.
        """
        for name in self.names:
            text = self._without_stale(text, name, before, after)
            text = self._with_others_moved(text, name, before, after)
            for entry in after:
                key, digest = state_key(name, entry.place), trusted_hash(entry)
                if entry.ours and kept(text).get(key) != digest:
                    text = with_table(text, (*STATE, key), {HASH: digest})
        return text

    def _without_stale(self, text: str, name: str, before: Sequence[HookEntry], after: Sequence[HookEntry]) -> str:
        """Nothing is kept about places where ours stood, nor elsewhere about what ours do."""
        wanted = {state_key(name, entry.place) for entry in after if entry.ours}
        places = {state_key(name, entry.place) for entry in before if entry.ours}
        digests = {trusted_hash(entry) for entry in (*before, *after) if entry.ours}
        for key, digest in kept(text).items():
            mine = key in places or (digest in digests and key.startswith(f"{name}:"))
            if mine and key not in wanted:
                text = without_tables(text, (*STATE, key))
        return text

    def _with_others_moved(self, text: str, name: str, before: Sequence[HookEntry], after: Sequence[HookEntry]) -> str:
        others = zip(_of_others(before), _of_others(after), strict=True)
        for old, new in others:
            old_key, new_key = state_key(name, old.place), state_key(name, new.place)
            if old_key != new_key and kept(text).get(old_key) == trusted_hash(old):
                if new_key in kept(text):  # about what stood there before
                    text = without_tables(text, (*STATE, new_key))
                text = renamed(text, (*STATE, old_key), (*STATE, new_key))
        return text


def kept(text: str) -> dict[str, str]:
    """The digests in the settings by their keys; empty where something else is kept, such as that a hook is off."""
    state = value_at(read(text), STATE)
    found = {key: value_at(value, [HASH]) for key, value in state.items()} if isinstance(state, dict) else {}
    return {key: digest if isinstance(digest, str) else "" for key, digest in found.items()}


def _of_others(entries: Sequence[HookEntry]) -> list[HookEntry]:
    """In their order, which no change of ours touches."""
    return [entry for entry in entries if not entry.ours]
