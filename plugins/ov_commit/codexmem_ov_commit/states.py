"""State files: what of a session is on the server. One line of JSON each, in the folder of an existing installation.

The documented keys are those of the original plugin; unknown keys are kept. Ours beside them bind the cursor to the
transcript that it counts: its place, the position in it, and a fingerprint of what was sent.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused

from codexmem_ov_commit.names import file_stem, server_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from codexmem_hookspecs.services import Clock, Folder

ENDING = ".json"


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """One session's. Times are UNIX milliseconds."""

    session_id: str
    """The host's."""
    live: bool = False
    """Whether the server holds turns that no commit has sealed (``ovSessionId`` is set)."""
    behind: bool = False
    """Whether something may be missing on the server of a session that is not live: the sweep looks after it too."""
    tried: bool = False
    """Whether anything was ever put on its way: the server may hold it although it never said so."""
    peer: str = ""
    transcript: str = ""
    """Where the transcript was last seen; empty: never."""
    captured: int = 0
    """Turns that the server has (``capturedTurnCount``)."""
    created_at_ms: int = 0
    updated_at_ms: int = 0
    """Last sign of life; a commit does not count as one. -1: not a number, and so neither swept nor retired."""
    position: int = -1
    """Position of the last item that was sent or passed over; -1: not known (written by the original plugin)."""
    anchor: int = -1
    """Position of the item before that one: reading from here, that one comes first."""
    nth: int = 0
    """Which of the items at that position it is, from 1; one record may hold several."""
    fingerprint: str = ""
    """Of that item; empty when not known."""
    sent_until_ms: int = 0
    """Time of the newest item that was sent or passed over. Of a state that the original wrote: its last save."""
    other: Mapping[str, object] = field(default_factory=dict)
    """Keys that are not ours."""

    @property
    def may_be_on_server(self) -> bool:
        """Whether the server may hold anything of the session, committed or not."""
        return self.live or self.captured > 0 or self.tried


class States:
    """The state folder of one host."""

    def __init__(self, folder: Folder, host: str, clock: Clock) -> None:
        self._folder = folder
        self._host = host
        self._clock = clock

    @property
    def folder(self) -> Folder:
        """Where they are."""
        return self._folder

    @property
    def host(self) -> str:
        """Whose sessions they are."""
        return self._host

    def load(self, session_id: str) -> State:
        """What the file says, defaults where it says nothing or cannot be read."""
        now = self._clock.now_ms()
        fresh = State(session_id=session_id, created_at_ms=now, updated_at_ms=now)
        found = self._read(file_stem(session_id) + ENDING)
        return fresh if found is None else _decoded(found, fresh)

    def save(self, state: State, *, touch: bool) -> State:
        """Write it whole; ``touch`` says that the session showed life. Nothing without a session id. Raises OSError."""
        if not state.session_id:
            return state
        if touch or state.updated_at_ms < 0:
            state = replace(state, updated_at_ms=self._clock.now_ms())
        text = json.dumps(_encoded(state, self._host), ensure_ascii=False, separators=(",", ":"))
        self._folder.write(file_stem(state.session_id) + ENDING, text.encode("utf-8", "replace"))
        return state

    def remove(self, session_id: str) -> bool:
        """Forget it. False when there was none."""
        return self._folder.remove(file_stem(session_id) + ENDING)

    def all(self) -> Iterator[State]:
        """Every readable state, sorted by file name; what is no state is passed over."""
        try:
            names = sorted(found.path for found in self._folder.scan(suffixes=(ENDING,)))
        except FileNotFoundError:
            return
        for name in names:
            found = self._read(name) if "/" not in name else None
            session_id = found.get("codexSessionId") if found else None
            if isinstance(session_id, str) and session_id and found is not None:
                yield _decoded(found, State(session_id=session_id, updated_at_ms=-1))

    def _read(self, name: str) -> Mapping[str, object] | None:
        try:
            found = json.loads(self._folder.read(name))
        except (OSError, ValueError, RecursionError, Refused):
            return None
        return found if isinstance(found, dict) else None


_OURS = {
    "codexSessionId", "ovSessionId", "workspacePeerId", "transcriptPath", "capturedTurnCount", "createdAt",
    "lastUpdatedAt", "cursorPosition", "cursorAnchor", "cursorNth", "cursorFingerprint", "cursorTime",
    "unsent", "sendingTried",
}  # fmt: skip


def _decoded(found: Mapping[str, object], fresh: State) -> State:
    return State(
        session_id=_text(found, "codexSessionId") or fresh.session_id,
        live=bool(_text(found, "ovSessionId")),
        behind=found.get("unsent") is True,
        tried=found.get("sendingTried") is True,
        peer=_text(found, "workspacePeerId"),
        transcript=_text(found, "transcriptPath"),
        captured=max(0, _number(found, "capturedTurnCount", 0)),
        created_at_ms=_number(found, "createdAt", fresh.created_at_ms),
        updated_at_ms=_number(found, "lastUpdatedAt", fresh.updated_at_ms),
        position=_number(found, "cursorPosition", -1),
        anchor=_number(found, "cursorAnchor", -1),
        nth=_number(found, "cursorNth", 0),
        fingerprint=_text(found, "cursorFingerprint"),
        sent_until_ms=_number(found, "cursorTime", max(0, _number(found, "lastUpdatedAt", 0))),
        other={key: value for key, value in found.items() if key not in _OURS},
    )


def _encoded(state: State, host: str) -> dict[str, object]:
    return {
        **state.other,
        "codexSessionId": state.session_id,
        "ovSessionId": server_name(host, state.session_id) if state.live else None,
        "workspacePeerId": state.peer,
        "transcriptPath": state.transcript or None,
        "capturedTurnCount": state.captured,
        "createdAt": state.created_at_ms,
        "lastUpdatedAt": state.updated_at_ms,
        "cursorPosition": state.position,
        "cursorAnchor": state.anchor,
        "cursorNth": state.nth,
        "cursorFingerprint": state.fingerprint,
        "cursorTime": state.sent_until_ms,
        **({"unsent": True} if state.behind else {}),
        **({"sendingTried": True} if state.tried else {}),
    }


def _text(found: Mapping[str, object], key: str) -> str:
    value = found.get(key)
    return value if isinstance(value, str) else ""


def _number(found: Mapping[str, object], key: str, default: int) -> int:
    value = found.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return default
    return int(value)
