"""A transcript as a stream of items: every line is read once, and a bad one stops nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused, Unreadable
from codexmem_hookspecs.json_lines import NotUnderstood, Place, milliseconds
from codexmem_hookspecs.values.capture import Skipped

from codexmem_host_claude import records
from codexmem_host_claude.earlier import Earlier
from codexmem_host_claude.items import items

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from codexmem_hookspecs.services import Folder, Services
    from codexmem_hookspecs.values.capture import Item, Line, Session


def read(session: Session, after: int, services: Services) -> Iterator[Item | Skipped]:
    """Items past a byte. Raises Unreadable, also when not one line of the file is a line of Claude Code."""
    folder, name = open_transcript(session.locator, services)
    return Reading(folder, name, session, after, services.clock.now_ms()).entries()


def open_transcript(locator: str, services: Services) -> tuple[Folder, str]:
    """The folder and the file's name in it. Raises Unreadable when there is no file."""
    if not locator:
        raise Unreadable("the session has no transcript file")
    name = os.path.basename(locator)
    try:
        folder = services.open_folder(os.path.dirname(locator))
        folder.stat(name)
    except (OSError, Refused) as error:
        raise Unreadable(f"{locator} is not there: {error}") from error
    return folder, name


class Reading:
    """One pass over one transcript."""

    def __init__(self, folder: Folder, name: str, session: Session, after: int, now_ms: int) -> None:
        self._folder = folder
        self._name = name
        self._session = session
        self._after = after
        self._now_ms = now_ms
        self._earlier = Earlier(folder, name, after, now_ms)

    def entries(self) -> Iterator[Item | Skipped]:
        """All items, and what was skipped. Raises Unreadable at the end when nothing was understood."""
        lines = understood = 0
        for line in self._folder.lines(self._name, self._after):
            if not line.problem and (not line.data or line.data.isspace()):
                continue
            lines += 1
            try:
                found = self._items(line)
                if found is not None:
                    understood += 1
                    yield from found
            except NotUnderstood as problem:
                number = 0 if self._after else line.number
                yield Skipped(position=line.end, reason=str(problem), line=number)
        if lines and not understood and not self._after:
            raise Unreadable(f"0 of {lines} lines understood in {self._name}: not a transcript that we know")

    def _items(self, line: Line) -> Iterable[Item] | None:
        """What a line says; None when it is of no known type. Raises NotUnderstood."""
        if line.problem:
            raise NotUnderstood(line.problem)
        record = records.record(line.data)
        if record.type not in records.KNOWN:
            return None
        if record.type not in records.SAID or self._inherited(record) or self._earlier.repeated(record):
            return ()
        if record.type == "assistant":
            self._earlier.note_questions(record)
        cwd = "" if record.cwd in {None, self._session.cwd} else record.cwd or ""
        place = Place(line.end, milliseconds(record.timestamp, self._now_ms), cwd)
        aside = bool(record.is_sidechain) and self._session.kind == "main"
        found = items(record, place, self._earlier.question, aside=aside)
        return [item._replace(aside=True) for item in found] if aside else found

    def _inherited(self, record: records.Record) -> bool:
        """Whether a fork copied this line from its parent, to whom it belongs."""
        if record.forked_from:
            return True
        if not self._session.forked_from:
            return False
        return record.session_id == self._session.forked_from != self._session.id
