"""Lanes run at the same time and end on their own terms."""

from __future__ import annotations

import threading
import time

from codexmem_core.lanes import LaneResult, LaneWork, run_all


def lane(name, work, abandoned=None):
    told = [] if abandoned is None else abandoned
    return LaneWork(name, 1, work, lambda reason, hung: told.append((reason, hung)))


def good(name):
    def work(moved):
        moved()
        return LaneResult(memory=name)

    return work


def test_every_lane_gives_its_result_in_order():
    results = run_all([lane("a", good("a")), lane("b", good("b"))], stall_s=5, progress=lambda done, total: None)
    assert [(result.memory, result.error) for result in results] == [("a", ""), ("b", "")]


def test_lanes_that_end_while_progress_is_told_are_no_trouble():
    results = run_all([lane("a", good("a"))], stall_s=5, progress=lambda done, total: time.sleep(0.1))
    assert [result.error for result in results] == [""]


def test_a_lane_that_raises_is_given_up_and_the_other_finishes():
    abandoned = []

    def broken(moved):
        raise RuntimeError("database is rubbish")

    results = run_all([lane("a", broken, abandoned), lane("b", good("b"))], stall_s=5, progress=lambda d, t: None)
    assert results[0].error == "RuntimeError: database is rubbish"
    assert results[1].error == ""
    assert abandoned == [("RuntimeError: database is rubbish", False)]


def test_a_lane_that_hangs_is_given_up_while_the_other_finishes():
    abandoned, release = [], threading.Event()

    def hangs(moved):
        release.wait(60)
        return LaneResult(memory="a")

    results = run_all([lane("a", hangs, abandoned), lane("b", good("b"))], stall_s=2, progress=lambda d, t: None)
    assert "nothing moved for 2 seconds" in results[0].error
    assert results[1].error == ""
    assert [hung for _, hung in abandoned] == [True]
    release.set()


def test_a_slow_lane_that_moves_is_not_given_up():
    def slow(moved):
        for _ in range(11):
            threading.Event().wait(0.2)
            moved()
        return LaneResult(memory="a")

    (result,) = run_all([lane("a", slow)], stall_s=2, progress=lambda d, t: None)
    assert result.error == ""


def test_an_error_while_giving_up_is_no_second_failure():
    def broken(moved):
        raise RuntimeError("first")

    def worse(reason, hung):
        raise RuntimeError("second")

    (result,) = run_all([LaneWork("a", 0, broken, worse)], stall_s=1, progress=lambda d, t: None)
    assert result.error == "RuntimeError: first"


def test_progress_counts_what_moved_over_all_lanes():
    seen = []
    run_all(
        [lane("a", good("a")), lane("b", good("b"))], stall_s=5, progress=lambda done, total: seen.append((done, total))
    )
    assert seen[-1] == (2, 2)
