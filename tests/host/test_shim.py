"""A hook writes down, prints what is ready, and never fails its host."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from codexmem_core.host import shim

CONTEXT = b'{"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "remember"}}'


def ready(hooks, content=b"v1 0123456789abcdef\n" + CONTEXT, event="SessionStart-startup"):
    folder = hooks.home / "read"
    folder.mkdir(exist_ok=True)
    (folder / f"codex-{event}").write_bytes(content)


def test_the_shim_loads_nothing_but_itself(hooks):
    ready(hooks)
    listing = "import sys; print(*sorted(sys.modules))"
    bare = subprocess.run([sys.executable, "-I", "-c", listing], capture_output=True, text=True, check=True)
    program = f"import sys\nfrom codexmem_core.host.shim import run\nrun(*sys.argv[1:])\n{listing.split('; ')[1]}"
    hook = subprocess.run(
        [sys.executable, "-I", "-c", program, *hooks.command("SessionStart-startup")[4:]],
        input=b"{}", cwd=hooks.project, env=hooks.environ, capture_output=True, check=True,
    )  # fmt: skip
    loaded = set(hook.stdout.replace(CONTEXT, b"").decode().split()) - set(bare.stdout.split())
    own = {"codexmem_core", "codexmem_core.host", "codexmem_core.host.shim", "codexmem_core.project_files"}
    assert loaded - {"time"} == own


def test_an_event_is_written_down_with_the_time_and_the_process_of_the_host(hooks, eventually):
    hooks.call("Stop", hooks.payload("Stop"))
    (event,) = hooks.spooled()
    assert (event.host, event.event, json.loads(event.payload)["session_id"]) == ("codex", "Stop", "s1")
    assert event.header.pid == os.getpid()
    assert event.header.memory == ""


def test_a_ready_answer_is_printed_as_it_lies_and_noted_down(hooks):
    ready(hooks)
    assert hooks.call("SessionStart-startup", hooks.payload("SessionStart")) == CONTEXT
    (event,) = hooks.spooled()
    assert (event.header.memory, event.header.generation) == ("v1", "0123456789abcdef")


def test_an_empty_answer_is_none(hooks):
    ready(hooks, b"v1 0123456789abcdef\n")
    assert hooks.call("SessionStart-startup", hooks.payload("SessionStart")) == b""
    (event,) = hooks.spooled()
    assert event.header.memory == ""


def test_one_start_among_many_calls(hooks):
    for _ in range(5):
        hooks.call("Stop", hooks.payload("Stop"))
    assert len(hooks.starts()) == 1
    assert shim.STARTS_AN_HOUR == 12
