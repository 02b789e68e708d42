"""A server on loopback that runs in a thread; the part that all fakes share."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LONGEST_HOLD_S = 60.0


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
