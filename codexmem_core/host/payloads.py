"""Ready answers for hooks: a hook prints bytes that were made when the memory changed, and computes nothing.

``read/<host>-<event>`` holds a first line (memory and generation), then exactly what the hook prints. The generation is
a digest of the bytes, so that the worker knows later what a session was really given.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from codexmem_hookspecs.values.capture import Answer

from codexmem_core.safety.files import atomic_write
from codexmem_core.safety.leftovers import sweep_leftovers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from codexmem_hookspecs.hosts import Host

SESSION_START = frozenset({"startup", "clear", "compact"})
"""Moments that are answered with the memory."""


def publish(folder: str, hosts: Iterable[Host], memory: str, context: Callable[[Host], str]) -> list[str]:
    """Write every host's payloads anew where they changed; returns the names that changed."""
    wanted: dict[str, bytes] = {}
    for host in hosts:
        for event, moment in host.answers.items():
            if moment in SESSION_START:
                text = context(host)
                body = host.encode(event, Answer(context=text)) if text else b""
                generation = hashlib.sha256(body).hexdigest()[:16]
                wanted[f"{host.name}-{event}"] = f"{memory} {generation}\n".encode() + body
    os.makedirs(folder, exist_ok=True)
    sweep_leftovers(folder)
    changed = []
    for name, content in wanted.items():
        path = os.path.join(folder, name)
        if _read(path) != content:
            atomic_write(path, content, "read")
            changed.append(name)
    return changed


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
