"""Messages that a server refused for good: kept where the user can look at them, counted in ``status``."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from codexmem_hookspecs.services import Folder

    from codexmem_ov_commit.sending import Message
    from codexmem_ov_commit.server import Answer

FOLDER = "pending/rejected"


class Rejected:
    """Below the plugin's own folder."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def keep(self, name: str, message: Message, answer: Answer) -> None:
        """Write a message down with what the server said; the same one again changes nothing. Raises OSError."""
        entry = {"session": name, "message": message, "status": answer.status, "error": answer.error}
        text = json.dumps(entry, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace")
        self._folder.write(f"{FOLDER}/{hashlib.sha256(text).hexdigest()[:32]}.json", text)

    def paths(self) -> list[str]:
        """What is kept, sorted."""
        try:
            return sorted(found.path for found in self._folder.scan(FOLDER))
        except FileNotFoundError:
            return []

    def forget(self, name: str) -> int:
        """Remove a session's; returns how many."""
        return self._remove(lambda entry: entry.get("session") == name)

    def forget_text(self, text: str) -> int:
        """Remove those in which a text stands; returns how many."""
        return self._remove(lambda entry: stands_in(text, entry))

    def _remove(self, unwanted: Callable[[dict[str, object]], bool]) -> int:
        removed = 0
        for path in self.paths():
            try:
                entry = json.loads(self._folder.read(path))
            except (OSError, ValueError):
                continue
            if isinstance(entry, dict) and unwanted(entry):
                removed += self._folder.remove(path)
        return removed


def stands_in(text: str, value: object) -> bool:
    """Whether a text stands in JSON, in any of its strings."""
    if isinstance(value, str):
        return text in value
    if isinstance(value, dict):
        return any(stands_in(text, one) for pair in value.items() for one in pair)
    return isinstance(value, list) and any(stands_in(text, one) for one in value)
