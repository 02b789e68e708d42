"""What all memories share: sessions, modes, frozen memories, usage, breaker, notices."""

import pytest
from codexmem_hookspecs.values.capture import Presence

from codexmem_core.store.ledger import Breaker, Usage
from codexmem_core.store.values import Key


def test_a_session_is_recorded_as_its_host_tells_it(catalogue, session, clock):
    told = session(
        cwd="/w", kind="subagent", source="exec", memory_mode="disabled", forked_from="s0", touched_at_ms=2_000
    )
    assert catalogue.record_sessions([told]) == 1
    known = catalogue.session("codex", "s1")
    assert known.session == told
    assert (known.first_seen_ms, known.ended_at_ms, known.presence) == (clock.ms, 0, Presence.present)
    with pytest.raises(KeyError):
        catalogue.session("claude", "s1")


def test_the_same_content_touched_again_is_no_new_activity(catalogue, session):
    catalogue.record_sessions([session()])
    assert catalogue.record_sessions([session(stamp="b", touched_at_ms=9_000, updated_at_ms=9_000)]) == 0
    known = catalogue.session("codex", "s1").session
    assert (known.updated_at_ms, known.touched_at_ms, known.stamp) == (1_000, 9_000, "b")
    assert catalogue.known_states("codex") == {"/sessions/": ["s1.jsonl/b"]}


def test_new_content_always_moves_the_session_on_whatever_its_records_say(catalogue, session):
    catalogue.record_sessions([session(updated_at_ms=5_000)])
    assert catalogue.record_sessions([session(updated_at_ms=4_000, revision="r2")]) == 1
    assert catalogue.session("codex", "s1").session.updated_at_ms == 5_001
    catalogue.record_sessions([session(updated_at_ms=8_000, revision="r3")])
    assert catalogue.session("codex", "s1").session.updated_at_ms == 8_000


def test_hosts_without_revisions_are_told_apart_by_stamp(catalogue, session):
    catalogue.record_sessions([session(revision="")])
    assert catalogue.record_sessions([session(revision="", touched_at_ms=2_000)]) == 0
    assert catalogue.record_sessions([session(revision="", stamp="b")]) == 1


def test_of_two_stores_of_a_session_the_longer_wins_and_both_stamps_are_known(catalogue, session):
    long = session(locator="/long", size_bytes=20, stamp="L", revision="long")
    short = session(locator="/short", size_bytes=10, stamp="S", revision="short", updated_at_ms=9_000)
    for order in ([long, short], [short, long]):
        catalogue.record_sessions(order)
        assert catalogue.session("codex", "s1").session.locator == "/long"
    assert catalogue.known_states("codex") == {"/": ["long/L", "short/S"]}


def test_of_two_stores_of_one_length_the_newer_wins(catalogue, session):
    catalogue.record_sessions([session(locator="/a", updated_at_ms=2_000, revision="a")])
    catalogue.record_sessions([session(locator="/b", updated_at_ms=1_000, revision="b")])
    assert catalogue.session("codex", "s1").session.locator == "/a"
    catalogue.record_sessions([session(locator="/c", updated_at_ms=3_000, revision="c")])
    assert catalogue.session("codex", "s1").session.locator == "/c"


def test_a_compressed_copy_takes_the_place_without_being_new_content(catalogue, session):
    catalogue.record_sessions([session(locator="/a.jsonl")])
    assert catalogue.record_sessions([session(locator="/archived/a.jsonl.zst", stamp="z")]) == 0
    known = catalogue.session("codex", "s1").session
    assert (known.locator, known.stamp, known.updated_at_ms) == ("/archived/a.jsonl.zst", "z", 1_000)


def test_a_store_that_was_cut_short_at_its_own_place_is_believed(catalogue, session):
    catalogue.record_sessions([session(size_bytes=20)])
    catalogue.record_sessions([session(size_bytes=5, revision="r2")])
    assert catalogue.session("codex", "s1").session.size_bytes == 5


def test_when_the_winning_store_is_gone_the_rest_is_read_anew_and_takes_over(catalogue, session):
    short = session(locator="/short", size_bytes=10, stamp="S", revision="short")
    catalogue.record_sessions([session(locator="/long", size_bytes=20, revision="long"), short])
    catalogue.drop_locators("codex", ["/long", "/never seen"])
    assert catalogue.known_states("codex") == {"/": ["short/"]}
    catalogue.record_sessions([short])
    assert catalogue.session("codex", "s1").session.locator == "/short"


