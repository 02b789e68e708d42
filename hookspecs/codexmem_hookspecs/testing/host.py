"""What every host must do, as a test class to subclass."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, get_args

import pytest

from codexmem_hookspecs import HOOK_API
from codexmem_hookspecs.known import Known
from codexmem_hookspecs.testing.registration import declared_version, missing
from codexmem_hookspecs.testing.setup import SetupContract
from codexmem_hookspecs.testing.tools import ToolsContract
from codexmem_hookspecs.values.capture import (
    Answer,
    Event,
    EventKind,
    Item,
    MemoryMode,
    Moment,
    Session,
    SessionKind,
    SessionQuery,
    Skipped,
    Tier,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import ClassVar

    from codexmem_hookspecs.testing.services import PlainServices

STRANGE = 'quote " and <tag>\nnewline, 设备清单, 🙂, half '
HALF = "\ud83d"
"""Of a surrogate pair; it has no UTF-8."""
ODD_PAYLOADS: tuple[dict[str, object], ...] = (
    {},
    {"session_id": ""},
    {"session_id": None, "cwd": None},
    {"session_id": 7, "cwd": ["x"], "prompt": {"a": 1}, "source": 3},
)


class HostContract(SetupContract, ToolsContract):
    """Subclass as ``TestMyHost`` and set the attributes, also those of :class:`SetupContract` and ToolsContract.

    The sample store needs at least two sessions, one of which has words of a user and of an assistant. Override
    :meth:`fill` to put it in place; for a host that keeps files subclass ``FileHostContract`` instead.
    """

    payloads: ClassVar[Sequence[tuple[str, Mapping[str, object]]]] = ()
    """Hook payloads of the real host: event name, payload."""
    own_context: ClassVar[str] = ""
    """A text in the sample store that a hook gave to the model."""

    # What the tests stand on

    def fill(self, services: PlainServices) -> None:  # noqa: ARG002 - a subclass's needs them
        """Put the sample store in place."""
        pytest.fail("a host without sample sessions passes nothing: override fill")

    def sessions(self, services: PlainServices, query: SessionQuery | None = None) -> list[Session]:
        """What the plugin finds."""
        return list(self.plugin.codexmem_capture_sessions(query=query or SessionQuery(), services=services))

    def entries(self, services: PlainServices, session: Session, after: int = 0) -> list[Item | Skipped]:
        """What the plugin reads."""
        return list(self.plugin.codexmem_capture_transcript(session=session, after=after, services=services))

    def items(self, services: PlainServices, session: Session, after: int = 0) -> list[Item]:
        """The same without what was skipped."""
        return [entry for entry in self.entries(services, session, after) if isinstance(entry, Item)]

    # Registration

    def test_the_package_speaks_this_version_of_the_contract(self) -> None:
        """Another version is refused at load."""
        assert declared_version(self.plugin) == HOOK_API

    def test_all_hooks_of_a_host_are_there(self) -> None:
        """A host that lacks one is refused at load; so are unknown hooks and arguments."""
        assert missing(self.plugin, "codexmem_capture_host") == set()

    def test_the_host_describes_itself(self) -> None:
        """Names that can be typed, moments that exist."""
        host = self.host()
        assert host.name
        assert host.name == host.name.lower().strip()
        assert host.title.strip()
        assert host.limit_bytes >= 0
        assert set(host.answers.values()) <= set(get_args(Moment))
        assert set(host.kinds.values()) <= set(get_args(EventKind))
        assert all("-" not in event for event in host.kinds)
        assert {event.partition("-")[0] for event in host.answers} <= set(host.kinds)
        assert all(event.partition("-")[2] in ("", moment) for event, moment in host.answers.items())

    def test_places_are_absolute_and_come_from_the_environment(self, codexmem_services: PlainServices) -> None:
        """Nothing is read from the process; an empty environment is no error."""
        host = self.host()
        environ = codexmem_services.environ
        assert host.homes(environ)
        assert all(os.path.isabs(place) for place in (*host.homes(environ), *host.own_memories(environ)))
        assert host.homes(environ) == host.homes(dict(environ))
        assert all(os.path.isabs(place) for place in (*host.homes({}), *host.own_memories({})))

    # Hooks of the host

    def test_recorded_payloads_become_events(self) -> None:
        """Each event is of this host, complete, the same every time; ids sort by time."""
        host = self.host()
        events: list[Event] = []
        for number, (name, payload) in enumerate(self.payloads):
            at_ms = 1_700_000_000_000 + number
            decoded = list(host.decode(name, payload, at_ms))
            assert decoded == list(host.decode(name, payload, at_ms))
            events += decoded
        for event in events:
            assert (event.host, event.session.host) == (host.name, host.name)
            assert event.session.id
            assert event.kind in get_args(EventKind)
            assert event.moment in ("", *get_args(Moment))
            assert (event.moment != "") == (event.kind in {"start", "prompt"})
        assert [event.id for event in events] == sorted({event.id for event in events})
        if self.payloads:
            kinds = {event.kind for event in events}
            assert {"start", "prompt"} <= kinds
            assert kinds & {"stop", "idle"}

    def test_odd_payloads_are_nothing(self) -> None:
        """A hook never fails on what it is sent."""
        host = self.host()
        for name in {name for name, _ in self.payloads} | {"NoSuchEvent", ""}:
            for odd in ODD_PAYLOADS:
                assert not list(host.decode(name, odd, 1))
        for _, payload in self.payloads:
            assert not list(host.decode("NoSuchEvent", payload, 1))

    def test_an_answer_holds_the_context_and_nothing_is_nothing(self) -> None:
        """Whatever characters it has; an event that takes no answer gets none."""
        host = self.host()
        for event in host.answers:
            assert host.encode(event, Answer()) == b""
            printed = host.encode(event, Answer(context=STRANGE + HALF)).decode()
            assert STRANGE in "\n".join(texts(printed))
        assert host.encode("NoSuchEvent", Answer(context="x", notice="y")) == b""

    def test_the_moment_after_a_dash_changes_nothing_but_which_hook_it_is(self) -> None:
        """Events that are installed once a moment are one event to the host."""
        host = self.host()
        for name in host.answers:
            event = name.partition("-")[0]
            assert host.encode(name, Answer(context="x", notice="y")) == host.encode(
                event, Answer(context="x", notice="y")
            )
            for recorded, payload in self.payloads:
                if recorded == event:
                    assert list(host.decode(name, payload, 1)) == list(host.decode(event, payload, 1))

    # Sessions

    def test_a_missing_store_is_empty_and_no_error(self, codexmem_services: PlainServices) -> None:
        """Nor is it worth a warning: the host may not be installed."""
        assert self.sessions(codexmem_services) == []
        assert codexmem_services.log.warnings == []

    def test_sessions_are_found_complete_and_newest_first(self, codexmem_services: PlainServices) -> None:
        """Keys, times, stamps and sizes of every session."""
        self.fill(codexmem_services)
        sessions = self.sessions(codexmem_services)
        now_ms = codexmem_services.clock.now_ms()
        assert len(sessions) > 1
        assert len({session.id for session in sessions}) == len(sessions)
        for session in sessions:
            assert session.host == self.host().name
            assert all((session.id, session.locator, session.stamp, session.revision))
            assert 0 <= session.updated_at_ms <= now_ms
            assert 0 <= session.touched_at_ms <= now_ms
            assert session.kind in get_args(SessionKind)
            assert session.memory_mode in get_args(MemoryMode)
        assert [s.updated_at_ms for s in sessions] == sorted((s.updated_at_ms for s in sessions), reverse=True)

    def test_unchanged_sessions_are_neither_opened_nor_given(self, codexmem_services: PlainServices) -> None:
        """The stamp that a session was given with is the one that is asked for later."""
        self.fill(codexmem_services)
        sessions = self.sessions(codexmem_services)
        known = Known.of((session.locator, session.stamp) for session in sessions)
        codexmem_services.opened.clear()
        assert self.sessions(codexmem_services, SessionQuery(known=known)) == []
        assert known.count == len(sessions)
        assert codexmem_services.opened == []

    # Transcripts

    def test_items_are_complete_and_in_order(self, codexmem_services: PlainServices) -> None:
        """Words or a tool, never both; positions never decrease; the same again when read again."""
        self.fill(codexmem_services)
        tiers: set[str] = set()
        for session in self.sessions(codexmem_services):
            items = self.items(codexmem_services, session)
            assert items == self.items(codexmem_services, session)
            assert [item.position for item in items] == sorted(item.position for item in items)
            for item in items:
                assert (item.tool is None) != (item.parts == ())
                assert item.tier in get_args(Tier)
                assert item.position > 0
                assert all(part.text or part.kind != "text" for part in item.parts)
                assert item.cwd != session.cwd or not item.cwd
                tiers.add(item.tier)
        assert {"human", "final"} <= tiers

    def test_reading_after_a_position_gives_what_a_full_reading_gives_there(
        self, codexmem_services: PlainServices
    ) -> None:
        """For every position, so that nothing is lost or doubled between two passes."""
        self.fill(codexmem_services)
        for session in self.sessions(codexmem_services):
            items = self.items(codexmem_services, session)
            for position in sorted({item.position for item in items}):
                rest = [item for item in items if item.position > position]
                assert self.items(codexmem_services, session, position) == rest

    def test_own_text_is_what_a_hook_gave_and_nothing_else(self, codexmem_services: PlainServices) -> None:
        """What we told the model must not come back as something that was said."""
        self.fill(codexmem_services)
        host = self.host()
        items = [
            item for session in self.sessions(codexmem_services) for item in self.items(codexmem_services, session)
        ]
        assert not [item for item in items if host.own_text(item) and item.tier in {"human", "final", "other_agent"}]
        if self.own_context:
            holding = [item for item in items if self.own_context in item.text]
            assert holding
            assert all(host.own_text(item) for item in holding)


def texts(printed: str) -> list[str]:
    """All texts in what a host is told, be it JSON or plain."""
    try:
        waiting = [json.loads(printed)]
    except ValueError:
        return [printed]
    found: list[str] = []
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return found
