"""Tasks and failures while a session is being read."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codexmem_hookspecs.values.extract import Failure, Outcome, Source, Task

from codexmem_core.models.findings.sentences import shortened

if TYPE_CHECKING:
    from codexmem_core.models.findings.commands import Call
    from codexmem_core.models.findings.feedback import Mood

STEPS = 12
"""Most steps of a task: the first and the last half."""
FAILURES = 24
"""Most failures of a session; those without a fix are dropped first."""
FIX_STEPS = 3
"""What was done between a failure and the success after it."""


@dataclass(slots=True)
class OpenTask:
    """A request that is being worked on."""

    name: str
    source: Source
    asked: bool
    """The words ask for work; otherwise only a tool makes the task count."""
    _steps: list[str] = field(default_factory=list)
    _looked: list[str] = field(default_factory=list)
    _left_out: int = 0
    _failed: set[str] = field(default_factory=set)
    _verdict: Mood = ""
    _last_failed: bool = False
    _edited_since: bool = False
    _passed: bool = False
    _answered: bool = False
    _worked_since_complaint: bool = False

    @property
    def counts(self) -> bool:
        """Whether it is a task at all: its words ask for work, or a tool was used for it."""
        return self.asked or bool(self._steps or self._looked)

    def started(self, call: Call) -> None:
        """A tool was called for it."""
        steps = self._looked if call.exploring else self._steps
        if not steps or steps[-1] != call.step:
            steps.append(call.step)
        if len(steps) > 2 * STEPS:
            del steps[STEPS // 2]
        self._worked_since_complaint = True
        self._answered = False
        if call.edited:
            self._edited_since = True
            self._passed = False

    def finished(self, call: Call, *, failed: bool, tests_passed: bool) -> None:
        """The call ended."""
        if call.exploring:
            return
        if failed:
            self._failed = {call.step, *(step for step in self._failed if step in self._steps)}
            self._last_failed, self._edited_since, self._passed = True, False, False
            return
        recovered = call.command and call.step in self._failed
        self._failed.discard(call.step)
        if not call.edited:
            self._last_failed = False
        # What failed and then worked was the proof that somebody waited for, as passed tests are.
        self._passed = tests_passed or recovered or (self._passed and not call.edited)

    def answered(self) -> None:
        """The agent gave its answer; what it says about success does not count."""
        self._answered = True

    def judged(self, verdict: Mood) -> None:
        """The user said how it went."""
        self._verdict = verdict
        self._worked_since_complaint = False

    def close(self) -> Task:
        """The task as far as it came."""
        steps = [step for step in self._steps if step not in self._failed] or self._steps or self._looked
        # Each step once, at its last place: that is the order that worked.
        steps = list(dict.fromkeys(reversed(steps)))[::-1]
        if len(steps) > STEPS:
            steps = [*steps[: STEPS // 2], *steps[-STEPS // 2 :]]
        return Task(name=self.name, outcome=self._outcome(), source=self.source, steps=tuple(steps))

    def _outcome(self) -> Outcome:
        if self._verdict == "thanks":
            return "success"
        if self._verdict in {"complaint", "stop"}:
            if self._verdict == "stop":
                return "partial" if self._steps else "uncertain"
            if not self._worked_since_complaint:
                return "fail"
            return "success" if self._passed and self._answered else "partial"
        if self._last_failed:
            return "uncertain" if self._edited_since else "fail"
        return "success" if self._passed and self._answered else "uncertain"


@dataclass(slots=True)
class _Open:
    failure: Failure
    purposes: tuple[str, ...]
    done: list[str] = field(default_factory=list)


class OpenFailures:
    """Failed commands, and what then worked: the next success of the same purpose, with what was done before it."""

    def __init__(self) -> None:
        self._open: OrderedDict[tuple[str, str], _Open] = OrderedDict()
        self._solved: OrderedDict[tuple[str, str], Failure] = OrderedDict()

    def failed(self, call: Call, error: str, source: Source) -> None:
        """A command failed."""
        key = (call.step, error)
        self._solved.pop(key, None)
        earlier = self._open.pop(key, None)
        failure = Failure(command=call.step, error=error, source=source)
        self._open[key] = _Open(failure, call.purposes, earlier.done if earlier else [])
        # The same command that now fails with another error got one step further.
        for other, entry in list(self._open.items()):
            if other != key and entry.failure.command == call.step and entry.done:
                self._solve(other, entry, "")
        while len(self._open) > FAILURES:
            self._open.popitem(last=False)

    def succeeded(self, call: Call) -> None:
        """A call succeeded: the solution of open failures of its purpose, a step towards it for the others."""
        if call.exploring or not call.step:
            return
        for key, entry in list(self._open.items()):
            if call.command and set(entry.purposes) & set(call.purposes):
                self._solve(key, entry, call.step)
            elif call.step not in entry.done:
                entry.done = [*entry.done, call.step][-FIX_STEPS:]

    def close(self) -> tuple[Failure, ...]:
        """All failures in order of position, those that were solved first when there are too many."""
        left = [entry.failure for entry in self._open.values()]
        room = max(0, FAILURES - len(self._solved))
        kept = [*self._solved.values(), *(left[-room:] if room else [])]
        return tuple(sorted(kept, key=lambda failure: (failure.source.position, failure.command, failure.error)))

    def _solve(self, key: tuple[str, str], entry: _Open, worked: str) -> None:
        steps = [*entry.done, worked] if worked else entry.done
        self._open.pop(key, None)
        fix = shortened("; ".join(steps), 300)
        self._solved[key] = Failure(
            command=entry.failure.command, error=entry.failure.error, source=entry.failure.source, fix=fix
        )
        while len(self._solved) > FAILURES:
            self._solved.popitem(last=False)
