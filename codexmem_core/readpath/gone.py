"""What a pass forgets by itself: sessions that were deleted in their host, and what earlier passes could not forget.

A transcript that has vanished is not forgotten: agents prune their stores by themselves. Only a delete event, a host
that says for certain that a session is gone, or the user makes the memory forget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs.values.capture import Presence, Session

from codexmem_core.readpath.forget import compacted, forget
from codexmem_core.readpath.forgetting import pending
from codexmem_core.readpath.forgetting.exported import export_anew
from codexmem_core.readpath.forgetting.targets import of_sessions, of_text
from codexmem_core.safety.redaction import redact
from codexmem_core.store.errors import StoreError
from codexmem_core.store.on_disk import compact

if TYPE_CHECKING:
    from codexmem_core.engine import Engine
    from codexmem_core.readpath.forgetting.wanted import Target

PRESENCE_EVERY_MS = 86_400_000
"""Between two questions to a host whether its sessions are still there: each may cost a request."""
_MARK = "presence"


def forget_what_is_gone(engine: Engine) -> None:
    """Ask hosts, then forget. Whatever fails stays pending and is tried again by the next pass."""
    _ask_hosts(engine)
    open_ = engine.catalogue.forgettings()
    ours = [one for one in open_ if one.plugin == pending.ENGINE]
    deleted: dict[tuple[str, str], Session] = {}
    for one in ours:
        selector = pending.decoded(one.selector)
        deleted.update({(session.host, session.id): session for session in selector.sessions})
        if one.selector == pending.COMPACT:
            compacted(engine)
        elif one.selector == pending.EXPORTS:
            export_anew(engine.access)
        elif not selector.sessions:
            _again(engine, of_text(selector.text), [one.selector])
    if deleted:
        selectors = [one.selector for one in ours if pending.decoded(one.selector).sessions]
        _again(engine, of_sessions(tuple(deleted.values())), selectors)
    active = {info.name for info in engine.plugins.infos if info.state == "active"}
    for one in open_:
        if one.plugin in active:
            _ask_plugin(engine, one.plugin, one.selector)


def _again(engine: Engine, target: Target, selectors: list[str]) -> None:
    catalogue = engine.catalogue
    try:
        closed = forget(engine, target, insist=False).closed
        for selector in selectors:
            if closed:
                catalogue.keep_forgetting(pending.ENGINE, selector, "; ".join(closed))
            else:
                catalogue.forgotten(pending.ENGINE, selector)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is tried again
        engine.log("forget").warning("not forgotten yet", error=redact(str(error)))
        for selector in selectors:
            catalogue.keep_forgetting(pending.ENGINE, selector, redact(str(error)))


def _ask_plugin(engine: Engine, plugin: str, selector: str) -> None:
    try:
        engine.stages.forget_again(plugin, pending.decoded(selector))
    except Exception as error:  # noqa: BLE001 - as above
        engine.catalogue.keep_forgetting(plugin, selector, redact(str(error)))
        return
    engine.catalogue.forgotten(plugin, selector)
    compact(engine.home.catalogue)


def _ask_hosts(engine: Engine) -> None:
    """Once a day, about the sessions that a memory holds."""
    catalogue, now_ms = engine.catalogue, engine.clock.now_ms()
    due = [host for host in engine.stages.host_names if _asked_at(engine, host) + PRESENCE_EVERY_MS <= now_ms]
    if not due:
        return
    held = _held(engine)
    for host in due:
        sessions = [session for session in held if session.host == host]
        try:
            said = engine.stages.presence(host, sessions) if sessions else {}
        except Exception as error:  # noqa: BLE001 - a host that cannot answer has said nothing
            engine.log("capture").info("presence not known", host=host, error=redact(str(error)))
            continue
        catalogue.set_presence(host, dict(said))
        gone = [session for session in sessions if said.get(session.id) is Presence.gone]
        if gone:
            catalogue.keep_forgetting(pending.ENGINE, pending.of_sessions(gone), "")
        catalogue.set_mark(f"{_MARK}:{host}", str(now_ms))


def _asked_at(engine: Engine, host: str) -> int:
    return int(engine.catalogue.mark(f"{_MARK}:{host}") or 0)


def _held(engine: Engine) -> list[Session]:
    keys = set()
    for plugin in engine.memories:
        try:
            with engine.jobs(plugin) as jobs:
                keys.update(jobs.stored_keys())
        except StoreError:
            continue  # the memory's own lane meets the same trouble and reports it
    return [known.session for known in engine.catalogue.candidates(keys=sorted(keys))] if keys else []
