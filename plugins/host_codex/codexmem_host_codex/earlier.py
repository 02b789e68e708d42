"""What a reading must know about records that it does not give: those before the position it starts from.

A tail read must give the same items as a full one. Three things in a rollout reach back: the working directory, the
questions that a user answers, and whether old-style events repeat messages. Each is looked up only when it is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs.json_lines import NotUnderstood, content_before, lines_before

from codexmem_host_codex import records
from codexmem_host_codex.items import QUESTION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codexmem_host_codex.rollouts import Rollout

NEAR = 262_144
"""Bytes before the position that are looked at first: a turn's context mostly stands within them."""
TURN, SETTINGS = b'"turn_context"', b'"thread_settings_applied"'


def directory(record: records.Record) -> str:
    """The working directory that a record sets, or empty."""
    try:
        if record.type == "turn_context":
            return records.payload(record.payload, records.Context).cwd or ""
        if record.type == "event_msg" and SETTINGS in records.head(record.payload):
            settings = records.payload(record.payload, records.Context).thread_settings
            return (settings.cwd or "") if settings else ""
    except NotUnderstood:
        pass
    return ""


def message_text(payload: records.Payload) -> str:
    """A message's text, to compare with an event's."""
    if isinstance(payload.content, str):
        return payload.content
    return "\n".join(piece.text for piece in payload.content or () if piece.text)


class Earlier:
    """Looks back from one position of one rollout."""

    def __init__(self, rollout: Rollout, after: int) -> None:
        self._rollout = rollout
        self._after = after
        self._questions: dict[str, str] = {}
        self._first: dict[str, tuple[int, str]] | None = None

    def asked(self, call_id: str, arguments: str) -> None:
        """Note a question met while reading."""
        self._questions[call_id] = arguments

    def question(self, call_id: str) -> str | None:
        """Arguments of the question with this id; None when no question had it.

        Only the call's own name is believed: any tool can print something that looks like a user's answer.
        """
        if call_id not in self._questions and self._after:
            needle = call_id.encode()
            for record in self._before(needle):
                payload = response(record)
                if payload and payload.name == QUESTION and payload.call_id == call_id:
                    self._questions[call_id] = str(payload.arguments or "")
        return self._questions.get(call_id)

    def working_directory(self) -> str:
        """The last one set before the position, or empty."""
        found = ""
        for record in self._near():
            found = directory(record) or found
        if not found:
            for record in self._before(TURN, SETTINGS):
                found = directory(record) or found
        return found

    def repeated(self, role: str, text: str, position: int) -> bool:
        """Whether an old-style event only repeats a message.

        From the first response item of its role on, messages are response items. An event before that one repeats it
        when it says the same: events and items of one message stand in either order.
        """
        if self._first is None:
            self._first = self._first_messages()
        if role not in self._first:
            return False
        first, said = self._first[role]
        return position > first or text.strip() == said.strip()

    def _first_messages(self) -> dict[str, tuple[int, str]]:
        first: dict[str, tuple[int, str]] = {}
        for line in self._rollout.folder.lines(self._rollout.name):
            if b'"response_item"' not in line.data[:200]:
                continue
            try:
                payload = response(records.record(line.data))
            except NotUnderstood:
                continue
            if payload and payload.type == "message" and payload.role in {"user", "assistant"}:
                first.setdefault(payload.role, (line.end, message_text(payload)))
                if len(first) > 1:
                    break
        return first

    def _near(self) -> Iterator[records.Record]:
        for line in content_before(self._rollout.folder, self._rollout.name, self._after, NEAR).split(b"\n"):
            if TURN in line or SETTINGS in line:
                try:
                    yield records.record(line)
                except NotUnderstood:
                    continue

    def _before(self, *needles: bytes) -> Iterator[records.Record]:
        for line in lines_before(self._rollout.folder, self._rollout.name, self._after, *needles):
            try:
                yield records.record(line.data)
            except NotUnderstood:
                continue


def response(record: records.Record) -> records.Payload | None:
    """A response item's payload, or None when the record is something else."""
    if record.type != "response_item":
        return None
    try:
        return records.payload(record.payload, records.Payload)
    except NotUnderstood:
        return None
