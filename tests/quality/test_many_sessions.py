"""Many sessions are remembered in one pass, in little memory; one more touches only what it changes."""

import json
import subprocess
import sys
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "programs" / "remember.py"
BEGAN = datetime(2026, 9, 1, 8, tzinfo=UTC)
FEW, MANY = 20, 160
KIB_A_SESSION = 96
"""What a session may cost of peak memory: its note, its lines in the files, and git's copies of them."""


def write_session(folder, number):
    """A rollout with a request, a failure that is solved, and a preference."""
    at = BEGAN + timedelta(hours=number)

    def record(second, kind, **payload):
        stamp = (at + timedelta(seconds=second)).isoformat().replace("+00:00", "Z")
        return {"timestamp": stamp, "type": kind, "payload": payload}

    def said(second, role, text):
        return record(
            second, "response_item", type="message", role=role, content=[{"type": "input_text", "text": text}]
        )

    def ran(second, call, command, output):
        arguments = json.dumps({"cmd": command})
        yield record(
            second, "response_item", type="function_call", name="exec_command", call_id=call, arguments=arguments
        )
        yield record(second, "response_item", type="function_call_output", call_id=call, output=output)

    session = str(uuid.uuid5(uuid.NAMESPACE_URL, str(number)))
    cwd = f"/home/dev/project{number % 7}"
    about = f"part{number % 35}"  # repeats within a project, not in others
    lines = [
        record(0, "session_meta", id=session, cwd=cwd, originator="codex_cli", cli_version="0.171.0", source="cli"),
        said(
            1,
            "user",
            f"Implement feature {number} in src/file{number}.py. Always mention {about} in reports.",
        ),
        *ran(2, "a", "make test", f"Process exited with code 2\nOutput:\nError: problem with {about}\n"),
        *ran(3, "b", "make fix", "Process exited with code 0\nOutput:\nfixed\n"),
        *ran(4, "c", "make test", "Process exited with code 0\nOutput:\n12 passed\n"),
        said(5, "user", "Thanks, that works."),
    ]
    path = folder / f"rollout-{at:%Y-%m-%dT%H-%M-%S}-{session}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def remember(folder, place):
    place.mkdir(exist_ok=True)
    (place / "config.toml").write_text("[memories]\nmax_raw_memories_for_consolidation = 4000\n")
    command = [sys.executable, str(PROGRAM), str(folder), str(place)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def state(place):
    """Every file of the memory, its history aside, with what a rewrite changes."""
    memory = place / "home" / "memories"
    return {
        path.relative_to(memory).as_posix(): (path.stat().st_ino, path.stat().st_mtime_ns, path.read_bytes())
        for path in memory.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }


@pytest.fixture(scope="module")
def passes(tmp_path_factory):
    """Few sessions; many; one more; nothing new."""
    root = tmp_path_factory.mktemp("many")
    few, many = root / "few", root / "sessions"
    for folder, count in ((few, FEW), (many, MANY)):
        folder.mkdir()
        for number in range(count):
            write_session(folder, number)
    told = {"few": remember(few, root / "first"), "many": remember(many, root / "second")}
    states = {"many": state(root / "second")}
    write_session(many, MANY)
    for name in ("one more", "nothing new"):
        told[name] = remember(many, root / "second")
        states[name] = state(root / "second")
    return told, states


def test_all_are_remembered_in_one_pass(passes):
    told, states = passes
    memory = told["many"]["report"]["memories"]["v1"]
    assert (memory["extracted"], memory["consolidation"]) == (MANY, "succeeded")
    handbook = states["many"]["MEMORY.md"][2].decode()
    recaps = [path for path in states["many"] if path.startswith("rollout_summaries/")]
    assert len(recaps) == MANY
    assert all(path in handbook for path in recaps)


def test_memory_grows_by_little_more_than_the_notes(passes):
    told, _ = passes
    assert told["many"]["peak_kib"] - told["few"]["peak_kib"] < KIB_A_SESSION * (MANY - FEW)


def test_the_files_stay_within_their_bounds(passes):
    _, states = passes
    summary = states["one more"]["memory_summary.md"][2]
    assert len(summary) <= 10_000
    assert f"{MANY + 1} sessions remembered".encode() in summary
    handbook = states["one more"]["MEMORY.md"][2].decode()
    assert handbook.count("\n# Task Group: ") + handbook.startswith("# Task Group: ") == 7


def test_one_more_session_touches_only_what_it_changes(passes):
    told, states = passes
    assert told["one more"]["report"]["sessions"]["claimed"] == 1
    before, after = states["many"], states["one more"]
    (new,) = set(after) - set(before)
    assert new.startswith("rollout_summaries/")
    rewritten = {path for path in before if after[path][:2] != before[path][:2]}
    assert rewritten == {path for path in before if after[path][2] != before[path][2]}
    assert rewritten == {"MEMORY.md", "memory_summary.md", "raw_memories.md", "generated_lines.txt"}


def groups(handbook):
    return {group.strip() for group in handbook.decode().split("# Task Group: ")}


def test_of_the_handbook_only_its_project_changes(passes):
    _, states = passes
    before, after = (groups(states[name]["MEMORY.md"][2]) for name in ("many", "one more"))
    assert {group.split("\n")[0] for group in after - before} == {f"/home/dev/project{MANY % 7}"}


def test_with_nothing_new_nothing_is_written(passes):
    told, states = passes
    assert told["nothing new"]["report"]["sessions"]["claimed"] == 0
    assert states["nothing new"] == states["one more"]
