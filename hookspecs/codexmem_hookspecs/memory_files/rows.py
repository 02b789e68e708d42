"""Stored sessions: looked up by what was found in them, and read where a model wrote them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from codexmem_hookspecs.memory_files.lines import one_line
from codexmem_hookspecs.values.capture import Session
from codexmem_hookspecs.values.consolidate import Stored
from codexmem_hookspecs.values.extract import Source

Sessions = Mapping[tuple[str, str], Stored]
"""Rows by host and session id."""


def key(session: Session) -> tuple[str, str]:
    """Host and id: what a session is known by."""
    return (session.host, session.id)


def sessions(stored: Sequence[Stored]) -> dict[tuple[str, str], Stored]:
    """Rows by host and session id."""
    return {key(row.session): row for row in stored}


def rows_of(sources: Sequence[Source], known: Sessions) -> tuple[Stored, ...]:
    """The sessions behind some sources, each once, newest first."""
    found = {
        source_key: known[source_key] for source in sources if (source_key := (source.host, source.session)) in known
    }
    return tuple(sorted(found.values(), key=lambda row: (row.session.updated_at_ms, row.session.id), reverse=True))


def met_in(sources: Sequence[Source]) -> int:
    """How many sessions the sources are of."""
    return len({(source.host, source.session) for source in sources})


def first_heading(summary: str) -> str:
    """The first line of a recap that says something; empty when none does."""
    return next((line.lstrip("# ") for line in summary.split("\n") if line.strip("# \t")), "")


def bullets(text: str, headings: Collection[str]) -> Mapping[str, tuple[str, ...]]:
    """Bullets below lines such as ``Preference signals:``, by heading, in a text that a model wrote."""
    groups: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in text.split("\n"):
        heading = line.strip()
        if heading.endswith(":") and heading[:-1] in headings:
            current = groups.setdefault(heading[:-1], [])
        elif current is not None and line.lstrip().startswith("- "):
            current.append(one_line(line.strip()[2:], 400))
        elif line.strip() and not line.startswith("  "):
            current = None
    return {name: tuple(lines) for name, lines in groups.items()}
