"""OpenCode as tests play it: its API on loopback, and a program that stands in for its own when no server listens."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from codexmem_hookspecs.testing.services import NOW_MS
from codexmem_hookspecs.values.capture import Item, Session, SessionQuery, Skipped
from codexmem_host_opencode import plugin
from fake_opencode import FakeOpenCode
from fake_opencode2 import FakeOpenCode2

from codexmem_core.services.deadline import WorkDeadline
from codexmem_core.services.http import HttpClient
from codexmem_core.services.leash import Leash
from codexmem_core.services.processes import ChildProcesses
from codexmem_core.services.serving import ServingPrograms

from .plugin_file import PluginFile
from .plugin_file2 import PluginFile2

RECORDINGS = Path(__file__).parent / "recordings"
collect_ignore_glob = (
    [] if shutil.which("node") else ["test_host_opencode_plugin_*.py", "test_host_opencode_second_whole.py"]
)
"""The plugin file is JavaScript; where nothing runs it, its tests are left out."""
PROGRAM = """#!{python}
import json, os, sys
words, store, note = [word for word in sys.argv[1:] if word != "--pure"], {store!r}, {note!r}
with open(note, "a") as file:
    file.write(json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]) + "\\n")
if words[:2] == ["session", "list"]:
    rows = [json.load(open(os.path.join(store, name)))["info"] for name in sorted(os.listdir(store))]
    rows = [row for row in rows if row["directory"] == os.getcwd()]
    if rows:
        print(json.dumps([{{"id": row["id"], "title": row.get("title", ""), "directory": row["directory"],
                           "updated": row["time"]["updated"], "created": row["time"]["created"]}} for row in rows]))
elif words[0] == "export" and os.path.exists(os.path.join(store, words[1])):
    print("Exporting session", file=sys.stderr)
    sys.stdout.write(open(os.path.join(store, words[1])).read())
else:
    sys.exit("Error: Session not found: " + words[-1])
"""


@pytest.fixture
def recorded():
    """A conversation of the real program, by the recording's name."""
    return lambda name: json.loads((RECORDINGS / f"{name}.json").read_text(encoding="utf-8"))


class OpenCode:
    """Puts sessions where the plugin finds them, and asks it about them."""

    def __init__(self, services, folder):
        self.services = services
        self.folder = folder
        self.home = Path(services.home)
        self.seen = Path(services.folder.root) / "seen"
        self.store = folder / "store"
        self.store.mkdir()
        self.note = folder / "calls"
        self.program = folder / "opencode"

    # What there is

    def install(self):
        """The program."""
        source = PROGRAM.format(python=sys.executable, store=str(self.store), note=str(self.note))
        self.program.write_text(source)
        self.program.chmod(0o755)
        self.services.settings["program"] = str(self.program)

    def uninstall(self):
        self.services.settings["program"] = str(self.folder / "nowhere")

    def keep(self, conversation):
        """Give the program a session."""
        (self.store / conversation["info"]["id"]).write_text(json.dumps(conversation))

    @property
    def calls(self):
        """What the program was asked, and where."""
        return [json.loads(line) for line in self.note.read_text().splitlines()] if self.note.exists() else []

    def saw(self, directory, *, url="", hours_ago=1, name="", **more):
        """The plugin file left word there."""
        self.seen.mkdir(parents=True, exist_ok=True)
        word = {"directory": str(directory), "url": url, "program": str(self.program), "pid": 1, **more}
        path = self.seen / f"{name or Path(directory).name}.json"
        path.write_text(json.dumps(word))
        at_s = NOW_MS / 1000 - 3600 * hours_ago
        os.utime(path, (at_s, at_s))
        return path

    # What the plugin says

    def sessions(self, **query):
        return list(plugin.codexmem_capture_sessions(query=SessionQuery(**query), services=self.services))

    def entries(self, session, after=0):
        return list(plugin.codexmem_capture_transcript(session=session, after=after, services=self.services))

    def items(self, session, after=0):
        return [entry for entry in self.entries(session, after) if isinstance(entry, Item)]

    def skipped(self, session):
        return [entry for entry in self.entries(session) if isinstance(entry, Skipped)]

    def presence(self, *sessions):
        return plugin.codexmem_capture_presence(sessions=sessions, services=self.services)

    def session(self, conversation):
        """The session of a conversation, as it would be found."""
        info = conversation["info"]
        return Session(host="opencode", id=info["id"], locator=f"opencode:/{info['id']}", cwd=info["directory"])


@pytest.fixture
def network(codexmem_services):
    """The engine's own client and programs: the kit has none."""
    deadline, leash = WorkDeadline(60), Leash()
    codexmem_services.http = HttpClient(deadline)
    codexmem_services.environ["PATH"] = os.environ["PATH"]
    serving = ServingPrograms(codexmem_services.environ, leash)
    codexmem_services.processes = ChildProcesses(codexmem_services.environ, leash, deadline, serving)
    yield codexmem_services
    serving.close()
    leash.close()


@pytest.fixture
def server(codexmem_services):
    """OpenCode's API, of this user."""
    with FakeOpenCode(state=os.path.join(codexmem_services.home, ".local/state/opencode")) as fake:
        yield fake


@pytest.fixture
def opencode(network, tmp_path):
    world = OpenCode(network, tmp_path)
    yield world
    shutil.rmtree(world.store)


@pytest.fixture
def played(tmp_path):
    """The plugin file in a process that plays OpenCode."""
    world = PluginFile(tmp_path)
    yield world
    os.close(world.bell)


@pytest.fixture
def second(tmp_path):
    """The same in OpenCode 2."""
    world = PluginFile2(tmp_path)
    yield world
    os.close(world.bell)


@pytest.fixture
def service(opencode):
    """OpenCode 2's service, registered; the plugin file was at work in it."""
    with FakeOpenCode2() as fake:
        fake.state = opencode.home / ".local" / "state" / "opencode"
        fake.register(fake.state)
        opencode.saw("/home/user/proj", name="proj.2", generation=2, pid=fake.pid, version=fake.version)
        opencode.uninstall()
        yield fake


@pytest.fixture
def served(opencode, server):
    """A server that listens and was seen."""
    opencode.server = server
    opencode.saw("/home/user/proj", url=server.url, name="proj")
    return opencode
