"""How it is written down that something has still to be forgotten."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from codexmem_hookspecs.values.capture import Session
from codexmem_hookspecs.values.records import Selector

if TYPE_CHECKING:
    from collections.abc import Iterable

ENGINE = "engine"
"""Stands for ourselves among the plugins that have still to forget something."""


def encoded(selector: Selector) -> str:
    """JSON; of a session only its name."""
    named = [(session.host, session.id) for session in selector.sessions]
    return json.dumps({"sessions": named, "text": selector.text}, ensure_ascii=False)


def of_sessions(sessions: Iterable[Session]) -> str:
    """The same of sessions alone."""
    return encoded(Selector(sessions=tuple(sessions)))


def decoded(text: str) -> Selector:
    """What was encoded."""
    value = json.loads(text)
    sessions = tuple(Session(host=host, id=session) for host, session in value["sessions"])
    return Selector(sessions=sessions, text=value["text"])


EXPORTS = json.dumps({"sessions": [], "text": "", "exports": True})
"""Copies in other tools' folders are to be made anew."""
COMPACT = encoded(Selector())
"""Nothing more is to be deleted, but databases are to be written anew."""
