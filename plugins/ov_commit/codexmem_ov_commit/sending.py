"""Turns to the server in their order: at most 100 at once, one by one where it does not know batches.

The caller is told after every piece that the server has for sure, so that a cursor moves with it. Trying again is the
caller's: the transcript and the cursor own it, nothing is queued as well.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codexmem_ov_commit.server import Answer, Server

BATCH = 100
"""Most messages of one request (server 0.5.2 refuses 101)."""
NO_BATCHES = frozenset({404, 405})
"""The server knows no batches: they go one by one."""
REFUSED = frozenset({400, 413, 422})
"""The message itself is refused, and would be again."""

Message = dict[str, object]


class Sender:
    """Sends the messages of one session."""

    def __init__(self, server: Server, name: str, refused: Callable[[Message, Answer], None]) -> None:
        """``refused`` gets what the server will never take."""
        self._server = server
        self._name = name
        self._refused = refused
        self._knows_batches = True

    def send(self, messages: Sequence[Message], sent: Callable[[int], None]) -> Answer | None:
        """Send all of them; the answer because of which the rest was not sent, or None.

        ``sent`` hears how many more are done: those that the server has, and those that were set aside.
        """
        for start in range(0, len(messages), BATCH):
            failure = self._batch(messages[start : start + BATCH], sent)
            if failure is not None:
                return failure
        return None

    def _batch(self, messages: Sequence[Message], sent: Callable[[int], None]) -> Answer | None:
        if not self._knows_batches:
            return self._singly(messages, sent)
        answer = self._server.send(self._name, list(messages))
        if not answer.ok and answer.status in NO_BATCHES | REFUSED:
            # A refused message is no reason to send those after its batch singly as well.
            self._knows_batches = answer.status not in NO_BATCHES
            return self._singly(messages, sent)
        stored = _stored(answer, len(messages)) if answer.ok else 0
        if stored:
            sent(stored)
        if answer.ok and stored < len(messages):
            return replace(answer, ok=False, error=f"the server stored {stored} of {len(messages)} messages")
        return None if answer.ok else answer

    def _singly(self, messages: Sequence[Message], sent: Callable[[int], None]) -> Answer | None:
        for message in messages:
            answer = self._server.send_one(self._name, message)
            if not answer.ok and answer.status not in REFUSED:
                return answer
            if not answer.ok:
                self._refused(message, answer)
            sent(1)
        return None


def _stored(answer: Answer, wanted: int) -> int:
    """How many of a batch a success is good for, the first ones; none when it does not say (OpenViking issue 4850)."""
    if answer.field("added") is None:
        return wanted if answer.number("message_count") >= wanted else 0
    return max(0, min(wanted, answer.number("added")))
