"""A server on loopback that runs in a thread; the part that all fakes share."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

LONGEST_HOLD_S = 60.0


@dataclass
class Asked:
    """One request as it came; ``body`` decoded, None for none."""

    method: str
    path: str
    query: dict
    headers: dict
    raw: str
    body: object


class LoopbackServer:
    """A context manager. ``closing`` is set before the end, so that nobody goes on holding an answer back."""

    def listen(self, handler):
        """Take a port; ``handler`` finds this server as its class's ``server_side``."""
        self.closing = threading.Event()
        self._server = _QuietServer(("127.0.0.1", 0), type("Handler", (handler,), {"server_side": self}))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self):
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_exception):
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _QuietServer(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """A client that hangs up is what some tests are about."""


class LoopbackHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_arguments):
        pass

    def asked(self):
        """The request."""
        place = urlsplit(self.path)
        raw = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
        query = {name: values[-1] for name, values in parse_qs(place.query, keep_blank_values=True).items()}
        headers = {name.lower(): value for name, value in self.headers.items()}
        return Asked(self.command, place.path, query, headers, raw, json.loads(raw) if raw else None)

    def send(self, status, body, kind="application/json", headers=None, short=0):
        """Answer with a text, or with anything else as JSON; ``short``: fewer bytes than were promised."""
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data[: len(data) - short])
        if short:
            self.close_connection = True
