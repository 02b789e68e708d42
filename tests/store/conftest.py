"""Real databases in a temporary home, a clock that tests move, and programs that run as processes of their own."""

import json
import os
import subprocess
import sys
from contextlib import ExitStack

import pytest
from codexmem_hookspecs.values.capture import Event, Session

from codexmem_core.store.catalogue import Catalogue
from codexmem_core.store.database import open_catalogue, open_memory
from codexmem_core.store.deliveries import Deliveries
from codexmem_core.store.jobs import Jobs
from codexmem_core.store.values import Candidate, Output

PROGRAMS = os.path.join(os.path.dirname(__file__), "programs")


class SetClock:
    """Stands still until it is moved."""

    def __init__(self):
        self.ms = 1_767_225_600_000  # 2026-01-01T00:00:00Z

    def now_ms(self):
        return self.ms

    @property
    def s(self):
        return self.ms // 1_000

    def forward(self, seconds):
        self.ms += seconds * 1_000


@pytest.fixture
def clock():
    return SetClock()


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def opened(home, clock):
    """Open databases of the home; all are closed at the end."""
    with ExitStack() as stack:

        def open_one(opener, name):
            return stack.enter_context(opener(str(home / name), backups=str(home / "backups"), clock=clock))

        yield open_one


@pytest.fixture
def memory(opened):
    return opened(open_memory, "memory.db")


@pytest.fixture
def jobs(memory, clock):
    return Jobs(memory, clock)


@pytest.fixture
def catalogue(opened, clock):
    return Catalogue(opened(open_catalogue, "catalog.db"), clock)


@pytest.fixture
def deliveries(opened, clock):
    return Deliveries(opened(open_catalogue, "catalog.db"), clock)


@pytest.fixture
def candidate():
    def make(name="s1", watermark_ms=1_000, host="codex"):
        return Candidate(host=host, id=name, watermark_ms=watermark_ms)

    return make


@pytest.fixture
def claim(jobs, candidate):
    """Claim one session, which must succeed."""

    def take(name="s1", watermark_ms=1_000, worker="w"):
        result = jobs.claim_extractions([candidate(name, watermark_ms)], limit=1, running_cap=99, worker=worker)
        assert len(result.claims) == 1, result.refused
        return result.claims[0]

    return take


@pytest.fixture
def refusal(jobs, candidate):
    """Why a session cannot be claimed."""

    def ask(name="s1", watermark_ms=1_000, running_cap=99):
        asked = candidate(name, watermark_ms)
        result = jobs.claim_extractions([asked], limit=1, running_cap=running_cap, worker="w")
        assert not result.claims
        return result.refused[asked.key]

    return ask


@pytest.fixture
def store(jobs, claim):
    """Extract one session."""

    def put(name="s1", watermark_ms=1_000, **fields):
        fields = {"rollout_summary": f"summary of {name}", "raw_memory": f"raw {name}"} | fields
        assert jobs.finish_extraction(claim(name, watermark_ms), Output(**fields))

    return put


@pytest.fixture
def session():
    def make(name="s1", host="codex", **fields):
        fields = {
            "locator": f"/sessions/{name}.jsonl",
            "updated_at_ms": 1_000,
            "touched_at_ms": 1_000,
            "stamp": "a",
            "revision": "r1",
            "size_bytes": 10,
        } | fields
        return Session(host=host, id=name, **fields)

    return make


@pytest.fixture
def event(session):
    def make(name, kind="stop", of="s1", host="codex"):
        return Event(id=name, host=host, kind=kind, session=session(of, host), at_ms=1_000)

    return make


@pytest.fixture
def start(home):
    """Start one of the programs; its arguments and its last line of output are JSON."""
    running = []

    def run(name, **arguments):
        arguments = {"home": str(home)} | arguments
        process = subprocess.Popen(
            [sys.executable, os.path.join(PROGRAMS, name), json.dumps(arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        return process

    yield run
    for process in running:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


@pytest.fixture
def answer():
    """What a program said in the end; it must have ended well."""

    def wait(process):
        output, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        return json.loads(output.splitlines()[-1])

    return wait
