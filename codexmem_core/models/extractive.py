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

from codexmem_core.models.findings.commands import Call, understand
from codexmem_core.models.findings.feedback import NEXT, RETRACTED, asks_to_know, beyond_thanks, mood, request
from codexmem_core.models.findings.identifiers import identifiers
from codexmem_core.models.findings.outputs import error_line, failed, tests_passed
from codexmem_core.models.findings.preferences import (
    changed_mind,
    decision,
    introduces_rules,
    lasting,
    preference,
    taken_back,
    waived,
    withdrawn,
)
from codexmem_core.models.findings.sentences import QUOTE_CHARS, Sentence, sentences, shortened, visible
from codexmem_core.models.findings.tasks import OpenFailures, OpenTask
from codexmem_core.models.findings.topics import family, replaces, takes_back, topic

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
SPEAKS_FOR_ITSELF = 30
"""Characters; a request shorter than this is named together with the sentence in front of it."""
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
        self._note_names(name for sentence in said for name in identifiers(sentence.text))
        requests = self._asked(said, source)
        feeling = mood(said[0].text)
        if feeling == "complaint" and any(RETRACTED.search(sentence.text) for sentence in said):
            feeling = ""
            requests = requests[_onwards(requests) :] or requests
        self._said = (_name(said[0].text), source)
        if self._task is not None and feeling in {"thanks", "complaint", "stop"}:
            self._task.judged(feeling)
        if feeling == "complaint" and self._task is not None:
            # "That's wrong. Carry on: add …": what is asked then is a task of its own.
            requests = requests[_onwards(requests) :]
        if feeling in {"go on", "stop"} and (self._task is not None or not requests):
            return
        if requests:
            self._open(requests, source)

    def _asked(self, said: Sequence[Sentence], source: Source) -> list[str]:
        """Take preferences and decisions from a message; what is left of it are requests."""
        headings = {sentence.heading for sentence in said if sentence.listed}
        requests: list[str] = []
        lead = ""
        for sentence in said:
            if withdrawn(sentence.text):
                del requests[-1:]
                continue
            if sentence.text in headings and introduces_rules(sentence.text):
                continue
            rest = self._statement(sentence, lead, source)
            if lead and rest == sentence.text:
                requests.append(lead)
            lead = ""
            if rest == sentence.text and taken_back(rest):
                lead = rest
            elif waived(rest):
                continue
            elif rest and mood(rest) in {"", "complaint"}:
                requests.append(rest)
            elif rest and (more := beyond_thanks(rest)):
                requests.append(more)
        return [*requests, lead] if lead else requests

    def _statement(self, sentence: Sentence, lead: str, source: Source) -> str:
        """Take a preference or a decision from the sentence; what is left of it is a request, or nothing.

        ``lead`` is the sentence in front of it if that one took something back ("I changed my mind about …").
        """
        text = sentence.text
        chosen = decision(text)
        if chosen and not lasting(text):
            self._decide(Decision(text=_led(lead, chosen), source=source), corrected=changed_mind(text))
            return ""
        stated = preference(text, sentence.heading, listed=sentence.listed)
        if stated is None:
            return text
        quote = _led(lead, stated.quote)
        about = topic(quote, stated.polarity) if lead else stated.topic
        self._prefer(Preference(quote=quote, polarity=stated.polarity, topic=about, source=source, scope=stated.scope))
        return stated.request

    def _prefer(self, new: Preference) -> None:
        same = family(new.topic)
        kept = [
            old
            for old in self._preferences
            if not (
                (old.scope == "everywhere") == (new.scope == "everywhere")
                and old.source.cwd == new.source.cwd
                and (takes_back(new, old) or (family(old.topic) == same and replaces(new, old)))
            )
        ]
        self._preferences = [*kept, new][-PREFERENCES:]

    def _decide(self, new: Decision, *, corrected: bool) -> None:
        if corrected and self._decisions:
            self._decisions.pop()
        self._decisions = [*self._decisions, new][-DECISIONS:]

    def _open(self, requests: list[str], source: Source) -> None:
        name = _title(requests)
        self._task = OpenTask(
            name=_name(name), source=source, asked=any(request(words) and not asks_to_know(words) for words in requests)
        )
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


def _title(requests: Sequence[str]) -> str:
    """The sentence that names a task: the first long one that asks for work, else the first long one.

    "I'm on a train. Does it build offline?": a short question means little without what stands in front of it.
    """
    long = [number for number, words in enumerate(requests) if len(words) >= SHORTEST_NAME]
    chosen = next((number for number in long if request(requests[number])), next(iter(long), 0))
    if chosen and len(requests[chosen]) < SPEAKS_FOR_ITSELF:
        return f"{requests[chosen - 1]} {requests[chosen]}"
    return requests[chosen]


def _onwards(requests: Sequence[str]) -> int:
    """Where a message goes on to something else; its length when it does not."""
    return next((number for number, words in enumerate(requests) if NEXT.match(words)), len(requests))


def _led(lead: str, quote: str) -> str:
    """The statement with the sentence in front of it, as long as both make one quote."""
    return f"{lead} {quote}" if lead and len(lead) + len(quote) < QUOTE_CHARS else quote


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
