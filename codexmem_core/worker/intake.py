"""Listens to events: out of the spool, into the catalogue and to plugins, and on to the passes."""

from __future__ import annotations

import threading
import time
import traceback
from typing import TYPE_CHECKING

from codexmem_core.host.state import TAKEN_IN
from codexmem_core.pipeline import take_in_events, tell_plugins

if TYPE_CHECKING:
    from codexmem_core.engine import Engine
    from codexmem_core.worker.engines import Engines
    from codexmem_core.worker.passes import Passes

LOOK_EVERY_S = 5.0
"""Between two looks without a ring: a host that was killed rings nobody, and a plugin may want an event again."""
WANTED = frozenset({"start", "prompt", "stop", "idle", "end", "deleted"})
"""Kinds of events after which a pass may find something to do."""
ENDS = frozenset({"end", "idle", "deleted"})
"""Kinds of events after which there is something to do, and somebody may be waiting for it."""


class Intake:
    """A thread that takes in what has come whenever it is rung."""

    def __init__(self, engines: Engines, passes: Passes) -> None:
        self._engines = engines
        self._passes = passes
        self._rung = threading.Event()
        self._lock = threading.Lock()
        self._elsewhere = ""
        self.happened_at = time.monotonic()
        """When the last event came."""
        self.trouble = ""
        """Why events wait; empty when they do not."""
        self.thread = threading.Thread(target=self._work, name="intake", daemon=True)

    def ring(self) -> None:
        """Something is there."""
        self._rung.set()

    def take_in(self) -> Engine:
        """Everything that is there now; returns the engine that did it. Any thread may call it."""
        with self._lock:
            engine = self._engines.warm()
            taken = take_in_events(engine)
            if taken.events:
                self.happened_at = time.monotonic()
                engine.log("worker").info("events", count=taken.events, kinds=sorted(taken.kinds))
            if taken.kinds & WANTED:
                self._passes.want(urgent=bool(taken.kinds & ENDS) and not engine.costs)
            elsewhere = engine.catalogue.mark(TAKEN_IN)
            if elsewhere != self._elsewhere:
                self._elsewhere = elsewhere
                self._passes.want(urgent=not engine.costs)
        tell_plugins(engine, wait_s=0)
        return engine

    def _work(self) -> None:
        self._passes.want(urgent=True)
        while True:
            try:
                self.take_in()
            except Exception as error:  # noqa: BLE001 - a full disk, a damaged database: the next look may succeed
                if str(error) != self.trouble:  # once, not with every look
                    self.tell("events wait", error)
                self.trouble = str(error) or type(error).__name__
            else:
                self.trouble = ""
            self._rung.wait(LOOK_EVERY_S)
            self._rung.clear()

    def tell(self, what: str, error: Exception) -> None:
        """Log what went wrong, where that is possible."""
        try:
            log = self._engines.warm().log("worker")
            log.warning(what, error=f"{type(error).__name__}: {error}")
            log.info(what, traceback=traceback.format_exc())
        except Exception:  # noqa: BLE001 - then nobody can be told
            return
