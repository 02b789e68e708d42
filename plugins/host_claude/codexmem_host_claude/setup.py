"""Setting Claude Code up: hooks and a rule in settings.json, the MCP server among the user's own in .claude.json."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.hook_files import document, text_of_file, written
from codexmem_hookspecs.json_text import with_value, without
from codexmem_hookspecs.values.setup import MCP_EVENT, MCP_NAME, Edit, InstalledHook

from codexmem_host_claude.permission import with_rule

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codexmem_hookspecs.values.setup import SetupRequest

SERVERS = "mcpServers"
SWITCH = "disableAllHooks"


def servers_file(request: SetupRequest, home: str, *, moved: bool) -> str:
    """Where Claude Code 2.1 keeps the user's servers: beside ~/.claude, or in a home that was moved.

    An older file in the home goes first where there is one.
    """
    older = os.path.join(home, ".config.json")
    if request.read(older) is not None:
        return older
    return os.path.join(home if moved else os.path.dirname(home), ".claude.json")


def plan(request: SetupRequest, path: str) -> Sequence[Edit]:
    """The edit of the file of servers. Raises Refused."""
    before = request.read(path)
    said = document(path, before)
    servers = said.get(SERVERS, {})
    if not isinstance(servers, dict):
        raise Refused(f"{path} is not changed: {SERVERS} is no object")
    entry = servers.get(MCP_NAME)
    if entry is not None and not ours(entry):
        raise Refused(f"{path} has an MCP server called {MCP_NAME} that is another program: rename it there")
    text = text_of_file(path, before)
    if request.mcp:
        if entry is not None and argv_of(entry) == list(request.mcp):
            return ()
        wanted = {"type": "stdio", "command": request.mcp[0], "args": list(request.mcp[1:]), "env": {}}
        after = written(with_value(text, (SERVERS, MCP_NAME), wanted))
        return (Edit(path=path, before=before, after=after, summary="the MCP server"),)
    if entry is None:
        return ()
    after = written(without(text, (SERVERS, MCP_NAME) if len(servers) > 1 else (SERVERS,)))
    return (Edit(path=path, before=before, after=after, summary="codexmem's MCP server goes"),)


def with_permission(request: SetupRequest, path: str, edits: Sequence[Edit]) -> Sequence[Edit]:
    """The edits of the settings, which also allow our tools where the server is wanted. Raises Refused."""
    before = request.read(path)
    hooked = edits[0].after if edits else before
    after = with_rule(path, hooked, wanted=bool(request.mcp))
    if after == hooked:
        return edits
    rule = "the tools allowed" if request.mcp else "the tools not allowed any more"
    summary = ", ".join([*(edit.summary for edit in edits), rule])
    return (Edit(path=path, before=before, after=after, summary=summary),)


def installed(request: SetupRequest, path: str) -> Sequence[InstalledHook]:
    """The entry of our MCP server, if there is one."""
    servers = document(path, request.read(path)).get(SERVERS, {})
    entry = servers.get(MCP_NAME) if isinstance(servers, dict) else None
    if not ours(entry):
        return ()
    return (InstalledHook(event=MCP_EVENT, path=path, command=shlex.join(argv_of(entry))),)


def with_switch(hooks: Sequence[InstalledHook], settings: Mapping[str, object]) -> Sequence[InstalledHook]:
    """The hooks, which do nothing where the user switched all of them off."""
    if settings.get(SWITCH) is not True:
        return hooks
    return [
        replace(hook, problem="all hooks of Claude Code are switched off", fix=f"take {SWITCH} out of {hook.path}")
        for hook in hooks
    ]


def ours(entry: object) -> bool:
    """Whether a server is codexmem, of whatever version and place."""
    return any("codexmem_core" in argument for argument in argv_of(entry))


def argv_of(entry: object) -> list[str]:
    """Program and arguments of a server."""
    if not isinstance(entry, dict):
        return []
    arguments = entry.get("args", [])
    return [str(entry.get("command", "")), *map(str, arguments if isinstance(arguments, list) else ())]
