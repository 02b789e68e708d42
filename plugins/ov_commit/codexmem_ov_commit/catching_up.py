"""What the server does not have yet of a session: read from the cursor on, sent, the cursor moved with every piece.

The cursor is a position in the transcript, with the position before it and a fingerprint of the item in between. Where
that item still stands, only what comes after it is read. Where it does not, the transcript was rewritten or is another
file: then the latest words of the user and what followed them are new, unless they are older than what was sent
(OpenViking DESIGN: post-compact transcript shrink). A cursor of the original plugin is a count of turns. It counted
some that we leave out, so whatever is newer than its last sign of life is new as well.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Literal

from codexmem_hookspecs.errors import Rewritten, Unreadable

from codexmem_ov_commit.sending import BATCH, Sender
from codexmem_ov_commit.turns import turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from codexmem_hookspecs.services import Log, Transcripts
    from codexmem_hookspecs.values.capture import Item, Session

    from codexmem_ov_commit.sending import Message
    from codexmem_ov_commit.server import Answer, Server
    from codexmem_ov_commit.states import State
    from codexmem_ov_commit.turns import Rules, Turn

Outcome = Literal["nothing_new", "sent", "incomplete", "unreadable", "not_asked_for"]
"""``incomplete``: a part is still to be sent; ``not_asked_for``: keyword mode, and nobody asked."""

ANSWER_END = 200
"""Characters at the end of an answer by which it is recognised."""
PORTION_UNITS = 4_000_000
"""Characters after which a request is sent although it could hold more messages; outputs of tools are long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaughtUp:
    """What came of it."""

    state: State
    outcome: Outcome
    sent: int = 0
    answered: bool = False
    """Whether the answer that was waited for is among what was new."""
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Catcher:
    """Brings sessions of one host up to date."""

    name: str
    """The session's on the server."""
    transcripts: Transcripts
    server: Server
    rules: Rules
    peer: str
    """Whose the messages are; empty: nobody's in particular."""
    log: Log
    save: Callable[[State], State]
    """Writes the state down; called under the session's lock."""
    refused: Callable[[str, Message, Answer], None]
    """Keeps a message that the server will never take: session name, message, answer."""
    answer: str = ""
    """What the agent said last, as far as anybody told."""

    def catch_up(self, session: Session, state: State, *, only_if_asked: bool = False) -> CaughtUp:
        """Send what is new. An unreadable transcript is never an empty one. Raises OSError when saving fails."""
        locator = session.locator or state.transcript
        if not locator:  # a session of which its host keeps nothing
            return CaughtUp(state=state, outcome="nothing_new")
        session, state = replace(session, locator=locator), replace(state, transcript=locator)
        sending = _Sending(self, state)
        try:
            if only_if_asked and not self._is_asked_for(session, state):
                return CaughtUp(state=state, outcome="not_asked_for")
            return sending.all(self._new(session, state))
        except Unreadable as error:
            self.log.warning("transcript_unreadable", session=self.name, reason=str(error))
            return CaughtUp(state=sending.state, outcome="unreadable", sent=sending.done, error=str(error))

    def _is_asked_for(self, session: Session, state: State) -> bool:
        """Whether a keyword stands in what is new; what is nothing needs none."""
        asked = [step.turn.asks_to_be_kept for step in self._new(session, state) if step.turn is not None]
        return any(asked) or not asked

    def _new(self, session: Session, state: State) -> Iterator[_Step]:
        """What is new, read as it is asked for: a transcript may be longer than what fits into memory."""
        if state.position >= 0:
            try:
                steps = _after(self._steps(self.transcripts.tail(session, state.anchor), state.anchor), state)
                first = list(islice(steps, 1))
            except (Rewritten, _Moved):
                self.log.info("transcript rewritten", session=session.id)
            else:
                return chain(first, steps)
        whole = self._steps(self.transcripts.tail(session, 0), 0)
        return iter(_by_count(list(whole), state)) if state.captured else whole

    def _steps(self, items: Iterable[Item], before: int) -> Iterator[_Step]:
        read: list[Item] = []

        def remembered() -> Iterator[Item]:
            for item in items:
                read.append(item)
                yield item

        position, nth = -1, 0
        for at, turn in turns(remembered(), self.rules):
            if at != position:
                before, position, nth = (before if position < 0 else position), at, 0
            nth += 1
            item = read.pop()
            yield _Step(
                before=before,
                position=at,
                nth=nth,
                at_ms=item.at_ms,
                fingerprint=_fingerprint(item),
                turn=turn,
                answers=bool(self.answer) and _is_answer(item, self.answer),
            )


