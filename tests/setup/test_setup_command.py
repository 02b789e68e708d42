"""``codexmem setup`` and ``unsetup``, as a user runs them."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

CODEX, CONFIG, CLAUDE = ".codex/hooks.json", ".codex/config.toml", ".claude/settings.json"
CHIME = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "chime"}]}]}}


def test_a_dry_run_shows_the_exact_change_and_makes_none(machine):
    machine.write(CLAUDE, CHIME)
    before = machine.tree()
    status, printed = machine.run("setup", "claude", "--dry-run")
    assert status == 0
    assert machine.tree() == before
    diff = printed[: printed.index("Claude Code:")]
    machine.set_up("claude")
    assert patched(json.dumps(CHIME, indent=2), diff) == machine.read(CLAUDE)


def patched(text, diff):
    """The text after a unified diff."""
    old, new, at = text.splitlines(keepends=True), [], 0
    for line in diff.replace("\n\\ No newline at end of file", "").splitlines(keepends=True)[2:]:
        if line.startswith("@@"):
            start = int(line.split(",")[0].removeprefix("@@ -")) - 1
            new, at = [*new, *old[at:start]], start
        elif line.startswith("+"):
            new.append(line[1:])
        else:
            assert old[at].rstrip("\n") == line[1:].rstrip("\n")
            new, at = [*new, *([old[at]] if line[0] == " " else [])], at + 1
    return "".join([*new, *old[at:]])


def test_a_second_time_there_is_nothing_to_change(machine):
    machine.set_up("codex", "claude")
    before = machine.tree()
    in_place = "nothing to change, everything is in place"
    assert machine.set_up("codex", "claude") == f"Codex CLI: {in_place}\nClaude Code: {in_place}\n"
    assert machine.tree() == before


def test_without_a_terminal_only_a_change_needs_a_yes(machine):
    for command in ("setup", "unsetup"):
        if command == "unsetup":
            machine.set_up("codex", "claude")
        before = machine.tree()
        status, printed = machine.run(command, "codex", "claude")
        assert status == 2
        assert "nobody can be asked here: say --yes" in printed
        assert machine.tree() == before
        assert machine.run(command, "codex", "claude", "--yes")[0] == 0
        status, printed = machine.run(command, "codex", "claude")
        assert (status, printed.count("nothing to change")) == (0, 2)
        status, printed = machine.run(command, "claude", "--json")
        assert (status, json.loads(printed)) == (0, {"hosts": {"claude": {"error": "", "files": []}}})


def test_taking_out_leaves_what_others_wrote_byte_for_byte(machine):
    machine.write(CODEX, CHIME)
    machine.write(CONFIG, '# mine\nmodel = "x"   # quick\n\n[tui]\ntheme = "dusk"\n')
    machine.write(CLAUDE, CHIME)
    before = machine.tree()
    machine.set_up("codex", "claude")
    assert machine.tree() != before
    status, printed = machine.run("unsetup", "codex", "claude", "--yes")
    assert status == 0, printed
    assert "What is remembered stays" in printed
    assert machine.tree() == before
    assert "nothing to change" in machine.run("unsetup", "codex", "--yes")[1]


def test_without_foreign_entries_no_file_is_left(machine):
    machine.set_up("codex", "claude")
    _, printed = machine.run("unsetup", "codex", "claude", "--yes")
    assert f"removed: {machine.path(CODEX)} (as it was: " in printed
    assert "Done: Codex CLI and Claude Code without codexmem" in printed
    assert machine.tree() == {}


def test_what_was_there_is_kept_five_times(machine):
    contents = [f'{{"model": "{number}"}}\n' for number in range(7)]
    for content in contents:
        machine.write(CLAUDE, content)
        printed = machine.set_up("claude")
    folder = machine.codexmem_home / "backups" / "hosts" / "claude"
    copies = sorted(folder.glob("settings.json.*"))
    assert [copy.read_text() for copy in copies] == contents[2:]
    assert f"(as it was: {copies[-1]})" in printed
    assert {stat.S_IMODE(copy.stat().st_mode) for copy in copies} == {0o600}


def test_mode_and_links_of_the_users_files_stay(machine):
    real = machine.write("dotfiles/claude.json", CHIME)
    real.chmod(0o644)
    machine.path(CLAUDE).parent.mkdir()
    machine.path(CLAUDE).symlink_to("../dotfiles/claude.json")
    machine.set_up("claude")
    assert machine.path(CLAUDE).is_symlink()
    assert "codexmem" in real.read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o644
    assert os.listdir(real.parent) == ["claude.json"]


def test_a_host_that_cannot_be_set_up_stops_no_other(machine):
    machine.write(CLAUDE, "{ // mine\n}")
    status, printed = machine.run("setup", "claude", "codex", "--yes")
    assert status == 1
    assert f"{machine.path(CLAUDE)} is not changed: it is no plain JSON" in printed
    assert machine.read(CLAUDE) == "{ // mine\n}"
    assert "Done: Codex CLI with codexmem" in printed
    assert machine.path(CODEX).exists()


def test_all_files_of_a_host_or_none(machine):
    machine.write(CONFIG, "x = [\n")
    status, printed = machine.run("setup", "codex", "--yes")
    assert status == 1
    assert f"{machine.path(CONFIG)} is not changed: it is no TOML" in printed
    assert not machine.path(CODEX).exists()


def test_a_disk_that_refuses_the_second_file_leaves_the_first_as_it_was(machine):
    machine.write("elsewhere/readme", "")
    machine.path(".codex").mkdir()
    machine.path(CONFIG).symlink_to("/proc/no-such-folder/config.toml")  # where nobody can write
    status, printed = machine.run("setup", "codex", "--yes")
    assert status == 1
    assert "nothing is written" in printed
    assert not machine.path(CODEX).exists()


@pytest.mark.parametrize("flags", [(), ("--yes",), ("--dry-run",), ("--json",)])
def test_an_unknown_host_changes_nothing(machine, flags):
    status, printed = machine.run("setup", "codex", "codx", *flags)
    assert status == 1
    assert "no host called codx is installed (installed: claude, codex" in printed
    assert machine.tree() == {}


def test_json_tells_everything(machine):
    machine.write(CODEX, CHIME)
    status, printed = machine.run("setup", "codex", "--yes", "--json")
    told = json.loads(printed)["hosts"]["codex"]
    assert (status, told["error"]) == (0, "")
    assert [file["path"] for file in told["files"]] == [str(machine.path(CODEX)), str(machine.path(CONFIG))]
    assert all(file["written"] for file in told["files"])
    assert told["files"][0]["diff"].startswith(f"--- {machine.path(CODEX)}\n+++ ")
    assert json.loads(Path(told["files"][0]["backup"]).read_text()) == CHIME
    assert json.loads(machine.run("setup", "codex", "--dry-run", "--json")[1]) == {
        "hosts": {"codex": {"error": "", "files": []}}
    }


def test_somebody_is_asked_and_may_say_no(machine, terminal_of):
    terminal = terminal_of("setup", "claude")
    assert "+  " in terminal.until("[y/N]")
    terminal.type("n\n")
    assert terminal.end() == 0
    assert machine.tree() == {}
    terminal = terminal_of("setup", "claude")
    terminal.until("[y/N]")
    terminal.type("y\n")
    assert terminal.end() == 0
    assert "Done: Claude Code with codexmem" in terminal.seen
    assert "codexmem unsetup claude" in terminal.seen


def test_a_file_that_changed_while_somebody_read_is_shown_again(machine, terminal_of):
    machine.write(CLAUDE, CHIME)
    terminal = terminal_of("setup", "claude")
    terminal.until("[y/N]")
    machine.write(CLAUDE, {**CHIME, "model": "opus"})
    terminal.type("y\n")
    again = terminal.until("[y/N]")
    assert f"{machine.path(CLAUDE)} has changed since it was shown; nothing is written" in again
    assert "+++ " in again
    assert "codexmem" not in machine.read(CLAUDE)
    terminal.type("y\n")
    assert terminal.end() == 0
    assert machine.json(CLAUDE)["model"] == "opus"
    assert "codexmem" in machine.read(CLAUDE)


def test_doctor_repairs_what_somebody_agrees_to(machine, terminal_of):
    machine.set_up("claude", "codex")
    machine.path(CLAUDE).unlink()
    machine.path(CODEX).unlink()
    assert machine.run("doctor", "--fix")[0] == 1
    assert not machine.path(CLAUDE).exists()
    terminal = terminal_of("doctor", "--fix")
    assert "+++ " in terminal.until("[y/N]")
    terminal.type("y\n")
    terminal.until("[y/N]")
    terminal.type("n\n")
    assert terminal.end() == 1
    assert machine.path(CLAUDE).exists()
    assert not machine.path(CODEX).exists()
    assert "Claude Code Stop: installed" in terminal.seen


@pytest.mark.parametrize("host", ["codex", "claude"])
def test_paths_with_spaces_and_quotes_reach_the_hook_whole(machine, host):
    machine.own_python('it\'s a "place" with $HOME')
    home = machine.root / "what I've \\ `learned`"
    status, printed = machine.run("--home", home, "--config", machine.root / "my config.toml", "setup", host, "--yes")
    assert status == 0, printed
    hooks = machine.json(CODEX if host == "codex" else CLAUDE)["hooks"]
    command = hooks["Stop"][0]["hooks"][0]["command"]
    os.mkfifo(home / "worker.fifo")
    bell = os.open(home / "worker.fifo", os.O_RDONLY | os.O_NONBLOCK)  # so that there is a worker: this test
    done = subprocess.run(["sh", "-c", command], input=b'{"session_id": "s"}', env=machine.environ, check=False)
    assert (done.returncode, os.read(bell, 2)) == (0, b".")
    os.close(bell)
    (spooled,) = (path for path in (home / "spool").iterdir() if path.name.endswith(f".{host}.Stop"))
    assert spooled.read_bytes().endswith(b'{"session_id": "s"}')


def test_an_interpreter_that_does_not_find_codexmem_by_itself_is_refused(machine):
    folder = machine.own_python("lonely")
    (packages,) = folder.glob("lib/python3*/site-packages")
    (packages / "here.pth").unlink()
    machine.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if os.path.isdir(path))
    status, printed = machine.run("setup", "claude", "--yes")
    assert status == 1
    assert "hooks would do nothing" in printed
    assert "install it in a virtual environment" in printed
    assert machine.tree() == {}


def test_a_large_file_is_no_trouble(machine):
    machine.write(CLAUDE, {"list": list(range(20_000))})
    machine.set_up("claude")
    assert len(machine.json(CLAUDE)["list"]) == 20_000


def test_the_tools_are_set_up_with_the_hooks_and_go_with_them(machine):
    machine.with_server()
    machine.write(CLAUDE, CHIME)
    machine.set_up("claude", "codex")
    entry = machine.json(".claude.json")["mcpServers"]["codexmem"]
    assert entry["command"] == machine.python
    assert entry["args"][-2:] == ["mcp", "claude"]
    assert machine.json(CLAUDE)["permissions"] == {"allow": ["mcp__codexmem"]}
    assert "[mcp_servers.codexmem]" in machine.read(CONFIG)
    assert machine.doctor() == []
    assert "Claude Code: nothing to change" in machine.set_up("claude", "codex")
    assert machine.run("unsetup", "--yes", "claude", "codex")[0] == 0
    assert machine.tree() == {CLAUDE: json.dumps(CHIME, indent=2).encode()}


def test_a_server_as_it_was_set_up_serves_the_tools(machine):
    machine.with_server()
    machine.set_up("claude")
    entry = machine.json(".claude.json")["mcpServers"]["codexmem"]
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    lines = [
        {"id": 0, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 1, "method": "tools/list"},
    ]
    spoken = "".join(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in lines)
    argv = [entry["command"], *entry["args"]]
    with subprocess.Popen(argv, stdin=-1, stdout=-1, text=True, env=machine.environ) as server:
        server.stdin.write(spoken)
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(2)]
        server.stdin.close()
        assert server.wait(timeout=60) == 0
    assert "memory_search" in [tool["name"] for tool in answers[1]["result"]["tools"]]
