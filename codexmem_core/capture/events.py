"""Events from the spool into deliveries, and from there to the plugins that react to them.

An event is recorded once for each plugin before its spool file goes, so that a crash repeats a step and loses none. A
plugin hears of it at least once, in order within a session; one that fails or hangs delays only itself.

Reactions store, so no plugin hears of a session that is not captured, whatever the reason; only that a session was
deleted is told in any case. This is asked when the event comes in, and again when it is told: what was switched off in
between counts.
"""

from __future__ import annotations

import json
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import msgspec
from codexmem_hookspecs.errors import TryLater
from codexmem_hookspecs.values.capture import Event

from codexmem_core.capture.ended import end_of_cleared, ends_unheard
from codexmem_core.host.findings import NOTICES
from codexmem_core.host.spool import Header
from codexmem_core.paths import inside_any
from codexmem_core.readpath.forgetting.pending import ENGINE, of_sessions
from codexmem_core.safety.redaction import redact, safe
from codexmem_core.safety.text import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from codexmem_hookspecs.hosts import Host
    from codexmem_hookspecs.services import Log
    from codexmem_hookspecs.values.capture import EventKind, Reaction

    from codexmem_core.capture.guards import Guards
    from codexmem_core.host.spool import Spool, SpooledEvent
    from codexmem_core.plugins.stages import Stages
    from codexmem_core.safety.files import GuardedFolder
    from codexmem_core.store.catalogue import Catalogue
    from codexmem_core.store.deliveries import Deliveries, Delivery

RETRY_S = 60.0
"""Until the next delivery to a plugin that failed without saying when."""

DELIVERY_S = 60.0
"""Longest wait of a pass for reactions; what is not done then is delivered again in the next pass."""

ANSWER_END = 300
"""Characters of an answer that are kept with an event: enough to find it in its transcript, where it stands whole."""

KEPT_MS = 30 * 86_400_000
"""How long it is known that an event was told."""

BEGINNINGS = frozenset({"startup", "clear", "fork"})
"""Moments at which a session is new."""


@dataclass(slots=True, kw_only=True)
class TakenIn:
    """What the spool held. Whatever has to follow from it stands in the catalogue before a spool file goes."""

    events: int = 0
    kinds: set[EventKind] = field(default_factory=set)


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """Where events are written down, and for whom."""

    catalogue: Catalogue
    deliveries: Deliveries
    reactions: Mapping[str, Iterable[Reaction]]
    """By plugin."""
    cited: Callable[[Event], None]
    """Counts what an answer cited; a transcript will never show it."""
    called: Callable[[Event], None]
    """Heeds that an agent called a tool."""
    bypassed: Callable[[str, str], None]
    """Lets memories forget the session (host, id), which was started, or gone on with, under the bypass variable."""


def take_in(
    spool: Spool, hosts: Mapping[str, Host], guards: Guards, records: Records, log: Log, now_ms: int
) -> TakenIn:
    """Record every waiting event, in order of time. A file that is no event is set aside with a warning.

    A session whose process is gone has ended: a host that is killed runs no hook.

    A session that begins while nothing is to be learned, or where nothing is, is never learned from (Codex 0.171: its
    mode is stamped when it is created). A project's file may be gone with the next checkout.
    """
    taken, catalogue = TakenIn(), records.catalogue
    _take_in_spooled(spool, hosts, guards, records, log, taken)
    gone = ends_unheard(catalogue, now_ms)
    if gone:
        # What such a process told before it went may have come after the spool was listed, its end among that.
        _take_in_spooled(spool, hosts, guards, records, log, taken)
        certain = {event.id for event in gone}
        for event in ends_unheard(catalogue, now_ms):
            if event.id in certain:
                _record(event, Header(), records, guards, taken)
    return taken


def _take_in_spooled(
    spool: Spool, hosts: Mapping[str, Host], guards: Guards, records: Records, log: Log, taken: TakenIn
) -> None:
    catalogue = records.catalogue
    for spooled in spool.read_all():
        if isinstance(spooled, tuple):
            name, reason = spooled
            log.warning("event not understood", kept=spool.set_aside(name), reason=reason)
            continue
        if spooled.header.oversized:
            catalogue.note(NOTICES, f"{spooled.host} {spooled.event}: a payload above 64 MiB was not taken in")
        try:
            events = decode(spooled, hosts)
        except Exception as error:  # noqa: BLE001 - a host's decoder stops only this event
            log.warning("event not understood", kept=spool.set_aside(spooled.name), reason=str(error))
            continue
        catalogue.event_fired(spooled.host, spooled.event, spooled.at_ms)
        for event in events:
            if spooled.header.bypassed:
                records.bypassed(event.session.host, event.session.id)
            elif not inside_any(event.session.cwd, guards.own_folders):
                if event.moment in BEGINNINGS and not guards.may_learn_at(event.session.cwd):
                    catalogue.stamp_mode_if_absent(event.session.host, event.session.id, "disabled")
                _record(event, spooled.header, records, guards, taken)
        spool.remove(spooled.name)


