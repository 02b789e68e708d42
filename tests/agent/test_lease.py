"""Keeping a claim: beats, and the moment at which work stops."""

import threading

import pytest

from codexmem_core.consolidate.lease import Lease, LeaseLost, Stopped, TimeOver
from codexmem_core.services.deadline import WorkDeadline


class Beats:
    """Renews so many times; then ``then`` is given, or raised."""

    def __init__(self, good, *, then=False):
        self.good = good
        self.then = then
        self.count = 0
        self.bad = threading.Event()

    def __call__(self):
        self.count += 1
        if self.count <= self.good:
            return True
        self.bad.set()
        if isinstance(self.then, Exception):
            raise self.then
        return self.then


class Forever:
    """Work that ends when the test does."""

    def __init__(self):
        self.over = threading.Event()
        self.came_to_an_end = False

    def __call__(self):
        self.over.wait(60)
        self.came_to_an_end = True


@pytest.fixture
def forever():
    work = Forever()
    yield work
    assert not work.came_to_an_end
    work.over.set()


def test_the_first_beat_comes_before_anything_else():
    beats = Beats(0)
    with pytest.raises(LeaseLost, match="another worker"), Lease(beats, WorkDeadline(60), seconds=60):
        pytest.fail("must not begin")
    assert beats.count == 1


def test_it_beats_while_the_work_lasts_and_not_after():
    beats = Beats(3, then=True)
    with Lease(beats, WorkDeadline(60), seconds=60, every_s=0.01) as lease:
        assert beats.bad.wait(60)
        assert not lease.cancelled
        assert lease.left_s > 0
        lease.go_on()
    count = beats.count
    assert not any(thread.name == "heartbeat" for thread in threading.enumerate())
    assert beats.count == count


@pytest.mark.parametrize(
    ("then", "why"), [(False, "another worker took the lease over"), (OSError("disk gone"), "disk gone")]
)
def test_a_lost_lease_stops_waiting_for_the_model_at_once(forever, then, why):
    beats = Beats(2, then=then)
    with Lease(beats, WorkDeadline(60), seconds=60, every_s=0.01) as lease:
        with pytest.raises(LeaseLost, match=why):
            lease.during(forever)
        assert lease.cancelled
        assert lease.left_s == 0.0
    assert beats.count == 3


def test_a_stopped_pass_stops_waiting_for_the_model(forever):
    deadline = WorkDeadline(60)
    with Lease(lambda: True, deadline, seconds=60) as lease:
        threading.Timer(0.05, deadline.cancel).start()
        with pytest.raises(Stopped):
            lease.during(forever)


def test_a_job_has_its_own_time(forever):
    with Lease(lambda: True, WorkDeadline(60), seconds=0.1) as lease:
        with pytest.raises(TimeOver, match=r"not done after 0\.1 seconds"):
            lease.during(forever)
        assert lease.cancelled


def test_results_and_errors_come_back():
    with Lease(lambda: True, WorkDeadline(60), seconds=60) as lease:
        assert lease.during(lambda: 5) == 5
        with pytest.raises(KeyError, match="gone"):
            lease.during(lambda: {}["gone"])


def test_a_result_that_comes_after_the_lease_was_lost_does_not_count():
    beats = Beats(1)
    with Lease(beats, WorkDeadline(60), seconds=60, every_s=0.01) as lease, pytest.raises(LeaseLost):
        lease.during(lambda: beats.bad.wait(60))
