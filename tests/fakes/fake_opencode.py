"""OpenCode 1's API on loopback, as far as it is asked here: sessions that a test puts in, and prompts that it scripts.

What the model says: ``structured`` or ``text``, or ``error`` inside the message.
"""

from __future__ import annotations

from urllib.parse import unquote

from fake_opencode_api import FakeOpenCodeApi

MISSING = {"name": "NotFoundError", "data": {"message": "Session not found"}}


class FakeOpenCode(FakeOpenCodeApi):
    """A server in a thread; a context manager."""

    def __init__(self, state="/nowhere", password=""):
        self.state = state
        self.conversations = {}
        self.config = {}
        self.agents = []
        self.providers = []
        self.survives_deletion = False
        self.spent = {"input": 100, "output": 10}
        self.made = 0
        super().__init__(password)

    def put(self, conversation):
        """A session as ``opencode export`` gives it."""
        self.conversations[conversation["info"]["id"]] = conversation

    def answer(self, asked):
        """Status and body."""
        parts = [unquote(part) for part in asked.path.strip("/").split("/")]
        if parts[0] == "session":
            return self._session(asked, parts[1:])
        fixed = {
            "global/health": {"healthy": True, "version": "1.18.33"},
            "path": {"home": "/home/user", "state": self.state, "directory": "/home/user/proj"},
            "config": self.config,
            "config/providers": {"providers": self.providers, "default": {}},
            "agent": self.agents,
            "experimental/session": self._listed(asked.query),
        }
        return (200, fixed["/".join(parts)]) if "/".join(parts) in fixed else (404, {"name": "NotFoundError"})

    def _listed(self, query):
        rows = [one["info"] for one in self.conversations.values()]
        rows.sort(key=lambda info: -info["time"]["updated"])
        if query.get("roots") == "true":
            rows = [info for info in rows if not info.get("parentID")]
        if query.get("search"):
            rows = [info for info in rows if query["search"] in info["title"]]
        if query.get("cursor"):
            rows = [info for info in rows if info["time"]["updated"] < int(query["cursor"])]
        return rows[: int(query.get("limit", 100))]

    def _session(self, asked, parts):
        if not parts:
            return (200, self._create(asked)) if asked.method == "POST" else (200, self._listed({}))
        conversation = self.conversations.get(parts[0])
        if conversation is None:
            return 404, MISSING
        if parts[1:] == ["message"]:
            return self._prompted(asked, conversation) if asked.method == "POST" else (200, conversation["messages"])
        if parts[1:] == ["abort"]:
            return 200, True
        if asked.method == "DELETE":
            if not self.survives_deletion:
                del self.conversations[parts[0]]
            return 200, True
        return 200, conversation["info"]

    def _create(self, asked):
        self.made += 1
        times = {"created": 1_799_000_000_000, "updated": 1_799_000_000_000}
        info = {
            "id": f"ses_made{self.made}",
            "directory": asked.query.get("directory", ""),
            "time": times,
            **asked.body,
        }
        self.put({"info": info, "messages": []})
        return info

    def _prompted(self, asked, conversation):
        step = self.step()
        if "status" in step:
            return step["status"], step.get("body", {"name": "UnknownError", "data": {"message": "no"}})
        info = {"id": "msg_1", "role": "assistant", "tokens": {"input": 1, "output": 1}}
        info |= {key: step[key] for key in ("structured", "error") if key in step}
        parts = [{"type": "text", "text": step["text"]}] if "text" in step else []
        conversation["info"]["tokens"] = self.spent
        conversation["messages"].append({"info": {"role": "user", "id": "msg_0"}, "parts": asked.body["parts"]})
        return 200, {"info": info, "parts": parts}
