"""What a host is told at a moment: the memory's context and that of further sources, within the host's one limit.

The limit is shared by priority: who comes first takes what it needs, the memory at most its summary, and what comes
after the memory at most half of the whole, so that no archive and no profile drives out the rest. A source has its own
time; what is late or fails is left out, for a host never waits on it and never hears of it.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from codexmem_hookspecs.values.capture import Session
from codexmem_hookspecs.values.read import ContextBlock, ContextRequest, ContextSource

from codexmem_core.host.payloads import GOES_ON
from codexmem_core.readpath.fitting import fenced_within
from codexmem_core.readpath.session_start import session_start_context
from codexmem_core.safety.private import strip_private
from codexmem_core.safety.redaction import redact
from codexmem_core.safety.text import clean
from codexmem_core.services.deadline import WorkDeadline

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codexmem_hookspecs.hosts import Host
    from codexmem_hookspecs.values.capture import Moment

    from codexmem_core.engine import Engine
    from codexmem_core.plugins.calls import Collected, Registered

MEMORY_PRIORITY = 10
"""Of the memory among the sources (:attr:`ContextSource.priority`)."""
MEMORY = ""
"""Its name there: no source has an empty one."""
SEPARATOR = "\n"
ALLOWED_S = 1.0
"""For a source's word how long it may take: it looks at settings and no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A host asks what to tell the model now."""

    host: Host
    moment: Moment
    session: Session
    """Its id is empty when the host did not say whose session it is."""
    prompt: str = ""
    memory: str = ""
    """Instead of the one that the session reads; its name."""
    has: str = ""
    """Generation of the memory's context that the session has in its history; empty: none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What it is told."""

    context: str = ""
    notice: str = ""
    """For the user."""
    memory: str = ""
    """The memory whose context is part of it; empty when none is."""
    generation: str = ""
    """Names the memory's context, also where less of it than that is shown."""


@dataclass(frozen=True, slots=True)
class _Part:
    priority: int
    name: str
    text: Callable[[int], str]
    """Within so many bytes (0: no limit); empty when there is nothing to say or no room for it."""


