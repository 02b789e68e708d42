"""The one consolidation job: single owner, cooldown, backoff, heartbeat, and honest status."""

import os

import pytest

from codexmem_core.store.workers import owner_is_dead, worker_identity

HOURS_6 = 21_600


@pytest.fixture
def take(jobs):
    def claim(**how):
        found = jobs.claim_consolidation(worker="w", **how)
        assert not isinstance(found, str), found
        return found

    return claim


def test_only_one_owner_at_a_time(jobs, take):
    take()
    assert jobs.claim_consolidation(worker="other") == "skipped_running"


def test_a_lapsed_lease_is_taken_over_and_the_stale_owner_changes_nothing(jobs, take, store, clock):
    store()
    stale = take()
    clock.forward(3_600)
    owner = take()
    assert not jobs.heartbeat(stale.token)
    assert not jobs.finish_consolidation(stale, jobs.outputs())
    assert not jobs.fail_consolidation(stale, "late")
    assert not jobs.release_consolidation(stale, "late")
    assert not jobs.output("codex", "s1").selected
    assert jobs.progress() == 0
    assert jobs.heartbeat(owner.token)


def test_a_heartbeat_renews_the_lease_of_the_owner_only(jobs, take, clock):
    owner = take()
    clock.forward(3_000)
    assert jobs.heartbeat(owner.token)
    assert not jobs.heartbeat("somebody else")
    clock.forward(3_000)
    assert jobs.claim_consolidation(worker="other") == "skipped_running"


def test_a_success_begins_the_cooldown_also_for_work_that_is_queued_since(jobs, take, store, clock):
    store()
    jobs.finish_consolidation(take(), jobs.outputs())
    store("s2")
    assert jobs.consolidation_snapshot().status == "pending"
    clock.forward(HOURS_6 - 1)
    assert jobs.claim_consolidation(worker="w", cooldown_s=HOURS_6) == "skipped_cooldown"
    clock.forward(1)
    take(cooldown_s=HOURS_6)


def test_the_cooldown_is_skipped_on_demand_and_absent_for_models_that_cost_nothing(jobs, take):
    jobs.finish_consolidation(take(), [])
    jobs.finish_consolidation(take(cooldown_s=HOURS_6, at_once=True), [])
    take(cooldown_s=0)


def test_a_failure_waits_an_hour_but_never_exhausts_and_begins_no_cooldown(jobs, take, clock):
    for _ in range(5):
        assert jobs.fail_consolidation(take(cooldown_s=HOURS_6), "no")
        assert jobs.claim_consolidation(worker="w") == "skipped_retry_unavailable"
        clock.forward(3_600)
    assert jobs.unfinished()[0].retries_left == 0
    take(cooldown_s=HOURS_6)


def test_new_input_ends_the_wait_after_a_failure(jobs, take, store):
    jobs.fail_consolidation(take(), "no")
    store()
    take()


def test_who_asks_by_hand_has_mended_what_failed_and_does_not_wait_either(jobs, take):
    jobs.fail_consolidation(take(), "no")
    assert jobs.claim_consolidation(worker="w") == "skipped_retry_unavailable"
    take(at_once=True)


def test_a_released_job_can_be_taken_at_once(jobs, take):
    jobs.finish_consolidation(take(), [])
    assert jobs.release_consolidation(take(), "shutting down")
    take(cooldown_s=HOURS_6)


def test_a_failure_also_ends_a_running_job_that_nobody_owns_but_not_one_of_somebody_else(jobs, take, memory, clock):
    lost = take()
    with memory.transaction("test"):
        memory.execute("UPDATE memory_jobs SET ownership_token = NULL")
    assert jobs.fail_consolidation(lost, RuntimeError())
    assert jobs.consolidation_snapshot().attempt.error == "RuntimeError"
    clock.forward(3_600)
    take()
    assert not jobs.fail_consolidation(lost, "not mine")
    assert jobs.consolidation_snapshot().status == "running"


def test_a_success_records_exactly_the_states_it_used(jobs, take, store):
    store("s1", 1_000)
    store("s2", 1_000)
    owner, used = take(), jobs.outputs()
    store("s2", 2_000)  # extracted anew while the consolidation ran
    assert jobs.finish_consolidation(owner, used)
    assert jobs.output("codex", "s1").selected
    assert not jobs.output("codex", "s2").selected
    assert jobs.progress() == 2
    jobs.finish_consolidation(take(), [])
    assert not jobs.output("codex", "s1").selected
    assert jobs.progress() == 2


