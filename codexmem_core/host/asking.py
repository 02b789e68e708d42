"""A hook asks the worker: for an answer that must be computed, or only to wait until an event has been dealt with.

Loaded by the shim when a flag in ``read/`` says so. A question is one line ``HOST EVENT`` and the payload, until the
writing end is closed; the answer is one line for the worker's own use and then what to print.
"""

import os
import socket
import time

from codexmem_core.host import shim

SOCKET = "worker.sock"
"""Relative to the home, in which both sides stand: the names of sockets are short (108 bytes)."""
_STEP_S = 0.05
_CHUNK = 1 << 16


class Question:
    """A connection to the worker, for as long as the host waits."""

    def __init__(self, connection: socket.socket, ends_at: float) -> None:
        self._connection = connection
        self._ends_at = ends_at

    def answer(self, host: str, event: str, payload: list[bytes]) -> bytes | None:
        """What to print; None when no whole answer came in time."""
        try:
            with self._connection as connection:
                connection.settimeout(self._left_s())
                connection.sendall(f"{host} {event}\n".encode() + b"".join(payload))
                connection.shutdown(socket.SHUT_WR)
                said = b""
                while True:
                    connection.settimeout(self._left_s())
                    chunk = connection.recv(_CHUNK)
                    if not chunk:
                        _, line, body = said.partition(b"\n")
                        return body if line else None
                    said += chunk
        except OSError:
            return None

    def _left_s(self) -> float:
        return max(0.001, self._ends_at - time.monotonic())


def connected(home: str, seconds: float, began: float) -> Question | None:
    """A question that must be answered ``seconds`` after the hook began; None when nobody is there to answer."""
    if shim.is_wedged(home):
        return None
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        os.chdir(home)
        connection.settimeout(max(0.001, began + seconds - time.monotonic()))
        connection.connect(SOCKET)
    except OSError:
        connection.close()
        return None
    return Question(connection, began + seconds)


def waited(home: str, host: str, event: str, payload: list[bytes], seconds: float, began: float) -> bytes:
    """Stay until the worker, which may only just be starting, has dealt with the event or the time is over."""
    while time.monotonic() < began + seconds:
        question = connected(home, seconds, began)
        if question is not None:
            return question.answer(host, event, payload) or b""
        time.sleep(_STEP_S)
    return b""
