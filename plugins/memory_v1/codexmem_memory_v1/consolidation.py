"""Consolidation without a model: both files from the digest, with the user's own text kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from codexmem_memory_v1 import document, generated_lines
from codexmem_memory_v1.document import Section, Written
from codexmem_memory_v1.handbook import complete, handbook
from codexmem_memory_v1.summary import LIMIT_BYTES, summary

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Workspace
    from codexmem_hookspecs.values.consolidate import Digest, Stored

Build = Callable[[int], list[Section]]
"""A file's sections, given how many bytes the user's own text takes."""

TITLE_AND_LINE = 2


def offline(workspace: Workspace, stored: Sequence[Stored], digest: Digest) -> Mapping[str, str]:
    """The files that change, whole.

    The fingerprints come last, for they describe the others: after a crash in between, lines that are generated again
    are ours again.

    memory_summary.md stays within 10,000 bytes: what the user wrote into it counts first and is never cut, ours gets
    the rest.
    """
    before, others = generated_lines.decoded(workspace.read(generated_lines.PATH))
    files: dict[str, str] = {}
    after: dict[str, Written] = {}
    for path, build in (("MEMORY.md", _handbook(stored, digest)), ("memory_summary.md", _summary(stored, digest))):
        files[path], after[path] = _merged(workspace.read(path), before.get(path, Written()), build)
    files[generated_lines.PATH] = generated_lines.encoded(after, others)
    return {path: text for path, text in files.items() if not workspace.exists(path) or workspace.read(path) != text}


def _handbook(stored: Sequence[Stored], digest: Digest) -> Build:
    sections = handbook(stored, digest)
    if len(sections) == 1:
        sections = [Section(0, "", ["Nothing is remembered yet."])]
    return lambda _: sections


def _summary(stored: Sequence[Stored], digest: Digest) -> Build:
    return lambda used: summary(stored, digest, max(0, LIMIT_BYTES - used))


def _merged(current: str, before: Written, build: Build) -> tuple[str, Written]:
    """One file's new text, and what to remember of it."""
    if _placeholder(current):
        current = ""
    generated = build(0)
    own = document.users_own(current, before.lines | document.fingerprints(generated))
    if own:
        generated = build(document.size(own))
    removed = document.removed_by_user(current, before, generated)
    top, *rest = generated
    kept = document.without(rest, removed)
    kept = [top, *(kept if top.lines == ["v1"] else complete(kept))]
    text = document.render(document.merged(kept, own))
    return text, Written(document.fingerprints(kept), removed)


def _placeholder(current: str) -> bool:
    """Whether the file is a seeded one: at most a title and one line in italics."""
    lines = [line.strip() for line in current.split("\n") if line.strip()]
    plain = [line for line in lines if not line.startswith("# ")]
    return len(lines) <= TITLE_AND_LINE and all(line[:1] == line[-1:] and line[:1] in "_*" for line in plain)
