"""What ``codexmem doctor`` and ``codexmem status`` say of how OpenCode is reached."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs.values.records import Finding

from codexmem_host_opencode.reach import Reach

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codexmem_hookspecs.services import Services

UNVERIFIED = "OpenCode 2 (unverified against the real program)"


def reached(services: Services) -> Iterable[Finding]:
    """Whether OpenCode 1 can be asked for what was said in it; nothing where it can, or was never seen.

    Where OpenCode 2 has taken over it is no fault.
    """
    reach = Reach(services)
    if not reach.seen or reach.server is not None or reach.program.is_there:
        return
    silent = ", ".join(dict.fromkeys(one.word.url for one in reach.seen if one.word.url))
    at = f"no server answers at {silent}" if silent else "no server of it was seen"
    yield Finding(
        level="info" if reach.prefers_second else "warn",
        message=f"OpenCode cannot be reached: {at}, and there is no program {reach.program.path}",
        fix="make sure that opencode is on PATH, or set [host-opencode] program to where it is",
    )


def second(services: Services) -> Iterable[Finding]:
    """What answers for OpenCode 2, where it is there or was; that none does is never taken for that nothing happens."""
    reach = Reach(services)
    service = reach.service
    if service is not None:
        chosen = "and asked for models" if reach.prefers_second else "and OpenCode 1 is asked for models"
        told = f"service {service.url}, version {service.ready.version}: its sessions are read, {chosen}"
        yield Finding(level="info", message=f"{UNVERIFIED}: {told}")
    elif reach.second_seen:
        left = f"{len(reach.seconds)} of its processes tell what they saw" if reach.seconds else "nothing of it is read"
        yield Finding(
            level="warn",
            message=f"{UNVERIFIED}: unavailable: {reach.no_service}; {left}",
            fix="start OpenCode 2, which registers its service; or set [host-opencode] url to its address",
        )
