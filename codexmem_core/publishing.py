"""What hooks find ready: the answers that they print, and the flags that say when they ask or wait."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from codexmem_core.host import payloads, shim
from codexmem_core.plugins.calls import PluginError
from codexmem_core.readpath.session_start import session_start_context
from codexmem_core.safety.files import GuardedFolder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codexmem_hookspecs.hosts import Host
    from codexmem_hookspecs.values.capture import EventKind, Moment

    from codexmem_core.engine import Engine

OVERHEAD_S = 0.5
"""On top of a source's own time: for the way there and back."""
FROZEN_MS = 14 * 86_400_000
"""A session that was given another memory, or was active since, is taken to go on for so long."""

TURN_S = 10.0
"""Longest wait for somebody else who publishes; who hangs in it keeps nobody from it."""


def publish_payloads(engine: Engine) -> None:
    """What hooks print from now on, when they ask for more, and when they wait.

    One after the other, and each by what the settings and the memory say when its turn comes: a pass may have begun
    under other settings, and must not undo what was published since by whoever changed them.
    """
    with GuardedFolder(engine.home.locks, write=True).lock("publish", TURN_S):
        if engine.outdated:
            with closing(engine.renewed()) as renewed:
                _publish(renewed)
        else:
            _publish(engine)


def _publish(engine: Engine) -> None:
    wanted: dict[str, bytes] = {}
    live_s, wait_s = asked_live(engine), waits(engine)
    for host in engine.hosts.values():
        try:
            wanted |= payloads.files_of(host, _offer(engine, host, live_s, wait_s))
        except Exception as error:  # noqa: BLE001 - one host's failure costs no other host its memory
            engine.log("context").warning("a host is given nothing", host=host.name, error=str(error))
    folders = "".join(f"{folder}\n" for folder in engine.projects.asked_folders)
    if folders:
        wanted[shim.ASKED] = folders.encode("utf-8", "surrogateescape")
    payloads.publish(engine.home.payloads, wanted)


def asked_live(engine: Engine) -> dict[Moment, float]:
    """Moments whose answer the worker computes, with the time that it may take: a source has something to say then.

    A compacted session has lost what it was given, which may have been another memory than the one that is read now.
    """
    live_s = {moment: seconds + OVERHEAD_S for moment, seconds in engine.answers.moments().items()}
    memory = engine.memories[engine.memory_plugin()].name if engine.memories else ""
    if engine.catalogue.frozen(engine.clock.now_ms() - FROZEN_MS).keys() - {memory}:
        live_s["compact"] = max(live_s.get("compact", 0.0), payloads.RESUME_S)
    return live_s


def waits(engine: Engine) -> dict[EventKind, float]:
    """Kinds of events on which hosts wait, with the longest time that a plugin asks for."""
    longest: dict[EventKind, float] = {}
    for reactions in engine.stages.reactions().values():
        for reaction in reactions:
            if reaction.wait_s > 0:
                longest[reaction.kind] = max(longest.get(reaction.kind, 0.0), reaction.wait_s)
    return longest


def _offer(
    engine: Engine, host: Host, live_s: Mapping[Moment, float], wait_s: Mapping[EventKind, float]
) -> payloads.Offer:
    if not engine.memories:
        return payloads.Offer(memory="", context="", live_s=live_s, wait_s=wait_s)
    context = ""
    if payloads.SESSION_START.intersection(host.answers.values()):
        try:
            context = session_start_context(engine, host=host.name)
        except PluginError as error:  # a session without memory is better than one with what cannot be trusted
            engine.log("context").warning("sessions are given nothing", error=str(error))
    memory = engine.memories[engine.memory_plugin()].name
    return payloads.Offer(memory=memory, context=context, live_s=live_s, wait_s=wait_s)