def decode(spooled: SpooledEvent, hosts: Mapping[str, Host]) -> list[Event]:
    """The host's reading of a payload. The spool's name is the event's id: recording it twice changes nothing."""
    if spooled.host not in hosts:
        raise ValueError(f"no installed plugin provides the host {spooled.host}")
    payload = json.loads(spooled.payload.decode("utf-8", "replace") or "{}")
    if not isinstance(payload, dict):
        raise TypeError("the payload is no JSON object")
    events = hosts[spooled.host].decode(spooled.event, payload, spooled.at_ms)
    return [
        replace(
            event,
            id=f"{spooled.name}.{number}",
            prompt=clean(safe(event.prompt)),
            cited=clean(safe(event.cited)),
            answer=clean(safe(event.answer))[-ANSWER_END:],
        )
        for number, event in enumerate(events)
    ]


def may_be_told(event: Event, guards: Guards, catalogue: Catalogue) -> bool:
    """Whether plugins may hear of it: by where the session began, where it is now, and what was said of it."""
    if event.kind == "deleted":
        return True
    key, sessions = (event.session.host, event.session.id), [event.session]
    with suppress(KeyError):
        sessions.append(catalogue.session(*key).session)
    return catalogue.mode_of(*key) == "enabled" and not any(map(guards.refusal, sessions))


def _record(event: Event, header: Header, records: Records, guards: Guards, taken: TakenIn) -> None:
    taken.events += 1
    key, catalogue = (event.session.host, event.session.id), records.catalogue
    taken.kinds.add(event.kind)
    if header.memory:
        # What the hook really printed, not what would be printed now.
        catalogue.freeze_memory(*key, header.memory)
        catalogue.context_given(*key, header.generation, event.at_ms)
    if event.kind in ("stop", "idle", "end"):
        # Before it is written down that it ended: without that, an end that nobody told is found once more.
        catalogue.answered(event.session, event.id)
    _place_in_time(event, header, records)
    may_tell = may_be_told(event, guards, catalogue)
    if event.kind == "deleted":
        # Written down before the spool file goes: memory forgets the session in this pass or a later one.
        catalogue.keep_forgetting(ENGINE, of_sessions([event.session]), "")
    elif event.kind == "cited" and may_tell:
        records.cited(event)
    elif event.kind == "tool":
        records.called(event)
    wanted = [
        plugin
        for plugin, reactions in records.reactions.items()
        if may_tell and event.kind in {reaction.kind for reaction in reactions}
    ]
    records.deliveries.record(event, msgspec.json.encode(event).decode(), wanted)


def _place_in_time(event: Event, header: Header, records: Records) -> None:
    """Whether the session goes on, and in which process. A session that is idle has ended for now."""
    key, catalogue = (event.session.host, event.session.id), records.catalogue
    if event.kind in ("end", "idle"):
        catalogue.mark_ended(*key, event.at_ms)
    if event.kind == "end":
        catalogue.left(*key)
    elif header.pid:
        end_of_cleared(catalogue, event, header.pid, header.started)
        catalogue.seen_in(*key, header.pid, header.started, event.at_ms)
    if event.kind in ("start", "prompt"):
        catalogue.mark_active(*key, event.at_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Where plugins are told of events."""

    stages: Stages
    deliveries: Deliveries
    locks: GuardedFolder
    may_be_told: Callable[[Event], bool]
    log: Log


def deliver(desk: Desk, *, wait_s: float = DELIVERY_S) -> None:
    """Tell each plugin what is due for it, every plugin in a thread of its own.

    One thread a plugin in all processes: what another one is telling it, and one that hangs there, is left alone.
    """
    plugins = sorted({due.plugin for due in desk.deliveries.due()})
    threads = [threading.Thread(target=_deliver_to, args=(plugin, desk), daemon=True) for plugin in plugins]
    for thread in threads:
        thread.start()
    ends_at = time.monotonic() + wait_s
    for thread in threads:
        thread.join(max(0.0, ends_at - time.monotonic()))


def _deliver_to(plugin: str, desk: Desk) -> None:
    with desk.locks.lock(f"deliver-{plugin}") as ours:
        while ours and (waiting := desk.deliveries.due(plugin)):
            for due in waiting:
                _tell(due, desk)


def _tell(due: Delivery, desk: Desk) -> None:
    deliveries = desk.deliveries
    event = replace(msgspec.json.decode(due.payload, type=Event), newer=deliveries.newer(*due.key, due.event_id))
    if not desk.may_be_told(event):
        deliveries.done(due)
        return
    try:
        desk.stages.react(due.plugin, event)
    except TryLater as later:
        deliveries.failed(due, redact(str(later)), after_s=later.after_s)
    except Exception as error:  # noqa: BLE001 - a plugin's failure is delivered again
        deliveries.failed(due, redact(str(error)), after_s=RETRY_S)
        desk.log.warning("reaction failed", listener=due.plugin, event_kind=event.kind, error=str(error))
    else:
        deliveries.done(due)
