"""Answers hooks that ask: over a socket in the home, each question in a thread of its own."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_hookspecs.values.capture import Answer, Session

from codexmem_core.capture.sessions import parent_of
from codexmem_core.host.asking import SOCKET
from codexmem_core.host.payloads import SESSION_START
from codexmem_core.host.shim import LIMIT_BYTES
from codexmem_core.pipeline import tell_plugins
from codexmem_core.readpath.answer import Asked, Given

if TYPE_CHECKING:
    from codexmem_hookspecs.hosts import Host
    from codexmem_hookspecs.values.capture import Event, EventKind

    from codexmem_core.engine import Engine
    from codexmem_core.worker.intake import Intake

MOST_AT_ONCE = 32
READ_S = 5.0
"""Longest wait for the whole question."""
_CHUNK = 1 << 16
_STEP_S = 0.02


@dataclass(frozen=True, slots=True)
class _Question:
    host: Host
    event: str
    events: list[Event]

    @property
    def session(self) -> Session:
        """Of which nothing is known when the host keeps nothing of it, or it is a subagent's."""
        return self.events[0].session if self.events else Session(host=self.host.name, id="")


class Answering:
    """The listening socket."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake
        self._places = threading.Semaphore(MOST_AT_ONCE)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)

    def open(self, home: str) -> None:
        """Listen. The process must stand in the home: names of sockets are short. Raises OSError."""
        os.chdir(home)
        with suppress(FileNotFoundError):
            os.unlink(SOCKET)
        self.listener.bind(SOCKET)
        self.listener.listen(64)
        self.listener.settimeout(0)

    def accept(self) -> None:
        """Take one question, if one is there; one too many is refused, and its hook does without."""
        with suppress(OSError):
            connection, _ = self.listener.accept()
            if self._places.acquire(blocking=False):
                threading.Thread(target=self._serve, args=(connection,), name="answer", daemon=True).start()
            else:
                connection.close()

    def close(self) -> None:
        """Listen no more."""
        self.listener.close()
        with suppress(FileNotFoundError):
            os.unlink(SOCKET)

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection:
                connection.settimeout(READ_S)
                self._answer(connection)
        except Exception as error:  # noqa: BLE001 - whatever it is, the hook does without
            self._intake.tell("a hook was not answered", error)
        finally:
            self._places.release()

    def _answer(self, connection: socket.socket) -> None:
        began = time.monotonic()
        line, _, payload = _read(connection).partition(b"\n")
        name, _, event = line.decode("utf-8", "replace").partition(" ")
        engine = self._intake.take_in()
        question = _understood(engine.host(name), event, payload, engine.clock.now_ms())
        given, body = Given(), b""
        if event in question.host.answers:
            given = _given(engine, question)
            body = question.host.encode(event, Answer(context=given.context, notice=given.notice))
        _told(engine, question, began)
        said = f"{given.memory} {given.generation}".strip().encode() + b"\n" + body
        if given.memory and question.session.id:
            _give(connection, said, engine, question.session, given)
        else:
            _say(connection, said)


def _give(connection: socket.socket, said: bytes, engine: Engine, session: Session, given: Given) -> None:
    """Noted down first, so that the session's next hook finds it; and not when nobody waits any more."""
    key, catalogue = (session.host, session.id), engine.catalogue
    before = catalogue.generation_given(*key)
    catalogue.context_given(*key, given.generation, engine.clock.now_ms())
    try:
        _say(connection, said)
    except OSError:
        catalogue.context_given(*key, before, engine.clock.now_ms())
        raise
    catalogue.freeze_memory(*key, given.memory)


def _say(connection: socket.socket, said: bytes) -> None:
    connection.sendall(said)
    connection.shutdown(socket.SHUT_WR)


def _understood(host: Host, event: str, payload: bytes, now_ms: int) -> _Question:
    sent = json.loads(payload.decode("utf-8", "replace") or "{}")
    return _Question(host, event, list(host.decode(event, sent if isinstance(sent, dict) else {}, now_ms)))


def _given(engine: Engine, question: _Question) -> Given:
    event = question.events[0] if question.events else None
    moment = (event.moment if event else "") or question.host.answers[question.event]
    session = question.session
    has = engine.catalogue.generation_given(session.host, session.id) if session.id else ""
    if moment == "fork" and question.host.keeps_context:
        has = has or _inherited(engine, session)
    if moment not in SESSION_START and event is None:
        return Given()  # nobody knows what the session has, or whose prompt it is
    return engine.answers.give(
        Asked(host=question.host, moment=moment, session=session, prompt=event.prompt if event else "", has=has)
    )


def _inherited(engine: Engine, session: Session) -> str:
    """A fork begins with its parent's history: it has what that was given, and goes on with the same memory."""
    parent = parent_of(engine.stages, session)
    has = engine.catalogue.generation_given(session.host, parent) if parent else ""
    if has:
        memory = engine.access.memory_of(Session(host=session.host, id=parent, cwd=session.cwd))
        engine.catalogue.freeze_memory(session.host, session.id, memory)
        engine.catalogue.context_given(session.host, session.id, has, engine.clock.now_ms())
    return has


def _told(engine: Engine, question: _Question, began: float) -> None:
    """Where a plugin wants the host to wait: until it has heard of the event, or its time is over."""
    kinds: set[EventKind] = {event.kind for event in question.events}
    waiting = {
        plugin: max((reaction.wait_s for reaction in reactions if reaction.kind in kinds), default=0.0)
        for plugin, reactions in engine.stages.reactions().items()
    }
    waiting = {plugin: seconds for plugin, seconds in waiting.items() if seconds > 0}
    if not waiting:
        return
    until, session = began + max(waiting.values()), question.session
    while time.monotonic() < until and engine.deliveries.waiting(session.host, session.id, waiting):
        tell_plugins(engine, wait_s=max(0.0, until - time.monotonic()))
        time.sleep(_STEP_S)


def _read(connection: socket.socket) -> bytes:
    said = bytearray()
    while chunk := connection.recv(_CHUNK):
        said += chunk
        if len(said) > LIMIT_BYTES + _CHUNK:
            raise ValueError("the question is too long")
    return bytes(said)