def test_input_that_arrives_during_a_run_is_queued_when_it_ends(jobs, take, store):
    store("s1")
    owner, used = take(), jobs.outputs()
    store("s2")
    assert jobs.consolidation_snapshot().status == "running"
    jobs.finish_consolidation(owner, used)
    assert jobs.consolidation_snapshot().status == "pending"
    jobs.finish_consolidation(take(), jobs.outputs())
    assert jobs.consolidation_snapshot().status == "done"
    assert jobs.unfinished() == []


def test_status_keeps_last_attempt_and_last_success_apart(jobs, take, store, clock):
    assert (jobs.consolidation_snapshot().status, jobs.consolidation_snapshot().attempt) == ("none", None)
    store(watermark_ms=8_000)
    queued = jobs.consolidation_snapshot()
    assert (queued.status, queued.attempt, queued.success) == ("pending", None, None)
    owner, began = take(), clock.s
    running = jobs.consolidation_snapshot()
    assert (running.attempt.outcome, running.success) == ("running", None)
    clock.forward(60)
    jobs.finish_consolidation(owner, jobs.outputs())
    done = jobs.consolidation_snapshot()
    assert (done.attempt.outcome, done.attempt.started_at, done.attempt.finished_at) == ("succeeded", began, began + 60)
    assert (done.success.finished_at, done.success.watermark_ms) == (began + 60, 8_000)
    clock.forward(60)
    jobs.release_consolidation(take(), "shutting down")
    back = jobs.consolidation_snapshot()
    assert (back.status, back.attempt.outcome, back.attempt.error) == ("pending", "released", "shutting down")
    assert back.success == done.success
    jobs.fail_consolidation(take(), "no model")
    failed = jobs.consolidation_snapshot()
    assert (failed.status, failed.attempt.outcome, failed.success) == ("failed", "failed", done.success)
    store("s2")
    again = jobs.consolidation_snapshot()
    assert (again.status, again.attempt.outcome, again.success) == ("pending", "failed", done.success)


def test_status_says_that_a_running_job_has_stalled(jobs, take, clock):
    take()
    clock.forward(86_400)
    assert jobs.consolidation_snapshot().attempt.outcome == "stalled"


def test_a_success_without_any_input_counts_as_one(jobs, take):
    jobs.finish_consolidation(take(), [])
    assert jobs.consolidation_snapshot().success.watermark_ms == 0


def test_a_reset_wipes_rows_and_jobs_and_only_its_cooldown_stays(jobs, take, store, clock):
    store(findings=b"{}")
    jobs.finish_consolidation(take(), jobs.outputs())
    jobs.record_usage_once("codex", "reader", "m1", [("codex", "s1")])
    running = take()
    jobs.clear()
    assert (jobs.outputs(), jobs.unfinished(), jobs.settled(), jobs.progress()) == ([], [], {}, 0)
    assert not jobs.finish_consolidation(running, [])
    seen = jobs.consolidation_snapshot()
    assert (seen.status, seen.attempt, seen.success) == ("done", None, None)
    assert jobs.claim_consolidation(worker="w", cooldown_s=HOURS_6) == "skipped_cooldown"
    store()
    assert jobs.record_usage_once("codex", "reader", "m1", [("codex", "s1")]) == [("codex", "s1")]


def test_this_process_and_unknown_owners_are_alive():
    assert not owner_is_dead(worker_identity())
    assert not owner_is_dead("worker-7")
    assert not owner_is_dead("pid:999999999@some-other-machine:1.2:x")


def test_a_reused_process_number_does_not_keep_a_dead_owner_alive():
    identity = worker_identity()
    start = identity.split(":")[2].split(".")[0]
    if not start:
        pytest.skip("this system does not tell when a process started")
    assert owner_is_dead(identity.replace(f":{start}.", f":{int(start) - 1}."))


def test_another_namespace_of_process_numbers_is_another_machine():
    identity = worker_identity().replace(f"pid:{os.getpid()}@", "pid:999999999@")
    assert owner_is_dead(identity)
    head, tail = identity.rsplit(":", 1)
    assert not owner_is_dead(f"{head}9:{tail}")
