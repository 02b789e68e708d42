"""A Claude Code home that tests fill with transcripts of their own."""

import pytest
from codexmem_hookspecs.testing import LinesStore
from codexmem_hookspecs.testing.services import NOW_MS
from codexmem_host_claude import plugin

ID = "3f0c1a52-0000-4000-8000-000000000001"


class Claude(LinesStore):
    """Writes transcripts and asks the plugin about them."""

    plugin = plugin
    folder = ".claude"
    written = 0

    # Lines

    def line(self, type_, *, ms=0, **more):
        """Each line is a second later than the one before, as long as no other time is given."""
        self.written += 1
        ms = ms or NOW_MS - 3_600_000 + self.written * 1_000
        common = {
            "uuid": f"{self.written:08x}-0000-4000-8000-000000000000",
            "timestamp": self.time(ms),
            "sessionId": ID,
        }
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
        return self.put(f"{under}/{name}", lines)


@pytest.fixture
def claude(codexmem_services):
    return Claude(codexmem_services)


@pytest.fixture
def guarded(guarded_services):
    """The same home behind the engine's path guard."""
    return Claude(guarded_services)
