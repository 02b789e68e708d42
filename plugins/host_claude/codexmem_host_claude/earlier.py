"""What a reading must know about lines that it does not give: those before the position it starts from.

A tail read must give the same items as a full one. Two things reach back: a line that stands in the file twice, and a
question that a user answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs.json_lines import NotUnderstood, content_before, lines_before, milliseconds, newest

from codexmem_host_claude import records
from codexmem_host_claude.items import CALLS, QUESTION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codexmem_hookspecs.services import Folder

    from codexmem_host_claude.records import Record

NEAR = 262_144
"""Bytes before the position in which the time of the last line is looked for."""
NEVER_MS = 1 << 62


def fingerprint(uuid: str) -> int:
    """60 random bits of a line's id: a set of them costs less than half of a set of texts."""
    try:
        return int(uuid.replace("-", "")[:15], 16)
    except ValueError:
        return hash(uuid)


class Earlier:
    """Looks back from one position of one transcript."""

    def __init__(self, folder: Folder, name: str, after: int, now_ms: int) -> None:
        self._folder = folder
        self._name = name
        self._after = after
        self._now_ms = now_ms
        self._seen: set[int] = set()
        self._looked_back = not after
        self._newest_before_ms: int | None = None
        self._questions: dict[str, str] = {}

    def repeated(self, record: Record) -> bool:
        """Whether the line with this id was given already; resuming and forking copy lines with their ids and times.

        A copy is never newer than the newest line before it, so a tail looks back only when a line is not newer than
        what stood before the position.
        """
        if not record.uuid:
            return False
        mark = fingerprint(record.uuid)
        if not self._looked_back and milliseconds(record.timestamp, self._now_ms) <= self._newest_before():
            self._looked_back = True
            self._seen.update(fingerprint(earlier.uuid) for earlier in self._before(b'"uuid"') if earlier.uuid)
        if mark in self._seen:
            return True
        self._seen.add(mark)
        return False

    def note_questions(self, record: Record) -> None:
        """Remember the questions that an assistant's line asks."""
        if record.message is not None and isinstance(record.message.content, list):
            for block in record.message.content:
                if block.name == QUESTION and block.type in CALLS:
                    self._questions[block.id or ""] = bytes(block.input).decode(errors="replace")

    def question(self, call_id: str) -> str | None:
        """Input of the question with this id; None when no question had it.

        Only the call's own name is believed: any tool can print something that looks like a user's answer.
        """
        if call_id not in self._questions and self._after:
            for record in self._before(call_id.encode()):
                self.note_questions(record)
        return self._questions.get(call_id)

    def _newest_before(self) -> int:
        if self._newest_before_ms is None:
            before = content_before(self._folder, self._name, self._after, NEAR)
            self._newest_before_ms = newest(before, self._now_ms) or NEVER_MS
        return self._newest_before_ms

    def _before(self, needle: bytes) -> Iterator[Record]:
        for line in lines_before(self._folder, self._name, self._after, needle):
            try:
                yield records.record(line.data)
            except NotUnderstood:
                continue
