"""The right to consolidate, kept while the work lasts; and the one place that knows when the work is to stop."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Self, TypeVar

from codexmem_core.safety.redaction import redact
from codexmem_core.store.rules import HEARTBEAT_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from codexmem_hookspecs.services import Deadline

T = TypeVar("T")

_POLL_S = 0.05


class LeaseLost(Exception):  # noqa: N818 - a state that a caller handles
    """Another worker has taken over, or it cannot be known: nothing may be written any more."""


class Stopped(Exception):  # noqa: N818 - as above
    """The pass is being ended: the work is given back unfinished."""


class TimeOver(Exception):  # noqa: N818 - as above
    """The job took longer than it may."""


class Lease:
    """Beats once at the beginning and then every ``every_s`` seconds; is the deadline of what is done meanwhile.

    ``beat`` renews the lease and is false when another owner has it. Its exception counts the same, because a worker
    that cannot reach the database does not know. Implements services.Deadline.
    """

    def __init__(
        self, beat: Callable[[], bool], pass_deadline: Deadline, *, seconds: float, every_s: float = HEARTBEAT_S
    ) -> None:
        self._beat = beat
        self._pass = pass_deadline
        self._seconds = seconds
        self._ends_at = time.monotonic() + seconds
        self._every_s = every_s
        self._ended = threading.Event()
        self._lost = ""
        self._thread = threading.Thread(target=self._keep, name="heartbeat", daemon=True)

    def __enter__(self) -> Self:
        self._renew()
        self.go_on()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def left_s(self) -> float:
        """Seconds left; 0 once the work is no longer wanted."""
        return 0.0 if self._lost else max(0.0, min(self._pass.left_s, self._ends_at - time.monotonic()))

    @property
    def cancelled(self) -> bool:
        """True when the work is no longer wanted, whatever the reason."""
        return bool(self._lost) or self._pass.cancelled or time.monotonic() >= self._ends_at

    def go_on(self) -> None:
        """Raise what says why the work is to stop, if it is."""
        if self._lost:
            raise LeaseLost(self._lost)
        if self._pass.cancelled:
            raise Stopped("the pass was stopped")
        if time.monotonic() >= self._ends_at:
            raise TimeOver(f"not done after {self._seconds:g} seconds")

    def during(self, work: Callable[[], T]) -> T:
        """The result of something that may take long, such as a model; not waited for once :meth:`go_on` raises.

        What was begun then ends by itself, in a thread that nobody listens to.
        """
        self.go_on()
        results: list[T] = []
        errors: list[BaseException] = []
        done = threading.Event()

        def run() -> None:
            try:
                results.append(work())
            except BaseException as error:  # noqa: BLE001 - raised again below, in the thread that waits
                errors.append(error)
            finally:
                done.set()

        threading.Thread(target=run, name="model", daemon=True).start()
        while not done.wait(_POLL_S):
            self.go_on()
        self.go_on()
        if errors:
            raise errors[0]
        return results[0]

    def _keep(self) -> None:
        while not self._lost and not self._ended.wait(self._every_s):
            self._renew()

    def _renew(self) -> None:
        try:
            if not self._beat():
                self._lost = "another worker took the lease over"
        except Exception as error:  # noqa: BLE001 - whatever it is, the lease may be gone
            self._lost = redact(f"the lease could not be renewed: {type(error).__name__}: {error}")
