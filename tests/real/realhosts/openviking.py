"""An OpenViking server on loopback, with models that follow a script; one for all tests, an account for each."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import urllib.error
import urllib.request
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from urllib.parse import quote

from fake_ov_models import SIZE, FakeOvModels

from realhosts.conversation import until

START = "from openviking_cli.server_bootstrap import main; main()"
ROOT_KEY = "key-of-the-root"
KEPT = ("PATH", "LANG", "TZ", "TMPDIR")
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
READY_S = 120.0
"""It needs 10 to 17 s, and longer beside other work."""
ENDED_S = 30.0
REQUEST_S = 60.0
TASK_S = 90.0
"""The first commit after a start needs 12 s."""
POLL_S = 0.2
ARRIVED_S = 60.0
"""For what a hook has spooled, with a worker that must be started first."""


class OpenViking:
    """The server. A context manager; leaving it ends its process, and only that."""

    def __init__(self, python, folder):
        self._python = python
        self._folder = folder
        self._accounts = count(1)
        self.models = FakeOvModels()

    def __enter__(self):
        self.models.__enter__()
        (self._folder / "home").mkdir(parents=True)
        port = _free_port()
        self.url = f"http://127.0.0.1:{port}"
        config = self._folder / "ov.conf"
        config.write_text(json.dumps(_settings(self._folder / "data", port, self.models.url)))
        environ = {name: os.environ[name] for name in KEPT if name in os.environ}
        with (self._folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [self._python, "-c", START, "--config", config, "--host", "127.0.0.1", "--port", str(port)],
                cwd=self._folder,
                env=environ | OFFLINE | {"HOME": str(self._folder / "home")},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        try:
            until(self._ready, "OpenViking's server to be ready", READY_S, pause_s=0.2)
        except AssertionError as error:
            self.__exit__()
            raise AssertionError(f"{error}\n{self.logged()}") from None
        return self

    def __exit__(self, *_exception):
        self._process.terminate()
        try:
            self._process.wait(ENDED_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self.models.__exit__()

    def _ready(self):
        assert self._process.poll() is None, "it ended"
        with suppress(OSError):
            return ask(f"{self.url}/ready")[0] == 200
        return False

    def logged(self):
        """The last that it wrote, for a failed test."""
        return (self._folder / "log").read_text(errors="replace")[-4000:]

    def account(self):
        """A new tenant, which shares nothing with the others."""
        name = f"account-{next(self._accounts)}"
        made = self.call(ROOT_KEY, "POST", "/api/v1/admin/accounts", {"account_id": name, "admin_user_id": "ada"})
        return Account(server=self, key=made["user_key"])

    def call(self, key, method, path, body=None):
        """The result of a request that must succeed."""
        status, answer = ask(self.url + path, method=method, body=body, key=key)
        assert status == 200, f"{method} {path}: {status} {answer}"
        return answer["result"]


@dataclass(frozen=True, kw_only=True)
class Account:
    """One tenant, as its user sees it."""

    server: OpenViking
    key: str

    def call(self, method, path, body=None):
        """The result of a request that must succeed."""
        return self.server.call(self.key, method, path, body)

    def session(self, name):
        """What the server says of a session, or None when it knows none of that name."""
        status, answer = ask(f"{self.server.url}/api/v1/sessions/{quote(name)}", key=self.key)
        return None if status == 404 else answer["result"]

    def sessions(self):
        """Names of the sessions that the server knows, the oldest first."""
        return sorted(entry["session_id"] for entry in self.call("GET", "/api/v1/sessions"))

    def until_session(self, number=1):
        """Wait for so many sessions; their names."""
        return until(
            lambda: (names := self.sessions())[number - 1 :] and names, f"{number} sessions", ARRIVED_S, POLL_S
        )

    def until_said(self, *texts):
        """Wait until the server holds a session with all of these texts, once each and in this order; its name."""
        return until(lambda: self._session_of(texts), f"a session with {texts}", ARRIVED_S, POLL_S)

    def _session_of(self, texts):
        for name in self.sessions():
            if self.session(name)["total_message_count"] >= len(texts):
                said = [text for _, text in self.messages(name) if text in texts]
                if said == list(texts):
                    return name
        return None

    def until_committed(self, name, times=1):
        """Wait until everything that was said is sealed; by so many commits."""

        def sealed():
            held = self.session(name)
            return held and (held["message_count"], held["commit_count"]) == (0, times)

        until(sealed, f"{times} commits of {name}", ARRIVED_S, POLL_S)

    def context(self, name):
        """A server 0.5.2 that writes a message at that moment cannot read what it holds, and answers 400."""
        path = f"/api/v1/sessions/{quote(name)}/context?token_budget=100000"

        def read():
            status, answer = ask(self.server.url + path, key=self.key)
            return status == 200 and answer["result"]

        return until(read, f"GET {path}", pause_s=POLL_S)

    def messages(self, name):
        """Every message of a session in the order of their coming, (role, text): the archives', then the live ones."""
        if self.session(name) is None:
            return []
        self.until_done()
        archived = [message for archive in self._archives(name) for message in archive]
        return [*archived, *_said(self.context(name)["messages"])]

    def until_done(self, timeout_s=TASK_S):
        """Wait until the server has worked through everything that was committed."""
        until(lambda: all(task["status"] in ("completed", "failed") for task in self.tasks()), "the tasks", timeout_s)

    def tasks(self):
        return self.call("GET", "/api/v1/tasks")

    def _archives(self, name):
        place = f"viking://~/sessions/{name}/history"
        status, found = ask(f"{self.server.url}/api/v1/fs/ls?output=original&uri={quote(place, safe='')}", key=self.key)
        entries = found["result"] if status == 200 else []
        for number in range(1, 1 + sum(entry["name"].startswith("archive_") for entry in entries)):
            where = quote(f"{place}/archive_{number:03}/messages.jsonl", safe="")
            text = self.call("GET", f"/api/v1/content/read?uri={where}")
            yield _said(json.loads(line) for line in text.splitlines() if line.strip())


