"""The worker that hooks start: what they told is in the next session's context, with no command in between."""

from __future__ import annotations

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
