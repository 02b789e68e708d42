"""Finds plain text in files, line by line. No regular expressions: a pattern can cost no more than its length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SHOWN_CHARS = 300
"""Of a line; the text that was looked for stands in it."""
_BEFORE = 80


@dataclass(frozen=True, slots=True)
class Wanted:
    """Texts of which a line must hold one."""

    texts: Sequence[str]
    ignore_case: bool = False

    def may_be_in(self, text: str) -> bool:
        """Whether it is worth looking line by line."""
        text = text.lower() if self.ignore_case else text
        return any(self._plain(wanted) in text for wanted in self.texts)

    def lines(self, text: str) -> Iterator[tuple[int, str]]:
        """Numbers, from 1, and the lines themselves, long ones cut around the place."""
        for number, line in enumerate(text.split("\n"), 1):
            looked_at = line.lower() if self.ignore_case else line
            places = [at for at in (looked_at.find(self._plain(wanted)) for wanted in self.texts) if at >= 0]
            if places:
                yield number, _around(line.rstrip("\r"), min(places))

    def _plain(self, wanted: str) -> str:
        return wanted.lower() if self.ignore_case else wanted


def _around(line: str, at: int) -> str:
    if len(line) <= SHOWN_CHARS:
        return line
    start = max(0, min(at - _BEFORE, len(line) - SHOWN_CHARS))
    end = start + SHOWN_CHARS
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")