def _said(messages):
    """(role, text); a tool's call or result has no text, and counts by the tool's name."""
    return [
        (message["role"], "\n".join(part.get("text") or part.get("tool_name") or "" for part in message["parts"]))
        for message in messages
    ]


def ask(url, *, method="GET", body=None, key=""):
    """One request: its status and the JSON that came, whatever the status."""
    headers = {"content-type": "application/json"} | ({"x-api-key": key} if key else {})
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, method=method, headers=headers)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=REQUEST_S) as answer:
            return answer.status, json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        with error:
            text = error.read().decode(errors="replace")
            return error.code, json.loads(text) if re.match(r"\s*[{\[]", text) else text


def _free_port():
    with socket.socket() as any_socket:
        any_socket.bind(("127.0.0.1", 0))
        return any_socket.getsockname()[1]


def _settings(data, port, models):
    """With keys, so that each test can have an account; with overviews of archives, which are off by default."""
    model = {"provider": "openai", "api_key": "key", "api_base": f"{models}/v1"}
    dense = model | {"model": "embedding", "dimension": SIZE, "input": "text", "encoding_format": "float"}
    return {
        "server": {
            "host": "127.0.0.1",
            "port": port,
            "root_api_key": ROOT_KEY,
            "observability": {"metrics": {"enabled": False}},
            "user_config_defaults": {"memory_policy": {"working_memory": {"enabled": True}}},
        },
        "storage": {
            "workspace": str(data),
            "vectordb": {"name": "context", "backend": "local"},
            "agfs": {"backend": "local", "timeout": 10},
        },
        "embedding": {"dense": dense},
        "vlm": model | {"model": "chat", "temperature": 0.0, "max_retries": 0},
        "log": {"level": "INFO", "output": "stdout"},
    }
