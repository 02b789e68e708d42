"""``opencode serve``: OpenCode behind its HTTP interface, which can compact and delete."""

from __future__ import annotations

import json
import re
import subprocess
import threading
import urllib.request

START_S = 30.0
ANSWER_S = 60.0


class OpenCodeServer:
    """A running server. A context manager; leaving it ends the program with SIGTERM, as a terminal does."""

    def __init__(self, program, environ, cwd):
        self._process = subprocess.Popen(
            [str(program), "serve", "--port", "0", "--hostname", "127.0.0.1"],
            env=environ,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._cwd = str(cwd)
        self._printed = []
        self._ready = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)

    def __enter__(self):
        self._reader.start()
        assert self._ready.wait(START_S), self._printed
        return self

    def __exit__(self, *_exception):
        self._process.terminate()
        try:
            self._process.wait(ANSWER_S)
        finally:
            self._process.kill()
            self._process.wait()
            self._reader.join()
            self._process.stdout.close()

    def open(self):
        """A new session; what is said from now on belongs to it."""
        self._session = self.call("POST", "/session", {})["id"]
        return self._session

    def say(self, prompt, model):
        """One turn, to its end."""
        body = {"model": model, "parts": [{"type": "text", "text": prompt}]}
        return self.call("POST", f"/session/{self._session}/message", body)

    def compact(self, model):
        """Summarise the session, to the end of that."""
        return self.call("POST", f"/session/{self._session}/summarize", model)

    def delete(self):
        """Delete the session."""
        return self.call("DELETE", f"/session/{self._session}")

    def call(self, method, path, body=None):
        """The answer of a route, decoded."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(self.url + path, data=data, method=method, headers=headers)
        with urllib.request.urlopen(request, timeout=ANSWER_S) as answer:
            return json.loads(answer.read() or b"null")

    def _read(self):
        for line in self._process.stdout:
            self._printed.append(line)
            if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                self.url = found[0]
                self._ready.set()