def _shared(parts: list[_Part], limit_bytes: int) -> dict[str, str]:
    """What fits of each part, by name, in the order in which it is said."""
    said: dict[str, str] = {}
    for part in sorted(parts, key=lambda part: (part.priority, part.name)):
        room = limit_bytes - sum(len(text.encode()) + len(SEPARATOR) for text in said.values())
        if part.priority > MEMORY_PRIORITY:
            room = min(room, limit_bytes // 2)
        if limit_bytes and room <= 0:
            continue
        text = part.text(room if limit_bytes else 0)
        if text:
            said[part.name] = text
    return said


@dataclass(slots=True)
class _Inquiry:
    """A source that is being asked."""

    name: str
    priority: int
    ends_at: float
    blocks: list[ContextBlock] = field(default_factory=list)
    done: threading.Event = field(default_factory=threading.Event)


class Answers:
    """Of one engine. Threads may share it."""

    def __init__(self, engine: Engine, generation_of: Callable[[str], str]) -> None:
        self._engine = engine
        self._generation_of = generation_of
        self._asking: dict[tuple[str, str], threading.Thread] = {}
        self._beginning = threading.Lock()

    def give(self, asked: Asked) -> Given:
        """The answer; empty when there is nothing to say or the place wants none."""
        if not self._engine.projects.rules(asked.session.cwd).gives:
            return Given()
        inquiries = self._inquire(asked)
        memory, whole = self._memory(asked)
        generation = self._generation_of(whole) if whole else ""
        if asked.moment in GOES_ON and asked.host.keeps_context and generation == asked.has:
            whole = ""
        parts = [_Part(one.priority, one.name, partial(self._fenced, one)) for one in inquiries]
        if whole:
            parts.append(_Part(MEMORY_PRIORITY, MEMORY, partial(self._fitted, asked, memory, whole)))
        shared = _shared(parts, asked.host.limit_bytes)
        given = MEMORY in shared
        return Given(
            context=SEPARATOR.join(shared.values()),
            notice="\n".join(clean(redact(block.notice)) for one in inquiries for block in one.blocks if block.notice),
            memory=memory if given else "",
            generation=generation if given else "",
        )

    def moments(self) -> Mapping[Moment, float]:
        """Moments at which a source has something to say, with the seconds that the slowest may take."""
        longest: dict[Moment, float] = {}
        for source in self._sources().values():
            if seconds := self._allowed_s(source):
                for moment in source.record.moments:
                    longest[moment] = max(longest.get(moment, 0.0), seconds)
        return longest

    def _allowed_s(self, source: Registered[ContextSource]) -> float:
        """How long it may take; 0 when it is not to be asked."""
        record = source.record
        if record.allowed_ms is None:
            return record.deadline_ms / 1000
        try:
            return max(0.0, record.allowed_ms(self._engine.services_for(source.plugin, WorkDeadline(ALLOWED_S))) / 1000)
        except Exception as error:  # noqa: BLE001 - a source's failure is not the session's
            self._engine.log(source.plugin).warning("a context source failed", source=record.name, error=str(error))
            return 0.0

    def _sources(self) -> Mapping[str, Registered[ContextSource]]:
        collected: Collected[ContextSource] = self._engine.plugins.hooks.collect("codexmem_read_sources", ContextSource)
        return collected.records

    def _memory(self, asked: Asked) -> tuple[str, str]:
        """The memory that the session reads, and its whole context; a prompt is answered by sources alone.

        A session that was given a memory keeps it: it is told nothing when that is not installed any more.
        """
        engine, session = self._engine, asked.session
        if asked.moment == "prompt" or not engine.memories:
            return "", ""
        name = asked.memory or engine.access.memory_of(session)
        if not asked.memory and name not in {memory.name for memory in engine.memories.values()}:
            engine.log("context").info("the memory of a session is not installed", memory=name, session=session.id)
            return name, ""
        try:
            return name, session_start_context(engine, host=asked.host.name, memory=name, cwd=session.cwd)
        except Exception as error:  # noqa: BLE001 - a session without memory is better than one that waits for it
            engine.log("context").warning("a session is given no memory", memory=name, error=str(error))
            return name, ""

    def _fitted(self, asked: Asked, memory: str, whole: str, room: int) -> str:
        if not room or len(whole.encode()) <= room:
            return whole
        cwd = asked.session.cwd
        return session_start_context(self._engine, host=asked.host.name, memory=memory, cwd=cwd, limit_bytes=room)

    def _inquire(self, asked: Asked) -> list[_Inquiry]:
        """Ask every source of the moment at once, each in a thread of its own that nobody waits for in the end."""
        request = ContextRequest(
            host=asked.host.name,
            moment=asked.moment,
            session=asked.session,
            prompt=redact(strip_private(asked.prompt)),
            keeps_context=asked.host.keeps_context,
        )
        inquiries = []
        for name, source in self._sources().items():
            if asked.moment not in source.record.moments or not (seconds := self._allowed_s(source)):
                continue
            inquiry = _Inquiry(name, source.record.priority, time.monotonic() + seconds)
            thread = threading.Thread(
                target=self._ask, args=(source, request, inquiry, seconds), name=f"source {name}", daemon=True
            )
            if self._begin(thread, (name, asked.session.id)):
                inquiries.append(inquiry)
        return inquiries

    def _begin(self, thread: threading.Thread, key: tuple[str, str]) -> bool:
        """What still hangs is not asked again for the same session; for another one it may go well."""
        with self._beginning:
            self._asking = {known: other for known, other in self._asking.items() if other.is_alive()}
            if key in self._asking:
                return False
            thread.start()
            self._asking[key] = thread
            return True

    def _ask(
        self, source: Registered[ContextSource], request: ContextRequest, inquiry: _Inquiry, seconds: float
    ) -> None:
        record = source.record
        try:
            services = self._engine.services_for(source.plugin, WorkDeadline(seconds))
            block = record.provide(request, services)
            if not isinstance(block, ContextBlock):
                raise TypeError(f"{block!r:.80} is no ContextBlock")
            inquiry.blocks.append(block)
        except Exception as error:  # noqa: BLE001 - a source's failure is not the session's
            self._engine.log(source.plugin).warning("a context source failed", source=record.name, error=str(error))
        finally:
            inquiry.done.set()

    def _fenced(self, inquiry: _Inquiry, room: int) -> str:
        if not inquiry.done.wait(max(0.0, inquiry.ends_at - time.monotonic())):
            self._engine.log("context").info("a context source was too slow", source=inquiry.name)
            return ""
        today = datetime.fromtimestamp(self._engine.clock.now_ms() / 1000, UTC).strftime("%Y-%m-%d")
        return SEPARATOR.join(
            fenced_within(text, source=block.source, dated=today, limit_bytes=room)
            for block in inquiry.blocks
            if (text := clean(redact(block.text)).strip())
        )


def context_for(engine: Engine, *, host: str, memory: str, cwd: str) -> str:
    """What a session that begins in the folder is given, before the host's own encoding. Raises UnknownNameError.

    Without a host it is the memory's alone, and uncut.
    """
    if not host:
        return session_start_context(engine, memory=memory, cwd=cwd)
    session = Session(host=host, id="", cwd=cwd)
    return engine.answers.give(Asked(host=engine.host(host), moment="startup", session=session, memory=memory)).context
