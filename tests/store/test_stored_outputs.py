"""Selection, usage, retention, forgetting."""

import pytest

DAY_MS = 86_400_000


@pytest.fixture
def everyone():
    return lambda keys: keys


@pytest.fixture
def selected(jobs, everyone):
    def ids(limit=99, days=30, allowed=everyone):
        return [row.id for row in jobs.select_inputs(limit, days, allowed)]

    return ids


def test_most_used_first_then_most_recent(jobs, store, clock, selected):
    now = clock.ms
    store("old", now - 3 * DAY_MS)
    store("new", now - DAY_MS)
    store("b", now - 2 * DAY_MS)
    store("a", now - 2 * DAY_MS)
    assert selected() == ["new", "b", "a", "old"]
    clock.forward(1)
    jobs.record_usage([("codex", "old"), ("codex", "old"), ("codex", "a")])
    clock.forward(1)
    jobs.record_usage([("codex", "old")])
    assert selected() == ["old", "a", "new", "b"]


def test_old_rows_stay_while_they_are_used(jobs, store, clock, selected):
    store("used", clock.ms - 60 * DAY_MS)
    store("unused", clock.ms - 60 * DAY_MS)
    store("edge", clock.ms - 30 * DAY_MS)
    jobs.record_usage([("codex", "used")])
    assert selected() == ["used", "edge"]
    clock.forward(31 * 86_400)
    assert selected() == []


def test_retention_of_a_session_that_the_user_chose_counts_from_then(jobs, store, clock, selected):
    store("recording", clock.ms - 900 * DAY_MS, retained_from_ms=clock.ms)
    assert selected() == ["recording"]
    assert jobs.prune(30) == 0
    clock.forward(31 * 86_400)
    assert jobs.prune(30) == 1


def test_rows_without_any_text_are_left_out(store, clock, selected):
    store("blank", clock.ms, raw_memory=" \n\t", rollout_summary="\r\n")
    store("raw", clock.ms, rollout_summary="")
    store("recap", clock.ms, raw_memory="")
    assert selected() == ["recap", "raw"]


def test_sessions_that_may_not_be_remembered_do_not_count_towards_the_limit(catalogue, store, clock, selected):
    for n in range(6):
        store(f"s{n}", clock.ms - n)
    catalogue.set_mode("codex", "s0", "disabled")
    catalogue.mark_polluted("codex", "s2")
    assert selected(3, allowed=catalogue.remembered) == ["s1", "s3", "s4"]


def test_selection_pages_through_more_rows_than_a_page(jobs, memory, clock, selected):
    with memory.transaction("test"):
        memory.execute_many(
            "INSERT INTO memory_stage1_outputs (host, session_id, source_updated_at, raw_memory, rollout_summary,"
            " generated_at) VALUES ('codex', ?, ?, 'x', 'y', 1)",
            [(f"s{n}", clock.ms - n) for n in range(1_300)],
        )
    calls = []

    def late(keys):
        calls.append(len(keys))
        return [key for key in keys if int(key.id[1:]) >= 1_100]

    assert selected(10, allowed=late) == [f"s{n}" for n in range(1_100, 1_110)]
    assert calls == [512, 512, 276]
    assert len(selected(2_000)) == 1_300


def test_no_limit_selects_nothing(store, clock, selected):
    store("s1", clock.ms)
    assert selected(0) == []
    assert selected(-1) == []


def test_pruning_deletes_only_old_unused_rows_that_no_consolidation_holds(jobs, store, clock, refusal):
    old = clock.ms - 60 * DAY_MS
    store("held", old)
    jobs.finish_consolidation(jobs.claim_consolidation(worker="w"), jobs.outputs())
    store("unused", old, findings=b"{}")
    store("used", old)
    store("new", clock.ms)
    jobs.record_usage([("codex", "used")])
    assert jobs.prune(30) == 1
    assert {row.id for row in jobs.outputs()} == {"held", "used", "new"}
    assert refusal("unused", old) == "up to date", "a pruned session must not come back by itself"


