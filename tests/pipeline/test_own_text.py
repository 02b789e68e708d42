"""What we gave to a session is never learned from it again, wherever a host wrote it down."""

from __future__ import annotations

import json

import pytest
from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.values.extract import Reply
from codexmem_hookspecs.values.records import ModelBackend

from codexmem_core.pipeline import run
from codexmem_core.request import RunRequest
from codexmem_core.safety.fence import fence

WORD = "walrus"
GIVEN = fence(f"The user always wants {WORD} names for branches.\n", source="codexmem memory v1", dated="2026-11-30")
CUT = GIVEN[:200] + f"{WORD} …"
"""As a host shows the beginning of what it moved into a file."""


class Curious:
    name = "curious"

    def __init__(self):
        self.asked = []

    @hookimpl
    def codexmem_models(self):
        def ask(request, _transcript, _services):
            self.asked.append(request.input)
            return Reply(data={"rollout_summary": "# Tabs", "rollout_slug": "tabs", "raw_memory": "use tabs"})

        return [ModelBackend(name="curious", summary="asks", costs=False, ask=ask)]


@pytest.fixture
def asked(engine_of, tmp_path, everything_in):
    """What a model is asked about the sessions there are; and nothing of what was given may be in the home."""

    def read():
        curious = Curious()
        claude = {"with_hosts": ("host-claude",), "CLAUDE_CONFIG_DIR": str(tmp_path / "claude")}
        engine = engine_of(curious, config='[models]\nbackend = "curious"\n', **claude)
        run(engine, RunRequest(idle_hours=0))
        engine.close()
        assert WORD.encode() not in everything_in(engine.home.root)
        (text,) = curious.asked
        return text

    return read


def message(role, text, **more):
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}], **more}


HOOKS = {"internal_chat_message_metadata_passthrough": {"content_item_kinds": ["hooks.additional_context"]}}
CODEX = {
    "context that a hook gave": [message("developer", GIVEN, **HOOKS)],
    "context that a hook gave and Codex cut": [message("developer", CUT, **HOOKS)],
    "a developer message of an older Codex": [message("developer", f"Hook says:\n{GIVEN}")],
    "the user's own text": [message("user", f"See this:\n{GIVEN}\nDo you agree?")],
    "an answer that repeats it": [message("assistant", f"I was told: {GIVEN}")],
    "the output of a command": [
        {"type": "function_call", "call_id": "1", "name": "exec_command", "arguments": '{"cmd":"codexmem context"}'},
        {"type": "function_call_output", "call_id": "1", "output": f"Exit code: 0\nOutput:\n{GIVEN}"},
    ],
    "an output as JSON": [
        {"type": "function_call", "call_id": "1", "name": "exec_command", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "1", "output": json.dumps({"output": json.dumps([GIVEN])})},
    ],
    "our own tool's answer": [
        {"type": "function_call", "call_id": "1", "namespace": "mcp__codexmem__", "name": "memory_search",
         "arguments": json.dumps({"queries": [WORD]})},
        {"type": "function_call_output", "call_id": "1", "output": f"MEMORY.md:3 {WORD} names for branches"},
    ],
}  # fmt: skip


def attachment(kind, text):
    return {"type": "attachment", "attachment": {"type": kind, "hookEvent": "SessionStart", "content": text}}


def said(role, content, **more):
    return {"type": role, "message": {"role": role, "content": content}, **more}


CLAUDE = {
    "context that a hook gave": [attachment("hook_additional_context", [GIVEN])],
    "what a hook printed": [attachment("hook_success", GIVEN)],
    "a preview of a context that was too long": [
        attachment("hook_additional_context", [f"<persisted-output>\n{CUT}\n</persisted-output>"])
    ],
    "a reminder in the user's name": [
        said("user", f"<system-reminder>\nSessionStart hook additional context: {GIVEN}\n</system-reminder>")
    ],
    "the user's own text": [said("user", f"See this:\n{GIVEN}\nDo you agree?")],
    "a summary of the conversation": [said("user", f"Earlier: {GIVEN}", isCompactSummary=True)],
    "the output of a command": [
        said("assistant", [{"type": "tool_use", "id": "1", "name": "Bash", "input": {"command": "codexmem context"}}]),
        said("user", [{"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": GIVEN}]}]),
    ],
    "our own tool's answer": [
        said("assistant", [
            {"type": "tool_use", "id": "1", "name": "mcp__codexmem__memory_search", "input": {"queries": [WORD]}},
            {"type": "tool_use", "id": "2", "name": "Bash", "input": {"command": "ls"}},
        ]),
        said("user", [
            {"type": "tool_result", "tool_use_id": "1", "content": f"MEMORY.md:3 {WORD} names for branches"},
            {"type": "tool_result", "tool_use_id": "2", "content": "kept.txt"},
        ]),
    ],
}  # fmt: skip


@pytest.mark.parametrize("place", CODEX)
def test_codex_wherever_it_stands(place, codex_home, asked):
    codex_home(("user", "Always use tabs in this repository."), ("assistant", "Yes."))
    (path,) = codex_home.root.rglob("*.jsonl")
    with path.open("a") as file:
        for item in CODEX[place]:
            line = {"timestamp": "2026-11-29T09:01:00.000Z", "type": "response_item", "payload": item}
            file.write(json.dumps(line) + "\n")
    text = asked()
    assert WORD not in text
    assert "Always use tabs" in text
    assert ("Do you agree?" in text) == (place == "the user's own text")


@pytest.mark.parametrize("place", CLAUDE)
def test_claude_code_wherever_it_stands(place, asked, tmp_path):
    folder = tmp_path / "claude" / "projects" / "-home-dev-harbor"
    folder.mkdir(parents=True)
    lines = [said("user", "Always use tabs in this repository."), said("assistant", "Yes."), *CLAUDE[place]]
    common = {"sessionId": "c1", "cwd": "/home/dev/harbor", "timestamp": "2026-11-29T09:00:00.000Z"}
    written = [json.dumps({"uuid": f"u{number}", **common, **line}) for number, line in enumerate(lines)]
    (folder / "c1.jsonl").write_text("\n".join(written) + "\n")
    text = asked()
    assert WORD not in text
    assert "Always use tabs" in text
    assert ("Do you agree?" in text) == (place == "the user's own text")
    assert ("kept.txt" in text) == (place == "our own tool's answer")
