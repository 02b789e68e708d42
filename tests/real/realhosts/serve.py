"""``opencode serve``: OpenCode behind its HTTP interface."""

from __future__ import annotations

import json
import re
import urllib.request

from realhosts.long_session import ANSWER_S, LongSession

MODEL = {"providerID": "scripted", "modelID": "fake-model"}


class Serve(LongSession):
    """A server with sessions in the project; ``session`` is the one that turns go to."""

    def begin(self):
        self._url = re.search(r"http://[\d.:]+", self.come(lambda line: "http://" in line))[0]
        self._open()

    def turn(self, prompt, session=None):
        text = [{"type": "text", "text": prompt}]
        self._call("POST", f"/session/{session or self.session}/message", {"model": MODEL, "parts": text})

    def compact(self):
        self._call("POST", f"/session/{self.session}/summarize", MODEL)

    def clear(self):
        self._open()

    def delete(self):
        """Delete the session."""
        self._call("DELETE", f"/session/{self.session}")

    def leave(self):
        self._process.terminate()

    def _open(self):
        self.session = self._call("POST", "/session", {})["id"]

    def _call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(self._url + path, data=data, method=method, headers=headers)
        with urllib.request.urlopen(request, timeout=ANSWER_S) as answer:
            return json.loads(answer.read() or b"null")
