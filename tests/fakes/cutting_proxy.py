"""A proxy on loopback in front of an OpenViking server that cuts requests off, and counts what was lost by that.

Cuts, by name. Before the server heard of the request: ``reset``, ``error`` (500), ``conflict`` (409), ``silence`` (no
answer until the client gives up), ``down`` (this one and all that follow, until ``up`` is called), ``killed`` (the
client's process is killed). After it: ``reset_after``, ``silence_after``, ``killed_after``. And
``slow``, which loses nothing.

What the server has stored, and the client cannot know of, it sends once more: those are the only messages that may be
there twice, and ``lost`` holds them.
"""

from __future__ import annotations

import http.client
import json
import re
import select
import socket
import struct
import threading
from collections import Counter
from contextlib import contextmanager
from urllib.parse import unquote, urlsplit

from loopback import LONGEST_HOLD_S, LoopbackHandler, LoopbackServer

BEFORE = ("reset", "error", "conflict", "silence", "down", "killed")
AFTER = ("reset_after", "silence_after", "killed_after")
CUTS = (*BEFORE, *AFTER, "slow")
SLOW_S = 0.1
UPSTREAM_S = 60.0
MESSAGES = re.compile(r"/api/v1/sessions/([^/]+)/messages(?:/batch)?$")
ERRORS = {
    "error": (500, {"code": "INTERNAL", "message": "cut"}),
    "conflict": (409, {"code": "CONFLICT", "message": "cut", "details": {"retryable": True}}),
}


class CuttingProxy(LoopbackServer):
    """A context manager. ``choose(method, path)`` names the cut of a request, or nothing."""

    def __init__(self, upstream):
        self.upstream = urlsplit(upstream)
        self.choose = lambda _method, _path: ""
        self.kill = lambda: None
        """Kills the client's process, and returns when it is dead."""
        self.requests = []
        """(method, path, cut) of each."""
        self.lost = Counter()
        """Messages, as the client sends them, by how often the server has stored them without the client's knowing."""
        self._answered = {}
        """Messages of each session whose answers went out, in their order."""
        self._busy = 0
        self._changed = threading.Condition()
        self._down = False
        self.listen(_Handler)

    @property
    def cuts(self):
        """How often each cut was made."""
        return Counter(cut for _, _, cut in self.requests if cut)

    def times_lost(self, word):
        """How often a message with this word was stored without the client's knowing."""
        with self._changed:
            return sum(times for message, times in self.lost.items() if re.search(rf"\b{re.escape(word)}\b", message))

    def up(self):
        """After ``down``."""
        self._down = False

    def until_quiet(self):
        """Wait until no request is on its way."""
        with self._changed:
            assert self._changed.wait_for(lambda: not self._busy, UPSTREAM_S), "a request does not end"

    def client_died(self, noted):
        """After a kill: ``noted(session)`` is how many messages of it the client has written down as sent."""
        self.until_quiet()
        with self._changed:
            for session, messages in self._answered.items():
                kept = noted(session)
                self.lost.update(messages[kept:])
                del messages[kept:]

    # for the handler

    def cut(self, method, path):
        with self._changed:
            name = "down" if self._down else self.choose(method, path)
            self._down = name == "down"
            self.requests.append((method, path, name))
            return name

    @contextmanager
    def request(self):
        with self._changed:
            self._busy += 1
        try:
            yield
        finally:
            with self._changed:
                self._busy -= 1
                self._changed.notify_all()

    def pass_on(self, method, path, headers, body):
        connection = http.client.HTTPConnection(self.upstream.hostname, self.upstream.port, timeout=UPSTREAM_S)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.getheader("content-type", ""), answer.read()
        finally:
            connection.close()

    def stored(self, path, body, *, answered):
        """The server has these messages now."""
        found = MESSAGES.match(urlsplit(path).path)
        if found is None:
            return
        asked = json.loads(body)
        messages = [json.dumps(message) for message in asked.get("messages", [asked])]
        with self._changed:
            if answered:
                self._answered.setdefault(unquote(found[1]), []).extend(messages)
            else:
                self.lost.update(messages)


class _Handler(LoopbackHandler):
    def _serve(self):
        proxy = self.server_side
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        with proxy.request():
            cut = proxy.cut(self.command, self.path)
        if cut == "killed":
            proxy.kill()
        if cut in ERRORS:
            status, error = ERRORS[cut]
            return self._answer(status, "application/json", json.dumps({"status": "error", "error": error}).encode())
        if cut in BEFORE:
            return self._cut_off(silent=cut == "silence")
        with proxy.request():
            headers = {
                name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")
            }
            status, kind, answer = proxy.pass_on(self.command, self.path, headers, body)
            if cut == "slow":
                proxy.closing.wait(SLOW_S)
            goes_out = cut not in AFTER and not self._client_is_gone()
            if status < 300:
                proxy.stored(self.path, body, answered=goes_out)
            if goes_out:
                return self._answer(status, kind, answer)
        if cut == "killed_after":
            proxy.kill()
        return self._cut_off(silent=cut == "silence_after")

    do_GET = do_POST = do_DELETE = do_PUT = _serve  # noqa: N815 - http.server's names

    def _answer(self, status, kind, body):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _cut_off(self, *, silent):
        """Reset the connection; a silent one only when the client has given up."""
        if silent:
            select.select([self.connection], [], [], LONGEST_HOLD_S)
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.rfile.close()
        self.wfile.close()
        self.connection.close()

    def _client_is_gone(self):
        readable, _, _ = select.select([self.connection], [], [], 0)
        try:
            return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)
        except OSError:
            return True
