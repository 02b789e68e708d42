"""A forked rollout begins with a copy of its parent's history: that part belongs to the parent alone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused, Unreadable
from codexmem_hookspecs.values.capture import Item, Session

from codexmem_host_codex.reading import Reading
from codexmem_host_codex.rollouts import COMPRESSED, Rollout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codexmem_hookspecs.services import Services
    from codexmem_hookspecs.values.capture import Skipped

STORES = ("/sessions/", "/archived_sessions/")


def without_inherited(
    reading: Reading, session: Session, rollout: Rollout, services: Services
) -> Iterator[Item | Skipped]:
    """The reading's items without those at its beginning that repeat the parent's.

    A copy may carry the time at which it was copied, so what is said is compared. Where the parent is not to be found,
    what is older than the fork itself is taken for a copy.
    """
    parent = parent_items(session, rollout, services)
    inherited = True
    for entry in reading.entries():
        if inherited and isinstance(entry, Item):
            inherited = said(entry) == next(parent, None) or 0 < entry.at_ms < reading.began_ms
            if inherited:
                continue
        yield entry


def said(item: Item) -> Item:
    """The item without its place and time, to compare with a copy."""
    return item._replace(position=0, at_ms=0, cwd="")


def parent_items(session: Session, rollout: Rollout, services: Services) -> Iterator[Item]:
    """What the parent said, as far as it can be read; nothing when its file is not there."""
    parent = Session(host=session.host, id=session.forked_from, cwd=session.cwd)
    try:
        for file in files_of(parent.id, session.locator, rollout, services):
            for entry in Reading(file, parent, 0, services.clock.now_ms()).entries():
                if isinstance(entry, Item):
                    yield said(entry)
            return
    except (Unreadable, Refused, OSError):
        return


def files_of(id_: str, locator: str, rollout: Rollout, services: Services) -> list[Rollout]:
    """Files whose names hold the id, in the tree that the locator lies in; the plain form first."""
    roots = [locator[: locator.rindex(store)] for store in STORES if store in locator]
    folder = services.open_folder(roots[0]) if roots else rollout.folder
    found: list[str] = []
    for under in [store.strip("/") for store in STORES] if roots else [""]:
        try:
            found += [stat.path for stat in folder.scan(under, links=True) if id_ in os.path.basename(stat.path)]
        except (OSError, Refused):
            continue
    found.sort(key=lambda path: (path.endswith(COMPRESSED), path))
    own = os.path.basename(locator)
    return [Rollout(folder=folder, name=path) for path in found if os.path.basename(path) != own]