def test_pruning_takes_two_hundred_rows_at_a_time_stalest_first(jobs, memory):
    with memory.transaction("test"):
        memory.execute_many(
            "INSERT INTO memory_stage1_outputs (host, session_id, source_updated_at, raw_memory, rollout_summary,"
            " generated_at) VALUES ('codex', ?, ?, 'x', 'y', 1)",
            [(f"s{n}", n) for n in range(250)],
        )
    assert jobs.prune(30) == 200
    assert min(row.source_updated_at for row in jobs.outputs()) == 200
    assert jobs.prune(30) == 50


def test_usage_of_unknown_sessions_is_ignored(jobs, store, clock):
    store("s1")
    assert jobs.record_usage([("codex", "s1"), ("codex", "gone")]) == 1
    assert (jobs.output("codex", "s1").usage_count, jobs.output("codex", "s1").last_usage) == (1, clock.ms)


def test_a_citation_is_counted_once_a_message(jobs, store):
    store("s1")
    store("s2")
    cited = [("codex", "s1"), ("codex", "s1"), ("codex", "s2")]
    assert jobs.record_usage_once("claude", "reader", "m1", cited) == [("codex", "s1"), ("codex", "s2")]
    assert jobs.record_usage_once("claude", "reader", "m1", cited) == []
    assert jobs.record_usage_once("claude", "reader", "m2", cited[:1]) == [("codex", "s1")]
    assert jobs.output("codex", "s1").usage_count == 2


def test_a_citation_of_a_session_that_is_stored_later_can_still_be_counted(jobs, store):
    assert jobs.record_usage_once("claude", "reader", "m1", [("codex", "s1")]) == []
    store("s1")
    assert jobs.record_usage_once("claude", "reader", "m1", [("codex", "s1")]) == [("codex", "s1")]


@pytest.mark.parametrize(
    ("session_id", "message", "cited"), [("", "m", [("codex", "s1")]), ("r", "", [("codex", "s1")]), ("r", "m", [])]
)
def test_incomplete_citations_count_nothing(jobs, store, session_id, message, cited):
    store("s1")
    assert jobs.record_usage_once("claude", session_id, message, cited) == []
    assert jobs.output("codex", "s1").usage_count == 0


def test_forgetting_a_session_that_the_last_consolidation_used_queues_a_new_one(jobs, store, claim):
    store("s1", findings=b"{}")
    jobs.finish_consolidation(jobs.claim_consolidation(worker="w"), jobs.outputs())
    assert jobs.delete_session("codex", "s1") is True
    assert jobs.outputs() == []
    assert jobs.consolidation_snapshot().status == "pending"
    claim("s1")


def test_forgetting_a_session_that_no_consolidation_used_queues_nothing(jobs, store):
    store("s1")
    jobs.finish_consolidation(jobs.claim_consolidation(worker="w"), [])
    assert jobs.delete_session("codex", "s1") is False
    assert jobs.consolidation_snapshot().status == "done"


def test_an_extraction_that_is_running_while_its_session_is_forgotten_stores_nothing(jobs, claim):
    from codexmem_core.store.values import Output

    running = claim("s1")
    jobs.delete_session("codex", "s1")
    assert not jobs.finish_extraction(running, Output(rollout_summary="late"))
    assert jobs.outputs() == []


def test_a_session_that_became_polluted_is_consolidated_away_only_when_it_was_in(jobs, store):
    store("in")
    jobs.finish_consolidation(jobs.claim_consolidation(worker="w"), jobs.outputs())
    store("out")
    jobs.finish_consolidation(jobs.claim_consolidation(worker="w"), [jobs.output("codex", "in")])
    assert not jobs.requeue_if_held("codex", "out")
    assert jobs.consolidation_snapshot().status == "done"
    assert jobs.requeue_if_held("codex", "in")
    assert jobs.consolidation_snapshot().status == "pending"


def test_an_unknown_output_is_a_key_error(jobs):
    with pytest.raises(KeyError):
        jobs.output("codex", "nobody")
