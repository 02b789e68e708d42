"""OpenCode 2's service on loopback, written from what is known of it: sessions, messages, models, generated text.

What the model says: ``text``. Lists come in pages of ``page`` rows with cursors that lead from one to the next.
"""

from __future__ import annotations

import json
from urllib.parse import unquote

from fake_opencode_api import FakeOpenCodeApi

MISSING = {"_tag": "SessionNotFoundError", "message": "Session not found"}
NO_ROUTE = (404, {"error": "Not Found"})


class FakeOpenCode2(FakeOpenCodeApi):
    """A service in a thread; a context manager. It registers itself in a state folder when it is told to."""

    def __init__(self, password="", pid=4242):
        self.pid = pid
        self.ready_at = "/api/info"
        self.version = "2.0.20"
        self.generates = True
        self.sessions = {}
        self.messages = {}
        self.agents = []
        self.models = []
        self.page = 50
        super().__init__(password)

    def register(self, state):
        """Leave word in OpenCode's state folder, as the real service does."""
        told = {"url": self.url, "pid": self.pid, "version": self.version}
        state.mkdir(parents=True, exist_ok=True)
        (state / "service.json").write_text(json.dumps(told | ({"password": self.password} if self.password else {})))

    def put(self, session_id, *messages, directory="/home/user/proj", updated=1_790_000_000_000, **info):
        """A session with its messages."""
        times = {"created": 1_789_000_000_000, "updated": updated}
        told = {"id": session_id, "title": "A session", "location": {"directory": directory}, "time": times}
        self.sessions[session_id] = told | info
        self.messages[session_id] = list(messages)

    def answer(self, asked):
        if asked.path == self.ready_at:
            return 200, {"version": self.version, "pid": self.pid}
        if asked.path == "/api/experimental/generate" and self.generates:
            return self._generated(asked)
        fixed = {"/api/agent": self.agents, "/api/model": self.models}
        if asked.path in fixed:
            return 200, {"data": fixed[asked.path]}
        parts = unquote(asked.path).strip("/").split("/")
        return self._session(asked, parts[2:]) if parts[:2] == ["api", "session"] else NO_ROUTE

    def _session(self, asked, parts):
        if not parts:
            rows = sorted(self.sessions.values(), key=lambda info: -info["time"]["updated"])
            if asked.query.get("parentID") == "null":
                rows = [info for info in rows if not info.get("parentID")]
            return 200, self._paged(rows, asked.query)
        if parts[0] not in self.sessions:
            return 404, MISSING
        if parts[1:] == ["message"]:
            if {"cursor", "order"} <= set(asked.query):
                return 400, {"_tag": "InvalidCursorError", "message": "order cannot be combined with a cursor"}
            return 200, self._paged(self.messages[parts[0]], asked.query)
        return 200, {"data": self.sessions[parts[0]]}

    def _paged(self, rows, query):
        start = int(query.get("cursor") or 0)
        end = start + self.page
        return {"data": rows[start:end], "cursor": {"next": str(end)} if end < len(rows) else {}}

    def _generated(self, asked):
        step = self.step()
        if "status" in step:
            return step["status"], step.get("body", {"_tag": "ServiceUnavailableError", "message": "no"})
        model = asked.body.get("model")
        if model is not None and not {"providerID", "id"} <= set(model):
            return 400, {"_tag": "InvalidRequestError", "message": "a model has a provider and an id"}
        return 200, {"data": {"text": step.get("text", "")}}
