"""One host's set-up, from the plan to the files."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused

from codexmem_core.plugins.calls import PluginError
from codexmem_core.setup.files import ChangedMeanwhileError, read_file, write_file
from codexmem_core.setup.wanted import setup_request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codexmem_hookspecs.values.setup import Edit

    from codexmem_core.engine import Engine

SET_UP = "setup "
"""Marks in the catalogue, followed by a host: when it was set up, UNIX milliseconds."""


def set_up_hosts(engine: Engine) -> list[str]:
    """Active hosts that were set up and not taken out again."""
    return [name for name in engine.catalogue.marks(SET_UP) if name in engine.hosts]


def planned(engine: Engine, host: str, *, out: bool = False) -> Sequence[Edit]:
    """What would change in the host's files; ``out`` takes everything of ours out of them.

    Raises Refused for a file that is not changed, PluginError where the host's plugin fails, and UnknownNameError.
    """
    chosen = engine.host(host)
    request = setup_request(engine, chosen)
    try:
        return chosen.plan(replace(request, kinds={}, mcp=()) if out else request)
    except Refused:
        raise
    except Exception as error:
        raise PluginError(host, "plan", error) from error


def write(engine: Engine, host: str, edits: Sequence[Edit], *, out: bool = False) -> dict[str, str]:
    """Make the edits, all or none; returns each file with where its old content is kept.

    Raises ChangedMeanwhileError when a file is not any more what was planned for, OSError and Refused when one cannot
    be written.
    """
    for edit in edits:
        if read_file(edit.path) != edit.before:
            raise ChangedMeanwhileError(f"{edit.path} has changed since it was shown")
    engine.make_home()
    now_ms = engine.clock.now_ms()
    folder = os.path.join(engine.home.backups, "hosts", host)
    kept: dict[str, str] = {}
    try:
        for edit in edits:
            kept[edit.path] = write_file(edit, folder, now_ms)
    except BaseException:
        for edit in edits:
            if edit.path in kept:
                with suppress(OSError, Refused, ChangedMeanwhileError):
                    write_file(replace(edit, before=edit.after, after=edit.before), folder, now_ms)
        raise
    engine.catalogue.set_mark(SET_UP + host, "" if out else str(now_ms))
    return kept
