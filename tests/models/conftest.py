"""Conversations written by hand, as a host plugin would give them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from codexmem_hookspecs.values.capture import Item, Part, Session, ToolUse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DAY_MS = 86_400_000
NOON_MS = 1_790_000_000_000


@dataclass
class Conversation:
    """A transcript that grows by what is said and done in it."""

    session: Session
    items: list[Item] = field(default_factory=list)
    fingerprint: str = "hand-written"
    skipped: Sequence[object] = ()

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    def after(self, position: int) -> Iterator[Item]:
        return (item for item in self.items if item.position > position)

    def _add(self, **values: object) -> Conversation:
        number = len(self.items) + 1
        self.items.append(
            Item(position=number * 100, at_ms=self.session.updated_at_ms - DAY_MS + number * 1000, **values)
        )
        return self

    def user(self, text: str, tier: str = "human") -> Conversation:
        return self._add(tier=tier, role="user", parts=(Part(kind="text", text=text),))

    def agent(self, text: str, tier: str = "final") -> Conversation:
        return self._add(tier=tier, role="assistant", parts=(Part(kind="text", text=text),))

    def tool(self, name: str, arguments: str, output: str = "", status: str = "completed") -> Conversation:
        number = f"call-{len(self.items)}"
        self._add(tier="tool", role="assistant", tool=ToolUse(id=number, name=name, status="started", input=arguments))
        return self._add(tier="tool", role="tool", tool=ToolUse(id=number, status=status, output=output))

    def run(self, command: str, output: str = "", *, ok: bool = True) -> Conversation:
        return self.tool("Bash", json.dumps({"command": command}), output, "completed" if ok else "failed")

    def edit(self, path: str) -> Conversation:
        return self.tool("Edit", json.dumps({"file_path": path, "old_string": "a", "new_string": "b"}), "done")


@pytest.fixture
def talk():
    def start(session: str = "s1", cwd: str = "/home/user/shop", day: int = 0, host: str = "claude") -> Conversation:
        return Conversation(Session(host=host, id=session, cwd=cwd, updated_at_ms=NOON_MS + day * DAY_MS))

    return start
