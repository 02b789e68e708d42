"""A worker that has plugins of the test's beside the installed ones: ``HOME CONFIG PLUGIN...``."""

import os
import sys
import time

from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.values.capture import Reaction
from codexmem_hookspecs.values.read import ContextBlock, ContextSource

from codexmem_core.plugins.discovery import in_process, installed
from codexmem_core.worker.main import work

HOOK_API = 1
ALL = frozenset({"startup", "resume", "clear", "compact", "prompt"})


class Sources:
    """One source of each temper."""

    @hookimpl
    def codexmem_read_sources(self):
        return [
            ContextSource(name="recall", moments=ALL, deadline_ms=2_000, provide=self.recall),
            ContextSource(name="guidance", moments=ALL, deadline_ms=2_000, provide=self.guidance, priority=0),
            ContextSource(name="slow", moments=ALL, deadline_ms=100, provide=self.slow),
            ContextSource(name="broken", moments=ALL, deadline_ms=2_000, provide=self.broken),
        ]

    def recall(self, request, services):
        return ContextBlock(source="recall", text=f"you asked: {request.prompt or request.moment}", notice="recalled")

    def guidance(self, request, services):
        return ContextBlock(source="guidance", text="how to use it")

    def slow(self, request, services):
        time.sleep(60)
        return ContextBlock(source="slow", text="too late")

    def broken(self, request, services):
        raise RuntimeError("the index is gone")


class Committing:
    """Writes down what it was told, slowly; hosts wait for that before they compact."""

    @hookimpl
    def codexmem_capture_reactions(self):
        return [Reaction(kind="compaction", wait_s=30), Reaction(kind="stop")]

    @hookimpl
    def codexmem_capture_event(self, event, services):
        time.sleep(0.3)
        with open(os.path.join(sys.argv[1], "told"), "a", encoding="utf-8") as file:
            file.write(f"{event.kind} {event.session.id}\n")


class Reading:
    """Writes down how much was said in a session whenever the agent has answered."""

    @hookimpl
    def codexmem_capture_reactions(self):
        return [Reaction(kind="stop")]

    @hookimpl
    def codexmem_capture_event(self, event, services):
        items = list(services.transcripts.open(event.session))
        with open(os.path.join(sys.argv[1], "read_items"), "a", encoding="utf-8") as file:
            file.write(f"{len(items)}\n")


PLUGINS = {"reading": Reading, "sources": Sources, "committing": Committing}

if __name__ == "__main__":
    extra = in_process([(name, PLUGINS[name]()) for name in sys.argv[3:]])
    os._exit(work(sys.argv[1], sys.argv[2], os.environ, plugins=[*installed(), *extra]))
