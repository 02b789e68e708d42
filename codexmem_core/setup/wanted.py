"""What should be installed in a host: which events, which commands."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.values.setup import SHIM, SetupRequest

import codexmem_core
from codexmem_core.publishing import waits
from codexmem_core.setup.files import read_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from codexmem_hookspecs.hosts import Host
    from codexmem_hookspecs.values.capture import EventKind

    from codexmem_core.engine import Engine

PLACE = os.path.dirname(os.path.dirname(os.path.abspath(codexmem_core.__file__)))
"""Folder in which this codexmem lies."""
RUN_SHIM = f"import sys; sys.path.append(sys.argv.pop(1)); from {SHIM} import main; main()"
"""With ``-S``, for Python's ``site`` module costs every hook a third of the interpreter's start; so the first argument
says where the shim is."""
ALWAYS: tuple[EventKind, ...] = ("start", "stop", "idle", "compaction", "end", "deleted")
"""What the engine itself needs to know of: sessions begin, something was said, they end."""


def wanted_kinds(engine: Engine) -> dict[EventKind, float]:
    """Kinds of events, each with the longest time that a host must wait for its hook, in seconds."""
    kinds: dict[EventKind, float] = dict.fromkeys(ALWAYS, 0.0)
    if engine.config.flag("memories", "disable_on_external_context"):
        kinds["tool"] = 0.0
    for reactions in engine.stages.reactions().values():
        kinds |= {reaction.kind: 0.0 for reaction in reactions}
    asked: list[tuple[EventKind, float]] = [
        ("prompt" if moment == "prompt" else "start", seconds) for moment, seconds in engine.answers.moments().items()
    ]
    for kind, wait_s in (*waits(engine).items(), *asked):
        kinds[kind] = max(kinds.get(kind, 0.0), wait_s)
    return kinds


def setup_request(engine: Engine, host: Host, read: Callable[[str], bytes | None] = read_file) -> SetupRequest:
    """Everything that the host needs. Raises Refused where commands could not be written down."""
    python, home, config = sys.executable, engine.home.root, engine.config_path
    named = (
        ("the interpreter", python),
        ("codexmem's folder", PLACE),
        ("the home", home),
        ("the settings file", config),
    )
    for name, path in named:
        if not os.path.isabs(path) or not path.isprintable():
            raise Refused(f"{name} cannot stand in a host's command: {path!r}; choose a plain absolute path")
    return SetupRequest(
        environ=engine.environ,
        read=read,
        settings=engine.config.table(engine.stages.host_plugin(host.name, "codexmem_capture_host")),
        resolve=os.path.realpath,
        kinds=wanted_kinds(engine),
        hook=partial(hook_argv, python, host.name, home, config),
        mcp=mcp_argv(engine, host.name, python),
        python=python,
        home=home,
        config=config,
    )


def hook_argv(python: str, host: str, home: str, config: str, event: str) -> tuple[str, ...]:
    """What a hook runs: nothing but the shim, found without a search for it and for modules of the user's."""
    return python, "-I", "-S", "-c", RUN_SHIM, PLACE, host, event, home, config


def mcp_argv(engine: Engine, host: str, python: str) -> tuple[str, ...]:
    """What serves the tools to a host; nothing when no plugin serves them or the user does not want them."""
    command = engine.plugins.tool_server
    if not command or not engine.config.flag("memories", "dedicated_tools"):
        return ()
    options = ("--home", engine.home.root, "--config", engine.config_path)
    return python, "-I", "-m", "codexmem_core.cli", *options, command, host
