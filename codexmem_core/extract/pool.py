"""Runs one function over a list with a few daemon threads, which never keep a process alive."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")


def in_parallel(function: Callable[[T], None], work: Sequence[T], *, workers: int) -> None:
    """Return when every item is done. ``function`` must handle its own errors; the first that escapes is raised."""
    waiting = deque(work)
    errors: list[Exception] = []
    if workers <= 1 or len(work) <= 1:
        _drain(function, waiting, errors)
    else:
        threads = [
            threading.Thread(target=_drain, args=(function, waiting, errors), daemon=True)
            for _ in range(min(workers, len(work)))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if errors:
        raise errors[0]


def _drain(function: Callable[[T], None], waiting: deque[T], errors: list[Exception]) -> None:
    while True:
        try:
            item = waiting.popleft()
        except IndexError:
            return
        try:
            function(item)
        except Exception as error:  # noqa: BLE001 - raised again when all threads have ended
            errors.append(error)
