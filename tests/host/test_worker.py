"""The worker that hooks start: what they told is in the next session's context, with no command in between."""

from __future__ import annotations

import subprocess
import sys

RULE = (("user", "Always run the linter before you commit, and never push to main."), ("assistant", "ok"))


def test_what_was_said_in_one_session_is_given_to_the_next(hooks, eventually):
    hooks.say("s1", *RULE)
    hooks.call("SessionEnd", hooks.payload("SessionEnd"))
    eventually(lambda: b"linter" in hooks.ready("SessionStart-startup"), "a memory")
    assert b"linter" in hooks.call("SessionStart-startup", hooks.payload("SessionStart", "s2", source="startup"))
    eventually(hooks.is_quiet)


def test_a_worker_ends_when_nothing_is_to_be_done(hooks, eventually):
    hooks.settings("", worker="idle_s = 1")
    hooks.call("Stop", hooks.payload("Stop"))
    hooks.worker_soon()
    eventually(lambda: hooks.worker() is None, "its end")
    assert hooks.log()[-1]["why"] == "nothing to do"
    hooks.call("Stop", hooks.payload("Stop"))
    hooks.worker_soon()
    eventually(hooks.is_quiet)


def test_a_worker_goes_on_with_what_is_installed_now(hooks, eventually, tmp_path):
    """An upgrade, or a plugin more: the process begins anew, and the lock stays its own."""
    packages = tmp_path / "packages"
    packages.mkdir()
    program = f"""
import sysconfig, sys, os
sysconfig.get_path = lambda name: {str(packages)!r}
from codexmem_core.worker.main import work
os._exit(work(sys.argv[1], sys.argv[2], os.environ))
"""
    hooks.children.append(
        subprocess.Popen([sys.executable, "-c", program, hooks.home, hooks.config], env=hooks.environ)
    )
    owner = hooks.worker_soon()
    eventually(hooks.passes)
    (packages / "new").mkdir()
    eventually(lambda: (again := hooks.worker()) is not None and again.since_ms > owner.since_ms, "a new beginning")
    assert hooks.worker().pid == owner.pid
    hooks.say("s1", *RULE)
    hooks.call("SessionEnd", hooks.payload("SessionEnd"))
    eventually(lambda: b"linter" in hooks.ready("SessionStart-startup"), "a memory")


def test_a_plugin_reads_what_was_said_until_now_at_every_event(hooks, eventually):
    """The worker keeps nothing that it read for the event before."""
    hooks.worker_with("reading")
    counts = hooks.home / "read_items"
    for number in (1, 2, 3):
        hooks.say("s1", ("user", f"Question {number}"), ("assistant", f"Answer {number}"))
        hooks.call("Stop", hooks.payload("Stop", turn_id=str(number)))
        eventually(lambda n=number: counts.exists() and counts.read_text().count("\n") == n, "a reaction")
    assert counts.read_text().split() == ["2", "4", "6"]


def test_a_worker_that_can_take_nothing_in_ends_and_leaves_it_to_the_next(hooks, eventually):
    hooks.settings("", worker="idle_s = 1")
    (hooks.home / "catalog.db").mkdir()
    hooks.call("Stop", hooks.payload("Stop"))
    owner = hooks.worker_soon()
    eventually(lambda: hooks.worker() is None, "its end")
    assert len(hooks.spooled()) == 1
    (hooks.home / "catalog.db").rmdir()
    hooks.call("Stop", hooks.payload("Stop"))
    eventually(lambda: (again := hooks.worker()) is not None and again.pid != owner.pid, "another one")
    eventually(hooks.is_quiet)
