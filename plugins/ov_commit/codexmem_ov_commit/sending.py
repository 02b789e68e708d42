"""Turns to the server in their order: at most 100 at once, one by one where it does not know batches.

The caller is told after every piece that the server has for sure, so that a cursor moves with it. Trying again is the
caller's: the transcript and the cursor own it, nothing is queued as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_ov_commit.server import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codexmem_ov_commit.server import Server

BATCH = 100
"""Most messages of one request (server 0.5.2 refuses 101)."""
NO_BATCHES = frozenset({404, 405})
"""The server knows no batches: they go one by one."""
REFUSED = frozenset({400, 413, 422})
"""The message itself is refused, and would be again."""

Message = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What came of it."""

    count: int
    """Messages that the server has, or that were set aside; always the first ones."""
    refused: int = 0
    """Of them, those that it refused."""
    pending_tokens: int = 0
    failure: Answer | None = None
    """Why the rest was not sent."""


def send(
    server: Server,
    name: str,
    messages: Sequence[Message],
    *,
    sent: Callable[[int], None],
    refused: Callable[[Message, Answer], None],
) -> Sent:
    """Send all of them. ``sent`` hears how many more are done; ``refused`` gets what the server will never take."""
    done = parked = tokens = singly_until = 0
    while done < len(messages):
        one_by_one = done < singly_until
        piece = messages[done : done + (1 if one_by_one else BATCH)]
        answer = server.send_one(name, piece[0]) if one_by_one else server.send(name, list(piece))
        stored = 0 if not answer.ok else len(piece) if one_by_one else _stored(answer, len(piece))
        if stored == len(piece):
            tokens = answer.number("pending_tokens")
        elif one_by_one and answer.status in REFUSED:
            refused(piece[0], answer)
            parked += 1
        elif not one_by_one and answer.status in NO_BATCHES | REFUSED:
            # A refused message is no reason to send those after its batch singly as well.
            singly_until = len(messages) if answer.status in NO_BATCHES else done + len(piece)
            continue
        else:
            if stored:
                done += stored
                sent(stored)
            why = answer if not answer.ok else _short(answer, stored, len(piece))
            return Sent(count=done, refused=parked, pending_tokens=tokens, failure=why)
        done += len(piece)
        sent(len(piece))
    return Sent(count=done, refused=parked, pending_tokens=tokens)


def _stored(answer: Answer, wanted: int) -> int:
    """How many of a batch a success is good for, the first ones; none when it does not say (OpenViking issue 4850)."""
    if answer.field("added") is None:
        return wanted if answer.number("message_count") >= wanted else 0
    return max(0, min(wanted, answer.number("added")))


def _short(answer: Answer, stored: int, wanted: int) -> Answer:
    message = f"the server stored {stored} of {wanted} messages"
    return Answer(ok=False, status=answer.status, error=message, trace_id=answer.trace_id)
