"""What hooks print follows the settings and the memory as they are now, whoever publishes last."""

from __future__ import annotations

import threading

import pytest
from codexmem_hookspecs import hookimpl
from codexmem_memory_v1 import plugin as memory_v1

from codexmem_core.config_file import set_value
from codexmem_core.pipeline import run
from codexmem_core.publishing import publish_payloads
from codexmem_core.request import RunRequest

V2 = ("memory-v2",)
TURNS = (
    ("user", "Please always run the linter before you commit in this repository."),
    ("assistant", "Understood, I will run it first."),
)


@pytest.fixture
def learned(codex_home, run_with):
    codex_home(*TURNS)
    run_with(beside=V2)


@pytest.fixture
def use(tmp_path):
    """Do what ``codexmem memories use`` does to the settings."""
    return lambda memory: set_value(str(tmp_path / "config.toml"), "memories", "read", memory)


@pytest.fixture
def printed(tmp_path):
    """Names of the memories whose words hooks print."""
    folder = tmp_path / "home" / "read"
    return lambda: {path.read_bytes().split(b" ")[0].decode() for path in folder.iterdir() if not path.suffix}


def test_a_memory_that_is_chosen_while_a_pass_is_under_way_is_still_printed_after_it(learned, engine_of, use, printed):
    engine = engine_of(beside=V2)
    assert engine.config.text("memories", "read") == ""
    run(engine, RunRequest(idle_hours=0), lambda _progress: use("v2"))
    assert printed() == {"v2"}


@pytest.mark.parametrize("settings", ["[memories]\nuse_memories = false\n", '[plugins]\ndisabled = ["memory-v1"]\n'])
def test_so_is_everything_else_that_is_set_meanwhile(learned, engine_of, tmp_path, settings):
    engine = engine_of(beside=V2)
    engine.config  # noqa: B018 - read as it was
    (tmp_path / "config.toml").write_text(settings)
    publish_payloads(engine)
    given = [path.read_text() for path in (tmp_path / "home" / "read").iterdir() if not path.suffix]
    assert given
    assert not [text for text in given if "codexmem memory v1" in text]


class Slow(type(memory_v1)):
    """Reads its summary, and then waits until it may go on."""

    name = "slow"

    def __init__(self):
        super().__init__()
        self.reads = threading.Event()
        self.go_on = threading.Event()

    @hookimpl
    def codexmem_memory(self):
        return super().codexmem_memory()

    @hookimpl
    def codexmem_read_summary(self, workspace, tools, citations):
        said = super().codexmem_read_summary(workspace, tools, citations)
        self.reads.set()
        assert self.go_on.wait(60)
        return said


def test_who_began_to_publish_earlier_does_not_overwrite_who_knows_more(learned, engine_of, use, printed):
    slow = Slow()
    earlier = threading.Thread(target=publish_payloads, args=(engine_of(slow, beside=V2, without=("memory-v1",)),))
    earlier.start()
    assert slow.reads.wait(60)
    use("v2")
    later = threading.Thread(target=publish_payloads, args=(engine_of(beside=V2, config='[memories]\nread = "v2"\n'),))
    later.start()
    later.join(2)  # without turns it is done by then
    slow.go_on.set()
    earlier.join()
    later.join()
    assert printed() == {"v2"}
