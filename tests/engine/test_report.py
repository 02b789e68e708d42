"""A run's counts are of distinct sessions, and nobody is left out without a reason."""

from __future__ import annotations

from codexmem_core.consolidate.consolidation import Consolidated
from codexmem_core.extract.extraction import Extracted
from codexmem_core.lanes import LaneResult
from codexmem_core.report import report_of

A, B, C = ("h", "a"), ("h", "b"), ("h", "c")


def lane(name, consolidated="succeeded", error="", **outcomes):
    return LaneResult(
        memory=name,
        extracted=Extracted(**outcomes),
        consolidated=None if error else Consolidated(status=consolidated),
        error=error,
    )


def reasons(report):
    return {(row.session, row.memory): row.reason for row in report.skipped}


def test_a_session_in_two_memories_counts_once():
    lanes = [lane(name, claimed=[A], extracted=[A]) for name in ("v1", "v2")]
    report = report_of(1, {}, [A], lanes)
    assert report.sessions == {
        "discovered": 1, "eligible": 1, "claimed": 1, "extracted": 1, "empty": 0, "failed": 0, "skipped": 0,
    }  # fmt: skip
    assert report.memories["v1"].extracted == report.memories["v2"].extracted == 1
    assert report.skipped == ()


def test_every_session_that_was_not_extracted_has_its_reason():
    work = lane("v1", claimed=[A, B], extracted=[A], empty={B: "nothing worth keeping"}, refused={C: "up to date"})
    report = report_of(4, {("h", "d"): "subagent"}, [A, B, C], [work])
    assert reasons(report) == {
        ("h:b", "v1"): "nothing worth keeping",
        ("h:c", "v1"): "up to date",
        ("h:d", ""): "subagent",
    }
    assert report.sessions["skipped"] == 2


def test_sessions_that_a_broken_lane_never_reached_say_why():
    report = report_of(2, {}, [A, B], [lane("v1", error="gave up", claimed=[A], extracted=[A])])
    assert reasons(report) == {("h:b", "v1"): "gave up"}
    assert report.failed
    assert report.memories["v1"].status == "failed"


def test_without_a_memory_every_session_says_so():
    assert set(reasons(report_of(1, {}, [A], [])).values()) == {"no memory is installed"}


def test_nothing_claimed_and_nothing_changed_is_up_to_date():
    report = report_of(1, {}, [A], [lane("v1", "no_workspace_changes", refused={A: "up to date"})])
    assert report.up_to_date
    assert report.memories["v1"].status == "up_to_date"


def test_a_consolidation_that_waits_is_not_shown_as_success():
    report = report_of(1, {}, [A], [lane("v1", "skipped_cooldown", claimed=[A], extracted=[A])])
    assert report.memories["v1"].status == "skipped_cooldown"
    assert not report.up_to_date


def test_invalid_artifacts_fail_the_run():
    report = report_of(1, {}, [A], [lane("v1", "failed_invalid_artifacts", claimed=[A], extracted=[A])])
    assert report.failed
