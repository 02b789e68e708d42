"""What somebody marks as private is nowhere afterwards: not in a store, a file, a log, nor in what a model is asked."""

from __future__ import annotations

import json
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest
from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.values.capture import Reaction, Session
from codexmem_hookspecs.values.extract import Reply
from codexmem_hookspecs.values.interop import Mirror
from codexmem_hookspecs.values.records import ModelBackend

from codexmem_core.pipeline import run
from codexmem_core.request import RunRequest

WORD = "walrus"
SPAN = f"<private>{WORD} <PRIVATE>{WORD}</Private> {WORD}</private>"
CODE = json.dumps({"cmd": f"echo {SPAN}", "note": f"<private>{WORD}"})
NESTED = json.dumps({"arguments": CODE}).replace("<", "\\u003c")


class Curious:
    """Hears every event, brings another tool's memory, and is a model that writes down what it is asked."""

    name = "curious"

    def __init__(self):
        self.asked = []

    @hookimpl
    def codexmem_models(self):
        def ask(request, _transcript, _services):
            self.asked.append(f"{request.instructions}\n{request.input}")
            return Reply(data={"rollout_summary": "# Tabs", "rollout_slug": "tabs", "raw_memory": "use tabs"})

        return [ModelBackend(name="curious", summary="asks", costs=False, ask=ask)]

    @hookimpl
    def codexmem_capture_reactions(self):
        return [Reaction(kind="prompt")]

    @hookimpl
    def codexmem_capture_event(self, event, services):
        services.log.warning("heard", prompt=f"{event.prompt} {SPAN}")

    @hookimpl
    def codexmem_interop_import(self, workspace, services):
        files = {"fact.md": f"The staging server is amber. {SPAN}\n".encode(), "picture.bin": b"\xff\xfe\0"}
        return [Mirror(extension="elsewhere", instructions="Facts.\n", files=files)]


def codex_session(codex_home):
    """Spans in each kind of record that Codex writes; the words of one of them in two parts."""
    session = codex_home(("user", f"Always use tabs in this repository. {SPAN}"), ("assistant", f"Yes. {SPAN}"))
    (path,) = codex_home.root.rglob("*.jsonl")
    texts = [f"Never push to main. <private>{WORD}", f"{WORD}</private> Thanks."]
    content = [{"type": "input_text", "text": text} for text in texts]
    items = [
        {"type": "message", "role": "user", "content": content},
        {"type": "function_call", "call_id": "1", "name": "exec_command", "arguments": CODE},
        {"type": "function_call_output", "call_id": "1", "output": f"Output:\n{SPAN}"},
        {"type": "function_call", "call_id": "2", "name": "other", "arguments": NESTED},
        {"type": "function_call_output", "call_id": "2", "output": NESTED},
        {"type": "custom_tool_call", "call_id": "3", "name": "exec", "input": f'const cmd = "{SPAN}"'},
    ]
    with path.open("a", encoding="utf-8") as file:
        for item in items:
            line = {"timestamp": "2026-11-29T09:01:00.000Z", "type": "response_item", "payload": item}
            file.write(json.dumps(line) + "\n")
    return session


