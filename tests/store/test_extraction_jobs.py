"""One session, one owner: claims, finishing, retries, backoff, watermarks."""

from codexmem_core.store.rules import CAP_REACHED, LIMIT_REACHED, RETRIES_EXHAUSTED, RUNNING_ELSEWHERE, UP_TO_DATE
from codexmem_core.store.values import Output


def test_a_claimed_session_is_running_for_everyone_else(claim, refusal):
    claim()
    assert refusal() == RUNNING_ELSEWHERE


def test_a_batch_is_claimed_in_the_order_given_and_the_rest_is_handed_back(jobs, candidate):
    asked = [candidate(f"s{n}") for n in range(5)]
    result = jobs.claim_extractions(asked, limit=2, running_cap=9, worker="w")
    assert [claim.id for claim in result.claims] == ["s0", "s1"]
    assert (result.refused, result.rest) == ({}, tuple(asked[2:]))
    assert len({claim.token for claim in result.claims}) == 2
    again = jobs.claim_extractions(asked, limit=9, running_cap=9, worker="w")
    assert [claim.id for claim in again.claims] == ["s2", "s3", "s4"]
    assert again.refused == {("codex", f"s{n}"): RUNNING_ELSEWHERE for n in (0, 1)}
    assert again.rest == ()


def test_a_limit_of_nothing_claims_nothing_and_says_why_of_everyone(jobs, candidate, store):
    store("s0")
    asked = [candidate(f"s{n}") for n in range(450)]
    result = jobs.claim_extractions(asked, limit=0, running_cap=9, worker="w")
    assert (result.claims, result.rest, len(result.refused)) == ((), (), 450)
    assert (result.refused["codex", "s0"], result.refused["codex", "s449"]) == (UP_TO_DATE, LIMIT_REACHED)


def test_the_running_cap_counts_jobs_of_all_workers(jobs, candidate, claim, refusal):
    claim("s1")
    claim("s2")
    assert refusal("s3", running_cap=2) == CAP_REACHED
    result = jobs.claim_extractions([candidate("s3"), candidate("s4")], limit=9, running_cap=3, worker="other")
    assert [one.id for one in result.claims] == ["s3"]
    assert result.refused[("codex", "s4")] == CAP_REACHED


def test_the_running_cap_is_never_below_one(jobs, candidate):
    assert len(jobs.claim_extractions([candidate()], limit=1, running_cap=0, worker="w").claims) == 1


def test_a_lapsed_lease_no_longer_counts_and_its_job_is_taken_over_without_costing_a_retry(jobs, claim, clock):
    old = claim()
    clock.forward(3_600)
    new = claim()
    assert new.token != old.token
    assert jobs.unfinished()[0].retries_left == 3
    assert len(jobs.claim_extractions([], limit=1, running_cap=1, worker="w").claims) == 0


def test_a_finished_session_is_up_to_date_until_it_has_newer_activity(jobs, store, refusal, claim):
    store(watermark_ms=5_000)
    assert refusal(watermark_ms=5_000) == UP_TO_DATE
    assert refusal(watermark_ms=4_000) == UP_TO_DATE
    assert claim(watermark_ms=5_001).watermark_ms == 5_001


def test_finishing_stores_the_output_with_its_findings(jobs, claim, clock):
    output = Output(
        rollout_summary="recap",
        raw_memory="raw",
        rollout_slug="slug",
        locator="/l",
        cwd="/c",
        extra={"k": "ü"},
        findings=b"{}",
    )
    assert jobs.finish_extraction(claim(watermark_ms=7_000), output)
    row = jobs.output("codex", "s1")
    assert (row.rollout_summary, row.raw_memory, row.rollout_slug) == ("recap", "raw", "slug")
    assert (row.locator, row.cwd, row.extra, row.findings) == ("/l", "/c", {"k": "ü"}, b"{}")
    assert (row.source_updated_at, row.generated_at, row.usage_count, row.selected) == (7_000, clock.ms, 0, False)
    assert jobs.settled() == {("codex", "s1"): 7_000}


def test_a_new_state_without_findings_drops_the_old_ones(jobs, store):
    store(watermark_ms=1_000, findings=b"{}")
    store(watermark_ms=2_000)
    assert jobs.output("codex", "s1").findings is None


def test_every_stored_output_moves_the_consolidation_on(jobs, store, claim):
    store("s1", 9_000)
    first = jobs.claim_consolidation(worker="w")
    assert first.watermark_ms == 9_000
    jobs.release_consolidation(first, "test")
    store("s2", 4_000)  # older than what is queued, and still something new
    assert jobs.claim_consolidation(worker="w").watermark_ms == 9_001


