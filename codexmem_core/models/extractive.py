"""The built-in backend: findings from the transcript alone, without a model, a network or a clock.

What counts. A session has substance when it holds a preference, a decision, a failure, or a task; a task counts when
a tool worked for it (a command was run, a file was read or changed, whatever the words were) or when its request asks
for work in words (more than small talk, more than "reply ok"). Greetings, thanks and echoes without a tool leave
nothing.

Whose words. Preferences and decisions come from the ``human`` tier only. Outcomes come from what the user and the
tools said; the agent's own claims and plans never count, and other agents' text is not read at all. Of tool output only
the line that names an error is kept, and never one that gives orders. What the session itself corrected (an earlier
choice of the same topic, a failed command that was repeated with success) does not survive as a fact.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from codexmem_hookspecs.values.extract import Decision, Findings, Preference, Source, Task

from codexmem_core.models.findings.commands import Call, error_line, failed, tests_passed, understand
from codexmem_core.models.findings.feedback import beyond_thanks, mood, request
from codexmem_core.models.findings.identifiers import identifiers
from codexmem_core.models.findings.preferences import changed_mind, decision, lasting, preference
from codexmem_core.models.findings.sentences import sentences, shortened, visible
from codexmem_core.models.findings.tasks import OpenFailures, OpenTask
from codexmem_core.models.findings.topics import family, replaces

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codexmem_hookspecs.services import Transcript
    from codexmem_hookspecs.values.capture import Item, Session

FIRST_TASKS, LAST_TASKS = 8, 32
"""Of a very long session the first and the last tasks are kept."""
PREFERENCES, DECISIONS, FILES, IDENTIFIERS = 60, 30, 40, 40
"""Most of each in one session."""
OPEN_CALLS = 200
"""Calls that wait for their result; the oldest is dropped, so that memory stays bounded."""
NAME_CHARS = 120
SHORTEST_NAME = 12
"""Characters; a shorter sentence in front of others ("Hi Claude.", "One more.") does not name the task."""
EARLIEST_MS = 946_684_800_000
"""2000-01-01: a time before it is a clock that was never set."""


def find(transcript: Transcript) -> Findings:
    """Findings of one session, streamed over its items.

    Nothing depends on the time zone, the locale or the order of dictionaries: the same items give the same findings.
    """
    reading = _Reading(transcript.session)
    for item in transcript:
        reading.take(item)
    return reading.findings()


class _Reading:
    """What is known of a session up to the item read last."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._at_ms = 0
        self._first: list[OpenTask] = []
        self._last: list[OpenTask] = []
        self._task: OpenTask | None = None
        self._said: tuple[str, Source] | None = None
        self._preferences: list[Preference] = []
        self._decisions: list[Decision] = []
        self._failures = OpenFailures()
        self._calls: OrderedDict[str, Call] = OrderedDict()
        self._files: dict[str, None] = {}
        self._seen_files: dict[str, None] = {}
        self._names: dict[str, None] = {}

    def take(self, item: Item) -> None:
        if item.tool is not None:
            self._tool(item)
        elif item.tier == "human":
            self._human(item)
        elif item.tier == "final" and self._task is not None:
            self._task.answered()

    def findings(self) -> Findings:
        tasks = [task.close() for task in (*self._first, *self._last) if task.counts]
        return Findings(
            tasks=tuple(_joined(tasks)),
            preferences=tuple(self._preferences),
            failures=self._failures.close(),
            decisions=tuple(self._decisions),
            files=tuple(self._files | self._seen_files)[:FILES],
            identifiers=tuple(self._names)[:IDENTIFIERS],
        )

    def _source(self, item: Item) -> Source:
        newest = self._session.updated_at_ms
        stated = item.at_ms if item.at_ms >= EARLIEST_MS else 0
        self._at_ms = (min(stated, newest) if newest else stated) or self._at_ms or newest
        return Source(
            host=self._session.host,
            session=self._session.id,
            position=item.position,
            cwd=item.cwd or self._session.cwd,
            at_ms=self._at_ms,
        )

    def _human(self, item: Item) -> None:
        said = list(sentences(visible(item.text)))
        if not said:
            return
        source = self._source(item)
        self._note_names(name for sentence in said for name in identifiers(sentence))
        requests: list[str] = []
        feeling = mood(said[0])
        for sentence in said:
            rest = self._statement(sentence, source)
            if rest and mood(rest) in {"", "complaint"}:
                requests.append(rest)
            elif rest and (more := beyond_thanks(rest)):
                requests.append(more)
        self._said = (_name(said[0]), source)
        if self._task is not None and feeling in {"thanks", "complaint", "stop"}:
            self._task.judged(feeling)
        if feeling == "complaint" and self._task is not None:
            return
        if feeling in {"go on", "stop"} and (self._task is not None or not requests):
            return
        if requests:
            self._open(requests, source)

    def _statement(self, sentence: str, source: Source) -> str:
        """Take a preference or a decision from the sentence; what is left of it is a request, or nothing."""
        chosen = decision(sentence)
        if chosen and not lasting(sentence):
            self._decide(Decision(text=chosen, source=source), corrected=changed_mind(sentence))
            return ""
        stated = preference(sentence)
        if stated is None:
            return sentence
        self._prefer(
            Preference(
                quote=stated.quote, polarity=stated.polarity, topic=stated.topic, source=source, scope=stated.scope
            )
        )
        return stated.request

    def _prefer(self, new: Preference) -> None:
        same = family(new.topic)
        kept = [
            old
            for old in self._preferences
            if not (
                old.scope == new.scope
                and old.source.cwd == new.source.cwd
                and family(old.topic) == same
                and replaces(new, old)
            )
        ]
        self._preferences = [*kept, new][-PREFERENCES:]

    def _decide(self, new: Decision, *, corrected: bool) -> None:
        if corrected and self._decisions:
            self._decisions.pop()
        self._decisions = [*self._decisions, new][-DECISIONS:]

    def _open(self, requests: list[str], source: Source) -> None:
        name = next((sentence for sentence in requests if len(sentence) >= SHORTEST_NAME), requests[0])
        self._task = OpenTask(name=_name(name), source=source, asked=any(map(request, requests)))
        if len(self._first) < FIRST_TASKS:
            self._first.append(self._task)
            return
        self._last.append(self._task)
        if len(self._last) > LAST_TASKS:
            del self._last[0]

    def _tool(self, item: Item) -> None:
        tool = item.tool
        assert tool is not None
        source = self._source(item)
        call = self._calls.pop(tool.id, None)
        if call is None or tool.input:
            call = self._called(understand(tool, source.cwd))
        # A call without its result: some hosts say "completed" of the call itself.
        if tool.status == "started" or (not tool.output and (item.role == "assistant" or tool.status == "unknown")):
            self._calls[tool.id] = call
            if len(self._calls) > OPEN_CALLS:
                self._calls.popitem(last=False)
            return
        bad = failed(tool, call)
        passed = "test" in call.purposes and not bad and tests_passed(tool)
        if self._task is not None:
            self._task.finished(call, failed=bad, tests_passed=passed)
        if bad and call.command and not call.exploring:
            error = error_line(tool.output)
            if error:
                self._failures.failed(call, error, source)
                self._note_names(identifiers(error))
        elif not bad:
            self._failures.succeeded(call)

    def _called(self, call: Call) -> Call:
        if not call.step:
            return call
        if self._task is None and self._said is not None:
            self._task = OpenTask(name=self._said[0], source=self._said[1], asked=False)
            self._first.append(self._task)
        if self._task is not None:
            self._task.started(call)
        for path in call.edited:
            if len(self._files) < FILES:
                self._files.setdefault(path)
        for path in call.read:
            if len(self._seen_files) < FILES:
                self._seen_files.setdefault(path)
        if call.command:
            self._note_names(name for name in identifiers(call.step) if not name.startswith("--"))
        return call

    def _note_names(self, names: Iterable[str]) -> None:
        for name in names:
            if len(self._names) >= IDENTIFIERS:
                return
            self._names.setdefault(name)


def _name(sentence: str) -> str:
    """A request as a task's name; a command with its slash stays as it is."""
    return shortened(sentence, NAME_CHARS).rstrip(".。:") or shortened(sentence, NAME_CHARS)


def _joined(tasks: list[Task]) -> list[Task]:
    """Tasks in order; one that was asked again in the same words stands once, with its last outcome."""
    by_name: dict[str, Task] = {}
    for task in tasks:
        by_name.pop(task.name.casefold(), None)
        by_name[task.name.casefold()] = task
    return list(by_name.values())
