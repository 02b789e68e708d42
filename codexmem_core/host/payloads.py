"""Ready answers for hooks: a hook prints bytes that were made when the memory changed, and computes nothing.

``read/<host>-<event>`` holds a first line (memory and generation), then exactly what the hook prints. The generation is
a digest of the context, so that the worker knows later what a session was really given.

``read/<host>-<event>.live`` says that the answer must be computed by the worker, ``.wait`` that the host waits until
the worker has told the plugins. Both hold how long that may take, in seconds, from the start of the hook.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_hookspecs.values.capture import Answer

from codexmem_core.safety.files import atomic_write
from codexmem_core.safety.leftovers import sweep_leftovers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codexmem_hookspecs.hosts import Host
    from codexmem_hookspecs.values.capture import EventKind, Moment

SESSION_START = frozenset({"startup", "clear", "compact"})
"""Moments that are answered with the memory, whatever was said before."""

GOES_ON = frozenset({"resume", "fork"})
"""Moments at which a session may have in its history what it would be given."""

RESUME_S = 1.0
"""Longest wait for the worker's word whether a session that goes on has what is in the memory now."""


def generation_of(context: str) -> str:
    """Names a context."""
    return hashlib.sha256(context.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What one host's sessions are given at their start, and what takes longer."""

    memory: str
    """The memory's name; empty when none is installed, and other plugins alone want to hear and to be asked."""
    context: str
    live_s: Mapping[Moment, float]
    """Moments whose answer is computed, with the time that it may take."""
    wait_s: Mapping[EventKind, float]
    """Kinds of events on which the host waits."""


def files_of(host: Host, offer: Offer) -> dict[str, bytes]:
    """The host's files of ``read/`` by name. A session that goes on always asks, where there is a memory."""
    files: dict[str, bytes] = {}
    for event, moment in host.answers.items():
        if offer.memory and moment in SESSION_START:
            body = host.encode(event, Answer(context=offer.context)) if offer.context else b""
            files[f"{host.name}-{event}"] = f"{offer.memory} {generation_of(offer.context)}\n".encode() + body
        seconds = max(offer.live_s.get(moment, 0.0), RESUME_S if offer.memory and moment in GOES_ON else 0.0)
        if seconds:
            files[f"{host.name}-{event}.live"] = b"%g" % seconds
    for event, kind in host.kinds.items():
        if offer.wait_s.get(kind, 0.0):
            files[f"{host.name}-{event}.wait"] = b"%g" % offer.wait_s[kind]
    return files


def publish(folder: str, wanted: Mapping[str, bytes]) -> list[str]:
    """Let the folder hold these files and no others; returns the names that changed."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    sweep_leftovers(folder)
    changed = []
    for name, content in wanted.items():
        path = os.path.join(folder, name)
        if _read(path) != content:
            atomic_write(path, content, "read")
            changed.append(name)
    for name in os.listdir(folder):
        if name not in wanted and not name.startswith("."):
            with suppress(FileNotFoundError):  # another process publishes too
                os.unlink(os.path.join(folder, name))
            changed.append(name)
    return changed


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
