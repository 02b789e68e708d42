"""Sessions with turns on the server that no commit has sealed, or whose end is not confirmed; and committing them."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.values.capture import Session

from codexmem_ov_commit.commits import Committer, Done
from codexmem_ov_commit.locks import lock_name
from codexmem_ov_commit.names import file_stem, server_name
from codexmem_ov_commit.place import Place, hosts
from codexmem_ov_commit.sweep import refusal, session_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codexmem_hookspecs.services import Folder, Services

    from codexmem_ov_commit.states import State


FOLDER_FIX = "make it a folder that you may read and write, or name another one with OPENVIKING_CODEX_STATE_DIR"


class StateFolderError(OSError):
    """Nobody knows which sessions wait: a state folder cannot be read or written. Says what to do about it."""

    def __init__(self, host: str, folder: Folder, error: Exception) -> None:
        where = "" if folder.root in str(error) else f", {folder.root},"
        self.what = f"the state folder of {host}'s sessions{where} cannot be used: {error}"
        super().__init__(f"{self.what}; {FOLDER_FIX}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """One session that is not wholly committed."""

    place: Place
    state: State
    ended_at_ms: int
    """When it ended, UNIX milliseconds; 0 when no end was seen or it is confirmed."""

    @property
    def name(self) -> str:
        """On the server."""
        return server_name(self.place.states.host, self.state.session_id)


def waiting(services: Services) -> Iterator[Waiting]:
    """Of every host, as the state folders tell it. Raises StateFolderError."""
    for host in hosts(services):
        place = Place.of(services, host)
        try:
            ended, states = place.markers.sessions(), list(place.states.all())
        except (OSError, Refused) as error:
            raise StateFolderError(host, place.states.folder, error) from error
        for state in states:
            ended_at_ms = ended.get(file_stem(state.session_id), 0)
            if state.live or state.behind or ended_at_ms:
                yield Waiting(place=place, state=state, ended_at_ms=ended_at_ms)


def assert_writable(services: Services) -> None:
    """Raises StateFolderError when nothing can be written down. What is not there yet is made when needed."""
    for host in hosts(services):
        folder = Place.of(services, host).states.folder
        if not os.path.isdir(folder.root):
            continue
        try:
            with folder.lock(lock_name("")):
                pass
        except (OSError, Refused) as error:
            raise StateFolderError(host, folder, error) from error


def commit_waiting(services: Services, *, only: str = "") -> Iterator[Done]:
    """Commit them now, or the one of this id or name; those that may leave the machine. Waits for nobody."""
    for one in waiting(services):
        if only in ("", one.state.session_id, one.name):
            yield commit_session(services, Session(host=one.place.states.host, id=one.state.session_id))


def commit_session(services: Services, session: Session) -> Done:
    """Send what is new of a session and commit it, unless it is to stay here or another process has it."""
    known = session_of(services, session.host, Place.of(services, session.host).states.load(session.id))
    session = replace(known, cwd=session.cwd or known.cwd, locator=known.locator or session.locator)
    place = Place.of(services, session.host, session.cwd)
    committer = Committer(place, services, session)
    if reason := refusal(place, services, session):
        return Done(result="kept", name=committer.name, reason=reason)
    ended_at_ms = place.markers.newest(session.id)
    try:
        done = committer.now()
        if done.result in ("committed", "nothing_new") and ended_at_ms:
            place.markers.clear(session.id, ended_at_ms + 1)
    except (OSError, Refused) as error:
        return Done(result="kept", name=committer.name, reason=f"{error}; codexmem ov doctor says what to do")
    return replace(done, reason="another process works on it") if done.result == "locked" else done
