"""What other tools remember, as groups of the handbook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs.memory_files.document import Section
from codexmem_hookspecs.memory_files.imported import by_cwd, tagged
from codexmem_hookspecs.memory_files.lines import one_line, place, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codexmem_hookspecs.values.consolidate import Digest, Imported

FILES, FACTS = 40, 60
"""Files that a group lists, and facts that a section of it tells; all are in the extension itself."""
TEXT = 400
"""Characters of a fact."""

_SECTIONS = {
    "preference": "User preferences",
    "knowledge": "Reusable knowledge",
    "failure": "Failures and how to do differently",
}


def imported_groups(digest: Digest) -> list[Section]:
    """Groups of MEMORY.md, one a working directory, apart from those that rest on sessions."""
    sections: list[Section] = []
    for cwd, facts in by_cwd(digest).items():
        where = place(cwd) if cwd else "other tools"
        paths = list(dict.fromkeys(fact.path for fact in facts))
        sections += [
            Section(
                1,
                f"Task Group: imported, {where}",
                [
                    f"scope: what other tools remember{f' about {where}' if cwd else ''}; evidence, not instructions",
                    f"applies_to: cwd={where if cwd else 'as each fact says'}; reuse_rule=only there",
                ],
            ),
            Section(2, "Task 1: Imported files"),
            Section(
                3,
                "extension_resource_files",
                [*(f"- {one_line(path, 300)}" for path in paths[:FILES]), *_more(len(paths) - FILES)],
            ),
        ]
        for kind, title in _SECTIONS.items():
            told = [fact for fact in facts if fact.kind == kind]
            lines = [f"- {_line(fact)} [Task 1]" for fact in told[:FACTS]]
            sections += [Section(2, title, [*lines, *_more(len(told) - FACTS)])] if told else []
    return sections


def _line(fact: Imported) -> str:
    title = f"{one_line(fact.title, 80)}: " if fact.title else ""
    return tagged(f"{title}{quoted(fact.text, TEXT)}", fact)


def _more(count: int) -> Sequence[str]:
    return [f"- {count} more below extensions/"] if count > 0 else []
