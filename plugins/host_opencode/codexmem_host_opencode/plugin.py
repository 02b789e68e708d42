"""The hooks that OpenCode implements; what they need is imported when they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.values.records import DoctorCheck, ModelBackend, Setting

from codexmem_host_opencode.host import OpenCodeHost

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from codexmem_hookspecs.hosts import Host
    from codexmem_hookspecs.services import Services, Transcript
    from codexmem_hookspecs.values.capture import Item, Presence, Session, SessionQuery, Skipped
    from codexmem_hookspecs.values.extract import ExtractionRequest, Reply
    from codexmem_hookspecs.values.models import Turn, TurnRequest
    from codexmem_hookspecs.values.records import Finding


def ask(request: ExtractionRequest, transcript: Transcript, services: Services) -> Reply:
    """See :func:`codexmem_host_opencode.backend.ask`."""
    from codexmem_host_opencode import backend

    return backend.ask(request, transcript, services)


def turn(request: TurnRequest, services: Services) -> Turn:
    """See :func:`codexmem_host_opencode.backend.turn`."""
    from codexmem_host_opencode import backend

    return backend.turn(request, services)


def reached(services: Services) -> Iterable[Finding]:
    """See :func:`codexmem_host_opencode.checks.reached`."""
    from codexmem_host_opencode import checks

    return checks.reached(services)


def second(services: Services) -> Iterable[Finding]:
    """See :func:`codexmem_host_opencode.checks.second`."""
    from codexmem_host_opencode import checks

    return checks.second(services)


class OpenCodePlugin:
    """Capture for OpenCode. Modules that parse are imported when a hook needs them: registering stays cheap."""

    @hookimpl
    def codexmem_settings(self) -> Iterable[Setting]:
        """How OpenCode is reached, for those whose server or program is not found by itself."""
        return [
            Setting(key="url", default="", help="address of a server of OpenCode; empty: one that was seen at work"),
            Setting(key="program", default="", help="OpenCode's program; empty: the one that was seen at work"),
        ]

    @hookimpl
    def codexmem_models(self) -> Iterable[ModelBackend]:
        """The models that OpenCode has a login for."""
        return [
            ModelBackend(
                name="opencode", summary="OpenCode's models, with its own login", costs=True, ask=ask, turn=turn
            )
        ]

    @hookimpl
    def codexmem_doctor_checks(self) -> Iterable[DoctorCheck]:
        """How each generation is reached."""
        return [
            DoctorCheck(name="opencode", summary="OpenCode can be reached.", run=reached, in_status=True),
            DoctorCheck(name="opencode-2", summary="OpenCode 2 can be reached.", run=second, in_status=True),
        ]

    @hookimpl
    def codexmem_capture_host(self) -> Iterable[Host]:
        """OpenCode itself."""
        return [OpenCodeHost()]

    @hookimpl
    def codexmem_capture_sessions(self, query: SessionQuery, services: Services) -> Iterable[Session]:
        """Sessions that are new or changed."""
        from codexmem_host_opencode import sessions

        return sessions.find(query, services)

    @hookimpl
    def codexmem_capture_transcript(self, session: Session, after: int, services: Services) -> Iterator[Item | Skipped]:
        """What a session says past a position."""
        from codexmem_host_opencode import transcript

        return transcript.read(session, after, services)

    @hookimpl
    def codexmem_capture_presence(self, sessions: Sequence[Session], services: Services) -> Mapping[str, Presence]:
        """Whether OpenCode still has each session."""
        from codexmem_host_opencode.sessions import presence

        return presence(sessions, services)


plugin = OpenCodePlugin()
