"""What a host asked its model, and what came of a run."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass

CONVERSATION_S = 120.0
"""Above this a host hangs. The slowest needs seven seconds, and thirty where much else is done."""


def words(value):
    """All text of a JSON value, one string a line."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        value = value.values()
    return "\n".join(words(part) for part in value) if hasattr(value, "__iter__") else ""


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """One or more turns: the requests that reached the model for them, and what the program printed if it has ended."""

    requests: list[dict]
    printed: str = ""
    complained: str = ""
    status: int = 0

    @property
    def told(self) -> str:
        """All that the model was given before it said its first word."""
        return words(self._asked()[0])

    @property
    def told_last(self) -> str:
        """All that the model was given in the last request."""
        return words(self._asked()[-1])

    def _asked(self):
        assert self.requests, f"the model was never asked; the program printed: {self.printed}\n{self.complained}"
        return self.requests


class Running:
    """A host's program at work, in a process group of its own."""

    def __init__(self, command, environ, cwd, requests_since):
        self._requests_since = requests_since
        self.process = subprocess.Popen(
            [str(word) for word in command],
            env=environ,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )

    def until_asked(self, number=1):
        """Wait until the model was asked that many times."""
        try:
            until(
                lambda: len(self._requests_since()) >= number or self._ended(), "a request to the model", CONVERSATION_S
            )
            assert not self._ended(), "the program ended before it asked"
        except AssertionError as error:
            ended = self.kill()
            raise AssertionError(f"{error}\n{ended.printed}\n{ended.complained}") from None
        return self

    def _ended(self):
        return self.process.poll() is not None

    def end(self, signal_number):
        """Send a signal to the program, as closing its window does, and finish."""
        self.process.send_signal(signal_number)
        return self.finish()

    def kill(self):
        """Kill the program and what it started, as a machine that goes down does."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        return self.finish()

    def finish(self, timeout_s=CONVERSATION_S) -> Conversation:
        """Wait for the end; a program that does not end is killed with its group and fails the test."""
        try:
            printed, complained = self.process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            ended = self.kill()
            raise AssertionError(
                f"{self.process.args} did not end in {timeout_s} s\n{ended.printed}\n{ended.complained}"
            ) from None
        return Conversation(
            requests=self._requests_since(), printed=printed, complained=complained, status=self.process.returncode
        )


def until(true, what, timeout_s=60.0, pause_s=0.05):
    """Wait until ``true()`` is, and give its value; fails naming ``what`` after the time."""
    ends_at = time.monotonic() + timeout_s
    while not (value := true()):
        assert time.monotonic() < ends_at, f"waited {timeout_s} s for {what}"
        time.sleep(pause_s)
    return value
