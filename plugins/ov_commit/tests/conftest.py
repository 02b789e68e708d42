"""A user's machine with a server beside it: conversations that go on, and events as the engine tells them."""

from __future__ import annotations

import itertools
import json
import os
import time

import pytest
from codexmem_hookspecs.errors import Rewritten, Unreadable
from codexmem_hookspecs.testing.services import NOW_MS
from codexmem_hookspecs.values.capture import Event, Item, Part, Session, ToolUse
from codexmem_hookspecs.values.read import ContextRequest
from codexmem_ov_commit import plugin
from codexmem_ov_commit.markers import Markers
from codexmem_ov_commit.names import file_stem, server_name
from codexmem_ov_commit.place import Place
from codexmem_ov_commit.states import States
from fake_openviking import FakeOpenViking

from codexmem_core.safety.files import GuardedFolder
from codexmem_core.services.deadline import WorkDeadline
from codexmem_core.services.http import HttpClient

MINUTE_MS = 60_000
CWD = "/home/user/shop"


class Conversations:
    """Transcripts that tests write; read like a host's, by position, and refused when they are broken."""

    def __init__(self):
        self.items = {}
        self.unreadable = set()
        self.tails = []

    def open(self, session):
        raise AssertionError("a transcript kept by the pass is not read: it may be older than the event")

    def tail(self, session, after):
        self.tails.append((session.id, after))
        if session.id in self.unreadable or session.id not in self.items:
            raise Unreadable(f"no transcript of {session.id}")
        items = self.items[session.id]
        if after and after not in {item.position for item in items}:
            raise Rewritten(f"nothing ends at {after}")
        return iter([item for item in items if item.position > after])


class Conversation:
    """One session's transcript. Positions go up like bytes do."""

    def __init__(self, machine, session):
        self.machine = machine
        self.session = session
        self.items = machine.conversations.items.setdefault(session.id, [])

    def _put(self, **fields):
        position = (self.items[-1].position if self.items else 0) + 100
        at_ms = NOW_MS - MINUTE_MS + len(self.items)
        self.items.append(Item(**{"position": position, "at_ms": at_ms, **fields}))
        return self

    def user(self, *texts):
        for text in texts:
            self._put(tier="human", role="user", parts=(Part(kind="text", text=text),))
        return self

    def agent(self, *texts, tier="final"):
        for text in texts:
            self._put(tier=tier, role="assistant", parts=(Part(kind="text", text=text),))
        return self

    def tool(self, name="shell", given='{"cmd":"make check"}', output="all green", status="completed", id_="call-1"):
        self._put(tier="tool", role="assistant", tool=ToolUse(id=id_, name=name, status="started", input=given))
        return self._put(tier="tool", role="tool", tool=ToolUse(id=id_, status=status, output=output))

    def event(self, kind, **fields):
        return self.machine.tell(kind, self.session, **fields)

    def stop(self, **fields):
        return self.event("stop", **fields)

    def compact(self, **fields):
        return self.event("compaction", **fields)

    def end(self, **fields):
        return self.event("end", **fields)

    def resume(self, **fields):
        return self.event("start", moment="resume", **fields)

    # what became of it

    @property
    def name(self):
        return server_name(self.session.host, self.session.id)

    @property
    def stored(self):
        return self.machine.server.session(self.name)

    @property
    def state(self):
        """The state file as it stands on disk."""
        return json.loads(self.state_path.read_text())

    @property
    def state_path(self):
        return self.machine.state_folder(self.session.host) / f"{file_stem(self.session.id)}.json"

    @property
    def ended(self):
        """Times of the markers that lie there, sorted."""
        stem = f"{file_stem(self.session.id)}.ended."
        paths = self.machine.state_folder(self.session.host).glob(f"{stem}*")
        return sorted(int(path.name.removeprefix(stem)) for path in paths)


