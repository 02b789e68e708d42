"""A seeded memory folder, and the few edits that a day makes to it."""

from __future__ import annotations

import os
from random import Random
from typing import TYPE_CHECKING

from codexmem_bench.words import SENTENCES_CJK, WORDS

if TYPE_CHECKING:
    from pathlib import Path

FILE_BYTES = 1_900
HANDBOOK_PAGES = 20
SKILL_EVERY = 200
NEW_FILES = 2


class MemoryFiles:
    """Writes the same folder for the same seed."""

    def __init__(self, root: Path, *, files: int, seed: int) -> None:
        self.root = root
        self._random = random = Random(seed)
        self._rare = ["".join(random.choices("bcdfghjklmnpqrstvwxz", k=6)) for _ in range(4_000)]
        self._put("MEMORY.md", "".join(self._page(number) for number in range(HANDBOOK_PAGES)))
        self._put("memory_summary.md", "v1\n" + self._page(0))
        self.names = [self._name(number) for number in range(files - 2)]
        for number, name in enumerate(self.names):
            self._put(name, self._page(number))

    def edit(self, count: int) -> set[tuple[str, str]]:
        """Change so many files: two are new, one is deleted, one keeps its size. Status and path of each."""
        deleted, same_size, *grown = self._random.sample(self.names, count - NEW_FILES)
        changes = {("D", deleted), ("M", same_size)}
        (self.root / deleted).unlink()
        content = (self.root / same_size).read_bytes()
        (self.root / same_size).write_bytes(content.replace(b"user", b"USER", 1))
        for name in grown:
            with (self.root / name).open("a", encoding="utf-8") as file:
                file.write(self._sentence() + self._sentence())
            changes.add(("M", name))
        for number in range(NEW_FILES):
            name = f"rollout_summaries/2026-12-01T00-00-0{number}-new{number}.md"
            self._put(name, self._page(number))
            changes.add(("A", name))
        return changes

    def _name(self, number: int) -> str:
        if number % SKILL_EVERY == 0:
            return f"skills/skill-{number}/SKILL.md"
        time = f"2026-{1 + number % 12:02d}-{1 + number % 28:02d}T{number % 24:02d}-{number // 24 % 60:02d}-00"
        return f"rollout_summaries/{time}-{'_'.join(self._random.choices(WORDS, k=3))}_{number}.md"

    def _page(self, number: int) -> str:
        head = f"session_id: {number:08x}\ncwd: /home/user/proj{number % 12}\n\n# {self._random.choice(WORDS)}\n\n"
        lines, length = [head], 0
        while length < FILE_BYTES:
            lines.append(self._sentence())
            length += len(lines[-1].encode())
        return "".join(lines)

    def _sentence(self) -> str:
        words = self._random.choices(WORDS, k=self._random.randint(5, 14))
        words.append(self._random.choice(self._rare))
        if self._random.random() < 0.05:  # noqa: PLR2004 - a share
            words.append(self._random.choice(SENTENCES_CJK))
        return f"- The user {' '.join(words)}.\n"

    def _put(self, name: str, text: str) -> None:
        path = self.root / name
        os.makedirs(path.parent, exist_ok=True)
        path.write_text(text, encoding="utf-8")
