"""``codex app-server``: the program behind Codex's editors; JSON-RPC, a line a message."""

from __future__ import annotations

import json

from realhosts.long_session import LongSession


class AppServer(LongSession):
    """An app-server with a thread in the project."""

    _calls = 0

    def begin(self):
        client = {"name": "tests", "title": "tests", "version": "1"}
        self._call("initialize", {"clientInfo": client, "capabilities": {"experimentalApi": True}})
        self.send({"method": "initialized"})
        self._open("startup")

    def turn(self, prompt):
        text = [{"type": "text", "text": prompt}]
        self._to_its_end("turn/start", {"threadId": self._thread, "input": text})

    def compact(self):
        self._to_its_end("thread/compact/start", {"threadId": self._thread})

    def clear(self):
        self._open("clear")

    def fork(self):
        """Go on in a copy of the thread."""
        self._thread = self._call("thread/fork", {"threadId": self._thread})["thread"]["id"]

    def hooks(self):
        """What Codex itself says of the hooks that it would run."""
        answer = self._call("hooks/list", {"cwds": [str(self.host.machine.project)]})
        return [hook for place in answer["data"] for hook in place["hooks"]]

    def _open(self, source):
        place = {"cwd": str(self.host.machine.project), "sandbox": "danger-full-access", "approvalPolicy": "never"}
        self._thread = self._call("thread/start", {**place, "sessionStartSource": source})["thread"]["id"]

    def _to_its_end(self, method, params):
        since = self.printed_so_far()
        self._call(method, params)
        self.come(lambda line: json.loads(line).get("method") == "turn/completed", since)

    def _call(self, method, params):
        self._calls += 1
        number, since = self._calls, self.printed_so_far()
        self.send({"id": number, "method": method, "params": params})
        answer = json.loads(self.come(lambda line: _answers(json.loads(line), number), since))
        assert "result" in answer, f"{method}: {answer}"
        return answer["result"]


def _answers(message, number):
    return "method" not in message and message["id"] == number