class Machine:
    """Services of a plugin with the engine's HTTP client and path guard, and a server."""

    def __init__(self, services, server, folder):
        self.services = services
        self.server = server
        self.folder = folder
        self.conversations = services.transcripts = Conversations()
        self._events = itertools.count(1)
        self._sessions = itertools.count(1)

    @property
    def clock(self):
        return self.services.clock

    @property
    def log(self):
        return self.services.log

    def state_folder(self, host="codex"):
        name = {"codex": "codex-plugin-state"}.get(host, f"{host}-plugin-state")
        return self.folder / ".openviking" / name

    def set(self, **environ):
        """Environment variables without their ``OPENVIKING_``."""
        self.services.environ.update({f"OPENVIKING_{key}": str(value) for key, value in environ.items()})

    def conversation(self, id_="", *, host="codex", cwd=CWD, **fields):
        id_ = id_ or f"0198a000-0000-7000-8000-{next(self._sessions):012}"
        locator = str(self.folder / "rollouts" / f"{id_}.jsonl")
        return Conversation(self, Session(**{"host": host, "id": id_, "cwd": cwd, "locator": locator, **fields}))

    def tell(self, kind, session, *, at_ms=0, moment="", newer=(), answer="", later_ms=1_000):
        """An event reaches the plugin; time goes on before it."""
        self.clock.at_ms += later_ms
        event = Event(
            id=f"{next(self._events):08}",
            host=session.host,
            kind=kind,
            session=session,
            at_ms=at_ms or self.clock.at_ms,
            moment=moment,
            newer=newer,
            answer=answer,
        )
        plugin.codexmem_capture_event(event=event, services=self.services)
        return event

    def start(self, moment="startup", *, host="codex", id_="new"):
        """Another session begins."""
        return self.tell("start", Session(host=host, id=id_, cwd=CWD), moment=moment)

    def asks(self, moment, conversation=None, *, prompt="", name=""):
        """What a session is given at a moment, by all sources or by one; the texts, joined."""
        session = (conversation or self.conversation()).session
        request = ContextRequest(
            host=session.host, moment=moment, session=session, prompt=prompt, keeps_context=session.host != "opencode"
        )
        said = [
            source.provide(request, self.services).text
            for source in plugin.codexmem_read_sources()
            if moment in source.moments and name in source.name
        ]
        return "\n".join(filter(None, said))

    def lose_server(self):
        """From now on nobody listens where the server was."""
        self.services.environ["OPENVIKING_URL"] = "http://127.0.0.1:1"

    def notice(self):
        """What the user of a session that starts now is told."""
        (source,) = [one for one in plugin.codexmem_read_sources() if one.name == "openviking-commits"]
        request = ContextRequest(host="codex", moment="startup", session=Session(host="codex", id="next"))
        return source.provide(request, self.services).notice

    def findings(self):
        """What ``status`` shows."""
        (check,) = [one for one in plugin.codexmem_doctor_checks() if one.name == "openviking-sessions"]
        assert check.in_status
        return list(check.run(self.services))

    def pass_time(self, ms):
        self.clock.at_ms += ms

    def place(self, host="codex", cwd=CWD):
        return Place.of(self.services, host, cwd)

    def states(self, host="codex"):
        return States(self._state_folder(host), host, self.clock)

    def markers(self, host="codex"):
        return Markers(self._state_folder(host), self.clock)

    def _state_folder(self, host):
        return self.services.open_folder(str(self.state_folder(host)), write=True)


@pytest.fixture
def ov_server():
    with FakeOpenViking() as server:
        yield server


@pytest.fixture
def machine(codexmem_services, ov_server, tmp_path, monkeypatch):
    services = codexmem_services
    services.http = HttpClient(WorkDeadline(60))
    monkeypatch.setattr(services, "open_folder", lambda root, *, write=False: GuardedFolder(root, write=write))
    services.environ["OPENVIKING_URL"] = ov_server.url
    return Machine(services, ov_server, tmp_path / "home")


@pytest.fixture
def down():
    """What a server does that cannot work: 503 to everything but the health of it."""

    def cut(asked):
        return None if asked.path == "/health" else (503, {"status": "error", "error": {"message": "busy"}})

    return cut


@pytest.fixture
def foreign_lock(machine):
    """The original plugin's lock folder of a conversation, so many seconds old."""

    def make(talk, age_s=1, *, owner=True):
        folder = machine.state_folder(talk.session.host) / f"{file_stem(talk.session.id)}.lock"
        folder.mkdir(parents=True)
        at_s = machine.clock.now_ms() / 1_000 - age_s
        if owner:
            (folder / "owner").write_text("4711:4b0b2c2e-0000-4000-8000-000000000000")
            os.utime(folder / "owner", (at_s, at_s))
        os.utime(folder, (at_s, at_s))
        return folder

    return make


@pytest.fixture
def until():
    """Wait for something that another thread or process does."""

    def wait(condition):
        ends_at = time.monotonic() + 60
        while not (found := condition()):
            assert time.monotonic() < ends_at, "it did not happen"
            time.sleep(0.01)
        return found

    return wait


@pytest.fixture
def live(machine):
    """A session that was sent and never ended."""
    talk = machine.conversation().user("Keep the changelog by hand.")
    talk.stop()
    return talk


@pytest.fixture
def failing(machine):
    """A session whose commit failed at its end: a marker lies there."""
    talk = machine.conversation().user("Keep the changelog by hand.")
    talk.stop()
    machine.server.cut = lambda asked: (503, {}) if asked.path.endswith("/commit") else None
    talk.end()
    machine.server.cut = lambda _asked: None
    return talk
