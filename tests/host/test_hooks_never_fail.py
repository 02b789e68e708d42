"""Nothing that a hook does can fail, delay or litter its host. ``hooks.call`` holds: status 0, nothing on stderr."""

from __future__ import annotations

import json
import os
import resource
import stat
import subprocess
import sys

import pytest

from codexmem_core.host.shim import LIMIT_BYTES


@pytest.fixture
def still(hooks):
    hooks.no_worker()
    return hooks


def everything(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_without_a_home_nothing_happens_and_none_is_made(hooks):
    hooks.home.rmdir()
    before = everything(hooks.folder)
    assert hooks.call("Stop", hooks.payload("Stop")) == b""
    assert everything(hooks.folder) == before


def test_a_home_that_cannot_be_written_gives_what_it_has(still):
    printed = still.make_ready()
    before = everything(still.folder)
    prefix = ()
    if os.geteuid() == 0:  # permissions do not bind root; a mount does
        script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
        prefix = ("unshare", "-m", "sh", "-c", script, str(still.home))
    else:
        for folder in (still.home, still.home / "locks", still.home / "read"):
            folder.chmod(0o500)
    assert still.call("SessionStart-startup", still.payload("SessionStart"), prefix=prefix) == printed
    for folder in (still.home, still.home / "locks", still.home / "read"):
        folder.chmod(0o700)
    assert everything(still.folder) == before


def full_disk():
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def test_a_full_disk_costs_the_event_and_nothing_else(still):
    printed = still.make_ready()
    assert still.call("SessionStart-startup", still.payload("SessionStart"), before=full_disk) == printed
    assert everything(still.home / "spool") == []


@pytest.mark.parametrize("name", ["spool", "locks", "read", "locks/worker.starts", "worker.fifo", "worker.sock"])
def test_something_else_in_the_place_of_ours(hooks, name):
    """A file where a folder should be, a folder where a file should be."""
    place = hooks.home / name
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(b"") if name in ("spool", "locks", "read") else place.mkdir()
    hooks.call("SessionStart-startup", hooks.payload("SessionStart"))
    assert place.exists()


def test_a_regular_file_in_the_bells_place_is_no_worker(hooks, eventually):
    (hooks.home / "worker.fifo").write_bytes(b"")
    hooks.call("Stop", hooks.payload("Stop"))
    hooks.worker_soon()
    eventually(lambda: stat.S_ISFIFO((hooks.home / "worker.fifo").stat().st_mode), "a pipe")


def test_a_broken_configuration_stops_neither_hook_nor_worker(hooks, eventually):
    hooks.config.write_bytes(b"\xff\x00[[[")
    hooks.say("s1", ("user", "Always run the linter before you commit."), ("assistant", "ok"))
    hooks.call("SessionEnd", hooks.payload("SessionEnd"))
    eventually(lambda: b"linter" in hooks.ready("SessionStart-startup"), "a memory")


@pytest.mark.parametrize("locale", ["C", "POSIX", "de_DE.ISO-8859-1"])
def test_no_locale_changes_a_byte(still, locale):
    printed = still.make_ready("日本語 🎉")
    sent = json.dumps(still.payload("SessionStart", prompt="重跑 🎉"), ensure_ascii=False).encode() + b"\xe6\x87 \xff"
    odd = {"LC_ALL": locale, "LANG": locale, "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    assert still.call("SessionStart-startup", raw=sent, **odd) == printed
    (event,) = still.spooled()
    assert event.payload == sent


@pytest.mark.parametrize("sent", [b"", b"null", b"[1]", b"{", b"\x00" * 10, b"\xff\xfe"])
def test_odd_payloads_are_taken_in_or_set_aside(hooks, eventually, sent):
    hooks.call("Stop", raw=sent)
    hooks.worker_soon()
    eventually(hooks.is_quiet)


def test_closed_descriptors_are_no_trouble(still):
    still.make_ready()
    words = " ".join(f"'{word}'" for word in still.command("SessionStart-startup"))
    for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        done = subprocess.run(
            ["sh", "-c", f"{words} {closed}"], env=still.environ, stdin=subprocess.DEVNULL, check=False
        )
        assert done.returncode == 0
    reader, writer = os.pipe()
    os.close(reader)
    hook = subprocess.run(
        still.command("SessionStart-startup"), env=still.environ, input=b"{}", stdout=writer, check=False
    )
    os.close(writer)
    assert hook.returncode == 0


def test_a_folder_that_was_removed_under_the_host(still):
    gone = still.folder / "gone"
    gone.mkdir()
    program = "import os, sys; os.rmdir(os.getcwd()); os.execv(sys.argv[1], sys.argv[1:])"
    still.call("Stop", still.payload("Stop"), cwd=gone, prefix=(sys.executable, "-I", "-c", program))
    assert len(still.spooled()) == 1


def test_too_few_words_are_nothing(still):
    done = subprocess.run(still.command("Stop")[:-3], input=b"{}", env=still.environ, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


MEASURE = """
import os, sys
sent = [(os.POSIX_SPAWN_OPEN, 0, sys.argv[1], os.O_RDONLY, 0)]
_, status, usage = os.wait4(os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ, file_actions=sent), 0)
print(status, usage.ru_maxrss)
"""


def peak_kib(command, environ, path):
    """Of one process, as the kernel counted it; started by a small one, for a child begins as a copy of its parent."""
    measured = subprocess.run(
        [sys.executable, "-I", "-S", "-c", MEASURE, path, *command], env=environ, capture_output=True, check=True
    )
    status, peak = map(int, measured.stdout.split())
    assert status == 0
    return peak


def test_the_longest_payload_is_kept_and_a_longer_one_is_told_of(hooks, eventually):
    hooks.no_worker()
    payload = json.dumps(hooks.payload("Stop", last_assistant_message="")).encode()
    sent = hooks.folder / "sent"
    sent.write_bytes(payload.replace(b'message": "', b'message": "' + b"x" * (LIMIT_BYTES - len(payload))))
    assert sent.stat().st_size == LIMIT_BYTES
    peak = peak_kib(hooks.command("Stop"), hooks.environ, sent)
    assert peak < 40 * 1024, "it is not held in memory"
    (event,) = hooks.spooled()
    assert len(event.payload) == LIMIT_BYTES
    with sent.open("ab") as file:
        file.write(b" ")
    peak_kib(hooks.command("Stop"), hooks.environ, sent)
    longer = hooks.spooled()[-1]
    assert (longer.payload, longer.header.oversized) == (b"", LIMIT_BYTES + 1)
    hooks.cli("run")
    for shown in ("status", "doctor"):
        assert "codex Stop: a payload above 64 MiB was not taken in" in hooks.cli(shown).stdout


def test_a_hook_that_is_killed_leaves_nothing_that_looks_like_an_event(still):
    with subprocess.Popen(still.command("Stop"), stdin=subprocess.PIPE, env=still.environ) as hook:
        hook.stdin.write(b'{"session_id": "s1"')
        hook.stdin.flush()
        while not everything(still.home / "spool"):
            assert hook.poll() is None
        hook.kill()
        hook.stdin.close()
    assert still.spooled() == []


def test_what_no_host_understands_is_named_by_doctor_with_what_to_do(still):
    still.call("Stop", raw=b"{")
    still.cli("run")
    (kept,) = (still.home / "spool" / "bad").iterdir()
    told = still.cli("doctor").stdout
    assert f"{kept} is no event that a host understands\n      → look into it, then rm {kept}\n" in told
