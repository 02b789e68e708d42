"""A host that stays open for several turns, as its terminal or editor does, and can compact and clear."""

from __future__ import annotations

import json
import subprocess
import threading
from abc import ABC, abstractmethod
from contextlib import suppress

from realhosts.conversation import Conversation

ANSWER_S = 60.0


class LongSession(ABC):
    """A running program. A context manager; leaving it ends the program as its user would."""

    def __init__(self, host, command):
        self.host = host
        self._printed = []
        self._news = threading.Condition()
        self._process = subprocess.Popen(
            [str(word) for word in command],
            env=host.environ,
            cwd=host.machine.project,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            errors="replace",
        )
        self._reader = threading.Thread(target=self._read, daemon=True)

    def __enter__(self):
        self._reader.start()
        self.begin()
        return self

    def __exit__(self, *_exception):
        self.leave()
        try:
            self._process.wait(ANSWER_S)
        finally:
            self._process.kill()
            self._process.wait()
            self._reader.join()
            with suppress(OSError):
                self._process.stdin.close()
            self._process.stdout.close()

    def say(self, prompt, *steps):
        """One turn, to its end; the model answers by the steps."""
        self.host.script(steps)
        asked = self.host.asked_from_now()
        self.turn(prompt)
        return Conversation(requests=asked())

    def leave(self):
        """End the program: nobody writes to it any more."""
        with suppress(OSError):
            self._process.stdin.close()

    @abstractmethod
    def begin(self):
        """Whatever comes before the first prompt."""

    @abstractmethod
    def turn(self, prompt):
        """Give a prompt and wait for the end of its turn."""

    @abstractmethod
    def compact(self):
        """Replace what was said by a summary."""

    @abstractmethod
    def clear(self):
        """Begin anew in the same program."""

    def send(self, message):
        """Write a line of JSON to the program."""
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def come(self, wanted, since=0):
        """Wait for a line that is ``wanted``, counted from ``since``; gives the line."""
        with self._news:
            found = self._news.wait_for(lambda: next(filter(wanted, self._printed[since:]), None), ANSWER_S)
            assert found, f"waited {ANSWER_S} s; the program printed {self._printed[since:][-20:]}"
            return found

    def printed_so_far(self):
        """How many lines there are; for ``since``."""
        return len(self._printed)

    def _read(self):
        for line in self._process.stdout:
            with self._news:
                self._printed.append(line)
                self._news.notify_all()