@dataclass(frozen=True, slots=True)
class _Step:
    """One item of a transcript on the way to the server."""

    before: int
    """The position before its own."""
    position: int
    nth: int
    """Which of the items at its position it is, from 1."""
    at_ms: int
    fingerprint: str
    turn: Turn | None
    answers: bool

    @property
    def human(self) -> bool:
        """Whether the user says it."""
        return self.turn is not None and self.turn.human


class _Sending:
    """What is new on its way, in portions; knows how far it came."""

    def __init__(self, catcher: Catcher, state: State) -> None:
        self._catcher = catcher
        self.state = state
        self.done = 0
        self.answered = False
        self._sender = Sender(catcher.server, catcher.name, self._refused)

    def all(self, steps: Iterator[_Step]) -> CaughtUp:
        """Send them. Raises Unreadable where reading on fails."""
        last = None
        while portion := list(_portion(steps)):
            last = portion[-1]
            self.answered = self.answered or any(step.answers for step in portion)
            if (failure := self._send([step for step in portion if step.turn is not None])) is not None:
                self._catcher.log.warning("turns not sent", session=self._catcher.name, reason=failure.error)
                return CaughtUp(state=self.state, outcome="incomplete", sent=self.done, error=failure.error)
        if last is not None:
            self.state = _moved(self.state, last, 0)
        outcome: Outcome = "sent" if self.done else "nothing_new"
        return CaughtUp(state=self.state, outcome=outcome, sent=self.done, answered=self.answered)

    def _send(self, wanted: Sequence[_Step]) -> Answer | None:
        left = list(wanted)
        if left and not self.state.may_be_on_server:
            # The answer may be lost, and then nothing else tells that the server has it.
            self.state = self._catcher.save(replace(self.state, tried=True))

        def sent(count: int) -> None:
            step = left[count - 1]
            del left[:count]
            self.done += count
            self.state = self._catcher.save(_moved(replace(self.state, live=True), step, count))

        return self._sender.send([step.turn.message(self._catcher.peer) for step in wanted if step.turn], sent)

    def _refused(self, message: Message, answer: Answer) -> None:
        self._catcher.refused(self._catcher.name, message, answer)


def _portion(steps: Iterator[_Step]) -> Iterator[_Step]:
    """As much as goes into one request, with what is passed over in between."""
    turns_, units = 0, 0
    for step in steps:
        yield step
        if step.turn is not None:
            turns_, units = turns_ + 1, units + step.turn.units
        if turns_ >= BATCH or units >= PORTION_UNITS:
            return


class _Moved(Exception):  # noqa: N818 - a state that is handled here
    """The item at the cursor is another one."""


def _after(steps: Iterator[_Step], state: State) -> Iterator[_Step]:
    for step in steps:
        if step.position != state.position or step.nth > state.nth:
            break
        if step.nth == state.nth and step.fingerprint == state.fingerprint:
            yield from steps
            return
    raise _Moved


def _by_count(steps: list[_Step], state: State) -> list[_Step]:
    """What is new where the cursor does not lead: by the number of turns, and by what is newer than the last save."""
    if state.captured == 0:
        return steps
    newer = next((index for index, step in enumerate(steps) if step.at_ms > state.sent_until_ms), len(steps))
    sent = [index for index, step in enumerate(steps) if step.turn is not None]
    if state.position < 0 and state.captured <= len(sent):
        return steps[min(newer, sent[state.captured - 1] + 1) :]
    human = next((index for index in reversed(range(len(steps))) if steps[index].human), -1)
    if human < 0:
        return steps  # sending it all again is better than losing the interaction (OpenViking DESIGN)
    if 0 < steps[human].at_ms <= state.sent_until_ms:
        return steps[newer:]
    return steps[human:]


def _moved(state: State, step: _Step, count: int) -> State:
    return replace(
        state,
        captured=state.captured + count,
        sent_until_ms=max(state.sent_until_ms, step.at_ms),
        anchor=step.before,
        position=step.position,
        nth=step.nth,
        fingerprint=step.fingerprint,
    )


def _is_answer(item: Item, answer: str) -> bool:
    """By its end, as far as it was told: a host may tell several blocks at once, and we take our own out of a text."""
    if item.role != "assistant" or item.tool is not None or item.aside:
        return False
    told, said = " ".join(answer.split()), " ".join(item.text.split())
    return bool(said) and (told[-ANSWER_END:] in said or said[-ANSWER_END:] in told)


def _fingerprint(item: Item) -> str:
    """Of what was said and where; not of its time, which a clock that was wrong changes, nor of what we make of it."""
    tool = item.tool.id if item.tool is not None else ""
    facts = f"{item.position}\0{item.role}\0{tool}\0{item.text}"
    return hashlib.sha256(facts.encode("utf-8", "replace")).hexdigest()[:32]
