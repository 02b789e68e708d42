"""A Claude Code home that tests fill with transcripts of their own."""

import json
import os
from datetime import UTC, datetime

import pytest
from codexmem_hookspecs.testing import PlainServices
from codexmem_hookspecs.testing.services import NOW_MS
from codexmem_hookspecs.values.capture import Item, SessionQuery, Skipped
from codexmem_host_claude import plugin

ID = "3f0c1a52-0000-4000-8000-000000000001"


def at(ms):
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Claude:
    """Writes transcripts and asks the plugin about them."""

    def __init__(self, services: PlainServices) -> None:
        self.services = services
        self.home = os.path.join(services.home, ".claude")
        self.now_ms = NOW_MS
        self._count = 0

    # Lines

    def line(self, type_, *, ms=0, **more):
        """Each line is a second later than the one before, as long as no other time is given."""
        self._count += 1
        ms = ms or NOW_MS - 3_600_000 + self._count * 1_000
        common = {"uuid": f"{self._count:08x}-0000-4000-8000-000000000000", "timestamp": at(ms), "sessionId": ID}
        return {"type": type_, "isSidechain": False, "cwd": "/home/user/proj"} | common | more

    def user(self, content, **more):
        return self.line("user", message={"role": "user", "content": content}, **more)

    def agent(self, *content, stop="end_turn", **more):
        blocks = [{"type": "text", "text": block} if isinstance(block, str) else block for block in content]
        return self.line("assistant", message={"role": "assistant", "content": blocks, "stop_reason": stop}, **more)

    def call(self, id_, name="Bash", **arguments):
        return {"type": "tool_use", "id": id_, "name": name, "input": arguments}

    def result(self, id_, content, *, failed=False, **more):
        block = {"type": "tool_result", "tool_use_id": id_, "content": content, "is_error": failed}
        return self.user([block], toolUseResult={"stdout": content}, **more)

    def attachment(self, **attachment):
        return self.line("attachment", attachment=attachment)

    # Files

    def write(self, *lines, name=f"{ID}.jsonl", under="projects/-home-user-proj"):
        """Lines are records or bytes as they shall stand there."""
        path = os.path.join(self.home, under, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.writelines(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines)
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
def claude(codexmem_services):
    return Claude(codexmem_services)


@pytest.fixture
def guarded_services(codexmem_services, monkeypatch):
    """The engine's own path guard and line reader, which read compressed files."""
    from codexmem_core.safety.files import GuardedFolder

    monkeypatch.setattr(codexmem_services, "open_folder", lambda root, *, write=False: GuardedFolder(root, write=write))
    return codexmem_services


@pytest.fixture
def guarded(guarded_services):
    """The same home behind that guard."""
    return Claude(guarded_services)
