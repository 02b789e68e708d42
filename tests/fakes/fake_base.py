"""Model servers on loopback that answer from a script; the part that all wires share.

A script is a list of steps. Each request takes the first step that fits it; without one the answer is ``default``.

``text`` or ``json`` (serialised), ``tool`` or ``tools`` ({name, args, namespace}): what the model says;
``reasoning``: before it. ``error``: an HTTP status instead, with ``message``, ``type``, ``code`` and ``headers``.
``retry_in``: an HTTP date that many seconds ahead as Retry-After. ``reset``: the connection is reset. ``html``: a page
with status 200. ``body`` and ``content_type``: these bytes as they are. ``short``: the body ends before its declared
length. ``cut``: the stream ends before it is complete. ``drip``: the stream never ends. ``hold``: no answer before the
server is closed. ``usage``: {input_tokens, output_tokens}, or None for none. ``match``: only for requests whose body
contains it. ``repeat``: the step stays.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from email.utils import formatdate

from loopback import LONGEST_HOLD_S, Asked, LoopbackHandler, LoopbackServer

LONGEST_DRIP_S = 5.0


@dataclass
class FakeServer(LoopbackServer, ABC):
    """A server in a thread; a context manager."""

    script: list[dict] = field(default_factory=list)
    default: str = "ok"
    requests: list[Asked] = field(default_factory=list)

    def __post_init__(self):
        self._lock = threading.Lock()
        self.listen(FakeHandler)

    def encrypt(self, context):
        """Speak TLS; before the server is started. Handshakes happen in the requests' own threads."""
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self.url = self.url.replace("http:", "https:")

    @property
    def bodies(self):
        return [asked.body for asked in self.requests]

    def take(self, asked):
        """Note the request; the step that answers it and its number."""
        with self._lock:
            self.requests.append(asked)
            for at, step in enumerate(self.script):
                if step.get("match", "") in asked.raw:
                    if not step.get("repeat"):
                        del self.script[at]
                    return step, len(self.requests)
            return self.unscripted(asked), len(self.requests)

    def unscripted(self, asked):
        """The step for a request that the script has none for."""
        return {"text": self.default}

    @abstractmethod
    def error_body(self, step):
        """What stands behind an HTTP error, as JSON."""

    @abstractmethod
    def payload(self, asked, step, number):
        """The whole answer as JSON."""

    @abstractmethod
    def events(self, asked, step, number):
        """The answer as stream events, each (name, value)."""


class FakeHandler(LoopbackHandler):
    server_side: FakeServer

    def do_POST(self):  # noqa: N802 - the base class's name
        asked = self.asked()
        step, number = self.server_side.take(asked)
        if step.get("hold"):
            self.server_side.closing.wait(LONGEST_HOLD_S)
        if step.get("reset"):
            return self._reset()
        if "error" in step:
            headers = {name: str(value) for name, value in step.get("headers", {}).items()}
            if "retry_in" in step:
                headers["retry-after"] = formatdate(time.time() + step["retry_in"], usegmt=True)
            body = step["message"] if step.get("plain") else json.dumps(self.server_side.error_body(step))
            return self.send(step["error"], body, headers=headers)
        if step.get("html"):
            return self.send(200, "<!doctype html><title>Sign in</title>", "text/html")
        if "body" in step:
            return self.send(200, step["body"], step.get("content_type", "application/json"))
        if asked.body.get("stream"):
            return self._stream(self.server_side.events(asked, step, number), step)
        text = json.dumps(self.server_side.payload(asked, step, number))
        return self.send(200, text, step.get("content_type", "application/json"), short=step.get("short", 0))

    def _stream(self, events, step):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for name, value in events:
            text = value if isinstance(value, str) else json.dumps(value)
            self.wfile.write((f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode())
        self.wfile.flush()
        ends_at = time.monotonic() + LONGEST_DRIP_S
        while step.get("drip") and time.monotonic() < ends_at and not self.server_side.closing.wait(0.02):
            self.wfile.write(b": still here\n\n")
            self.wfile.flush()

    def _reset(self):
        """Close with RST, so that the client sees a reset and no orderly end."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.rfile.close()
        self.wfile.close()
        self.connection.close()
        self.close_connection = True


def said(step):
    """The text of a step, or None for one that only calls tools."""
    return json.dumps(step["json"]) if "json" in step else step.get("text")


def called(step):
    return list(step.get("tools") or ([step["tool"]] if "tool" in step else []))


def counted(step):
    usage = step.get("usage", {"input_tokens": 100, "output_tokens": 10})
    return None if usage is None else (usage["input_tokens"], usage["output_tokens"])
