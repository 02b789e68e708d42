"""OpenCode as the plugin file sees it: a process that calls its hooks, and what these can be told."""

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import get_args

from codexmem_hookspecs.values.capture import EventKind
from codexmem_hookspecs.values.setup import SetupRequest
from codexmem_host_opencode import plugin, setup

from codexmem_core.setup.wanted import hook_argv

DRIVERS = {1: Path(__file__).parent / "drive.mjs", 2: Path(__file__).parent / "drive2.mjs"}
HOST = plugin.codexmem_capture_host()[0]
BUILD = "You are opencode, an interactive tool."
KINDS = get_args(EventKind)
LINT = "v1 generation\nAlways lint."


def run(generation, scenario, path, environ):
    """What one process of OpenCode tells that plays a scenario; it is written to ``path``."""
    path.write_text(json.dumps(scenario))
    done = subprocess.run(
        ["node", str(DRIVERS[generation]), str(path)],
        env=environ,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return json.loads(done.stdout)


class PluginFile:
    """A home, the plugin file as it would be installed for it, and one process of OpenCode at a time."""

    def __init__(self, folder):
        self.home = folder / "memory home"
        self.project = folder / "project"
        self.ready = self.home / "read" / "opencode-session.start-startup"
        self.ready.parent.mkdir(parents=True)
        self.project.mkdir()
        self.ready.write_text(LINT)
        # Somebody listens, so that no hook starts a worker.
        os.mkfifo(self.home / "worker.fifo")
        self.bell = os.open(self.home / "worker.fifo", os.O_RDONLY | os.O_NONBLOCK)
        self.file = folder / "codexmem.mjs"
        self.scenario = folder / "scenario.json"
        self.environ = {"PATH": os.environ["PATH"], "HOME": str(folder)}
        self.host = {"directory": str(self.project), "url": "http://localhost:4096/", "agents": [], "servers": {}}
        self.sessions = {"ses_1": {"id": "ses_1", "title": "New session", "directory": str(self.project)}}
        self.install()

    def install(self, program=sys.executable, kinds=KINDS, mcp=()):
        request = SetupRequest(
            environ=self.environ,
            read=lambda _: None,
            kinds=dict.fromkeys(kinds, 0.0),
            hook=partial(hook_argv, program, "opencode", str(self.home), str(self.home / "c")),
            home=str(self.home),
            mcp=mcp,
        )
        self.file.write_bytes(setup.rendered(request))

    def play(self, *steps, **host):
        """Results of the steps, in one process."""
        host = {**self.host, "sessions": self.sessions, **host}
        self.said = run(1, {"file": str(self.file), "host": host, "steps": steps}, self.scenario, self.environ)
        assert self.said["exports"] == 1, "OpenCode takes every export for a plugin"
        assert [result for result in self.said["results"] if result and "threw" in result] == []
        return [result and result["output"] for result in self.said["results"]]

    def systems(self, *steps, **host):
        """The system's words after each request to the model among the steps."""
        return [output["system"] for output in self.play(*steps, **host) if output and "system" in output]

    @property
    def spooled(self):
        """Everything that was told: event, header, payload."""
        files = sorted(path for path in (self.home / "spool").glob("*") if not path.name.startswith("."))
        told = [(path.name.split(".", 3)[3], *path.read_bytes().split(b"\n", 1)) for path in files]
        return [(event, header.decode(), json.loads(payload)) for event, header, payload in told]

    @property
    def told(self):
        """Names of what was told, in order."""
        return [event for event, _, _ in self.spooled]

    @property
    def events(self):
        """The same as the host reads it."""
        return [one for event, _, payload in self.spooled for one in HOST.decode(event, payload, 1)]


# What happens in it, as steps to play


def born(id_="ses_1", **info):
    return {
        "hook": "event",
        "input": {"event": {"type": "session.created", "properties": {"info": {"id": id_, **info}}}},
    }


def happens(type_, id_="ses_1", **properties):
    return {"hook": "event", "input": {"event": {"type": type_, "properties": {"sessionID": id_, **properties}}}}


def says(words="hello", id_="ses_1"):
    parts = [{"type": "text", "text": words}, {"type": "text", "text": "added", "synthetic": True}]
    return {"hook": "chat.message", "input": {"sessionID": id_}, "output": {"message": {"id": "msg_1"}, "parts": parts}}


def asks(*system, id_="ses_1"):
    given = {"sessionID": id_} if id_ else {}
    hook = "experimental.chat.system.transform"
    return {"hook": hook, "input": given, "output": {"system": list(system or (BUILD,))}}


def answers(words, id_="ses_1"):
    given = {"sessionID": id_, "messageID": "msg_2", "partID": "prt_2"}
    return {"hook": "experimental.text.complete", "input": given, "output": {"text": words}}


def idles(id_="ses_1"):
    return happens("session.status", id_, status={"type": "idle"}), happens("session.idle", id_)


BUSY = happens("session.status", status={"type": "busy"})
OVER = {"hook": "dispose"}
