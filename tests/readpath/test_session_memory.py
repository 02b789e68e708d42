"""Which memory a session reads: chosen when it first makes use of one, and kept for good."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from codexmem_hookspecs.values.capture import Session

from codexmem_core.doctor import examine
from codexmem_core.engine import UnknownNameError
from codexmem_core.publishing import asked_live
from codexmem_core.readpath.answer import Asked
from codexmem_core.readpath.arguments import Search
from codexmem_core.readpath.citing import count_citations
from codexmem_core.readpath.session_start import session_start_context
from codexmem_core.status import status_of

BOTH = ("memory-v1", "memory-v2")
READ_V2 = '[memories]\nread = "v2"\n'
SESSION = Session(host="codex", id="5e55-0001", cwd="/home/dev/harbor")


@pytest.fixture
def both(engine_with, tmp_path):
    """A home in which both memories have something to tell; each call is a fresh command."""
    for folder, tells in (("memories", "herons"), ("memories_v2", "egrets")):
        (tmp_path / "home" / folder).mkdir(parents=True)
        headings = "\n\n".join(f"## {name}" for name in ("User Profile", "User preferences", "General Tips"))
        summary = f"v1\n\n{headings}\n\n- {tells}\n\n## What's in Memory\n"
        (tmp_path / "home" / folder / "memory_summary.md").write_text(summary)
        (tmp_path / "home" / folder / "MEMORY.md").write_text(f"{tells}\n")
    return lambda config="", memories=BOTH: engine_with(config=config, memories=memories)


def tool(engine, name, session=SESSION, **arguments):
    return engine.services_for("any").tools.call(name, arguments, session)


def going_on(engine, session=SESSION):
    """What the session is told after a compaction."""
    return engine.answers.give(Asked(host=engine.host("codex"), moment="compact", session=session))


def test_without_a_choice_new_sessions_read_the_only_memory_else_v1(both):
    assert "herons" in session_start_context(both())
    assert "egrets" in session_start_context(both(memories=("memory-v2",)))
    assert "egrets" in session_start_context(both(READ_V2))
    assert "egrets" in session_start_context(both('[memories]\nversion = "v2"\n'))


def test_a_choice_that_is_not_installed_is_told_and_the_default_is_used(both):
    engine = both(READ_V2, memories=("memory-v1",))
    assert "herons" in session_start_context(engine)
    assert any("memories.read is v2, which is not installed" in warning for warning in engine.setting_warnings)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("memory_search", {"queries": ["heron"]}),
        ("memory_read", {"path": "MEMORY.md"}),
        ("memory_list", {}),
        ("memory_add_note", {"note": "The staging host is heron."}),
    ],
)
def test_a_tool_that_is_used_decides_for_good(both, name, arguments):
    assert "error" not in tool(both(), name, **arguments)
    later = both(READ_V2)
    assert later.access.memory_of(SESSION) == "v1"
    assert "\nherons\n" in tool(later, "memory_read", path="MEMORY.md")
    assert "\negrets\n" in tool(later, "memory_read", Session(host="codex", id="new"), path="MEMORY.md")


def test_a_note_goes_to_the_memory_that_the_session_reads(both, tmp_path):
    tool(both(READ_V2), "memory_add_note", note="It was said here.", title="said")
    tool(both(), "memory_add_note", note="It was said here again.", title="again")
    notes = sorted(path.name[20:] for path in (tmp_path / "home" / "memories_v2").rglob("notes/*.md"))
    assert notes == ["again.md", "said.md"]
    assert not list((tmp_path / "home" / "memories").rglob("notes/*.md"))


def test_a_citation_decides_for_good(both):
    count_citations(both(READ_V2).access, SESSION, {7: ["somebody"]})
    assert both().access.memory_of(SESSION) == "v2"


def test_looking_decides_nothing(both):
    engine = both()
    status_of(engine)
    tool(engine, "memory_inspect")
    tool(engine, "memory_mode", mode="enabled")
    session_start_context(engine, cwd="/home/dev/harbor")
    going_on(engine)
    count_citations(engine.access, SESSION, {})
    assert engine.catalogue.memory_of(SESSION.host, SESSION.id) == ""
    assert both(READ_V2).access.memory_of(SESSION) == "v2"


def test_nobody_in_particular_is_given_nothing_for_good(both):
    assert "error" not in tool(both(), "memory_list", Session(host="", id=""))
    assert both().catalogue.frozen() == {}


def test_a_session_that_goes_on_is_told_by_the_memory_that_it_was_given(both):
    both().catalogue.freeze_memory(SESSION.host, SESSION.id, "v2")
    given = going_on(both())
    assert given.memory == "v2"
    assert "egrets" in given.context
    assert going_on(both(), Session(host="codex", id="new")).memory == "v1"


def test_the_choice_outlives_a_reset(both):
    engine = both()
    tool(engine, "memory_list")
    engine.memory_tools.reset(lambda _plan: True)
    assert both(READ_V2).access.memory_of(SESSION) == "v1"


def test_a_session_whose_memory_is_gone_is_told_so_and_keeps_its_choice(both):
    tool(both(READ_V2), "memory_list")
    engine = both(memories=("memory-v1",))
    assert (going_on(engine).memory, going_on(engine).context) == ("", "")
    for name, arguments in (("memory_list", {}), ("memory_add_note", {"note": "Lost?"})):
        answer = tool(engine, name, **arguments)
        assert answer.startswith(f"{name} error: this session reads memory v2, which is not installed (installed: v1)")
    assert count_citations(engine.access, SESSION, {7: ["somebody"]}) == 0
    assert "read_version: v2" in tool(engine, "memory_inspect")
    assert status_of(engine)["not_installed"] == {"v2": 1}
    assert going_on(both()).memory == "v2"
    assert "egrets" in going_on(both()).context


def test_without_any_memory_there_is_nothing_to_tell(both):
    engine = both(memories=())
    assert going_on(engine).context == ""
    assert "no memory called v1 is installed" in tool(engine, "memory_list")
    with pytest.raises(UnknownNameError):
        session_start_context(engine)


ON_A_FULL_DISK = """
import resource, sys
from codexmem_hookspecs.values.capture import Session
from codexmem_core.engine import Engine
engine = Engine(home=sys.argv[1], config=sys.argv[2], environ={"HOME": sys.argv[1]})
session = Session(host="codex", id="s")
assert engine.access.memory_of(session) == "v1"
engine.log_book.close()
resource.setrlimit(resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
print(engine.services_for("any").tools.call("memory_read", {"path": "MEMORY.md"}, session))
print(engine.catalogue.memory_of("codex", "s"))
"""


def test_a_full_disk_is_no_reason_not_to_read(both, tmp_path):
    both().catalogue.frozen()
    done = subprocess.run(
        [sys.executable, "-c", ON_A_FULL_DISK, str(tmp_path / "home"), str(tmp_path / "none.toml")],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout.endswith("\nherons\n</codexmem-reference>\n\n\n"), done.stderr


def test_doctor_names_sessions_whose_memory_is_gone_for_a_month(both, clock):
    def told(engine):
        return [finding.message for check, finding in examine(engine) if check == "sessions"]

    tool(both(READ_V2), "memory_list")
    assert told(both()) == []
    assert told(both(memories=("memory-v1",))) == [
        "1 sessions read memory v2, which is not installed: they are given none"
    ]
    clock.ms += 31 * 86_400_000
    assert told(both(memories=("memory-v1",))) == []


def test_hooks_ask_after_a_compaction_while_a_session_goes_on_with_another_memory(both, clock):
    engine = both()
    assert "compact" not in asked_live(engine)
    engine.catalogue.freeze_memory(SESSION.host, SESSION.id, "v1")
    assert "compact" not in asked_live(engine)
    assert "compact" in asked_live(both(READ_V2))
    assert "compact" in asked_live(both(memories=("memory-v2",)))
    clock.ms += 15 * 86_400_000
    assert "compact" not in asked_live(both(READ_V2))


def test_what_is_kept_of_one_memory_is_never_taken_for_the_other(both, tmp_path):
    """Even where path, length and time are the same."""
    for folder in ("memories", "memories_v2"):
        for name in ("memory_summary.md", "MEMORY.md"):
            os.utime(tmp_path / "home" / folder / name, (1_790_000_000, 1_790_000_000))
    engine = both()
    for _ in range(2):
        for memory, plugin, tells, others in (
            ("v1", "memory-v1", "herons", "egrets"),
            ("v2", "memory-v2", "egrets", "herons"),
        ):
            text = session_start_context(engine, memory=memory)
            assert tells in text
            assert others not in text
            assert engine.memory_tools.search(plugin, Search(queries=[tells])).total
            assert not engine.memory_tools.search(plugin, Search(queries=[others])).total
