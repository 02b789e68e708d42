"""Writing a memory's files anew without a model, with what a person wrote into them kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_hookspecs.memory_files import document, generated_lines
from codexmem_hookspecs.memory_files.document import Section, Written

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Workspace

TITLE_AND_LINE = 2


def _as_they_are(sections: list[Section]) -> list[Section]:
    return sections


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """One file of the memory, and how it is made."""

    path: str
    build: Callable[[int], list[Section]]
    """Its sections, the first one what stands before any heading, given how many bytes the user's own text takes."""
    complete: Callable[[list[Section]], list[Section]] = _as_they_are
    """What is left of the sections behind the first when lines that the user removed are gone."""


def rewritten(workspace: Workspace, files: Iterable[File]) -> Mapping[str, str]:
    """The files that change, whole.

    The fingerprints come last, for they describe the others: after a crash in between, lines that are generated again
    are ours again.
    """
    before, others = generated_lines.decoded(workspace.read(generated_lines.PATH))
    texts: dict[str, str] = {}
    after: dict[str, Written] = {}
    for file in files:
        texts[file.path], after[file.path] = _merged(workspace.read(file.path), before.get(file.path, Written()), file)
    texts[generated_lines.PATH] = generated_lines.encoded(after, others)
    return {path: text for path, text in texts.items() if not workspace.exists(path) or workspace.read(path) != text}


def _merged(current: str, before: Written, file: File) -> tuple[str, Written]:
    """One file's new text, and what to remember of it."""
    if is_placeholder(current):
        current = ""
    generated = file.build(0)
    own = document.users_own(current, before.lines | document.fingerprints(generated))
    if own:
        generated = file.build(document.size(own))
    removed = document.removed_by_user(current, before, generated)
    top, *rest = generated
    kept = [top, *file.complete(document.without(rest, removed))]
    text = document.render(document.merged(kept, own))
    return text, Written(document.fingerprints(kept), removed)


def is_placeholder(current: str) -> bool:
    """Whether the file is a seeded one: at most a title and one line in italics."""
    lines = [line.strip() for line in current.split("\n") if line.strip()]
    plain = [line for line in lines if not line.startswith("# ")]
    return len(lines) <= TITLE_AND_LINE and all(line[:1] == line[-1:] and line[:1] in "_*" for line in plain)
