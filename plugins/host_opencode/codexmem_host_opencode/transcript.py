"""A session as a stream of items. Messages only ever come after those that are there, and so do pieces of a message."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from codexmem_hookspecs.errors import Rewritten, Unreadable
from codexmem_hookspecs.json_lines import EARLIEST_MS, NotUnderstood, Place
from codexmem_hookspecs.values.capture import Skipped

from codexmem_host_opencode import records
from codexmem_host_opencode.items import at_work, items
from codexmem_host_opencode.reach import Reach

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from codexmem_hookspecs.services import Services
    from codexmem_hookspecs.values.capture import Item, Session

    from codexmem_host_opencode.records import Conversation

PIECES = 1_000
"""Room between the positions of two messages of one millisecond after the other, for the pieces of the first."""


class Piece(NamedTuple):
    """One piece of a message, or why there is none."""

    position: int
    info: records.MessageInfo | None = None
    part: records.Part | None = None
    problem: str = ""


def read(session: Session, after: int, services: Services) -> Iterator[Item | Skipped]:
    """Items past a position. Raises Unreadable when nothing gives the session now, Rewritten."""
    return entries(Reach(services).conversation(session.id), session, after, services.clock.now_ms())


def entries(conversation: Conversation, session: Session, after: int, now_ms: int) -> Iterator[Item | Skipped]:
    """The same of one that was given. Raises Unreadable when there are messages and none is understood."""
    found = list(pieces(conversation))
    if found and not any(piece.info for piece in found):
        raise Unreadable(f"0 of {len(conversation.messages)} messages understood in OpenCode's session {session.id}")
    if after and after not in {piece.position for piece in found}:
        raise Rewritten(f"OpenCode's session {session.id} has nothing at {after} any more")
    return (entry for piece in found if piece.position > after for entry in _entries(piece, session, now_ms))


def pieces(conversation: Conversation) -> Iterator[Piece]:
    """Every piece with its position, up to one that the user took back or that is still being made.

    A position is the message's time in microseconds, with the piece's number added: no clock that is set back and no
    number of pieces lets it decrease. What is older than the session came with a fork and belongs to another one.
    """
    position, last = 0, len(conversation.messages) - 1
    revert = conversation.info.revert or records.Revert()
    for number, given in enumerate(conversation.messages):
        try:
            message = records.understood(given, records.Message)
        except NotUnderstood as problem:
            position += 1
            yield Piece(position, problem=str(problem))
            continue
        if message.info.id == revert.messageID and not revert.partID:
            return
        position = max(position, int(message.info.time.created) * PIECES)
        if message.info.time.created < conversation.info.time.created:
            continue
        spoken = message.info.role != "assistant" or message.info.time.completed
        for raw in message.parts:
            position += 1
            try:
                part = records.understood(raw, records.Part)
            except NotUnderstood as problem:
                yield Piece(position, message.info, problem=str(problem))
                continue
            if (part.id and part.id == revert.partID) or (number == last and not spoken and at_work(part)):
                return
            yield Piece(position, message.info, part)


def _entries(piece: Piece, session: Session, now_ms: int) -> Iterable[Item | Skipped]:
    if piece.info is None or piece.part is None:
        return [Skipped(position=piece.position, reason=piece.problem)]
    at_ms = int(piece.info.time.created)
    cwd = piece.info.path.cwd if piece.info.path is not None else ""
    place = Place(piece.position, at_ms if EARLIEST_MS <= at_ms <= now_ms else 0, "" if cwd == session.cwd else cwd)
    return items(piece.part, piece.info, place)
