"""Files of JSON that list hooks as Codex CLI and Claude Code do. For plugins to use.

``{"hooks": {EVENT: [{"matcher": …, "hooks": [{"type": "command", "command": …, "timeout": seconds}]}]}}``, beside which
the file may hold anything else. An entry is ours when its command names :data:`SHIM`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.json_text import NotJson, parsed, with_value, without
from codexmem_hookspecs.values.setup import SHIM

EMPTY = "{}\n"


class HookPlace(NamedTuple):
    """Where an entry stands: the event's list, the group in it, the entry in the group's list."""

    event: str
    group: int
    position: int

    @property
    def path(self) -> tuple[str, str, int, str, int]:
        """From the file's root."""
        return "hooks", self.event, self.group, "hooks", self.position


class HookEntry(NamedTuple):
    """One hook of a file."""

    place: HookPlace
    group: Mapping[str, object]
    hook: Mapping[str, object]

    @property
    def matcher(self) -> str:
        """Of the group; empty: none."""
        matcher = self.group.get("matcher")
        return matcher if isinstance(matcher, str) else ""

    @property
    def command(self) -> str:
        """What runs."""
        command = self.hook.get("command")
        return command if isinstance(command, str) else ""

    @property
    def ours(self) -> bool:
        """Whether we installed it, in whatever version."""
        return SHIM in self.command

    @property
    def name(self) -> str:
        """See :func:`hook_name`."""
        return hook_name(self.place.event, self.matcher)


class WantedHook(NamedTuple):
    """One hook that shall stand in a file."""

    event: str
    matcher: str
    command: str
    timeout_s: int

    @property
    def hook(self) -> dict[str, object]:
        """As it is written."""
        return {"type": "command", "command": self.command, "timeout": self.timeout_s}

    @property
    def group(self) -> dict[str, object]:
        """A group of its own for it."""
        return {**({"matcher": self.matcher} if self.matcher else {}), "hooks": [self.hook]}


def hook_name(event: str, matcher: str) -> str:
    """What a hook is called in its command: the event, with the matcher after a dash where there is one."""
    return f"{event}-{matcher}" if matcher else event


def document(path: str, content: bytes | None) -> Mapping[str, object]:
    """The file's object; empty where there is no file. Raises Refused for anything else."""
    try:
        value = parsed(text_of_file(path, content)).value
    except NotJson as error:
        raise Refused(f"{path} is not changed: it is no plain JSON ({error})") from None
    if not isinstance(value, dict):
        raise Refused(f"{path} is not changed: it holds no object")
    return value


def entries(path: str, content: bytes | None) -> list[HookEntry]:
    """Every hook of the file, in its order. Raises Refused for a file that is laid out otherwise."""
    return list(_entries(path, document(path, content)))


def with_hooks(path: str, content: bytes | None, wanted: Sequence[WantedHook]) -> bytes | None:
    """The file with exactly these hooks of ours; None when it is not needed any more. Raises Refused.

    One that stands there keeps its place, a new one comes after those of others, the rest of ours goes.
    """
    missing = {(hook.event, hook.matcher): hook for hook in wanted}
    going: list[HookPlace] = []
    text = before = text_of_file(path, content)
    for entry in entries(path, content):
        if entry.ours:
            hook = missing.pop((entry.place.event, entry.matcher), None)
            if hook is None:
                going.append(entry.place)
            elif entry.hook != hook.hook:
                text = with_value(text, entry.place.path, hook.hook)
    for place in reversed(going):
        text = _taken_out(text, place)
    for hook in wanted:
        if (hook.event, hook.matcher) in missing:
            text = with_value(text, ("hooks", hook.event, _length(text, ("hooks", hook.event))), hook.group)
    return content if text == before else written(text)


def written(text: str) -> bytes | None:
    """JSON text as a file; None when it says nothing, so that no file is needed."""
    return None if text.strip() == EMPTY.strip() else text.encode()


def text_of_file(path: str, content: bytes | None) -> str:
    """The file as text, an empty object where there is none. Raises Refused."""
    try:
        return EMPTY if content is None or not content.strip() else content.decode()
    except UnicodeDecodeError as error:
        raise Refused(f"{path} is not changed: it is no UTF-8 text ({error.reason} at byte {error.start})") from None


def _entries(path: str, said: Mapping[str, object]) -> Iterator[HookEntry]:
    for event, groups in _mapping(path, "hooks", said.get("hooks", {})).items():
        for number, given in enumerate(_list(path, f"hooks.{event}", groups)):
            name = f"hooks.{event}[{number}]"
            group = _mapping(path, name, given)
            for index, hook in enumerate(_list(path, f"{name}.hooks", group.get("hooks", []))):
                place = HookPlace(event, number, index)
                yield HookEntry(place, group, _mapping(path, f"{name}.hooks[{index}]", hook))


def _mapping(path: str, name: str, value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise Refused(f"{path} is not changed: {name} is no object")
    return value


def _list(path: str, name: str, value: object) -> Sequence[object]:
    if not isinstance(value, list):
        raise Refused(f"{path} is not changed: {name} is no list")
    return value


def _taken_out(text: str, place: HookPlace) -> str:
    """Without the entry, and without what then holds nothing: its group, the event's list, all hooks."""
    path = place.path
    text = without(text, path)
    for emptied, holder in ((path[:4], path[:3]), (path[:2], path[:2]), (path[:1], path[:1])):
        if _length(text, emptied):
            break
        text = without(text, holder)
    return text


def _length(text: str, path: Sequence[str | int]) -> int:
    """How much the list or object at the path holds; 0 where there is none."""
    node = parsed(text)
    for key in path:
        child = node.child(key)
        if child is None:
            return 0
        node = child
    return len(node.children)
