"""One pass over one rollout: every line is read once, and a bad one stops nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Unreadable
from codexmem_hookspecs.json_lines import NotUnderstood, Place, milliseconds
from codexmem_hookspecs.values.capture import Part, Skipped

from codexmem_host_codex import records
from codexmem_host_codex.earlier import Earlier, directory
from codexmem_host_codex.items import QUESTION, items, said, user_tier

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from codexmem_hookspecs.values.capture import Item, Session

    from codexmem_host_codex.rollouts import Rollout


class Reading:
    """One pass over one rollout."""

    def __init__(self, rollout: Rollout, session: Session, after: int, now_ms: int) -> None:
        self.rollout = rollout
        self.session = session
        self.after = after
        self.now_ms = now_ms
        self.earlier = Earlier(rollout, after)
        self.began_ms = 0
        """When the session itself began, once its session_meta was met."""
        self._cwd: str | None = None if after else ""
        """Working directory where it differs from the session's; None until it was looked for."""
        self._memory_off = False
        self._held: tuple[Item, ...] = ()
        """The last answer: where a compaction follows at once, it is that compaction's summary."""

    def entries(self) -> Iterator[Item | Skipped]:
        """All items, and what was skipped. Raises Unreadable at the end when nothing was understood."""
        look, head, wordless = records.LOOK.search, records.HEAD, records.WORDLESS
        lines = understood = 0
        for number, end, data, problem in self.rollout.lines(self.after):
            looked = look(data, 0, head)
            lines += 1
            if looked and looked.lastindex == wordless and data.endswith(b"}}"):
                understood += 1
                if self._held and records.TOKENS not in data[:head]:
                    yield from self._released()
                continue
            try:
                if looked and looked.lastindex == records.RESPONSE:
                    response = records.response(data)
                    found: Iterable[Item] | None = self._response(response.payload, response.timestamp, end)
                else:
                    found = self._other(data, end, problem)
            except NotUnderstood as reason:
                yield Skipped(position=end, reason=str(reason), line=0 if self.after else number)
                continue
            if found is None:
                lines -= not data or data.isspace()
                continue
            understood += 1
            yield from found
        yield from self._released()
        if lines and not understood and not self.after:
            raise Unreadable(f"0 of {lines} lines understood in {self.rollout.name}: not a rollout that we know")
        if self._memory_off and self.session.memory_mode == "enabled":
            raise Unreadable("the session turned its memory off after it began")

    def _response(self, payload: records.Payload, timestamp: str | None, end: int) -> Iterable[Item]:
        if payload.name == QUESTION and payload.type == "function_call":
            self.earlier.asked(payload.call_id or "", str(payload.arguments or ""))
        found = tuple(items(payload, self._place(timestamp, end), self.earlier.question))
        if payload.role != "assistant" or payload.type != "message":
            return (*self._released(), *found) if found else ()
        before, self._held = self._released(), found
        return before

    def _released(self, *, summary: bool = False) -> tuple[Item, ...]:
        """What was held back. A summary is nobody's answer: it repeats what stands before it."""
        held, self._held = self._held, ()
        return tuple(item._replace(tier="context") for item in held) if summary else held

    def _other(self, data: bytes, end: int, problem: str) -> Iterable[Item] | None:
        """Records around the conversation: few hold words, two set the working directory.

        None when the line is empty or of no known type. Raises NotUnderstood.
        """
        if problem:
            raise NotUnderstood(problem)
        if not data or data.isspace():
            return None
        record = records.record(data)
        kind = record.type
        if kind not in records.KNOWN:
            return None
        if kind == "response_item":  # written in an unusual way, or the first look would have seen it
            return self._response(records.payload(record.payload, records.Payload), record.timestamp, end)
        if kind == "event_msg":
            return self._event(record, end)
        if kind == "turn_context":
            self._move(directory(record))
        elif kind == "session_meta":
            self._meta(records.payload(record.payload, records.Meta))
        elif kind == "inter_agent_communication":
            payload = records.payload(record.payload, records.Payload)
            return (*self._released(), *said("other_agent", "assistant", payload, self._place(record.timestamp, end)))
        return self._released(summary=True) if kind == "compacted" else ()

    def _event(self, record: records.Record, end: int) -> Iterable[Item]:
        """Only two old events hold words; newer ones repeat response items."""
        head = records.head(record.payload)
        if b'"thread_settings_applied"' in head:
            self._move(directory(record))
        if b'"user_message"' not in head and b'"agent_message"' not in head:
            return () if records.TOKENS in head else self._released()
        spoken = records.payload(record.payload, records.Spoken)
        role = {"user_message": "user", "agent_message": "assistant"}.get(spoken.type)
        if role is None or not spoken.message or self.earlier.repeated(role, spoken.message, end):
            return ()
        place, part = self._place(record.timestamp, end), Part(kind="text", text=spoken.message)
        if role == "user":
            return (*self._released(), place.said(user_tier("", spoken.message), "user", (part,)))
        return (*self._released(), place.said("final", "assistant", (part,)))

    def _meta(self, meta: records.Meta) -> None:
        """A session_meta of this session; Codex appends another one when the user switches memory off or on."""
        if meta.id == self.session.id:
            self._memory_off = meta.memory_mode == "disabled"
            self.began_ms = self.began_ms or milliseconds(meta.timestamp, self.now_ms)

    def _place(self, timestamp: str | None, end: int) -> Place:
        if self._cwd is None:
            self._cwd = ""
            self._move(self.earlier.working_directory())
        return Place(end, milliseconds(timestamp, self.now_ms), self._cwd or "")

    def _move(self, directory: str) -> None:
        if directory:
            self._cwd = "" if directory == self.session.cwd else directory
