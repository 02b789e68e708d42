"""memory_summary.md without a model: at most a given number of bytes, whatever the number of sessions."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from codexmem_memory_v1.document import Section, render
from codexmem_memory_v1.handbook import NOTE_PATH, note_line
from codexmem_memory_v1.lines import day, keywords, one_line, place, quoted, recap
from codexmem_memory_v1.recap import failure_line, guidance
from codexmem_memory_v1.topics import Sessions, Topic, rows_of, sessions, topics, written

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codexmem_hookspecs.values.consolidate import Digest, MergedFailure, MergedPreference, Stored

LIMIT_BYTES = 10_000
RECENT_DAYS = 3
"""Days with work that are told in full (Codex 0.171: the last three memory days)."""
DECISIONS = 6
"""Newest decisions that are told; MEMORY.md has the others."""
NAMED_PLACES = 2
"""Directories that a preference names."""
_SHARES = {"User Profile": 900, "User preferences": 4_200, "General Tips": 2_000}
"""Bytes that a section may take of the whole."""


def summary(stored: Sequence[Stored], digest: Digest, limit: int = LIMIT_BYTES) -> list[Section]:
    """Sections of memory_summary.md, at most ``limit`` bytes of UTF-8 when rendered.

    Preferences, tips and the newest topics come first. What does not fit is folded: oldest and least used topics lose
    their learnings, then their descriptions, then stand as a count of their directory, then as one count of all.
    """
    known = sessions(stored)
    all_topics = topics(stored, digest)
    share = min(1.0, limit / LIMIT_BYTES)
    head = [
        Section(0, "", ["v1"]),
        Section(2, "User Profile", _fitting(lambda _: _profile(stored, digest), int(_SHARES["User Profile"] * share))),
        Section(
            2,
            "User preferences",
            _fitting(
                lambda sources: _preferences(stored, digest, known, sources=sources),
                int(_SHARES["User preferences"] * share),
                "preferences in MEMORY.md",
            ),
        ),
        Section(
            2,
            "General Tips",
            _fitting(
                lambda sources: _tips(digest, known, sources=sources),
                int(_SHARES["General Tips"] * share),
                "in MEMORY.md",
            ),
        ),
        Section(2, "What's in Memory"),
    ]
    return head + _contents(all_topics, digest, limit - len(_utf8(render(head))) - 1)


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


def _preferences(stored: Sequence[Stored], digest: Digest, known: Sessions, *, sources: bool) -> list[str]:
    notes = sorted(
        (path for path in digest.notes if path.startswith(NOTE_PATH) and digest.notes[path].strip()), reverse=True
    )
    lines = [f"- {note_line(path, digest.notes[path], 200)}" for path in notes[:10]]
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
        said = len({(source.host, source.session) for source in item.sources})
        times = f", said in {said} sessions" if said > 1 else ""
        rows = rows_of(item.sources, known) if sources else ()
        lines.append(
            f"- {quoted(stated.quote)} -> {guidance(stated)} ({where}; "
            f"{day(stated.source.at_ms)}{times}{_source(rows)})"
        )
    model = [row for row in stored if row.findings is None]
    for row in sorted(model, key=lambda row: (row.session.updated_at_ms, row.session.id), reverse=True)[:40]:
        lines += [
            f"- {one_line(bullet, 250)} ({day(row.session.updated_at_ms)}; {recap(row)})"
            for bullet in written(row).groups.get("Preference signals", ())[:4]
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


def _contents(all_topics: Sequence[Topic], digest: Digest, room: int) -> list[Section]:
    days = sorted({topic.day for topic in all_topics if topic.updated_at_ms > 0}, reverse=True)[:RECENT_DAYS]
    recent = [topic for topic in all_topics if topic.day in days]
    older = [topic for topic in all_topics if topic.day not in days]
    imported = [path for path in digest.notes if not path.startswith(NOTE_PATH) and path.endswith(".md")]
    for full in _steps_down(len(recent)):
        kept, folded = recent[:full], [*recent[full:], *older]
        for short in _steps_down(len(folded)):
            sections = [*_recent(kept), *_older(folded[:short], folded[short:], imported)]
            if len(_utf8(render(sections))) <= room:
                return sections
        if full == 0:
            break
    return []


def _steps_down(count: int) -> list[int]:
    """How many to try: all, then fewer and fewer, then none."""
    tries = [min(count, 60)]
    while tries[-1] > 0:
        tries.append(min(tries[-1] - 1, tries[-1] * 4 // 5))
    return tries


def _recent(kept: Sequence[Topic]) -> list[Section]:
    places: dict[str, dict[str, list[Topic]]] = {}
    for topic in kept:
        places.setdefault(place(topic.cwd), {}).setdefault(topic.day, []).append(topic)
    sections: list[Section] = []
    for where, days in places.items():
        sections.append(Section(3, where))
        for name in sorted(days, reverse=True):
            lines = [line for topic in days[name] for line in _lines(topic, learnings=True)]
            sections.append(Section(4, name, lines))
    return sections


def _older(short: Sequence[Topic], counted: Sequence[Topic], imported: Sequence[str]) -> list[Section]:
    if not short and not counted and not imported:
        return []
    places: dict[str, list[str]] = {}
    for topic in short:
        places.setdefault(place(topic.cwd), []).extend(_lines(topic, learnings=False))
    sections = [Section(3, "Older Memory Topics")]
    sections += [Section(4, where, lines) for where, lines in places.items()]
    if imported:
        shown = [f"- {one_line(path, 120)}" for path in imported[:3]]
        more = [f"-{_more(len(imported) - len(shown))} below extensions/"] if len(imported) > len(shown) else []
        sections.append(Section(4, "imported from other tools", shown + more))
    if counted:
        rest = Counter(place(topic.cwd) for topic in counted)
        top = sorted(rest.items(), key=lambda item: (-item[1], item[0]))[:3]
        named = ", ".join(f"{one_line(where, 60)} ({count})" for where, count in top)
        sections.append(Section(4, "everything else", [f"- {len(counted)} more topics, search MEMORY.md: {named}"]))
    return sections


def _lines(topic: Topic, *, learnings: bool) -> list[str]:
    newest = topic.rows[0]
    more = f" and {len(topic.rows) - 1} more" if len(topic.rows) > 1 else ""
    lines = [
        f"- {one_line(topic.name, 80)}: {keywords(topic.words, 5) or 'session'}",
        f"  - desc: {topic.outcome}, {topic.day}, {recap(newest)}{more}, session_id={one_line(newest.session.id, 60)}",
    ]
    learned = [*topic.learnings[:1], *([f"steps: {'; '.join(topic.steps[-2:])}"] if topic.steps else [])]
    if learnings and learned:
        lines.append(f"  - learnings: {one_line(learned[0], 160)}")
    return lines


def _source(rows: Sequence[Stored]) -> str:
    return f"; {recap(rows[0])}" if rows else ""


def _fitting(lines: Callable[[bool], Sequence[str]], limit: int, rest: str = "") -> list[str]:
    """As many lines as the share allows; a line too many ends them and the rest is counted.

    When not all fit, they do without their recaps: MEMORY.md names them, and more is told.
    """
    whole = lines(True)  # noqa: FBT003 - the only thing to choose
    shown = whole if _size(whole) <= limit else lines(False)  # noqa: FBT003
    kept: list[str] = []
    used = 0
    for number, line in enumerate(shown):
        used += _size([line])
        if used > limit:
            return [*kept, f"- {len(shown) - number} more {rest}"] if rest else kept
        kept.append(line)
    return kept


def _size(lines: Sequence[str]) -> int:
    return sum(len(_utf8(line)) + 1 for line in lines)


def _said_once(item: MergedPreference | MergedFailure) -> bool:
    return len({(source.host, source.session) for source in item.sources}) == 1


def _more(count: int) -> str:
    return f" and {count} more" if count > 0 else ""


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")
