"""A Codex home that tests fill with rollouts of their own."""

import json
import os
from datetime import UTC, datetime

import pytest
from codexmem_hookspecs.testing import PlainServices
from codexmem_hookspecs.testing.services import NOW_MS
from codexmem_hookspecs.values.capture import Item, SessionQuery, Skipped
from codexmem_host_codex import plugin

ID = "0198a000-0000-7000-8000-000000000001"


def at(ms):
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Codex:
    """Writes rollouts and asks the plugin about them."""

    def __init__(self, services: PlainServices) -> None:
        self.services = services
        self.home = os.path.join(services.home, ".codex")
        self.now_ms = NOW_MS

    # Records

    def record(self, type_, payload, ms=NOW_MS - 60_000):
        return {"timestamp": at(ms), "type": type_, "payload": payload}

    def meta(self, id_=ID, cwd="/home/user/proj", ms=NOW_MS - 120_000, **more):
        return self.record("session_meta", {"id": id_, "cwd": cwd, "timestamp": at(ms), "source": "cli"} | more, ms)

    def message(self, role, *texts, kinds=None, phase=None, ms=NOW_MS - 60_000):
        kind = "output_text" if role == "assistant" else "input_text"
        payload = {"type": "message", "role": role, "content": [{"type": kind, "text": text} for text in texts]}
        if kinds:
            payload["internal_chat_message_metadata_passthrough"] = {"content_item_kinds": kinds}
        if phase:
            payload["phase"] = phase
        return self.record("response_item", payload, ms)

    def user(self, text, ms=NOW_MS - 60_000):
        return self.message("user", text, kinds=["user.text"], ms=ms)

    def agent(self, text, ms=NOW_MS - 60_000):
        return self.message("assistant", text, kinds=["unknown"], ms=ms)

    def response(self, **payload):
        return self.record("response_item", payload)

    # Files

    def write(self, *lines, name=f"rollout-2027-01-15T08-00-00-{ID}.jsonl", under="sessions/2027/01/15", compress=None):
        """Lines are records or bytes as they shall stand there."""
        path = os.path.join(self.home, under, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        content = b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines)
        with open(path, "wb") as file:
            file.write(compress(content) if compress else content)
        seconds = (self.now_ms - 3_600_000) / 1000
        os.utime(path, (seconds, seconds))
        return path

    # Questions

    def sessions(self, **query):
        return list(plugin.codexmem_capture_sessions(query=SessionQuery(**query), services=self.services))

    def session(self):
        (session,) = self.sessions()
        return session

    def entries(self, session=None, after=0):
        session = session or self.session()
        return list(plugin.codexmem_capture_transcript(session=session, after=after, services=self.services))

    def items(self, session=None, after=0):
        return [entry for entry in self.entries(session, after) if isinstance(entry, Item)]

    def skipped(self, session=None, after=0):
        return [entry for entry in self.entries(session, after) if isinstance(entry, Skipped)]

    def said(self, session=None):
        return [(item.tier, item.text) for item in self.items(session)]


@pytest.fixture
def codex(codexmem_services):
    return Codex(codexmem_services)


@pytest.fixture
def guarded_services(codexmem_services, monkeypatch):
    """The engine's own path guard and line reader, which read compressed files."""
    from codexmem_core.safety.files import GuardedFolder

    monkeypatch.setattr(codexmem_services, "open_folder", lambda root, *, write=False: GuardedFolder(root, write=write))
    return codexmem_services


@pytest.fixture
def guarded(guarded_services):
    """The same home behind that guard."""
    return Codex(guarded_services)
