"""A Codex home that tests fill with rollouts of their own."""

import pytest
from codexmem_hookspecs.testing import LinesStore
from codexmem_hookspecs.testing.services import NOW_MS
from codexmem_host_codex import plugin

ID = "0198a000-0000-7000-8000-000000000001"


class Codex(LinesStore):
    """Writes rollouts and asks the plugin about them."""

    plugin = plugin
    folder = ".codex"

    # Records

    def record(self, type_, payload, ms=NOW_MS - 60_000):
        return {"timestamp": self.time(ms), "type": type_, "payload": payload}

    def meta(self, id_=ID, cwd="/home/user/proj", ms=NOW_MS - 120_000, **more):
        return self.record(
            "session_meta", {"id": id_, "cwd": cwd, "timestamp": self.time(ms), "source": "cli"} | more, ms
        )

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

    def write(self, *lines, name=f"rollout-2027-01-15T08-00-00-{ID}.jsonl", under="sessions/2027/01/15", **options):
        return self.put(f"{under}/{name}", lines, **options)


@pytest.fixture
def codex(codexmem_services):
    return Codex(codexmem_services)


@pytest.fixture
def guarded(guarded_services):
    """The same home behind the engine's path guard."""
    return Codex(guarded_services)
