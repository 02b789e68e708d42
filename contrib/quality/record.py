"""Record the conversations of tests/quality with the real agents; README.md tells how. Nothing leaves the machine."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Step = Callable[[Mapping[str, Any]], Iterator[dict[str, Any]]]

ROOT = Path(__file__).resolve().parents[2]
CONVERSATIONS = ROOT / "tests" / "quality" / "conversations"
HOME = Path("/home/dev")
LONGEST = 300
"""Characters of a host's own prompt that stay."""

CODEX_CONFIG = """
model = "{model}"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
[analytics]
enabled = false
"""


def main() -> int:
    """Record the conversations named, or all, each in a home of its own that only this process sees."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--codex", required=True, help="the codex program")
    parser.add_argument("--claude", required=True, help="the claude program")
    parser.add_argument("--fakes", default=str(ROOT / "tests" / "fakes"), help="folder of the scripted servers")
    parser.add_argument("--target", type=Path, default=CONVERSATIONS.parent)
    parser.add_argument("names", nargs="*", help="conversations; none for all")
    parser.add_argument("--here", metavar="NAME", help="record in this namespace, which must have an empty /home")
    options = parser.parse_args()
    if not options.here:
        names = options.names or sorted(path.stem for path in CONVERSATIONS.glob("*.toml"))
        return max(map(_apart, names))
    sys.path.insert(0, options.fakes)
    HOME.mkdir()
    conversation = tomllib.loads((CONVERSATIONS / f"{options.here}.toml").read_text(encoding="utf-8"))
    records = _recorded(conversation, options.codex, options.claude)
    lines = [json.dumps(_neutral(record), ensure_ascii=False, separators=(",", ":")) for record in records]
    (options.target / f"{options.here}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{options.here}: {len(lines)} records", flush=True)
    return 0


def _apart(name: str) -> int:
    """Record one in namespaces of its own: only loopback, and an empty /home."""
    inside = 'ip link set lo up && mount -t tmpfs none /home && exec "$@"'
    command = ["unshare", "--net", "--mount", "sh", "-c", inside, "sh", sys.executable, *sys.argv, "--here", name]
    return subprocess.run(command, check=False).returncode


def _recorded(conversation: Mapping[str, Any], codex: str, claude: str) -> list[dict[str, Any]]:
    openai, anthropic = importlib.import_module("fake_openai"), importlib.import_module("fake_anthropic")
    project = HOME / conversation["project"]
    for name, content in conversation["files"].items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(content, encoding="utf-8")
    environ = _environment()
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Start"]):
        subprocess.run(["git", *words], cwd=project, env=environ, check=True)
    is_codex = conversation["host"] == "codex"
    step = (_codex_step if is_codex else _claude_step)(conversation)
    with (openai.FakeOpenAI if is_codex else anthropic.FakeAnthropic)() as server:
        if is_codex:
            _codex_home(conversation, server.url)
        else:
            environ["ANTHROPIC_BASE_URL"] = server.url
        for number, turn in enumerate(conversation["turns"]):
            server.script[:] = [part for told in turn["steps"] for part in step(told)]
            said = turn["user"].strip()
            command = _codex_command(codex, said, number) if is_codex else _claude_command(claude, said, number)
            done = subprocess.run(
                command, cwd=project, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
            )
            if done.returncode or server.script:
                sys.exit(f"turn {number} went wrong, {len(server.script)} steps left:\n{done.stdout}\n{done.stderr}")
    found = list((HOME / ".codex" / "sessions").rglob("*.jsonl")) + list(
        (HOME / ".claude" / "projects").rglob("*.jsonl")
    )
    if len(found) != 1:
        sys.exit(f"one transcript expected, found {found}")
    return [json.loads(line) for line in found[0].read_text(encoding="utf-8").splitlines()]


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("RUSTUP_HOME",) if name in os.environ}
    paths = [f"{sys.base_prefix}/bin", "/usr/local/bin", "/usr/bin", "/bin", os.path.expanduser("~/.cargo/bin")]
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in _DEVELOPER.items()}
    return kept | who | {
        "HOME": str(HOME), "CODEX_HOME": str(HOME / ".codex"), "CLAUDE_CONFIG_DIR": str(HOME / ".claude"),
        "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", os.path.expanduser("~/.rustup")),
        "CARGO_HOME": str(HOME / ".cargo"), "PATH": ":".join(paths), "LANG": "C.UTF-8", "TERM": "dumb",
        "PYTHONDONTWRITEBYTECODE": "1", "SCRIPTED_KEY": "none", "ANTHROPIC_API_KEY": "none",
        "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }  # fmt: skip


_DEVELOPER = {"NAME": "Dev", "EMAIL": "dev@home.invalid"}


def _codex_home(conversation: Mapping[str, Any], url: str) -> None:
    home = HOME / ".codex"
    home.mkdir()
    model = conversation.get("model", "scripted-model")
    (home / "config.toml").write_text(CODEX_CONFIG.format(model=model, url=url), encoding="utf-8")


def _codex_command(program: str, said: str, number: int) -> list[str]:
    return [program, "exec", "--skip-git-repo-check", *(["resume", "--last"] if number else []), said]


def _claude_command(program: str, said: str, number: int) -> list[str]:
    again = ["--continue"] if number else []
    return [program, "-p", *again, said, "--permission-mode", "acceptEdits", "--allowedTools", "Bash"]


def _codex_step(conversation: Mapping[str, Any]) -> Step:
    files = dict(conversation["files"])
    model = conversation.get("model", "")

    def step(told: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        command = told.get("run") or _patch(told, files)
        if not command:
            yield {"text": told["say"]}
            return
        tool: dict[str, Any] = {"name": "exec_command", "args": {"cmd": command}}
        if model:
            code = f"const r = await tools.exec_command({{cmd: {json.dumps(command)}}}); text(JSON.stringify(r));"
            tool = {"name": "exec", "input": code}
        yield {"tool": tool, **({"text": told["say"]} if "say" in told else {})}

    return step


def _patch(told: Mapping[str, Any], files: dict[str, str]) -> str:
    """The step as a patch of whole lines; ``files`` is what the project holds, and is kept up to date."""
    if "write" in told:
        path, content = told["write"]
        files[path] = content
        body = [f"*** Add File: {path}", *_lines("+", content)]
    elif "edit" in told:
        path, old, new = told["edit"]
        before = files[path]
        start = before.rindex("\n", 0, before.index(old)) + 1 if "\n" in before[: before.index(old)] else 0
        end = before.find("\n", before.index(old) + len(old) - 1)
        removed = before[start:end]
        added = removed.replace(old, new, 1) if old in removed else (removed + "\n").replace(old, new, 1)
        files[path] = before.replace(old, new, 1)
        body = [f"*** Update File: {path}", "@@", *_lines("-", removed), *_lines("+", added)]
    else:
        return ""
    return "\n".join(["apply_patch <<'PATCH'", "*** Begin Patch", *body, "*** End Patch", "PATCH"])


def _lines(mark: str, text: str) -> list[str]:
    return [mark + line for line in text.removesuffix("\n").split("\n")]


def _claude_step(conversation: Mapping[str, Any]) -> Step:
    project = HOME / conversation["project"]

    def step(told: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        tool: dict[str, Any] = {}
        if "run" in told:
            tool = {"name": "Bash", "args": {"command": told["run"], "description": "Run a command"}}
        elif "read" in told:
            tool = {"name": "Read", "args": {"file_path": str(project / told["read"])}}
        elif "write" in told:
            path, content = told["write"]
            tool = {"name": "Write", "args": {"file_path": str(project / path), "content": content}}
        elif "edit" in told:
            path, old, new = told["edit"]
            tool = {"name": "Edit", "args": {"file_path": str(project / path), "old_string": old, "new_string": new}}
        yield {**({"text": told["say"]} if "say" in told else {}), **({"tool": tool} if tool else {})}

    return step


def _neutral(record: dict[str, Any]) -> Any:
    payload = record.get("payload", {})
    own = (
        record["type"] in {"session_meta", "world_state", "turn_context", "attachment"}
        or payload.get("role") == "developer"
        or payload.get("type") == "additional_tools"
    )
    return _rewritten(record, own=own)


def _rewritten(value: Any, *, own: bool) -> Any:
    if isinstance(value, dict):
        return {key: _rewritten(item, own=own) for key, item in value.items()}
    if isinstance(value, list):
        return [_rewritten(item, own=own) for item in value]
    if not isinstance(value, str):
        return value
    value = value.replace(sys.base_prefix, "/usr")
    if own and len(value) > LONGEST:
        return f"{value[:60]} <... {len(value) - 60} characters of host prompt left out>"
    return re.sub(r"/tmp/claude-\d+", "/tmp/claude", value)


if __name__ == "__main__":
    sys.exit(main())
