"""What lies in the extensions of a memory, for consolidation without a model: notes, and what other tools remember."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, NamedTuple

from codexmem_hookspecs.values.interop import OWN_TAGS

from codexmem_core.consolidate.layout import EXTENSIONS, INSTRUCTIONS
from codexmem_core.consolidate.resources import facts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from codexmem_hookspecs.services import Workspace
    from codexmem_hookspecs.values.consolidate import Imported

SCOPE = "scope.json"
"""Beside imported files: ``{"cwd": …}``, the working directory that they are about (Codex 0.171)."""

_TAG = re.compile(r"`(\[from [^\]`\n]{1,40}\])`")
_RESOURCE = re.compile(rf"{EXTENSIONS}/([^/]+)/resources/.+\.md", re.IGNORECASE)


class TakenIn(NamedTuple):
    """What the extensions hold."""

    notes: Mapping[str, str]
    """Every Markdown file but instructions, by path."""
    imported: tuple[Imported, ...]


NOTHING_TAKEN_IN = TakenIn({}, ())


def taken_in(workspace: Workspace, clean: Callable[[str], str]) -> TakenIn:
    """Read the extensions; ``clean`` takes out of a text what was forgotten."""
    paths = list(workspace.walk(EXTENSIONS))
    notes = {path: clean(workspace.read(path)) for path in paths if is_note(path)}
    scopes = {os.path.dirname(path): _cwd(workspace.read(path)) for path in paths if path.endswith(f"/{SCOPE}")}
    names: dict[str, set[str]] = {}
    for path in notes:
        names.setdefault(os.path.dirname(path), set()).add(os.path.basename(path))
    tags: dict[str, str] = {}
    found: dict[tuple[str, str], Imported] = {}
    for path, text in notes.items():
        resource = _RESOURCE.fullmatch(path)
        if resource is None:
            continue
        base = f"{EXTENSIONS}/{resource[1]}"
        if base not in tags:
            tags[base] = _tag(workspace.read(f"{base}/{INSTRUCTIONS}"))
        folder = os.path.dirname(path)
        for fact in facts_of(path, text, cwd=_scope_of(path, scopes), tag=tags[base], beside=names[folder]):
            found.setdefault((fact.cwd, " ".join(fact.text.casefold().split())), fact)
    return TakenIn(notes, tuple(found.values()))


def is_note(path: str) -> bool:
    """Whether a file below extensions/ is content, not the instructions how to read it."""
    return path.lower().endswith(".md") and not path.endswith(f"/{INSTRUCTIONS}")


def _scope_of(path: str, scopes: Mapping[str, str]) -> str:
    """The nearest scope at or above a file."""
    folder = os.path.dirname(path)
    while folder:
        if folder in scopes:
            return scopes[folder]
        folder = os.path.dirname(folder)
    return ""


def _cwd(text: str) -> str:
    try:
        scope = json.loads(text)
    except ValueError:
        return ""
    cwd = scope.get("cwd") if isinstance(scope, dict) else None
    return cwd if isinstance(cwd, str) and os.path.isabs(cwd) else ""


def _tag(instructions: str) -> str:
    """The first tag that the instructions name in backticks and that is not ours."""
    tags: Iterable[str] = _TAG.findall(instructions)
    return next((tag for tag in tags if tag not in OWN_TAGS), "")
