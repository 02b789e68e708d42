"""Setting OpenCode up: our plugin file, and the MCP server's entry in its configuration (OpenCode 1.18).

One file serves both generations: each calls its own function of what the file exports.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from importlib import resources
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.json_text import NotJson, parsed, with_value, without
from codexmem_hookspecs.session_files import home_in
from codexmem_hookspecs.values.setup import MCP_EVENT, MCP_NAME, SHIM, Edit, InstalledHook

from codexmem_host_opencode.host import CALLS_VARIABLE, FOLDER, OpenCodeHost
from codexmem_host_opencode.marks import OWN_TITLE
from codexmem_host_opencode.seen import SEEN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codexmem_hookspecs.values.capture import EventKind
    from codexmem_hookspecs.values.setup import SetupRequest

PLUGIN = "plugin/codexmem.js"
"""Below OpenCode's configuration; OpenCode loads what lies there without being told, and without a registry."""
SOURCES = ("telling", "citations", "sessions", "opencode1", "tools", "answering", "opencode2")
"""Files of ``plugin_file`` of which the plugin file is made, in this order: OpenCode takes each file for a plugin."""
CONFIGURATIONS = ("opencode.json", "opencode.jsonc", "config.json")
"""Below the same; OpenCode reads all of them."""
SERVERS = "mcp"
EMPTY = "{}\n"
ALWAYS: frozenset[EventKind] = frozenset({"start", "cited", "idle", "deleted", "end"})
"""What the plugin file always tells, for without it nothing would be remembered or forgotten."""
SETUP = re.compile(rb"^const SETUP = (\{.*\})$", re.MULTILINE)
OWN_FOLDER = os.path.join("plugins", "host-opencode")
"""The plugin's own, below codexmem's home."""
CALLS = "calls"
"""Folder below that: where the plugin file says which sessions wait for the MCP server."""


def plan(request: SetupRequest) -> Sequence[Edit]:
    """The edits. Raises Refused."""
    return (*_plugin_edits(request), *_server_edits(request))


def installed(request: SetupRequest) -> Sequence[InstalledHook]:
    """Each event that the plugin file tells, then the MCP server."""
    return (*_hooks(request), *_server(request))


# The plugin file


def _plugin_edits(request: SetupRequest) -> Sequence[Edit]:
    path = _path(request, PLUGIN)
    before = request.read(path)
    if before is not None and not _is_ours(before):
        raise Refused(f"{path} is not changed: it is not codexmem's plugin; move it away")
    after = rendered(request) if request.kinds else None
    if before == after:
        return ()
    summary = "codexmem's plugin" if after is not None else "no plugin of codexmem"
    return (Edit(path=path, before=before, after=after, summary=summary),)


def rendered(request: SetupRequest) -> bytes:
    """The plugin file with everything that it must know."""
    kinds = dict.fromkeys(ALWAYS, 0.0) | dict(request.kinds)
    events = [event for event, kind in _events().items() if kind in kinds]
    waits = {event: kinds[_events()[event]] for event in events if kinds[_events()[event]]}
    known = {
        "hooks": {event: list(request.hook(event)) for event in events},
        "wait_s": waits,
        "ready": os.path.join(request.home, "read", f"{OpenCodeHost.name}-session.start-startup"),
        "seen": os.path.join(request.home, OWN_FOLDER, SEEN),
        "calls": _calls(request),
        "helpers": OWN_TITLE,
        "mcp": list(request.mcp),
    }
    folder = resources.files("codexmem_host_opencode").joinpath("plugin_file")
    source = b"\n".join(folder.joinpath(f"{name}.js").read_bytes() for name in SOURCES)
    return SETUP.sub(lambda _: b"const SETUP = " + json.dumps(known).encode(), source, count=1)


def _calls(request: SetupRequest) -> str:
    return os.path.join(request.home, OWN_FOLDER, CALLS)


def _events() -> Mapping[str, EventKind]:
    """Names that hooks are installed under: an event, or each of its moments."""
    return {
        name: kind
        for event, kind in OpenCodeHost.kinds.items()
        for name in [one for one in OpenCodeHost.answers if one.partition("-")[0] == event] or [event]
    }


def _hooks(request: SetupRequest) -> Sequence[InstalledHook]:
    path = _path(request, PLUGIN)
    content = request.read(path)
    if content is None or not _is_ours(content):
        return ()
    hooks = _setup(content).get("hooks")
    commands = hooks if isinstance(hooks, dict) else {}
    return [
        InstalledHook(event=event, path=path, command=shlex.join(map(str, argv)))
        for event, argv in commands.items()
        if isinstance(argv, list)
    ]


