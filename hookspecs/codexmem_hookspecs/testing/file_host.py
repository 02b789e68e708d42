"""What a host that keeps a session as a file of lines must do beyond :class:`HostContract`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from codexmem_hookspecs.errors import Rewritten, Unreadable
from codexmem_hookspecs.testing.host import HostContract
from codexmem_hookspecs.values.capture import Item, Presence, SessionQuery, Skipped

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import ClassVar

    from codexmem_hookspecs.testing.services import PlainServices

BROKEN_LINE = b'{"broken": "the line ends before its st\n'
HOUR_MS = 3_600_000


class FileHostContract(HostContract):
    """Subclass as ``TestMyHost`` and set the attributes, those of :class:`HostContract` included."""

    files: ClassVar[Mapping[str, bytes]] = {}
    """Content of the sample store by path below the first of ``Host.homes``; line by line JSON."""

    def home(self, services: PlainServices) -> str:
        """The host's folder in the temporary home."""
        return self.host().homes(services.environ)[0]

    def fill(self, services: PlainServices) -> None:
        """Put the files in place."""
        for path, content in self.files.items():
            write(os.path.join(self.home(services), path), content, services)

    def test_a_touch_changes_the_stamp_only(self, codexmem_services: PlainServices) -> None:
        """The revision is about content."""
        self.fill(codexmem_services)
        before = {session.id: session for session in self.sessions(codexmem_services)}
        for session in before.values():
            os.utime(session.locator, ns=(10**18, 10**18))
        for session in self.sessions(codexmem_services):
            assert session.stamp != before[session.id].stamp
            assert session.revision == before[session.id].revision

    def test_a_folder_is_recognised_by_content(self, codexmem_services: PlainServices) -> None:
        """Under other names and beside other files; only files of this host are claimed."""
        services = codexmem_services
        folder = os.path.join(services.home, "elsewhere")
        mine = {os.path.join(folder, f"{number}.jsonl"): content for number, content in enumerate(self.files.values())}
        other = {"notes.txt": b"notes\n", "table.jsonl": b'{"a": 1}\n{"a": 2}\n', "deep/list.jsonl": b"[1]\n"}
        for path, content in {**mine, **{os.path.join(folder, path): text for path, text in other.items()}}.items():
            write(path, content, services)
        claimed: list[str] = []
        found = self.sessions(services, SessionQuery(folder=folder, claim=claimed.append))
        assert sorted(claimed) == sorted(mine)
        assert {session.locator for session in found} <= set(mine)
        assert len(found) == len({session.id for session in found}) > 1

    def test_a_broken_line_is_skipped_and_stops_nothing(self, codexmem_services: PlainServices) -> None:
        """In front of every line in turn: the items stay, and the broken line is named."""
        self.fill(codexmem_services)
        for session in self.sessions(codexmem_services):
            with open(session.locator, "rb") as file:
                lines = file.read().splitlines(keepends=True)
            whole = [item._replace(position=0) for item in self.items(codexmem_services, session)]
            for number in range(1, len(lines) + 1):
                write(
                    session.locator,
                    b"".join([*lines[:number], BROKEN_LINE, *lines[number:]]),
                    codexmem_services,
                )
                entries = self.entries(codexmem_services, session)
                assert [item._replace(position=0) for item in entries if isinstance(item, Item)] == whole
                assert [skip.line for skip in entries if isinstance(skip, Skipped)] == [number + 1]

    def test_nothing_understood_is_unreadable_and_not_empty(self, codexmem_services: PlainServices) -> None:
        """A session in a form that nobody knows must not look as if nothing had been said."""
        self.fill(codexmem_services)
        session = self.sessions(codexmem_services)[0]
        write(session.locator, b'{"type": "no.such.type"}\n' * 3, codexmem_services)
        with pytest.raises(Unreadable):
            self.entries(codexmem_services, session)

    def test_a_vanished_file_is_unreadable_and_its_presence_unknown(self, codexmem_services: PlainServices) -> None:
        """It may be moved, archived, on another disk: nothing may be forgotten because of it."""
        self.fill(codexmem_services)
        first, *others = self.sessions(codexmem_services)
        os.unlink(first.locator)
        with pytest.raises(Unreadable):
            self.entries(codexmem_services, first)
        presence = self.plugin.codexmem_capture_presence(sessions=[first, *others], services=codexmem_services)
        assert presence.get(first.id, Presence.unknown) is Presence.unknown
        assert {presence.get(session.id) for session in others} == {Presence.present}

    def test_a_shortened_file_is_rewritten(self, codexmem_services: PlainServices) -> None:
        """A position past the end means that another file stands there now."""
        self.fill(codexmem_services)
        session = max(self.sessions(codexmem_services), key=lambda session: session.size_bytes)
        with open(session.locator, "rb") as file:
            first_line = file.readline()
        write(session.locator, first_line, codexmem_services)
        with pytest.raises(Rewritten):
            self.entries(codexmem_services, session, session.size_bytes)


def write(path: str, content: bytes, services: PlainServices) -> None:
    """A file that was last changed an hour before the test's now."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)
    at_s = (services.clock.now_ms() - HOUR_MS) / 1000
    os.utime(path, (at_s, at_s))
