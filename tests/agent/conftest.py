"""A memory among neighbours that must not be touched, and a model that does as it is told."""

import hashlib
import importlib.util
import json
import os
import shutil
import stat
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from codexmem_hookspecs.values.consolidate import AgentRequest
from codexmem_hookspecs.values.models import ToolCall, Turn
from codexmem_memory_v1 import MEMORY

from codexmem_core.consolidate.agent import Agent, Limits
from codexmem_core.consolidate.agent_paths import Permits
from codexmem_core.consolidate.agent_tools import AgentTools
from codexmem_core.consolidate.baseline import Baseline
from codexmem_core.consolidate.draft import Draft
from codexmem_core.consolidate.layout import ensure_layout
from codexmem_core.consolidate.lease import Lease
from codexmem_core.safety.files import GuardedFolder
from codexmem_core.services.deadline import WorkDeadline
from codexmem_core.services.log import LogBook

PROGRAM = Path(__file__).parent / "programs" / "consolidating.py"
SECRET = "the copper heron sleeps at noon"

_spec = importlib.util.spec_from_file_location("consolidating", PROGRAM)
consolidating = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(consolidating)


@pytest.fixture
def script():
    """The program's module: ScriptedBackend, calling, good_steps, HANDBOOK, SUMMARY."""
    return consolidating


@pytest.fixture
def program():
    return [sys.executable, str(PROGRAM)]


@pytest.fixture
def den(tmp_path):
    """A home in which whole consolidations run."""
    den = consolidating.Den(tmp_path / "home")
    yield den
    den.close()


def fingerprint(top, *, but=()):
    """Everything below a folder: kinds, permissions, contents, link targets. ``but`` are folders left out."""
    digest = hashlib.sha256()
    for folder, folders, names in os.walk(top):
        folders[:] = sorted(name for name in folders if os.path.join(folder, name) not in but)
        for name in sorted([*folders, *names]):
            path = os.path.join(folder, name)
            mode = os.lstat(path).st_mode
            digest.update(f"{path}\0{mode:o}\0".encode("utf-8", "surrogateescape"))
            if stat.S_ISLNK(mode):
                digest.update(os.readlink(path).encode())
            elif stat.S_ISREG(mode):
                digest.update(Path(path).read_bytes())
    return digest.hexdigest()


@pytest.fixture(scope="session")
def first_world(tmp_path_factory):
    """Made once; each test gets a copy."""
    top = tmp_path_factory.mktemp("first") / "world"
    root = top / "home" / "memories"
    outside = top / "outside"
    ensure_layout(str(root), MEMORY)
    for path, text in {
        outside / "secret.txt": SECRET,
        outside / "folder" / "deep.md": SECRET,
        outside / ".ssh" / "config": SECRET,
        top / "home" / "memories_v2" / "memory_summary.md": SECRET,
        top / "home" / "memory.db": SECRET,
        root / "MEMORY.md": "# Task Group: harbor\n\n- one line\n- one line\n",
        root / "memory_summary.md": "v1\n\n## User Profile\n",
        root / "raw_memories.md": "# Raw Memories\n",
        root / "rollout_summaries" / "a.md": "recap\n",
        root / "skills" / "deploy" / "SKILL.md": "# Deploy\n",
        root / ".hidden.md": SECRET,
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    baseline = Baseline(str(root), consolidating.SetClock(), locks=str(top.parent / "locks"))
    baseline.ensure()
    baseline.commit("start")
    return top


@pytest.fixture
def world(tmp_path, first_world):
    """A memory root with its baseline, another memory, a home of somebody, and what they all look like."""
    top = tmp_path / "world"
    shutil.copytree(first_world, top, symlinks=True)
    return SimpleNamespace(top=top, root=top / "home" / "memories", outside=top / "outside", logs=tmp_path / "logs")


@pytest.fixture
def tools_of(world):
    """The tools on the memory of the world, with their draft and their log."""
    books = []

    def make():
        book = LogBook(str(world.logs), consolidating.SetClock())
        books.append(book)
        draft = Draft("v1", GuardedFolder(str(world.root), write=True))
        tools = AgentTools(draft, Permits(MEMORY), book.bound("memory-v1"), lambda: None)
        return SimpleNamespace(draft=draft, tools=tools, log=book.bound("memory-v1"), call=_caller(tools))

    yield make
    for book in books:
        book.close()


def _caller(tools):
    return lambda tool, **arguments: tools.call(ToolCall(id="1", name=tool, arguments=arguments))


@pytest.fixture
def traced(world):
    """Lines of the log about tool calls."""

    def read():
        lines = [json.loads(line) for line in (world.logs / "codexmem.jsonl").read_text().splitlines()]
        return [line for line in lines if line["event"] == "agent tool"]

    return read


@pytest.fixture
def agent_with(tools_of):
    """Runs an agent whose model takes these turns; gives the model and the draft."""

    def run(*turns, limits=None, budget_bytes=600_000, again=False):
        made = tools_of()
        model = consolidating.ScriptedBackend(*turns, again=again)
        limits = limits or Limits()
        with Lease(lambda: True, WorkDeadline(60), seconds=60) as lease:
            agent = Agent(lambda request: model.turn(request, None), made.tools, lease, limits, made.log)
            request = AgentRequest(instructions="Look after the memory.", prompt="Go.")
            done = agent.run(request, MEMORY.agent_writes, budget_bytes)
        return SimpleNamespace(model=model, draft=made.draft, tools=made.tools, done=done)

    return run


@pytest.fixture
def escape(world, agent_with, traced):
    """The model tries one call. Nothing outside changes, nothing is learned; gives the tool's answer."""

    def attempt(tool, arguments, problem=""):
        before = fingerprint(world.top, but=())
        call = ToolCall(id="call-1", name=tool, arguments=arguments, problem=problem)
        run = agent_with(Turn(calls=(call,)), Turn(text="that did not work"))
        run.draft.apply()
        assert fingerprint(world.top, but=()) == before
        for request in run.model.requests:
            assert SECRET not in "".join(message.text for message in request.messages)
        (line,) = traced()
        assert line["tool"] == (tool or "call")
        (answer,) = run.model.results
        return SimpleNamespace(answer=answer, line=line, world=world)

    return attempt


@pytest.fixture
def look_of():
    return fingerprint


@pytest.fixture
def secret():
    return SECRET


@pytest.fixture
def root(den):
    return Path(den.root)


@pytest.fixture
def baseline(den):
    return Baseline(den.root, den.clock, locks=os.path.join(den.home, "locks"))


@pytest.fixture
def consolidated(den, script):
    """A memory that was consolidated once and has something new."""
    den.learn("one")
    assert den.consolidate(script.ScriptedBackend(*script.good_steps())).status == "succeeded"
    den.learn("two", recap="A second session.", raw="- second")
