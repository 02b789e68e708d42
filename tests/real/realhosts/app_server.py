"""``codex app-server``: the program behind Codex's editors, which can compact; JSON lines over its pipes."""

from __future__ import annotations

import json
import subprocess
import threading
from contextlib import suppress

ANSWER_S = 30.0


class AppServer:
    """A running app-server with one thread. A context manager; leaving it ends the program like closing an editor."""

    def __init__(self, command, environ, cwd):
        self._process = subprocess.Popen(
            [str(word) for word in command],
            env=environ,
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._cwd = str(cwd)
        self._number = 0
        self._answers = {}
        self._notes = []
        self._news = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)

    def __enter__(self):
        self._reader.start()
        client = {"name": "tests", "title": "tests", "version": "1"}
        self._call("initialize", {"clientInfo": client, "capabilities": {"experimentalApi": True}})
        self._send({"method": "initialized"})
        return self

    def __exit__(self, *_exception):
        with suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(ANSWER_S)
        finally:
            self._process.kill()
            self._process.wait()
            self._reader.join()
            self._process.stdout.close()

    def open(self):
        """Begin a new thread; what is said from now on belongs to it."""
        place = {"cwd": self._cwd, "sandbox": "danger-full-access", "approvalPolicy": "never"}
        self._thread = self._call("thread/start", place)["thread"]["id"]
        return self._thread

    def say(self, prompt):
        """One turn, to its end."""
        since = len(self._notes)
        self._call("turn/start", {"threadId": self._thread, "input": [{"type": "text", "text": prompt}]})
        self._until("turn/completed", since)

    def compact(self):
        """Summarise the thread, to the end of that."""
        since = len(self._notes)
        self._call("thread/compact/start", {"threadId": self._thread})
        self._until("turn/completed", since)

    def hooks(self):
        """What Codex itself says of the hooks that it would run."""
        answer = self._call("hooks/list", {"cwds": [self._cwd]})
        return [hook for place in answer["data"] for hook in place["hooks"]]

    def _send(self, message):
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def _call(self, method, params):
        self._number += 1
        number = self._number
        self._send({"id": number, "method": method, "params": params})
        with self._news:
            assert self._news.wait_for(lambda: number in self._answers, ANSWER_S), f"no answer to {method}"
            answer = self._answers.pop(number)
        assert "result" in answer, f"{method}: {answer}"
        return answer["result"]

    def _until(self, method, since):
        def come():
            return any(note["method"] == method for note in self._notes[since:])

        with self._news:
            assert self._news.wait_for(come, ANSWER_S), [note["method"] for note in self._notes[since:]]

    def _read(self):
        for line in self._process.stdout:
            message = json.loads(line)
            with self._news:
                if "method" not in message:
                    self._answers[message["id"]] = message
                elif "id" in message:
                    self._send({"id": message["id"], "result": {"decision": "accept"}})
                else:
                    self._notes.append(message)
                self._news.notify_all()
