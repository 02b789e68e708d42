"""What other tools remember: together by working directory, and as the lines that lead to it from a summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codexmem_hookspecs.memory_files.lines import one_line, place, size
from codexmem_hookspecs.values.consolidate import Digest, Imported

ROUTE = 140
"""Characters that are told of one."""
ROUTES_BYTES = 1_500
"""Bytes of a summary that may lead to imports."""
ELSEWHERE = "imported from other tools"
"""Heading of what is about no directory."""


def by_cwd(digest: Digest) -> Mapping[str, Sequence[Imported]]:
    """What is about one working directory together, in the order of their names; what names none comes last."""
    found: dict[str, list[Imported]] = {}
    for fact in sorted(digest.imported, key=lambda fact: (not fact.cwd, fact.cwd)):
        found.setdefault(fact.cwd, []).append(fact)
    return found


def tagged(text: str, fact: Imported) -> str:
    """A line made of it, with its tag."""
    return f"{text} {fact.tag}" if fact.tag else text


def routes(digest: Digest) -> dict[str, list[str]]:
    """Lines by heading, no more than their share of a summary; what does not fit is counted."""
    found: dict[str, list[str]] = {}
    used = told = 0
    for cwd, facts in by_cwd(digest).items():
        lines = [f"- {_route(fact)}" for fact in facts]
        shown = []
        for line in lines:
            used += size(line) + 1
            if used > ROUTES_BYTES:
                break
            shown.append(line)
        told += len(shown)
        if shown:
            found[place(cwd) if cwd else ELSEWHERE] = shown
    left = len(digest.imported) - told
    if left:
        found.setdefault(ELSEWHERE, []).append(f"- {left} more below extensions/")
    return found


def _route(fact: Imported) -> str:
    title = f"{one_line(fact.title, 60)}: " if fact.title else ""
    return tagged(f"{title}{one_line(fact.summary or fact.text, ROUTE)} ({one_line(fact.path, 200)})", fact)
