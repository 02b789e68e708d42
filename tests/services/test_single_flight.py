"""Work that several threads want is done once."""

from __future__ import annotations

import threading

import pytest

from codexmem_core.services.single_flight import SingleFlight


def test_many_threads_that_want_one_value_make_it_once():
    flights = SingleFlight(entries=4)
    made, begun = [], threading.Event()

    def make():
        begun.wait(5)
        made.append(1)
        return "value"

    got = []
    threads = [threading.Thread(target=lambda: got.append(flights.get("k", make))) for _ in range(6)]
    for thread in threads:
        thread.start()
    begun.set()
    for thread in threads:
        thread.join()
    assert got == ["value"] * 6
    assert made == [1]


def test_a_failure_reaches_everybody_and_is_not_tried_again():
    flights = SingleFlight(entries=4)
    calls = []

    def fail():
        calls.append(1)
        raise ValueError("no")

    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            flights.get("k", fail)
    assert calls == [1]


def test_the_least_recently_wanted_goes_first():
    flights = SingleFlight(entries=2)
    for key in ("a", "b", "a", "c"):
        flights.get(key, lambda key=key: key)
    made = []
    flights.get("a", lambda: made.append("a") or "a")
    flights.get("b", lambda: made.append("b") or "b")
    assert made == ["b"]


def test_heavy_values_are_let_go_by_weight():
    flights = SingleFlight(entries=100, weight=10, weigh=len)
    for key in range(5):
        flights.get(key, lambda: "x" * 6)
    remade = []
    for key in range(5):
        flights.get(key, lambda key=key: remade.append(key) or "x" * 6)
    assert remade
