"""The import's extension: every project's memories byte for byte, each with its scope.json.

The layout is that of Codex's own importer, so that what one tool consolidates the other can read.
"""

from __future__ import annotations

import json
import os
from importlib.resources import files as package_files
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.values.interop import Mirror
from codexmem_hookspecs.values.records import Finding

from codexmem_claude_import.scope import SCOPE
from codexmem_claude_import.survey import survey

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from codexmem_hookspecs.services import Services, Workspace

    from codexmem_claude_import.projects import Source
    from codexmem_claude_import.survey import Survey, Wanted

EXTENSION = "external_agent_import"
"""As Codex calls it."""
FILE_BYTES = 1024 * 1024
"""Longest memory that is taken."""
PROJECT_BYTES = 32 * 1024 * 1024
SWITCH = "set enabled = true in [claude-import]"


def mirrors(workspace: Workspace, services: Services) -> Iterable[Mirror]:
    """The one extension; none when the import is off or Claude Code's home is not there. Raises OSError and Refused."""
    if not services.settings["enabled"]:
        return
    seen = survey(services)
    for told in (*seen.notices, seen.blocked, *(wanted.problem for wanted in seen.projects)):
        if told:
            services.log.info(told)
    if seen.blocked:
        return
    files: dict[str, bytes] = {}
    keep = _others(workspace, {wanted.key for wanted in seen.projects})
    for wanted in seen.projects:
        found = _files(wanted, workspace, services)
        if found is None:
            keep.append(wanted.key)
        else:
            files.update({f"{wanted.key}/{path}": content for path, content in found.items()})
    yield Mirror(extension=EXTENSION, instructions=instructions(), files=files, keep=tuple(keep))


def state(services: Services) -> Iterator[Finding]:
    """For ``doctor`` and ``status``."""
    if not services.settings["enabled"]:
        yield Finding(level="info", message="off: Claude Code's own memories are not imported", fix=SWITCH)
        return
    try:
        seen = survey(services)
    except (Refused, OSError) as error:
        yield Finding(level="warn", message=f"nothing is imported or removed: {error}", fix="make it readable")
        return
    if seen.blocked:
        yield Finding(level="info", message=seen.blocked)
        return
    yield Finding(level="ok", message=f"imports {_counted(seen) or 'nothing yet'} in {seen.home}")
    for notice in seen.notices:
        yield Finding(level="info", message=notice)
    for wanted in seen.projects:
        if wanted.problem:
            yield Finding(level="info", message=wanted.problem)


def offer(services: Services) -> str:
    """The question whether to begin; empty when Claude Code remembers nothing, or it is not known."""
    try:
        seen = survey(services)
    except (Refused, OSError):
        return ""
    counted = "" if seen.blocked else _counted(seen)
    return counted and f"Claude Code has memories of its own ({counted}). Import them, and follow them from now on?"


def _counted(seen: Survey) -> str:
    """Files and projects that are imported; empty when there are none."""
    about = [wanted for wanted in seen.projects if wanted.cwd and wanted.source is not None and wanted.source.files]
    count = sum(len(wanted.source.files) for wanted in about if wanted.source is not None)
    files = "1 file" if count == 1 else f"{count} files"
    return f"{files} of {'1 project' if len(about) == 1 else f'{len(about)} projects'}" if count else ""


def instructions() -> str:
    """For whoever consolidates."""
    return package_files(__package__).joinpath("instructions.md").read_text("utf-8")


def _files(wanted: Wanted, workspace: Workspace, services: Services) -> Mapping[str, bytes] | None:
    """What is kept of a project, by path; nothing to have it removed, None to leave what there is."""
    # A scope that was known once stays right: the key is the same, only its directory is away.
    cwd = wanted.cwd or _known_scope(workspace, wanted.key)
    if not cwd or (wanted.source is not None and not wanted.source.files):
        return {}
    if not services.learns_in(cwd):
        services.log.info("not imported: the project is not to be learned from", project=cwd)
        return {}
    if wanted.source is None:
        return None
    content, problem = _content(wanted.source)
    if problem:
        services.log.warning("not all memories of a project can be read", project=cwd, reason=problem)
    if content is None:
        return None
    scope = json.dumps({"cwd": cwd}, ensure_ascii=False, separators=(",", ":"))
    return {SCOPE: scope.encode("utf-8", "replace"), **content}


def _content(source: Source) -> tuple[Mapping[str, bytes] | None, str]:
    """The files' content, and what was left out of it; None when it is not known what they hold now."""
    content: dict[str, bytes] = {}
    left: list[str] = []
    for path in source.files:
        try:
            content[path] = source.read(path, FILE_BYTES)
        except FileNotFoundError:
            continue  # deleted since it was listed
        except Refused as error:
            left.append(str(error))
        except OSError as error:
            return None, f"{path}: {error.strerror or error}; what was imported stays"
        if sum(map(len, content.values())) > PROJECT_BYTES:
            return None, f"more than {PROJECT_BYTES} bytes; what was imported stays"
    return content, "; ".join(left)


def _known_scope(workspace: Workspace, key: str) -> str:
    """The directory that an earlier import wrote down."""
    try:
        scope = json.loads(workspace.read(f"extensions/{EXTENSION}/resources/{key}/{SCOPE}") or "{}")
    except (ValueError, Refused):
        return ""
    cwd = scope.get("cwd") if isinstance(scope, dict) else None
    return cwd if isinstance(cwd, str) and os.path.isabs(cwd) else ""


def _others(workspace: Workspace, ours: set[str]) -> list[str]:
    """What lies among the imports and is none: without a scope.json it came from somebody else, and stays."""
    base = f"extensions/{EXTENSION}/resources/"
    names = {path.removeprefix(base).split("/", 1)[0] for path in workspace.walk(base.rstrip("/"))}
    return sorted(name for name in names - ours if not workspace.exists(f"{base}{name}/{SCOPE}"))
