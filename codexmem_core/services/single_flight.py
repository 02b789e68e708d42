"""Work that several lanes want at once is done once; the others wait for it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

V = TypeVar("V")


class SingleFlight(Generic[V]):
    """Values by key, the least recently wanted let go first; a failure is raised to everybody who waits for it."""

    def __init__(self, *, entries: int, weight: int = 0, weigh: Callable[[V], int] = lambda _value: 0) -> None:
        self._entries = entries
        self._weight = weight
        self._weigh = weigh
        self._lock = threading.Lock()
        self._flights: OrderedDict[Hashable, _Flight[V]] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        """The value, made by the first who asks."""
        with self._lock:
            flight = self._flights.setdefault(key, _Flight())
            self._flights.move_to_end(key)
            self._evict()
        with flight.lock:
            if flight.error is not None:
                raise flight.error
            if not flight.done:
                try:
                    flight.value = make()
                except Exception as error:
                    flight.error = error
                    raise
                flight.done = True
            assert flight.value is not None
            return flight.value

    def clear(self) -> None:
        """Let everything go; who still uses a value keeps it alive."""
        with self._lock:
            self._flights.clear()

    def _evict(self) -> None:
        held = sum(self._weigh(flight.value) for flight in self._flights.values() if flight.value is not None)
        while len(self._flights) > 1 and (len(self._flights) > self._entries or held > self._weight > 0):
            _, oldest = self._flights.popitem(last=False)
            held -= self._weigh(oldest.value) if oldest.value is not None else 0


class _Flight(Generic[V]):
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.done = False
        self.value: V | None = None
        self.error: Exception | None = None
