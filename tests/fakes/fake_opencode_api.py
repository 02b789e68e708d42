"""What both generations of OpenCode's API on loopback share: a password, and faults that a test asks for."""

from __future__ import annotations

import base64
from abc import ABC, abstractmethod

from loopback import LONGEST_HOLD_S, LoopbackHandler, LoopbackServer


class FakeOpenCodeApi(LoopbackServer, ABC):
    """A server in a thread; a context manager.

    ``broken``: path → what is answered there instead; ``silent``: (method, path) that nobody answers. An answer to a
    prompt is a step of ``script``: ``hold`` until the server is closed, ``status`` of HTTP with ``body``, or what the
    model says; without a step nothing is said.
    """

    def __init__(self, password=""):
        self.password = password
        self.script = []
        self.requests = []
        self.broken = {}
        self.silent = set()
        self.listen(_Handler)

    def asked(self, method, path):
        """Requests to a path."""
        return [one for one in self.requests if (one.method, one.path) == (method, path)]

    def reply(self, asked):
        """Status and body, faults included."""
        if (asked.method, asked.path) in self.silent:
            self.closing.wait(LONGEST_HOLD_S)
        return self.broken[asked.path] if asked.path in self.broken else self.answer(asked)

    @abstractmethod
    def answer(self, asked):
        """Status and body."""

    def step(self):
        """The next step, after it was held back if it says so."""
        step = self.script.pop(0) if self.script else {}
        if step.get("hold"):
            self.closing.wait(LONGEST_HOLD_S)
        return step


class _Handler(LoopbackHandler):
    server_side: FakeOpenCodeApi

    def _answer(self):
        asked, fake = self.asked(), self.server_side
        fake.requests.append(asked)
        known = base64.b64encode(f"opencode:{fake.password}".encode()).decode()
        if fake.password and asked.headers.get("authorization") != f"Basic {known}":
            self.send(401, {})
        else:
            self.send(*fake.reply(asked))

    do_GET = do_POST = do_DELETE = _answer  # noqa: N815 - the base class's names
