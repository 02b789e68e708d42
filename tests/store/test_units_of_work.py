"""Units of work over an open database: apart from each other, all or nothing, and over when it is closed."""

import os
from threading import Thread

import pytest

from codexmem_core.store.catalogue import Catalogue
from codexmem_core.store.database import open_catalogue
from codexmem_core.store.errors import StoreError


def test_table_classes_of_two_databases_never_mix(opened):
    one, two = opened(open_catalogue, "one.db"), opened(open_catalogue, "two.db")
    Catalogue(one, None).set_mark("k", "one")
    Catalogue(two, None).set_mark("k", "two")
    assert (Catalogue(one, None).mark("k"), Catalogue(two, None).mark("k")) == ("one", "two")


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_descriptors_do_not_grow_with_units_and_threads_and_none_is_left_after_closing(memory, jobs):
    def descriptors():
        folder = "/proc/self/fd"
        return sum(os.path.realpath(f"{folder}/{number}").startswith(memory.path) for number in os.listdir(folder))

    def work():
        for _ in range(5):
            jobs.enqueue_consolidation(1)

    most = []
    for _ in range(3):
        threads = [Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        most.append(descriptors())
    assert max(most) <= 3 + 8 * 2
    assert jobs.claim_consolidation(worker="w").watermark_ms == 3 * 8 * 5
    memory.close()
    assert descriptors() == 0


def test_a_closed_database_says_so(memory, jobs):
    memory.close()
    with pytest.raises(StoreError, match="was closed"):
        jobs.outputs()


def test_a_transaction_that_raises_leaves_nothing(memory, jobs):
    def half():
        with memory.transaction("test"):
            jobs.enqueue_consolidation(5)
            raise LookupError

    with pytest.raises(LookupError):
        half()
    assert jobs.unfinished() == []


def test_writing_inside_a_consistent_read_is_refused(memory, jobs):
    with memory.reading(), pytest.raises(RuntimeError):
        jobs.enqueue_consolidation(5)
    jobs.enqueue_consolidation(5)