def claude_session(folder):
    """The same for Claude Code."""
    blocks = [
        {"type": "text", "text": f"Never push to main. <private>{WORD}"},
        {"type": "text", "text": f"{WORD}</private> Thanks."},
    ]
    call = {"type": "tool_use", "id": "1", "name": "Bash", "input": json.loads(CODE)}
    result = {"type": "tool_result", "tool_use_id": "1", "content": f"{SPAN}\n{CODE}"}
    messages = [
        ("user", f"Always use tabs in this repository. {SPAN}"),
        ("assistant", [{"type": "text", "text": f"Yes. {SPAN}"}]),
        ("user", blocks),
        ("assistant", [call]),
        ("user", [result]),
    ]
    folder.mkdir(parents=True)
    lines = [
        {
            "type": role,
            "uuid": f"u{number}",
            "sessionId": "c1",
            "cwd": "/home/dev/harbor",
            "timestamp": "2026-11-29T09:00:00.000Z",
            "message": {"role": role, "content": content},
        }
        for number, (role, content) in enumerate(messages)
    ]
    lines.append(
        {**lines[0], "uuid": "q", "type": "attachment", "attachment": {"type": "queued_command", "prompt": SPAN}}
    )
    (folder / "c1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.mark.parametrize("backend", ["extractive", "curious"])
@pytest.mark.parametrize("host", ["codex", "claude"])
def test_no_host_and_no_model_lets_one_through(host, backend, codex_home, engine_of, tmp_path, everything_in):
    if host == "codex":
        codex_session(codex_home)
    else:
        claude_session(tmp_path / "claude" / "projects" / "-home-dev-harbor")
    curious = Curious()
    config = f'[models]\nbackend = "{backend}"\n'
    claude = {"with_hosts": ("host-claude",), "CLAUDE_CONFIG_DIR": str(tmp_path / "claude")}
    engine = engine_of(curious, config=config, **claude)
    prompt = {"session_id": "s", "cwd": "/w", "transcript_path": "/x", "prompt": f"Hello {SPAN}", "prompt_id": "p"}
    engine.spool.write(host, "UserPromptSubmit", json.dumps(prompt).encode(), at_ms=engine.clock.now_ms())
    report = run(engine, RunRequest(idle_hours=0))
    assert report.memories["v1"].extracted == 1, report
    engine.close()
    content = everything_in(engine.home.root)
    for kept in (b"tabs", b"Hello [private]", b"staging server is amber", b"\xff\xfe\0"):
        assert kept in content
    assert WORD.encode() not in content
    assert bool(curious.asked) == (backend == "curious")
    assert all("Always use tabs" in asked and "Never push" in asked and "Thanks" in asked for asked in curious.asked)
    assert WORD not in "".join(curious.asked)


def test_a_private_part_of_a_note_is_not_written_and_a_private_note_is_refused(codex_home, engine_of, run_with):
    codex_home(("user", "Always use tabs in this repository."), ("assistant", "Yes."))
    run_with()
    engine = engine_of()
    session = Session(host="codex", id="s")
    noted = engine.memory_tools.call("memory_add_note", {"note": f"use spaces {SPAN}", "title": SPAN}, session)
    assert "replaced by [REDACTED] or [private]" in noted
    for note in (SPAN, f" {SPAN}\n", f"<private>{WORD}"):
        refused = engine.memory_tools.call("memory_add_note", {"note": note}, session)
        assert refused == "memory_add_note error: the whole note is private; nothing was written"
    (path,) = Path(engine.memory_root("memory-v1"), "extensions/ad_hoc/notes").iterdir()
    assert "use spaces [private]" in path.read_text()
    assert WORD not in path.read_text() + path.name
    for query in (WORD, "spaces"):
        found = engine.memory_tools.call("memory_search", {"queries": [query]}, session)
        assert WORD not in found.replace(f'"{WORD}"', "").replace(f"'{WORD}'", "") or query == WORD


def test_events_that_nobody_understands_are_kept_for_the_user_alone_and_not_for_ever(engine_of, monkeypatch):
    monkeypatch.setattr("codexmem_core.host.spool.BAD_FILES", 3)
    engine = engine_of()
    for number in range(5):
        engine.spool.write("emacs", "Stop", b"{}" + b" " * number, at_ms=1_000 + number)
    run(engine, RunRequest())
    bad = Path(engine.home.spool, "bad")
    kept = sorted(path.name.split(".")[0] for path in bad.iterdir())
    assert kept == ["0000000001002", "0000000001003", "0000000001004"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in (bad, bad.parent)} == {0o700}
    assert {stat.S_IMODE(path.stat().st_mode) for path in bad.iterdir()} == {0o600}
    monkeypatch.setattr("codexmem_core.host.spool.BAD_BYTES", 5)
    engine.spool.write("emacs", "Stop", b"{}", at_ms=2_000)
    run(engine, RunRequest())
    assert [path.name.split(".")[0] for path in bad.iterdir()] == ["0000000002000"]


def test_what_a_plugin_has_heard_is_not_kept(engine_of, clock):
    engine = engine_of(Curious())
    for number in range(2):
        prompt = {"session_id": "s", "cwd": "/w", "transcript_path": "/x", "prompt": f"the words {number}"}
        engine.spool.write("codex", "UserPromptSubmit", json.dumps(prompt).encode(), at_ms=clock.now_ms() + number)
    run(engine, RunRequest())
    with closing(sqlite3.connect(engine.home.catalogue)) as catalogue:
        assert catalogue.execute("SELECT state, payload FROM deliveries").fetchall() == [("done", "")] * 2
    clock.turn(days=31)
    engine = engine_of(Curious())
    run(engine, RunRequest())
    assert engine.deliveries.counts() == []
