"""Limits bind what was not chosen explicitly; guards bind everything."""

from __future__ import annotations

from codexmem_hookspecs.values.capture import Presence, Session

from codexmem_core.capture.guards import Guards
from codexmem_core.capture.selection import DAY_MS, HOUR_MS, SelectionRules, select
from codexmem_core.store.sessions import KnownSession

NOW = 1_000 * DAY_MS
GUARDS = Guards(hosts={}, own_folders=(), excluded=frozenset(), own=frozenset())


def known(updated_ago_ms, touched_ago_ms=None, *, ended=False, **given):
    touched = updated_ago_ms if touched_ago_ms is None else touched_ago_ms
    session = Session(
        host="h", id=given.pop("id", "1"), updated_at_ms=NOW - updated_ago_ms, touched_at_ms=NOW - touched, **given
    )
    return KnownSession(
        session=session, first_seen_ms=0, ended_at_ms=NOW - updated_ago_ms if ended else 0, presence=Presence.present
    )


def reason(one, **rules):
    given = {"now_ms": NOW, "since_ms": NOW - 10 * DAY_MS, "idle_ms": 6 * HOUR_MS, **rules}
    selection = select([one], GUARDS, SelectionRules(**given))
    return selection.refused.get(("h", "1"), "")


def test_an_idle_session_within_the_age_is_eligible():
    assert reason(known(7 * HOUR_MS)) == ""


def test_a_session_that_may_still_go_on_waits():
    assert "not idle for 6 hours" in reason(known(5 * HOUR_MS))
    assert "not idle" in reason(known(7 * HOUR_MS, touched_ago_ms=HOUR_MS))


def test_a_session_whose_end_was_seen_is_idle_at_once():
    assert reason(known(1, ended=True)) == ""


def test_with_a_model_that_costs_a_seen_end_is_not_enough():
    assert "not idle for 6 hours yet (" in reason(known(1, ended=True), end_counts=False)
    assert reason(known(7 * HOUR_MS, ended=True), end_counts=False) == ""


def test_zero_idle_hours_take_it_now():
    assert reason(known(1), idle_ms=0) == ""


def test_an_old_session_says_how_old_is_too_old():
    assert reason(known(11 * DAY_MS)) == "last active more than 10 days ago"


def test_an_explicit_choice_has_no_age_and_no_idle_limit_but_the_guards():
    assert reason(known(400 * DAY_MS), explicit=True) == ""
    assert reason(known(1), explicit=True) == ""
    assert reason(known(1, kind="subagent"), explicit=True) == "subagent"


def test_eligible_sessions_keep_their_order():
    sessions = [known(7 * HOUR_MS, id="a"), known(8 * HOUR_MS, id="b")]
    chosen = select(sessions, GUARDS, SelectionRules(now_ms=NOW, idle_ms=HOUR_MS))
    assert [session.id for session in chosen.eligible] == ["a", "b"]