def test_a_stale_owner_cannot_finish_fail_or_release_what_another_took_over(jobs, claim, clock):
    stale = claim()
    clock.forward(3_601)
    owner = claim(worker="owner")
    assert not jobs.finish_extraction(stale, Output(rollout_summary="stale"))
    assert not jobs.finish_empty(stale)
    assert not jobs.fail_extraction(stale, "late")
    assert not jobs.release_extraction(stale, "late")
    assert jobs.outputs() == []
    assert jobs.claim_consolidation(worker="w").watermark_ms == 0, "the stale owner asked for consolidation"
    assert jobs.finish_extraction(owner, Output(rollout_summary="fresh"))
    assert not jobs.finish_extraction(owner, Output(rollout_summary="twice"))
    assert jobs.output("codex", "s1").rollout_summary == "fresh"


def test_a_strictly_newer_output_stays_and_an_equal_one_is_replaced(jobs, memory, store, claim):
    store(watermark_ms=5_000, rollout_summary="newer")
    with memory.transaction("test"):
        memory.execute("DELETE FROM memory_jobs")  # as after a reset of jobs only
    assert jobs.finish_extraction(claim(watermark_ms=4_000), Output(rollout_summary="older", findings=b"old"))
    row = jobs.output("codex", "s1")
    assert (row.rollout_summary, row.findings) == ("newer", None)
    with memory.transaction("test"):
        memory.execute("DELETE FROM memory_jobs")
    store(watermark_ms=5_000, rollout_summary="again")
    assert jobs.output("codex", "s1").rollout_summary == "again"


def test_a_new_state_keeps_usage_and_what_the_last_consolidation_held(jobs, store, clock):
    store(watermark_ms=1_000)
    jobs.record_usage([("codex", "s1")])
    jobs.finish_consolidation(jobs.claim_consolidation(worker="w"), jobs.outputs())
    store(watermark_ms=2_000)
    row = jobs.output("codex", "s1")
    assert (row.usage_count, row.last_usage, row.selected) == (1, clock.ms, True)


def test_nothing_worth_keeping_ends_the_job_and_asks_for_no_consolidation(jobs, claim, refusal):
    assert jobs.finish_empty(claim())
    assert jobs.outputs() == []
    assert refusal() == UP_TO_DATE
    assert jobs.consolidation_snapshot().status == "none"


def test_nothing_worth_keeping_any_more_deletes_the_output_and_asks_for_consolidation(jobs, store, claim):
    store(watermark_ms=1_000, findings=b"{}")
    jobs.finish_consolidation(jobs.claim_consolidation(worker="w"), jobs.outputs())
    assert jobs.finish_empty(claim(watermark_ms=2_000))
    assert jobs.outputs() == []
    assert jobs.consolidation_snapshot().status == "pending"


def test_a_failure_waits_an_hour_and_spends_a_retry(jobs, claim, refusal, clock):
    assert jobs.fail_extraction(claim(), ValueError("bad reply"))
    state = jobs.unfinished()[0]
    assert (state.status, state.retries_left, state.error) == ("pending", 2, "bad reply")
    assert (state.retry_at, state.lease_until) == (clock.s + 3_600, 0)
    assert refusal() == "retry at 2026-01-01T01:00:00Z"
    clock.forward(3_600)
    claim()


def test_three_failures_exhaust_a_job_until_the_session_goes_on(jobs, claim, refusal, clock):
    for _ in range(3):
        jobs.fail_extraction(claim(), "no")
        clock.forward(3_600)
    assert jobs.unfinished()[0].status == "failed"
    assert refusal() == RETRIES_EXHAUSTED
    jobs.fail_extraction(claim(watermark_ms=1_001), "no")
    assert jobs.unfinished()[0].retries_left == 2


def test_newer_activity_does_not_wait_for_the_backoff(jobs, claim):
    jobs.fail_extraction(claim(), "no")
    claim(watermark_ms=1_001)


def test_lack_of_capacity_waits_but_spends_no_retry(jobs, claim, refusal, clock):
    for _ in range(5):
        jobs.fail_extraction(claim(), "429", capacity=True)
        assert refusal().startswith("retry at ")
        clock.forward(3_600)
    assert jobs.unfinished()[0].retries_left == 3
    assert jobs.extraction_snapshot().failures == {"provider_capacity": 1}


def test_giving_a_claim_back_spends_nothing_and_it_can_be_taken_at_once(jobs, claim):
    assert jobs.release_extraction(claim(), "shutting down")
    state = jobs.unfinished()[0]
    assert (state.status, state.failure, state.error, state.retries_left) == (
        "pending",
        "released",
        "shutting down",
        3,
    )
    claim()


