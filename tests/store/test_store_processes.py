"""Many processes, killed processes, held locks: nothing lost, nothing doubled, no error."""

import json
import os
import signal
import sqlite3
from contextlib import closing

import pytest

from codexmem_core.store.rules import RUNNING_ELSEWHERE
from codexmem_core.store.values import ConsolidationClaim, Output


def first_line(process):
    return json.loads(process.stdout.readline())


def test_eight_processes_claim_hundreds_of_sessions_and_none_is_lost_or_doubled(start, answer, jobs):
    workers = [start("claim.py", sessions=400, limit=3, cap=6) for _ in range(8)]
    said = [answer(worker) for worker in workers]
    claimed = [name for one in said for name in one["claimed"]]
    assert sorted(claimed) == sorted(f"s{n}" for n in range(400))
    assert max(one["most_running"] for one in said) <= 6
    assert len(jobs.outputs()) == 400
    assert jobs.extraction_snapshot().by_status == {"done": 400}


def test_a_database_that_does_not_exist_yet_is_made_once_by_many(start, answer, home):
    workers = [start("claim.py", sessions=4, limit=1, cap=9) for _ in range(4)]
    assert sorted(name for worker in workers for name in answer(worker)["claimed"]) == ["s0", "s1", "s2", "s3"]
    assert [name for name in os.listdir(home) if "corrupt" in name or "fresh" in name] == []


def test_a_process_that_holds_the_lock_for_seconds_makes_others_wait_and_not_fail(start, answer, memory, jobs):
    holder = start("hold_lock.py", seconds=3)
    assert holder.stdout.readline() == "held\n"
    workers = [start("claim.py", sessions=800, limit=40, cap=400) for _ in range(4)]
    assert sum(len(answer(worker)["claimed"]) for worker in workers) == 800
    answer(holder)
    assert len(jobs.outputs()) == 800


def test_jobs_of_a_killed_process_are_released_once_its_lease_is_not_fresh_any_more(start, jobs, claim, refusal, clock):
    process = start("hold_claims.py", sessions=5, now_ms=clock.ms)
    said = first_line(process)
    clock.forward(400)
    assert jobs.release_orphans() == 0, "the owner lives"
    process.kill()
    process.wait()
    clock.forward(-400)
    assert jobs.release_orphans() == 0, "its lease is fresh"
    assert refusal("s0") == RUNNING_ELSEWHERE
    clock.forward(270)
    assert jobs.release_orphans() == 5
    assert jobs.release_orphans() == 0
    state = jobs.unfinished()[0]
    assert (state.status, state.retries_left, state.failure) == ("pending", 3, "released")
    assert str(said["pid"]) in state.error
    stale = claim("s0")
    assert stale.token != said["tokens"]["s0"]


def test_a_killed_process_that_was_not_reaped_yet_counts_as_dead(start, jobs, clock):
    process = start("hold_claims.py", sessions=1, now_ms=clock.ms)
    first_line(process)
    os.kill(process.pid, signal.SIGKILL)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it ended, and stays a zombie
    assert jobs.release_orphans(fresh_s=0) == (1 if os.path.isdir("/proc/self") else 0)


def test_a_lapsed_lease_of_a_killed_process_needs_no_sweep(start, jobs, claim, clock):
    process = start("hold_claims.py", sessions=1, now_ms=clock.ms)
    first_line(process)
    process.kill()
    clock.forward(3_600)
    assert jobs.finish_extraction(claim("s0"), Output(rollout_summary="taken over"))


def test_an_orphaned_consolidation_is_taken_over_by_exactly_one_of_two_racers(start, answer, jobs, memory, clock):
    dead = start("hold_claims.py", consolidation=True, now_ms=clock.ms)
    first_line(dead)
    dead.kill()
    dead.wait()
    with memory.transaction("test"):
        memory.execute("UPDATE memory_jobs SET lease_until = ?", (clock.s - 86_400,))
    racers = [start("race.py", now_ms=clock.ms) for _ in range(2)]
    for racer in racers:
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        racer.stdin.write("\n")
        racer.stdin.flush()
    said = [first_line(racer) for racer in racers]
    assert sorted(one["claim"] for one in said) == ["claimed", "skipped_running"]
    assert sum(one["released"] for one in said) <= 1
    for racer in racers:
        racer.communicate("\n")


def test_a_pending_consolidation_without_owner_can_be_taken(jobs, memory, clock):
    jobs.enqueue_consolidation(1)
    with memory.transaction("test"):
        memory.execute("UPDATE memory_jobs SET status = 'running', lease_until = NULL, ownership_token = NULL")
    assert jobs.consolidation_snapshot().status == "running"
    assert isinstance(jobs.claim_consolidation(worker="w"), ConsolidationClaim)


@pytest.mark.parametrize(
    ("instant", "claimed", "stored"),
    [
        ("commit:claim:before", False, False),
        ("commit:claim:after", True, False),
        ("commit:extraction:before", True, False),
        ("commit:extraction:after", True, True),
    ],
)
def test_a_process_killed_at_a_commit_leaves_all_or_nothing_of_it(
    instant, claimed, stored, start, jobs, refusal, clock
):
    process = start("die_at.py", instant=instant, now_ms=clock.ms)
    assert process.wait() == -signal.SIGKILL
    assert [row.rollout_summary for row in jobs.outputs()] == (["done"] if stored else [])
    states = jobs.extraction_snapshot().by_status
    assert states == ({"done": 1} if stored else {"running": 1} if claimed else {})
    assert jobs.consolidation_snapshot().status == ("pending" if stored else "none")
    if claimed and not stored:
        assert jobs.release_orphans(fresh_s=0) == 1


def test_a_selection_sees_one_state_while_another_process_writes(start, answer, jobs, store, clock):
    for n in range(6):
        store(f"s{n}", clock.ms - 1_000 - n)

    def allowed(keys):
        answer(start("write_output.py", now_ms=clock.ms))
        return keys

    rows = jobs.select_inputs(5, 30, allowed)
    assert [row.id for row in rows] == ["s0", "s1", "s2", "s3", "s4"]
    assert rows[3].rollout_summary == "summary of s3"
    assert [row.id for row in jobs.select_inputs(2, 30, lambda keys: keys)] == ["s3", "best"]


def test_recorders_that_move_sessions_between_the_same_places_do_not_collide(start, answer, catalogue):
    recorders = [start("record.py", turns=40) for _ in range(3)]
    for recorder in recorders:
        answer(recorder)
    assert len(catalogue.candidates()) == 20
    assert sum(map(len, catalogue.known_states("codex").values())) == 20


def test_a_full_disk_fails_one_transaction_and_harms_nothing_before_it(start, answer, home, opened, jobs):
    said = answer(start("fill.py", bytes=2_000_000))
    assert "free some disk space" in said["error"]
    assert len(said["stored"]) > 3
    assert said["after"] is True, "the database was not usable once there was room again"
    assert {row.id for row in jobs.outputs()} == set(said["stored"])
    with closing(sqlite3.connect(home / "memory.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
