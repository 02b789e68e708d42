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