def test_states_are_known_by_host(catalogue, session):
    catalogue.record_sessions([session(), session(host="claude", locator="/other", stamp="c")])
    assert catalogue.known_states("claude") == {"/": ["other/c"]}
    assert catalogue.known_states("codex") == {"/sessions/": ["s1.jsonl/a"]}


def test_states_that_are_kept_ready_are_never_older_than_the_stores(catalogue, session):
    both = [session(locator="/a", size_bytes=20), session(locator="/b", size_bytes=10, stamp="s")]
    changes = (
        lambda: catalogue.record_sessions([session(locator="/a", stamp="b")]),
        lambda: catalogue.record_sessions([session("s2", locator="/c")]),
        lambda: catalogue.drop_locators("codex", ["/a"]),
    )
    catalogue.record_sessions(both)
    for change in changes:
        catalogue.keep_states("codex")
        kept = catalogue.known_states("codex")
        change()
        told = catalogue.known_states("codex")
        assert told != kept
        catalogue.keep_states("codex")
        assert catalogue.known_states("codex") == told
    catalogue.record_sessions([session("s3", host="claude", locator="/d")])
    assert catalogue.known_states("codex") == told


def test_two_processes_keep_the_same_states(catalogue, session):
    catalogue.record_sessions([session()])
    catalogue.keep_states("codex")
    catalogue.keep_states("codex")
    assert catalogue.known_states("codex") == {"/sessions/": ["s1.jsonl/a"]}


def ids(found):
    return [known.session.id for known in found]


def test_candidates_are_the_idle_and_recent_ones_last_active_first(catalogue, session):
    catalogue.record_sessions(
        [
            session("old", updated_at_ms=100, touched_at_ms=100),
            session("idle", updated_at_ms=1_000, touched_at_ms=1_000),
            session("later", updated_at_ms=2_000, touched_at_ms=2_000),
            session("busy", updated_at_ms=3_000, touched_at_ms=3_000),
            session("other", host="claude", updated_at_ms=1_500, touched_at_ms=1_500),
        ]
    )
    assert ids(catalogue.candidates(since_ms=1_000, until_touched_ms=2_000)) == ["later", "other", "idle"]
    assert ids(catalogue.candidates(since_ms=1_000, until_touched_ms=2_000, limit=1)) == ["later"]
    assert ids(catalogue.candidates(host="claude")) == ["other"]
    assert ids(catalogue.candidates(keys=[("codex", "old"), ("claude", "other"), ("claude", "old")])) == [
        "other",
        "old",
    ]
    assert ids(catalogue.candidates(keys=[("codex", "old"), ("codex", "busy")], limit=1)) == ["busy"]
    assert catalogue.candidates(keys=[]) == []


def test_many_keys_are_asked_for_in_pages(catalogue, session):
    catalogue.record_sessions(session(f"s{n}", updated_at_ms=n) for n in range(1_000))
    found = catalogue.candidates(keys=[("codex", f"s{n}") for n in range(1_000)])
    assert ids(found) == [f"s{n}" for n in reversed(range(1_000))]


def test_a_session_whose_end_was_seen_is_idle_at_once(catalogue, session):
    catalogue.mark_ended("codex", "s1", 6_000)  # the event can come before the first sweep
    catalogue.record_sessions([session(updated_at_ms=6_000, touched_at_ms=6_000), session("s2", touched_at_ms=6_000)])
    assert catalogue.candidates(until_touched_ms=5_000) == []
    assert ids(catalogue.candidates(until_touched_ms=5_000, until_ended_ms=6_000)) == ["s1"]
    assert catalogue.candidates(until_touched_ms=5_000, until_ended_ms=5_999) == []
    assert catalogue.session("codex", "s1").ended_at_ms == 6_000


