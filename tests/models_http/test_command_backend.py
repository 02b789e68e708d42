"""Programs as models: what they are given, what is made of what they print, and where they run."""

from __future__ import annotations

import json
import os
import sys

import pytest
from codexmem_hookspecs.errors import ModelRefused
from codexmem_hookspecs.values.models import Message, TurnRequest
from codexmem_hookspecs.values.read import ToolInfo

GOOD = {"color": "red", "size": 3}


@pytest.fixture
def program(tmp_path):
    """Writes an executable that notes how it was run and then does what its Python says."""

    def make(name, body):
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        seen = tmp_path / f"{name}.json"
        path.write_text(
            f"#!{sys.executable} -I\n"
            "import json, os, sys, time\n"
            "prompt = sys.stdin.read()\n"
            f"with open({str(seen)!r}, 'a') as file:\n"
            "    file.write(json.dumps({'argv': sys.argv[1:], 'prompt': prompt, 'folder': os.getcwd(),\n"
            "        'files': os.listdir(), 'child': os.environ.get('CODEXMEM_CHILD')}) + '\\n')\n"
            f"{body}\n"
        )
        path.chmod(0o700)
        make.path = f"{path.parent}:/usr/bin:/bin"
        return lambda: [json.loads(line) for line in seen.read_text().splitlines()] if seen.exists() else []

    return make


def own(tmp_path, name="model", extra=""):
    return f'[models]\nbackend = "command"\ncommand = ["{tmp_path / "bin" / name}", "--flag"]\n{extra}'


def test_a_program_gets_the_prompt_and_its_answer_is_read(program, ask, question, tmp_path):
    seen = program("model", f"print('Sure:', {json.dumps(GOOD)!r})")
    reply = ask(own(tmp_path), question(text="What color?"))
    assert reply.data == GOOD
    assert reply.tokens_in > 0
    (run,) = seen()
    assert run["argv"] == ["--flag"]
    assert run["prompt"].startswith("Look closely.")
    assert "additionalProperties" in run["prompt"]
    assert run["prompt"].endswith("What color?")


def test_a_program_runs_marked_in_an_empty_folder_of_the_home_that_is_gone_afterwards(program, ask, tmp_path):
    seen = program("model", f"open('left', 'w'); print({json.dumps(GOOD)!r})")
    ask(own(tmp_path))
    (run,) = seen()
    assert run["child"] == "1"
    assert run["files"] == []
    assert run["folder"].startswith(os.path.realpath(tmp_path / "home") + os.sep)
    assert not os.path.exists(run["folder"])


@pytest.mark.parametrize(
    ("body", "kind", "runs"),
    [
        ("print('no idea')", "invalid", 1),
        ("print('{\"color\": 1}')", "invalid", 1),
        ("sys.exit('ERROR: unexpected status 401 Unauthorized')", "credentials", 1),
        ("sys.exit('Not logged in. Please run /login')", "credentials", 1),
        ('sys.exit("ERROR: You\'ve hit your usage limit.")', "capacity", 1),
        ("sys.exit('ERROR: maximum context length exceeded')", "overflow", 1),
        ("sys.exit('panicked')", "transport", 1),
        # Codex says what it used after it has said why.
        ("sys.exit('ERROR: ran out of room in the context window\\ntokens used\\n0')", "overflow", 1),
        # What it was given stands in its noise as well: only its last words count.
        ("sys.exit('401 unauthorized, said the user\\nworking\\nstill working\\npanicked')", "transport", 1),
    ],
)
def test_a_program_that_fails_is_refused_by_its_last_words(program, ask, tmp_path, body, kind, runs):
    seen = program("model", body)
    with pytest.raises(ModelRefused) as refused:
        ask(own(tmp_path))
    assert refused.value.kind == kind
    assert len(seen()) == runs


def test_a_program_that_hangs_is_killed(program, ask, tmp_path):
    program("model", "time.sleep(60)")
    with pytest.raises(ModelRefused, match="killed") as refused:
        ask(own(tmp_path, extra="timeout_s = 0.3"))
    assert refused.value.kind == "transport"


