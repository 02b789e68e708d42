"""Sessions that we make in OpenCode to ask a model: marked, without tools, and removed again (OpenCode memory 12)."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import quote

from codexmem_hookspecs.errors import ModelRefused
from codexmem_hookspecs.json_lines import NotUnderstood

from codexmem_host_opencode import records
from codexmem_host_opencode.endpoint import NOT_FOUND, OK, session_path
from codexmem_host_opencode.host import OpenCodeHost
from codexmem_host_opencode.marks import OWN_METADATA, OWN_TITLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from codexmem_hookspecs.services import Services

    from codexmem_host_opencode.server import Server

STAGES = ("extraction", "consolidation")
TITLES = frozenset(OWN_TITLE + stage for stage in STAGES)
STALE_MS = 90 * 60_000
"""One that is older was left behind by a process that ended; no job takes so long."""
RULES = (
    {"permission": "*", "pattern": "*", "action": "deny"},
    {"permission": "StructuredOutput", "pattern": "*", "action": "allow"},  # by which the answer is given
)
SWEPT = 8
"""At most so many are removed at a time."""
CREATE_S, ABORT_S, DELETE_S, CONFIRM_S, LIST_S = 10.0, 1.0, 10.0, 1.0, 5.0
PLACE = "own"
"""Folder of our sessions, below the plugin's: no project's instructions are read there."""


@contextmanager
def own_session(server: Server, stage: str, services: Services) -> Iterator[str]:
    """The id of a session for one question. Raises ModelRefused when there is none to be had."""
    body = {"title": OWN_TITLE + stage, "metadata": OWN_METADATA, "permission": list(RULES)}
    made = server.ask("POST", f"/session?directory={quote(place(services))}", body, timeout_s=CREATE_S)
    try:
        if made.status != OK:
            raise NotUnderstood(made.error or f"HTTP {made.status}")
        session_id = records.understood(made.body, records.SessionInfo).id
    except NotUnderstood as problem:
        raise ModelRefused(f"opencode at {server.url}: no session was made: {problem}", "transport") from None
    services.sessions.register_own(OpenCodeHost.name, session_id)
    try:
        yield session_id
    finally:
        _removed(server, session_id, services)


def place(services: Services) -> str:
    """An empty folder of ours."""
    folder = services.folder
    path = f"{PLACE}/empty"
    try:
        folder.stat(path)
    except OSError:
        folder.write(path, b"")
    return os.path.join(folder.root, PLACE)


def stopped(server: Server, session_id: str) -> None:
    """Let a prompt that was given up cost no more."""
    server.ask("POST", f"{session_path(session_id)}/abort", {}, timeout_s=ABORT_S)


def _removed(server: Server, session_id: str, services: Services) -> None:
    """Remove a session, and say so when it is not certainly gone: that its removal was accepted says too little."""
    path = session_path(session_id)
    server.ask("DELETE", path, timeout_s=DELETE_S)
    if server.get(path, CONFIRM_S).status != NOT_FOUND:
        services.log.warning("a session of ours stays in OpenCode for now", session=session_id)


def sweep(server: Server, rows: Iterable[object], services: Services) -> None:
    """Of listed sessions take those for ours that have both marks, and remove what was left behind.

    A user may rename a session, and a fork copies what it forks: one mark alone says nothing.
    """
    now_ms, left = services.clock.now_ms(), SWEPT
    for row in rows:
        try:
            info = records.understood(row, records.SessionInfo)
        except NotUnderstood:
            continue
        if info.title not in TITLES or info.metadata != OWN_METADATA:
            continue
        services.sessions.register_own(OpenCodeHost.name, info.id)
        if info.time.created < now_ms - STALE_MS and left:
            left -= 1
            _removed(server, info.id, services)
