"""The long work: passes of the pipeline, one at a time, not too often, and given up at once when that is wanted."""

from __future__ import annotations

import threading
import time
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING

from codexmem_core.host.state import LAST_PASS
from codexmem_core.lanes import PassStopped
from codexmem_core.pipeline import run
from codexmem_core.request import RunRequest
from codexmem_core.services.deadline import WorkDeadline

if TYPE_CHECKING:
    from codexmem_core.engine import Engine
    from codexmem_core.report import RunReport
    from codexmem_core.worker.engines import Engines

BREATH_S = 5.0
"""Rest after a pass that found nothing to do: looking costs something too, and most events bring nothing."""
TRIES = 3
"""Passes in a row that may fail before the next one waits for an event."""
FOREVER_S = 1_000_000_000.0


class Passes:
    """A thread that makes a pass when one is wanted and due."""

    def __init__(self, engines: Engines, breath_s: float = BREATH_S) -> None:
        self._engines = engines
        self._breath_s = breath_s
        self._changed = threading.Condition()
        self._wanted = False
        self._urgent = False
        self._busy = False
        self._rests_until = 0.0
        self._moved_at = time.monotonic()
        self._deadline = WorkDeadline(FOREVER_S)
        self.thread = threading.Thread(target=self._work, name="passes", daemon=True)

    def want(self, *, urgent: bool) -> None:
        """A pass over what was taken in; an urgent one does not wait for the end of a rest."""
        with self._changed:
            self._wanted = True
            self._urgent = self._urgent or urgent
            self._changed.notify()

    @property
    def idle(self) -> bool:
        """Whether nothing is done and nothing waits."""
        with self._changed:
            return not self._busy and not self._wanted

    @property
    def stuck_s(self) -> float:
        """Seconds since anything moved in the pass that is made; 0 without one."""
        with self._changed:
            return time.monotonic() - self._moved_at if self._busy else 0.0

    def stop(self, wait_s: float) -> None:
        """Give the work up: calls of models are abandoned, claims given back. Waits at most so long for that."""
        self._deadline.cancel()
        with self._changed:
            self._changed.notify()
        self.thread.join(wait_s)

    def _work(self) -> None:
        failed = 0
        while self._next():
            done = False
            try:
                done = self._one()
            except Exception as error:  # noqa: BLE001 - a full disk, say: without this thread a worker does nothing
                self._rests_until = time.monotonic() + self._breath_s
                with suppress(Exception):
                    self._engines.warm().log("worker").warning("pass failed", error=f"{type(error).__name__}: {error}")
            failed = 0 if done else failed + 1
            with self._changed:
                self._busy = False
                # What it was about waits in the catalogue; after too many tries, for the next event.
                self._wanted = self._wanted or 0 < failed < TRIES

    def _next(self) -> bool:
        """Wait until a pass is due; False when no more is made."""
        with self._changed:
            while not self._deadline.cancelled:
                left_s = 0.0 if self._urgent else self._rests_until - time.monotonic()
                if self._wanted and left_s <= 0:
                    self._wanted = self._urgent = False
                    self._busy, self._moved_at = True, time.monotonic()
                    return True
                self._changed.wait(left_s if self._wanted else None)
            return False

    def _one(self) -> bool:
        """Whether there is nothing to be made up for."""
        engine = self._engines.fresh()
        log = engine.log("worker")
        try:
            report = run(engine, RunRequest(), lambda _progress: self._move(), deadline=self._deadline, in_worker=True)
        except PassStopped:
            log.info("pass stopped")
            return True
        except Exception as error:  # noqa: BLE001 - the next try is another chance
            self._rests_until = time.monotonic() + engine.config.decimal("worker", "rest_s")
            log.warning("pass failed", error=f"{type(error).__name__}: {error}")
            log.info("pass failed", traceback=traceback.format_exc())
            return False
        else:
            # What happens in quick succession is done together.
            rest_s = engine.config.decimal("worker", "rest_s")
            if not report.sessions["claimed"]:
                rest_s = min(rest_s, self._breath_s)
            self._rests_until = time.monotonic() + rest_s
            self._tell(engine, report)
            return True
        finally:
            engine.close()

    def _tell(self, engine: Engine, report: RunReport) -> None:
        engine.log("worker").info(
            "pass",
            sessions=dict(report.sessions),
            memories={name: memory.status for name, memory in report.memories.items()},
            errors=list(report.errors),
        )
        engine.catalogue.set_mark(LAST_PASS, str(engine.clock.now_ms()))

    def _move(self) -> None:
        self._moved_at = time.monotonic()
