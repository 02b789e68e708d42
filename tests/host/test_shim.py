"""A hook writes down, prints what is ready, and loads nothing for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest


@pytest.fixture
def still(hooks):
    """No worker is started, so that what hooks leave can be looked at."""
    hooks.no_worker()
    return hooks


def test_the_shim_loads_nothing_but_itself(still):
    printed = still.make_ready()
    listing = "print(*sorted(sys.modules))"
    bare = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import os, sys; {listing}"], capture_output=True, text=True, check=True
    )
    *start, code, place, host, event, home, config = still.command("SessionStart-startup")
    program = f"{code.replace('main', 'run').replace('run()', 'run(*sys.argv[1:5])')}; {listing}"
    hook = subprocess.run(
        [*start, program, place, host, event, home, config],
        input=b"{}", cwd=still.project, env=still.environ, capture_output=True, check=True,
    )  # fmt: skip
    assert hook.stdout.startswith(printed)
    loaded = set(hook.stdout.removeprefix(printed).decode().split()) - set(bare.stdout.split())
    own = {"codexmem_core", "codexmem_core.host", "codexmem_core.host.shim", "codexmem_core.project_files"}
    assert loaded - {"time"} == own


def test_an_event_is_written_down_with_the_time_and_the_process_of_the_host(still):
    still.call("Stop", still.payload("Stop"))
    (event,) = still.spooled()
    assert (event.host, event.event, json.loads(event.payload)["session_id"]) == ("codex", "Stop", "s1")
    assert event.header.pid == os.getpid()
    assert event.header.memory == ""


def test_the_host_is_found_behind_the_shells_that_it_uses(still):
    words = " ".join(f"'{word}'" for word in still.command("Stop"))
    subprocess.run(["sh", "-c", f'sh -c "{words}"; true'], input=b"{}", env=still.environ, check=True)
    (event,) = still.spooled()
    assert event.header.pid == os.getpid()


def test_a_ready_answer_is_printed_as_it_lies_and_noted_down(still):
    printed = still.make_ready()
    assert still.call("SessionStart-startup", still.payload("SessionStart")) == printed
    (event,) = still.spooled()
    assert (event.header.memory, event.header.generation) == ("v1", "0123456789abcdef")


def test_an_empty_answer_is_none(still):
    still.make_ready()
    (still.home / "read" / "codex-SessionStart-startup").write_bytes(b"v1 0123456789abcdef\n")
    assert still.call("SessionStart-startup", still.payload("SessionStart")) == b""
    (event,) = still.spooled()
    assert event.header.memory == ""


def test_only_the_event_that_an_answer_is_for_prints_it(still):
    still.make_ready()
    assert still.call("Stop", still.payload("Stop")) == b""
    assert still.call("SessionStart-resume", still.payload("SessionStart")) == b""


def test_a_model_of_ours_is_not_listened_to(still):
    still.make_ready()
    assert still.call("SessionStart-startup", still.payload("SessionStart"), CODEXMEM_CHILD="1") == b""
    assert still.spooled() == []


def test_a_host_that_is_to_be_left_alone_is_only_noted(still):
    still.make_ready()
    assert still.call("SessionStart-startup", still.payload("SessionStart"), CODEXMEM_BYPASS="1") == b""
    (event,) = still.spooled()
    assert event.header.bypassed


@pytest.mark.parametrize("place", ["home", "home/memories", "codex/memories", "codex/memories_v2/extensions"])
def test_who_works_inside_a_memory_is_not_listened_to(still, place):
    still.make_ready()
    folder = still.folder / place
    folder.mkdir(parents=True, exist_ok=True)
    assert still.call("SessionStart-startup", still.payload("SessionStart"), cwd=folder) == b""
    assert still.spooled() == []


def test_neighbours_of_a_memory_are_listened_to(still):
    for place in ("home2", "codex/memory", "codex"):
        (still.folder / place).mkdir(parents=True, exist_ok=True)
        still.call("Stop", still.payload("Stop"), cwd=still.folder / place)
    assert len(still.spooled()) == 3


def test_the_command_does_the_same(still):
    printed = still.make_ready()
    done = subprocess.run(
        [sys.executable, "-m", "codexmem_core.cli", "--home", still.home, "--config", still.config,
         "hook", "codex", "SessionStart-startup"],
        input=json.dumps(still.payload("SessionStart")).encode(),
        cwd=still.project, env=still.environ, capture_output=True, check=True,
    )  # fmt: skip
    assert done.stdout == printed
    assert len(still.spooled()) == 1


def test_the_command_fails_no_more_than_the_hook_and_tells_who_debugs(still):
    (still.home / "spool").write_bytes(b"")
    done = still.cli("hook", "codex", "Stop")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = still.cli("--debug", "hook", "codex", "Stop")
    assert done.returncode == 1
    assert "spool" in done.stderr


@pytest.mark.parametrize("event", ["a/b", "../../Stop", "/Stop"])
def test_names_that_are_paths_are_no_events(still, event):
    before = sorted(still.folder.rglob("*"))
    assert still.call(event, still.payload("Stop")) == b""
    assert still.call("Stop", still.payload("Stop"), host=event) == b""
    assert sorted(still.folder.rglob("*")) == before
