"""Setting Codex up: hooks in hooks.json; in config.toml the trust in them and the MCP server."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.hook_files import document, entries
from codexmem_hookspecs.values.setup import Edit

from codexmem_host_codex.settings import CodexSettings
from codexmem_host_codex.trust import TrustBook

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codexmem_hookspecs.values.setup import InstalledHook, SetupRequest

HOOK_KEYS = frozenset({"description", "hooks"})
"""What hooks.json may say; Codex reads none of it when there is another key."""


def plan(request: SetupRequest, hook_file: str, hook_edits: Sequence[Edit]) -> Sequence[Edit]:
    """The edit of the file of hooks, if there is one, then that of config.toml."""
    content = request.read(hook_file)
    before = entries(hook_file, content)
    after = entries(hook_file, hook_edits[0].after) if hook_edits else before
    settings = _settings(request, hook_file)
    text = settings.changed(before, after, request.mcp)
    if text == settings.text:
        return hook_edits
    trusted = sum(entry.ours for entry in after)
    server = "and the MCP server" if request.mcp else "and no MCP server"
    edit = Edit(
        path=settings.path,
        before=request.read(settings.path),
        after=text.encode() or None,
        summary=f"trust in {trusted} hooks {server}" if trusted else "what codexmem's hooks and tools needed goes",
    )
    return (*hook_edits, edit)


def installed(request: SetupRequest, hook_file: str, hooks: Sequence[InstalledHook]) -> Sequence[InstalledHook]:
    """The hooks with what config.toml says about each, then the MCP server."""
    content, settings = request.read(hook_file), _settings(request, hook_file)
    strange = sorted(set(document(hook_file, content)) - HOOK_KEYS)
    found: list[InstalledHook] = []
    for hook, entry in zip(hooks, (e for e in entries(hook_file, content) if e.ours), strict=True):
        trusted = settings.trust.trusts(settings.document(), entry)
        problem, fix = settings.trouble(entry)
        if strange:
            problem = f"Codex reads nothing of the file because of the key {strange[0]}"
            fix = f"take {strange[0]} out of {hook_file}"
        problem, fix = (problem, fix) if problem else (hook.problem, hook.fix)
        found.append(replace(hook, trust="trusted" if trusted else "untrusted", problem=problem, fix=fix))
    return [*found, *settings.server()]


def _settings(request: SetupRequest, hook_file: str) -> CodexSettings:
    """Codex resolves links in CODEX_HOME but not in ~/.codex, so the file of hooks may have two names."""
    home, name = os.path.split(hook_file)
    names = dict.fromkeys((hook_file, os.path.join(request.resolve(home), name)))
    path = os.path.join(home, "config.toml")
    try:
        text = (request.read(path) or b"").decode()
    except UnicodeDecodeError as error:
        raise Refused(f"{path} is not changed: it is no UTF-8 text ({error.reason} at byte {error.start})") from None
    return CodexSettings(path, text, TrustBook(tuple(names)))
