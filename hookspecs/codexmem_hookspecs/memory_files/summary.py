"""memory_summary.md without a model: what is known of the user, in at most a given number of bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from codexmem_hookspecs.memory_files.contents import Entry, contents
from codexmem_hookspecs.memory_files.document import Section, render
from codexmem_hookspecs.memory_files.findings import failure_line, guidance
from codexmem_hookspecs.memory_files.imported import routes
from codexmem_hookspecs.memory_files.lines import day, note_line, one_line, place, quoted, recap, size
from codexmem_hookspecs.memory_files.rows import Sessions, met_in, rows_of, sessions
from codexmem_hookspecs.memory_files.summary_format import FORMAT, HEADINGS, LIMIT_BYTES
from codexmem_hookspecs.values.consolidate import Digest, MergedFailure, MergedPreference, Stored

NOTE_PATH: Final = "extensions/ad_hoc/notes/"
NOTES = 10
"""Newest notes of the user that are told."""
DECISIONS = 6
"""Newest decisions that are told."""
NAMED_PLACES = 2
"""Directories that a preference names."""
MODEL_ROWS, MODEL_BULLETS = 40, 4
"""Sessions whose notes a model wrote that are asked for preferences, and how many each may give."""
PROFILE, PREFERENCES, TIPS, IN_MEMORY = HEADINGS
_SHARES = {PROFILE: 900, PREFERENCES: 4_200, TIPS: 2_000}
"""Bytes that a section may take of the whole."""


def summary(
    stored: Sequence[Stored],
    digest: Digest,
    entries: Sequence[Entry],
    limit: int,
    *,
    signals: Callable[[Stored], Sequence[str]],
    others: str,
    rest: str,
) -> list[Section]:
    """Sections of memory_summary.md, at most ``limit`` bytes of UTF-8 when rendered.

    ``entries``: what there is, for the last section; ``rest`` names those that do not fit there. ``signals`` gives the
    preferences in a row that a model wrote. ``others`` says where preferences and tips stand that do not fit.
    """
    known = sessions(stored)
    share = min(1.0, limit / LIMIT_BYTES)

    def fitted(heading: str, lines: Callable[[bool], Sequence[str]], left: str = "") -> Section:
        return Section(2, heading, _fitting(lines, int(_SHARES[heading] * share), left))

    head = [
        Section(0, "", [FORMAT]),
        fitted(PROFILE, lambda _: _profile(stored, digest)),
        fitted(
            PREFERENCES,
            lambda sources: _preferences(stored, digest, known, signals, sources=sources),
            f"preferences in {others}",
        ),
        fitted(TIPS, lambda sources: _tips(digest, known, sources=sources), f"in {others}"),
        Section(2, IN_MEMORY),
    ]
    return head + contents(entries, routes(digest), limit - size(render(head)) - 1, rest)


def user_notes(digest: Digest) -> dict[str, str]:
    """What the user had noted down, by path, newest first; without notes that say nothing."""
    paths = sorted((path for path in digest.notes if path.startswith(NOTE_PATH)), reverse=True)
    return {path: digest.notes[path] for path in paths if digest.notes[path].strip()}


def _profile(stored: Sequence[Stored], digest: Digest) -> list[str]:
    lines = [
        f"- the user said: {quoted(item.preference.quote)} ({day(item.preference.source.at_ms)})"
        for item in digest.preferences
        if item.replaced_by is None and item.preference.topic.split(" ")[-1:] == ["user"]
    ]
    if stored:
        hosts = Counter(row.session.host for row in stored)
        used = ", ".join(
            f"{one_line(host, 40)} ({count})"
            for host, count in sorted(hosts.items(), key=lambda item: (-item[1], item[0]))
        )
        places = Counter(place(row.session.cwd) for row in stored)
        top = sorted(places.items(), key=lambda item: (-item[1], item[0]))[:4]
        lines.append(f"- {len(stored)} sessions remembered; agents: {used}")
        lines.append(f"- works mostly in: {', '.join(f'{one_line(where, 80)} ({count})' for where, count in top)}")
    return lines


def _preferences(
    stored: Sequence[Stored],
    digest: Digest,
    known: Sessions,
    signals: Callable[[Stored], Sequence[str]],
    *,
    sources: bool,
) -> list[str]:
    lines = [f"- {note_line(path, text, 200)}" for path, text in [*user_notes(digest).items()][:NOTES]]
    standing = [item for item in digest.preferences if item.replaced_by is None]
    # What was repeated and what holds anywhere concerns most sessions.
    for item in sorted(standing, key=lambda item: (_said_once(item), item.preference.scope != "everywhere")):
        stated = item.preference
        cwds = sorted({place(source.cwd) for source in item.sources})
        where = (
            "anywhere"
            if stated.scope == "everywhere"
            else "in " + " and ".join(cwds[:NAMED_PLACES]) + _more(len(cwds) - NAMED_PLACES)
        )
        said = met_in(item.sources)
        times = f", said in {said} sessions" if said > 1 else ""
        rows = rows_of(item.sources, known) if sources else ()
        lines.append(
            f"- {quoted(stated.quote)} -> {guidance(stated)} ({where}; "
            f"{day(stated.source.at_ms)}{times}{_source(rows)})"
        )
    model = [row for row in stored if row.findings is None]
    for row in sorted(model, key=lambda row: (row.session.updated_at_ms, row.session.id), reverse=True)[:MODEL_ROWS]:
        lines += [
            f"- {one_line(bullet, 250)} ({day(row.session.updated_at_ms)}; {recap(row)})"
            for bullet in signals(row)[:MODEL_BULLETS]
        ]
    return lines


def _tips(digest: Digest, known: Sessions, *, sources: bool) -> list[str]:
    solved = [item for item in digest.failures if item.failure.fix]
    solved.sort(key=_said_once)
    decided = [
        f"- in {place(item.decision.source.cwd)} decided: {quoted(item.decision.text)} "
        f"({day(item.decision.source.at_ms)}{_source(rows_of(item.sources, known) if sources else ())})"
        for item in digest.decisions[:DECISIONS]
    ]
    return decided + [
        f"- in {place(item.failure.source.cwd)}: {failure_line(item.failure)} "
        f"({day(item.failure.source.at_ms)}{_source(rows_of(item.sources, known) if sources else ())})"
        for item in solved
    ]


def _source(rows: Sequence[Stored]) -> str:
    return f"; {recap(rows[0])}" if rows else ""


def _fitting(lines: Callable[[bool], Sequence[str]], limit: int, rest: str) -> list[str]:
    """As many lines as the share allows; a line too many ends them and the rest is counted.

    When not all fit, they do without their recaps, and more is told.
    """
    whole = lines(True)  # noqa: FBT003 - the only thing to choose
    shown = whole if sum(map(_line_size, whole)) <= limit else lines(False)  # noqa: FBT003
    kept: list[str] = []
    used = 0
    for number, line in enumerate(shown):
        used += _line_size(line)
        if used > limit:
            return [*kept, f"- {len(shown) - number} more {rest}"] if rest else kept
        kept.append(line)
    return kept


def _line_size(line: str) -> int:
    return size(line) + 1


def _said_once(item: MergedPreference | MergedFailure) -> bool:
    return met_in(item.sources) == 1


def _more(count: int) -> str:
    return f" and {count} more" if count > 0 else ""
