"""An OpenViking server on loopback, as far as sessions go: shapes and rules of a real server 0.5.2.

A test breaks it with ``cut``: a function that is asked before each request is served and may answer in the server's
place, or raise Cut after or before it was served.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote, urlsplit

from fake_openviking_memory import FakeMemory
from loopback import LoopbackHandler, LoopbackServer

MOST_MESSAGES = 100
VERSION = "0.5.2"


class Cut(Exception):  # noqa: N818 - what happens to a connection
    """The connection ends without an answer; ``stored``: after the request was served."""

    def __init__(self, *, stored=False):
        super().__init__()
        self.stored = stored


@dataclass
class Asked:
    """One request as it came."""

    method: str
    path: str
    query: dict
    body: object
    headers: dict

    @property
    def line(self):
        return f"{self.method} {self.path}"


@dataclass
class StoredSession:
    """What the server holds of one."""

    messages: list = field(default_factory=list)
    """Not committed."""
    archives: list = field(default_factory=list)
    """Messages of each commit."""
    keep: int = 0
    overview: str = ""

    @property
    def everything(self):
        return [message for archive in self.archives for message in archive] + self.messages

    @property
    def texts(self):
        """What was said, in order; tools as their name and output."""
        return [_text(message) for message in self.everything]

    @property
    def pending_tokens(self):
        outside = self.messages[: len(self.messages) - self.keep] if self.keep else self.messages
        return sum(len(json.dumps(message)) // 4 for message in outside)


class FakeOpenViking(LoopbackServer):
    """A server in a thread; a context manager."""

    def __init__(self, key=""):
        self.key = key
        self.sessions = {}
        self.requests = []
        self.knows_batches = True
        self.refuses = "POISON"
        """A text that makes a message one that the server never takes."""
        self.cut = lambda _asked: None
        self.extra = {}
        """Answers, (status, body), to further requests by ``METHOD /path``."""
        self.trace_id = ""
        self.version = VERSION
        self.memory = FakeMemory()
        self.listen(_Handler)

    def asked(self, ending=""):
        """Requests of writing and reading sessions, by how their path ends."""
        return [one for one in self.requests if one.path.endswith(ending)]

    @property
    def lines(self):
        """``METHOD /path`` of every request, in order."""
        return [one.line for one in self.requests]

    def session(self, name):
        return self.sessions.setdefault(name, StoredSession())

    def answer(self, asked):
        """Status and body. Raises Cut."""
        self.requests.append(asked)
        if (instead := self.cut(asked)) is not None:
            return instead
        given = asked.headers.get("x-api-key") or asked.headers.get("authorization", "").removeprefix("Bearer ")
        if self.key and given != self.key and (given or asked.path != "/health"):
            return _error(401, "UNAUTHENTICATED", "Invalid API key")
        if asked.line in self.extra:
            return self.extra[asked.line]
        if asked.path == "/health":
            mode = "api_key" if self.key else "dev"
            return 200, {"status": "ok", "healthy": True, "version": self.version, "auth_mode": mode}
        parts = [unquote(part) for part in asked.path.strip("/").split("/")]
        if parts[:3] == ["api", "v1", "sessions"] and len(parts) > 3:
            return self._session(asked, parts[3], "/".join(parts[4:]))
        return self.memory.answer(asked) or _error(404, "NOT_FOUND", "Not Found")

    def _session(self, asked, name, action):
        if (asked.method, action) == ("POST", "messages/batch") and self.knows_batches:
            return self._batch(name, asked.body["messages"])
        if (asked.method, action) == ("POST", "messages"):
            return self._batch(name, [asked.body], one=True)
        known = self.sessions.get(name)
        if known is None or action.startswith("messages"):
            return _error(404, "NOT_FOUND", f"Session {name} not found")
        if (asked.method, action) == ("POST", "commit"):
            return self._commit(name, known, (asked.body or {}).get("keep_recent_count", 0))
        return self._held(asked, action, name, known)

    def _held(self, asked, action, name, known):
        if (asked.method, action) == ("GET", "context"):
            return _result({"latest_archive_overview": known.overview, "messages": known.messages})
        if (asked.method, action) == ("DELETE", ""):
            del self.sessions[name]
            return _result({"session_id": name})
        return _result(
            {
                "session_id": name,
                "message_count": len(known.messages),
                "commit_count": len(known.archives),
                "pending_tokens": known.pending_tokens,
                "keep_recent_count": known.keep,
                "total_message_count": len(known.everything),
            }
        )

    def _batch(self, name, messages, *, one=False):
        if len(messages) > MOST_MESSAGES:
            return _error(400, "INVALID_ARGUMENT", "List should have at most 100 items")
        if self.refuses and any(self.refuses in json.dumps(message) for message in messages):
            return _error(400, "INVALID_ARGUMENT", "Invalid request parameters")
        held = self.session(name)
        held.messages.extend(messages)
        counts = {"message_count": len(held.messages), "pending_tokens": held.pending_tokens}
        return _result({"session_id": name, **counts} | ({} if one else {"added": len(messages)}))

    def _commit(self, name, held, keep):
        reason = "no_messages" if not held.messages else "all_within_keep_window" if keep >= len(held.messages) else ""
        result = {"session_id": name, "trace_id": self.trace_id, "task_id": None, "archived": not reason}
        if reason:
            return _result({**result, "status": "skipped", "reason": reason})
        cut = len(held.messages) - keep
        held.archives.append(held.messages[:cut])
        held.messages, held.keep = held.messages[cut:], keep
        return _result({**result, "status": "accepted", "task_id": f"task-{len(held.archives)}"})


def _text(message):
    if "content" in message:
        return message["content"]
    return "\n".join(
        part["text"]
        if part["type"] == "text"
        else f"[{part.get('tool_name', '')}] {part.get('tool_output', '')}".strip()
        for part in message["parts"]
    )


def _result(result):
    return 200, {"status": "ok", "result": result, "error": None}


def _error(status, code, message):
    return status, {"status": "error", "result": None, "error": {"code": code, "message": message}}


class _Handler(LoopbackHandler):
    def _serve(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        split = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(split.query).items()}
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(self.command, split.path, query, json.loads(body) if body else None, headers)
        server = self.server_side
        try:
            status, answer = server.answer(asked)
        except Cut as cut:
            if cut.stored:
                before, server.cut = server.cut, lambda _asked: None
                server.requests.pop()
                server.answer(asked)
                server.cut = before
            self.close_connection = True
            return
        sent = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    do_GET = do_POST = do_DELETE = do_PUT = _serve  # noqa: N815 - http.server's names