def test_activity_well_after_the_end_takes_it_back_but_the_last_record_of_the_end_does_not(catalogue, session):
    catalogue.record_sessions([session()])
    catalogue.mark_ended("codex", "s1", 10_000)
    catalogue.mark_ended("codex", "s1", 9_000)
    catalogue.record_sessions([session(revision="r2", updated_at_ms=11_000)])
    assert catalogue.session("codex", "s1").ended_at_ms == 10_000
    catalogue.record_sessions([session(revision="r3", updated_at_ms=15_001)])
    assert catalogue.session("codex", "s1").ended_at_ms == 0


def test_an_event_that_shows_the_session_alive_takes_an_earlier_end_back(catalogue, session):
    catalogue.record_sessions([session()])
    catalogue.mark_ended("codex", "s1", 10_000)
    catalogue.mark_active("codex", "s1", 9_999)
    assert catalogue.session("codex", "s1").ended_at_ms == 10_000
    catalogue.mark_active("codex", "s1", 10_000)
    assert catalogue.session("codex", "s1").ended_at_ms == 0


def test_presence_is_kept_until_the_session_is_seen_again(catalogue, session):
    catalogue.record_sessions([session()])
    catalogue.set_presence("codex", {"s1": Presence.gone, "s2": Presence.gone})
    assert catalogue.session("codex", "s1").presence is Presence.gone
    catalogue.record_sessions([session(stamp="b")])
    assert catalogue.session("codex", "s1").presence is Presence.present


def test_a_mode_is_what_the_user_said_else_what_the_session_stated(catalogue, session):
    assert catalogue.mode_of("codex", "s1") == "enabled"
    catalogue.record_sessions([session(memory_mode="disabled")])
    assert catalogue.mode_of("codex", "s1") == "disabled"
    catalogue.set_mode("codex", "s1", "enabled")
    assert catalogue.mode_of("codex", "s1") == "enabled"


def test_stamping_a_mode_never_overrides_one(catalogue):
    catalogue.stamp_mode_if_absent("codex", "s1", "disabled")
    catalogue.stamp_mode_if_absent("codex", "s1", "enabled")
    assert catalogue.mode_of("codex", "s1") == "disabled"


def test_sessions_that_may_not_be_remembered(catalogue, session):
    catalogue.record_sessions([session("stated", memory_mode="disabled"), session("overruled", memory_mode="disabled")])
    catalogue.set_mode("codex", "overruled", "enabled")
    catalogue.set_mode("codex", "set", "disabled")
    catalogue.mark_polluted("codex", "polluted")
    assert catalogue.excluded() == {("codex", "stated"), ("codex", "set"), ("codex", "polluted")}
    asked = [Key("codex", name) for name in ("stated", "overruled", "set", "polluted", "unknown")]
    assert catalogue.remembered(asked) == {("codex", "overruled"), ("codex", "unknown")}


def test_a_session_keeps_the_memory_that_it_was_first_given(catalogue):
    assert catalogue.memory_of("codex", "s1") == ""
    assert catalogue.freeze_memory("codex", "s1", "v1") == "v1"
    assert catalogue.freeze_memory("codex", "s1", "any-name at all") == "v1"
    assert catalogue.memory_of("codex", "s1") == "v1"
    assert catalogue.freeze_memory("codex", "s2", "any-name at all") == "any-name at all"


def test_our_own_sessions_are_known(catalogue):
    catalogue.register_own("codex", "s1")
    catalogue.register_own("codex", "s1")
    assert catalogue.is_own("codex", "s1")
    assert not catalogue.is_own("claude", "s1")
    assert catalogue.own_sessions() == {("codex", "s1")}


def use(**fields):
    return Usage(**{"day": "2026-01-01", "stage": "extract", "memory": "v1", "model": "m"} | fields)


def test_usage_adds_up_by_day(catalogue):
    catalogue.spend(use(calls=1, tokens_in=10, tokens_out=2))
    catalogue.spend(use(calls=2, tokens_in=5))
    catalogue.spend(use(memory="v2", calls=1))
    catalogue.spend(use(day="2026-01-02", calls=7))
    assert catalogue.usage("2026-01-01") == [use(calls=3, tokens_in=15, tokens_out=2), use(memory="v2", calls=1)]
    assert [row.calls for row in catalogue.usage()] == [7, 3, 1]