def test_an_error_without_words_and_a_very_long_one_are_both_kept(jobs, claim, clock):
    class WordlessError(Exception):
        def __str__(self):
            raise RuntimeError

    jobs.fail_extraction(claim("s1"), WordlessError())
    jobs.fail_extraction(claim("s2"), "x" * 9_000)
    jobs.fail_extraction(claim("s3"), "")
    assert [state.error for state in jobs.unfinished()] == ["WordlessError", "x" * 4_000, "unknown error"]


def test_long_lists_are_looked_at_only_as_far_as_needed_and_each_candidate_has_one_answer(jobs, candidate, memory):
    with memory.transaction("test"):
        memory.execute_many(
            "INSERT INTO memory_jobs (kind, job_key, status, retry_remaining, input_watermark, last_success_watermark)"
            " VALUES ('memory_stage1', ?, 'done', 3, 1000, 1000)",
            [(f"codex:s{n}",) for n in range(900) if n % 300],
        )
    asked = [candidate(f"s{n}") for n in range(900)]
    result = jobs.claim_extractions(asked, limit=2, running_cap=9, worker="w")
    assert [claim.id for claim in result.claims] == ["s0", "s300"]
    assert set(result.refused.values()) == {UP_TO_DATE}
    assert len(result.claims) + len(result.refused) + len(result.rest) == 900
    assert "s600" in {one.id for one in result.rest}
    capped = jobs.claim_extractions(result.rest, limit=9, running_cap=2, worker="w")
    assert (capped.claims, capped.refused["codex", "s600"]) == ((), CAP_REACHED)


def test_hosts_do_not_share_ids(jobs, store, candidate):
    store("s1")
    other = jobs.claim_extractions([candidate("s1", host="claude")], limit=1, running_cap=9, worker="w")
    assert len(other.claims) == 1


def test_a_snapshot_sorts_failures_and_shows_stalled_jobs(jobs, claim, clock):
    for name in ("due", "gone"):
        jobs.fail_extraction(claim(name), f"{name} failed")
    for _ in range(2):
        clock.forward(3_600)
        jobs.fail_extraction(claim("gone"), "gone failed")
    jobs.fail_extraction(claim("waits"), "waits failed")
    jobs.release_extraction(claim("back"), "shutting down")
    claim("runs")
    seen = jobs.extraction_snapshot()
    assert seen.by_status == {"pending": 3, "failed": 1, "running": 1}
    assert seen.failures == {"due": 1, "backoff": 1, "other_exhausted": 1}
    assert [(error.key.id, error.state) for error in seen.recent_errors] == [
        ("due", "due"),
        ("waits", "backoff"),
        ("gone", "other_exhausted"),
    ]
    assert seen.stalled == 0
    clock.forward(3_600)
    seen = jobs.extraction_snapshot(stale_before_s=clock.s)
    assert (seen.stalled, seen.stale_exhausted, seen.failures.get("other_exhausted")) == (1, 1, None)


def test_everything_that_a_broken_worker_holds_is_failed_and_its_late_finish_changes_nothing(jobs, candidate, clock):
    hers = [candidate("a"), candidate("b")]
    claims = jobs.claim_extractions(hers, limit=2, running_cap=8, worker="hung").claims
    other = candidate("c")
    assert jobs.claim_extractions([other], limit=1, running_cap=8, worker="well").claims
    held = jobs.claim_consolidation(worker="hung")
    assert jobs.fail_claims_of("hung", "nothing moved") == 3
    assert not any(jobs.finish_empty(claim) for claim in claims)
    assert not jobs.heartbeat(held.token)
    waiting = jobs.claim_extractions([*hers, other], limit=3, running_cap=8, worker="next")
    assert not waiting.claims
    assert waiting.refused[other.key] == "running elsewhere"
    clock.forward(4_000)
    assert len(jobs.claim_extractions(hers, limit=2, running_cap=8, worker="next").claims) == 2


def test_what_a_broken_worker_gives_back_can_be_taken_at_once_and_spends_nothing(jobs, candidate):
    hers = [candidate("a"), candidate("b")]
    claims = jobs.claim_extractions(hers, limit=2, running_cap=8, worker="broken").claims
    assert jobs.release_claims_of("broken", "the disk is full") == 2
    assert not any(jobs.finish_empty(claim) for claim in claims)
    assert len(jobs.claim_extractions(hers, limit=2, running_cap=8, worker="next").claims) == 2
    assert [state.retries_left for state in jobs.unfinished()] == [3, 3]