def _is_ours(content: bytes) -> bool:
    """Whether some version of us wrote the plugin file."""
    return SHIM in json.dumps(_setup(content))


def _setup(content: bytes) -> Mapping[str, object]:
    found = SETUP.search(content)
    try:
        value = json.loads(found[1]) if found else None
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


# The MCP server


def _server_edits(request: SetupRequest) -> Sequence[Edit]:
    path, text = _configuration(request)
    servers = _servers(path, text)
    entry = servers.get(MCP_NAME)
    if entry is not None and not _runs_us(entry):
        raise Refused(f"{path} has an MCP server called {MCP_NAME} that is another program: rename it there")
    before = request.read(path)
    if request.mcp:
        wanted = _entry(request, entry)
        if isinstance(entry, dict) and (there := {"enabled": True, **entry}) | wanted == there:
            return ()
        try:
            after = with_value(text, (SERVERS, MCP_NAME), wanted, comments=True)
        except NotJson as problem:
            raise Refused(f"{path} is not changed: {problem}") from None
        return (Edit(path=path, before=before, after=after.encode(), summary="the MCP server"),)
    if entry is None:
        return ()
    after = without(text, (SERVERS, MCP_NAME) if len(servers) > 1 else (SERVERS,), comments=True)
    left = None if after.strip() == EMPTY.strip() else after.encode()
    return (Edit(path=path, before=before, after=left, summary="no MCP server of codexmem"),)


def _entry(request: SetupRequest, before: object) -> dict[str, object]:
    """The server's entry; variables that the user added to it stay."""
    kept = before.get("environment") if isinstance(before, dict) else None
    environment = {**(kept if isinstance(kept, dict) else {}), CALLS_VARIABLE: _calls(request)}
    return {"type": "local", "command": list(request.mcp), "environment": environment, "enabled": True}


def _server(request: SetupRequest) -> Sequence[InstalledHook]:
    path, text = _configuration(request)
    entry = _servers(path, text).get(MCP_NAME)
    if not _runs_us(entry):
        return ()
    assert isinstance(entry, dict)
    command = shlex.join(map(str, entry["command"]))
    off = entry.get("enabled") is False
    problem, fix = ("OpenCode is told not to start it", f"set enabled to true in {path}") if off else ("", "")
    return (InstalledHook(event=MCP_EVENT, path=path, command=command, problem=problem, fix=fix),)


def _configuration(request: SetupRequest) -> tuple[str, str]:
    """The file that has or shall have our entry, and its text. Raises Refused."""
    texts: dict[str, str] = {}
    for name in CONFIGURATIONS:
        path = _path(request, name)
        content = request.read(path)
        if content is not None:
            texts[path] = _text(path, content)
    holding = [path for path, text in texts.items() if MCP_NAME in _servers(path, text)]
    path = (holding or list(texts) or [_path(request, CONFIGURATIONS[0])])[0]
    return path, texts.get(path, EMPTY)


def _text(path: str, content: bytes) -> str:
    try:
        return content.decode() if content.strip() else EMPTY
    except UnicodeDecodeError as error:
        raise Refused(f"{path} is not changed: it is no UTF-8 text ({error.reason} at byte {error.start})") from None


def _servers(path: str, text: str) -> Mapping[str, object]:
    try:
        said = parsed(text, comments=True).value
    except NotJson as error:
        raise Refused(f"{path} is not changed: it is no JSON with comments ({error})") from None
    servers = said.get(SERVERS, {}) if isinstance(said, dict) else None
    if not isinstance(servers, dict):
        raise Refused(f"{path} is not changed: {SERVERS if isinstance(said, dict) else 'it'} is no object")
    return servers


def _runs_us(entry: object) -> bool:
    """Whether a server is codexmem, of whatever version and place."""
    command = entry.get("command") if isinstance(entry, dict) else None
    return isinstance(command, list) and any("codexmem_core" in str(word) for word in command)


def _path(request: SetupRequest, name: str) -> str:
    for configuration in home_in(request.environ, "XDG_CONFIG_HOME", ".config"):
        return os.path.join(configuration, FOLDER, name)
    raise Refused("OpenCode's configuration has no place: neither XDG_CONFIG_HOME nor HOME is an absolute folder")