def test_a_days_budget_covers_all_stages_and_models(catalogue):
    assert catalogue.reserve_call(use(), max_calls=2, max_tokens=100)
    assert catalogue.reserve_call(use(stage="consolidate", model="n"), max_calls=2, max_tokens=100)
    assert not catalogue.reserve_call(use(), max_calls=2, max_tokens=100)
    assert catalogue.reserve_call(use(day="2026-01-02"), max_calls=2, max_tokens=100)
    catalogue.spend(use(day="2026-01-02", tokens_in=60, tokens_out=40))
    assert not catalogue.reserve_call(use(day="2026-01-02"), max_calls=99, max_tokens=100)
    assert sum(row.calls for row in catalogue.usage()) == 3


def test_a_memory_may_have_less_of_the_day_than_all_together(catalogue):
    share = {"max_calls": 4, "max_tokens": 100, "own_calls": 2, "own_tokens": 60}
    assert catalogue.reserve_call(use(), **share)
    assert catalogue.reserve_call(use(stage="consolidate"), **share)
    assert not catalogue.reserve_call(use(), **share)
    assert catalogue.reserve_call(use(memory="v2", tokens_in=60), **share)
    assert not catalogue.reserve_call(use(memory="v2", tokens_in=1), **share)
    assert catalogue.reserve_call(use(memory="v3", tokens_in=40), **share)
    assert not catalogue.reserve_call(use(memory="v4"), **share)


def test_a_breaker_for_capacity_runs_out_and_the_later_end_stands(catalogue, clock):
    catalogue.trip(Breaker(scope="model:m", until_ms=clock.ms + 2_000, reason="429"))
    catalogue.trip(Breaker(scope="model:m", until_ms=clock.ms + 1_000, reason="429"))
    assert catalogue.tripped("model:m").until_ms == clock.ms + 2_000
    assert catalogue.tripped("model:other") is None
    clock.forward(2)
    assert catalogue.tripped("model:m") is None
    assert catalogue.breakers() == []
    assert catalogue.purge_breakers() == 1


def test_a_breaker_for_credentials_stands_until_they_change(catalogue, clock):
    catalogue.trip(Breaker(scope="provider:p", until_ms=clock.ms + 1_000, reason="429"))
    catalogue.trip(Breaker(scope="provider:p", until_ms=0, reason="401", fingerprint="old key"))
    clock.forward(10**6)
    assert catalogue.purge_breakers() == 0
    assert catalogue.tripped("provider:p", "old key").reason == "401"
    assert catalogue.tripped("provider:p", "new key") is None
    catalogue.reset_breaker("provider:p")
    assert catalogue.breakers() == []


def test_marks_are_kept_and_removed(catalogue):
    assert catalogue.mark("k") == ""
    catalogue.set_mark("k", "1")
    catalogue.set_mark("k", "2")
    assert catalogue.mark("k") == "2"
    catalogue.set_mark("k", "")
    assert catalogue.mark("k") == ""


def test_a_repeated_notice_is_counted_and_old_ones_make_room(catalogue, clock):
    catalogue.note("v1", "first")
    clock.forward(1)
    catalogue.note("v1", "first")
    assert [(notice.text, notice.times) for notice in catalogue.notices()] == [("first", 2)]
    assert catalogue.notices()[0].last_at_ms == clock.ms
    assert catalogue.notices(since_ms=clock.ms + 1) == []
    for n in range(205):
        clock.forward(1)
        catalogue.note("v1", f"n{n}")
    texts = [notice.text for notice in catalogue.notices()]
    assert (len(texts), texts[0], texts[-1]) == (200, "n204", "n5")


def test_the_last_time_of_each_hook_is_known(catalogue):
    catalogue.event_fired("codex", "stop", 2_000)
    catalogue.event_fired("codex", "stop", 1_000)
    catalogue.event_fired("claude", "end", 5)
    assert catalogue.last_fired() == {("codex", "stop"): 2_000, ("claude", "end"): 5}


def test_what_could_not_be_forgotten_stays_until_it_is(catalogue):
    catalogue.keep_forgetting("ov", "{}", "server down")
    catalogue.keep_forgetting("ov", "{}", "still down")
    open_one = catalogue.forgettings()[0]
    assert (open_one.plugin, open_one.selector, open_one.attempts, open_one.error) == ("ov", "{}", 2, "still down")
    catalogue.forgotten("ov", "{}")
    assert catalogue.forgettings() == []