def test_a_program_that_is_not_there_is_a_refusal(ask, tmp_path):
    with pytest.raises(ModelRefused, match="nowhere"):
        ask(own(tmp_path, "nowhere"))


def test_a_program_consolidates_by_actions(program, engine_of, tmp_path):
    seen = program("model", """print('{"tool": "read", "arguments": {"path": "MEMORY.md"}}')""")
    engine = engine_of(own(tmp_path))
    tool = ToolInfo(name="read", summary="Read a file.", schema={"type": "object"})
    talk = (Message(role="system", text="Keep the memory."), Message(role="user", text="Begin."))
    turn = engine.model.turn(TurnRequest(messages=talk, tools=(tool,)), engine.services_for("memory-v1"))
    assert [(call.name, call.arguments) for call in turn.calls] == [("read", {"path": "MEMORY.md"})]
    (run,) = seen()
    assert "- read: Read a file." in run["prompt"]


def recipe(name, extra=""):
    return f'[models]\nbackend = "command"\nrecipe = "{name}"\nmodel = "m-1"\nefforts = ["low", "medium"]\n{extra}'


def test_codex_is_run_without_its_tools_and_keeps_no_session(program, ask):
    seen = program("codex", f"print('thinking', file=sys.stderr); print({json.dumps(GOOD)!r})")
    assert ask(recipe("codex"), environ={"PATH": program.path}).data == GOOD
    (run,) = seen()
    argv = run["argv"]
    assert argv[:3] == ["--ask-for-approval", "never", "exec"]
    assert argv[-1] == "-"
    assert {"--ephemeral", "--ignore-user-config", "--skip-git-repo-check"} <= set(argv)
    assert argv[argv.index("--sandbox") + 1] == "read-only"
    assert argv[argv.index("--model") + 1] == "m-1"
    assert {
        "features.shell_tool=false",
        "features.hooks=false",
        "agents.enabled=false",
        'web_search="disabled"',
    } <= set(argv)
    assert 'model_reasoning_effort="low"' in argv


def test_claude_is_run_without_a_tool_and_its_result_object_is_read(program, ask):
    usage = {"input_tokens": 50, "cache_read_input_tokens": 7, "output_tokens": 9}
    result = {"type": "result", "is_error": False, "result": json.dumps(GOOD), "usage": usage}
    seen = program("claude", f"print({json.dumps(result)!r})")
    reply = ask(recipe("claude"), environ={"PATH": program.path})
    assert reply.data == GOOD
    assert (reply.tokens_in, reply.tokens_out) == (57, 9)
    (run,) = seen()
    assert {"--print", "--safe-mode", "--no-session-persistence", "--strict-mcp-config"} <= set(run["argv"])
    assert run["argv"][-2:] == ["--tools", ""]
    assert run["argv"][run["argv"].index("--effort") + 1] == "low"


@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [(401, "API Error: 401 invalid x-api-key", "credentials"), (429, "API Error: 429 slow", "capacity"),
     (400, "API Error: 400 prompt is too long", "overflow"), (None, "Prompt is too long", "overflow")],
)  # fmt: skip
def test_claudes_own_report_of_an_error_is_understood(program, ask, status, said, kind):
    result = {"type": "result", "is_error": True, "api_error_status": status, "result": said}
    program("claude", f"print({json.dumps(json.dumps(result))}); sys.exit(1)")
    with pytest.raises(ModelRefused) as refused:
        ask(recipe("claude"), environ={"PATH": program.path})
    assert refused.value.kind == kind


def test_an_expired_login_is_not_tried_again_until_one_logs_in(program, ask, tmp_path, clock):
    login = tmp_path / "codex" / "auth.json"
    login.parent.mkdir()
    login.write_text("{}")
    seen = program("codex", "sys.exit('ERROR: token has expired')")
    for _ in range(3):
        with pytest.raises(ModelRefused):
            ask(recipe("codex"), environ={"PATH": program.path})
        clock.turn(hours=48)
    assert len(seen()) == 1
    login.write_text('{"fresh": true}')
    with pytest.raises(ModelRefused):
        ask(recipe("codex"), environ={"PATH": program.path})
    assert len(seen()) == 2
