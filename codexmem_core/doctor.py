"""The engine's own checks, and those that plugins register. Every problem comes with what to do about it."""

from __future__ import annotations

import glob
import importlib.metadata
import os
import shlex
import sqlite3
import sys
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Literal

from codexmem_hookspecs.values.records import Finding

from codexmem_core import __version__
from codexmem_core.consolidate.workspace import MemoryWorkspace
from codexmem_core.host.findings import hook_notices, worker_findings
from codexmem_core.host.spool import BAD
from codexmem_core.plugins.checks import plugins_say
from codexmem_core.safety.redaction import find_secrets
from codexmem_core.safety.text import shown_time
from codexmem_core.setup.findings import host_findings
from codexmem_core.status import open_breakers
from codexmem_core.store.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codexmem_core.engine import Engine

OLDEST_PYTHON = (3, 11)
SECRETS_SHOWN = 50
MONTH_MS = 30 * 86_400_000


def examine(engine: Engine, *, fix: bool = False) -> Iterator[tuple[str, Finding]]:
    """(check, finding) of every check; with ``fix`` plugins' repairs run first and tell what they did."""
    for name, check in (
        ("interpreter", _interpreter),
        ("installation", _installation),
        ("plugins", _plugins),
        ("settings", _settings),
        ("projects", _projects),
        ("home", _home),
        ("databases", _databases),
        ("memories", _memories),
        ("sessions", _sessions),
        ("secrets", _secrets),
        ("events", _events),
        ("worker", _worker),
        ("hooks", host_findings),
        ("models", partial(_stopped, fix=fix)),
    ):
        try:
            for finding in check(engine):
                yield name, finding
        except Exception as error:  # noqa: BLE001 - what a check meets is its finding, and the others still run
            yield name, Finding(level="fail", message=f"the check stopped: {error}")
    yield from plugins_say(engine.plugins.hooks, engine.services_for, fix=fix)


def _interpreter(_engine: Engine) -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < OLDEST_PYTHON:
        yield Finding(level="fail", message=f"Python {version} at {sys.executable}", fix="use Python 3.11 or newer")
    else:
        yield Finding(level="ok", message=f"Python {version} at {sys.executable}")
    with sqlite3.connect(":memory:") as database:
        options = {row[0] for row in database.execute("PRAGMA compile_options")}
    database.close()
    if "ENABLE_FTS5" not in options:
        yield Finding(level="warn", message=f"SQLite {sqlite3.sqlite_version} has no FTS5: ranked search will not work")


def _installation(_engine: Engine) -> Iterator[Finding]:
    """Another author's package has the same name in the public index."""
    try:
        distribution = importlib.metadata.distribution("codexmem")
    except importlib.metadata.PackageNotFoundError:
        yield Finding(level="warn", message="codexmem runs from a folder and is not installed")
        return
    ours = any(script.value == "codexmem_core.cli:main" for script in distribution.entry_points)
    if ours and distribution.version == __version__:
        yield Finding(level="ok", message=f"codexmem {__version__}")
    elif ours:
        yield Finding(
            level="warn",
            message=f"the installed codexmem says {distribution.version}, the running one is {__version__}",
            fix="install again, all distributions in one command",
        )
    else:
        yield Finding(
            level="fail",
            message=f"the installed distribution codexmem {distribution.version} is another author's",
            fix="pip uninstall codexmem, then install this project's own wheels or checkout",
        )


def _plugins(engine: Engine) -> Iterator[Finding]:
    for info in engine.plugins.infos:
        if info.state == "refused":
            yield Finding(
                level="fail",
                message=f"{info.name} ({info.distribution} {info.version}) is refused: {info.reason}",
                fix=f"update or uninstall {info.distribution}, or disable {info.name} in [plugins]",
            )
        elif info.version not in ("", __version__) and info.distribution.startswith("codexmem-"):
            yield Finding(level="info", message=f"{info.distribution} is {info.version}, the engine is {__version__}")
    if not engine.memories:
        alone = any(engine.stages.reactions().values())  # OpenViking, say, needs none
        level: Literal["info", "fail"] = "info" if alone else "fail"
        yield Finding(level=level, message="no memory is installed", fix="install an extra, v1 or v2")
    if not engine.hosts:
        yield Finding(level="fail", message="no host is installed", fix="install an extra such as codex or claude")
    if engine.memories and engine.hosts:
        memories = ", ".join(memory.name for memory in engine.memories.values())
        yield Finding(level="ok", message=f"memories {memories}; hosts {', '.join(engine.hosts)}")


def _settings(engine: Engine) -> Iterator[Finding]:
    for warning in engine.setting_warnings:
        yield Finding(level="warn", message=warning, fix=f"edit {engine.config.path}")
    if not engine.setting_warnings:
        where = (
            engine.config.path if os.path.exists(engine.config.path) else f"defaults ({engine.config.path} is absent)"
        )
        yield Finding(level="ok", message=where)
    try:
        name, lacks = engine.model.backend.name, engine.model_choice.lacks
        if lacks:
            yield Finding(
                level="fail", message=lacks, fix="set it where the agents start, or choose another [models] backend"
            )
        else:
            yield Finding(level="ok", message=f"model backend {name}")
    except Exception as error:  # noqa: BLE001 - an unknown name
        yield Finding(level="fail", message=str(error), fix='set [models] backend = "extractive" or install it')


def _stopped(engine: Engine, *, fix: bool) -> Iterator[Finding]:
    """What refusals have stopped. Of refused credentials only the user can know that the same ones are good again."""
    found = open_breakers(engine)
    for tripped in found:
        if tripped.until_ms:
            until = shown_time(tripped.until_ms)
            yield Finding(level="info", message=f"{tripped.scope} is stopped until {until}: {tripped.reason}")
        elif fix:
            engine.catalogue.reset_breaker(tripped.scope)
            yield Finding(level="ok", message=f"{tripped.scope} is asked again")
        else:
            yield Finding(
                level="warn",
                message=f"{tripped.scope} is stopped until its credentials change: {tripped.reason}",
                fix="change them, or codexmem doctor --fix when the same are good again",
            )
    if not found:
        yield Finding(level="ok", message="nothing is stopped")


def _projects(engine: Engine) -> Iterator[Finding]:
    """What projects' own files say, of those in which sessions are known."""
    folders = sorted({known.session.cwd for known in engine.catalogue.candidates()})
    reasons = Counter(rules.reason for rules in map(engine.projects.rules, folders) if rules.reason)
    for reason, count in sorted(reasons.items()):
        yield Finding(level="info", message=f"{reason} holds in {count} folder{'s' if count > 1 else ''} with sessions")
    for warning in engine.projects.warnings:
        yield Finding(level="warn", message=warning, fix=f"edit {warning.partition(': ')[0]}")
    if not (reasons or engine.projects.warnings):
        yield Finding(level="ok", message="none keeps its sessions apart")


def _home(engine: Engine) -> Iterator[Finding]:
    root = engine.home.root
    try:
        engine.make_home()
        probe = os.path.join(root, ".doctor")
        with open(probe, "wb") as file:
            file.write(b"x" * 4096)
        os.unlink(probe)
    except (OSError, StoreError) as error:
        yield Finding(
            level="fail",
            message=f"{root} cannot be written: {error}",
            fix="free space, mend permissions, or set --home",
        )
        return
    mode = os.stat(root).st_mode & 0o077
    if mode:
        yield Finding(level="warn", message=f"others may enter {root}", fix=f"chmod 700 {root}")
    else:
        yield Finding(level="ok", message=root)


def _databases(engine: Engine) -> Iterator[Finding]:
    try:
        known = engine.catalogue.candidates()
        yield Finding(level="ok", message=f"{engine.home.catalogue}: {len(known)} sessions")
    except StoreError as error:
        yield Finding(level="fail", message=str(error))
    for plugin in engine.memories:
        try:
            with engine.jobs(plugin) as jobs:
                notes = jobs.extraction_snapshot().outputs
            yield Finding(level="ok", message=f"{engine.home.below(engine.memories[plugin].database)}: {notes} notes")
        except StoreError as error:
            yield Finding(level="fail", message=str(error))
    for path in sorted(glob.glob(f"{glob.escape(engine.home.root)}/*.db.corrupt-*")):
        if not path.endswith(("-wal", "-shm")):
            yield Finding(
                level="warn",
                message=f"{path} was damaged and set aside; what could be read of it was carried over",
                fix=f"codexmem run --all, which takes sessions in again; then rm {path}*",
            )
    for notice in engine.notices:
        yield Finding(level="warn", message=notice)


def _memories(engine: Engine) -> Iterator[Finding]:
    for plugin, memory in engine.memories.items():
        root = engine.memory_root(plugin)
        if os.path.islink(root):
            yield Finding(level="fail", message=f"{root} is a link; nothing is read or written there", fix=f"rm {root}")
            continue
        workspace = MemoryWorkspace(memory, root)
        if not workspace.exists(memory.summary):
            yield Finding(level="info", message=f"{memory.name} has no summary yet", fix="codexmem run")
            continue
        problems = engine.stages.consolidate_check(plugin, workspace)
        for problem in problems:
            place = os.path.join(root, problem.path)
            yield Finding(
                level="fail",
                message=f"{place}: {problem.message}",
                fix="codexmem run mends it, unless it is your own text",
            )
        if not problems:
            yield Finding(level="ok", message=f"{memory.name}: {root}")


def _sessions(engine: Engine) -> Iterator[Finding]:
    """Sessions of the last month that were given a memory which is gone: they go on without any."""
    names = {memory.name for memory in engine.memories.values()}
    for name, count in engine.catalogue.frozen(engine.clock.now_ms() - MONTH_MS).items():
        if name not in names:
            yield Finding(
                level="warn",
                message=f"{count} sessions read memory {name}, which is not installed: they are given none",
                fix=f"install it again (the extra {name}), or go on in new sessions",
            )


def _secrets(engine: Engine) -> Iterator[Finding]:
    """Secrets that stand in memory files: written before a rule knew them, or by hand. The value is never shown."""
    for plugin, memory in engine.memories.items():
        root = engine.memory_root(plugin)
        if os.path.islink(root):
            continue  # said above
        count = 0
        for path in (workspace := MemoryWorkspace(memory, root)).walk():
            for secret in find_secrets(workspace.read(path)):
                count += 1
                if count <= SECRETS_SHOWN:
                    place = f"{os.path.join(root, path)}:{secret.line}"
                    yield Finding(level="fail", message=f"{place}: {secret.kind}", fix="take it out and change it")
        if count > SECRETS_SHOWN:
            yield Finding(level="fail", message=f"{memory.name}: {count - SECRETS_SHOWN} more secrets in {root}")
        elif not count:
            yield Finding(level="ok", message=f"{memory.name}: none in {root}")


def _events(engine: Engine) -> Iterator[Finding]:
    bad = os.path.join(engine.home.spool, BAD)
    names = sorted(os.listdir(bad)) if os.path.isdir(bad) else []
    for path in (os.path.join(bad, name) for name in names):
        fix = f"look into it, then rm {shlex.quote(path)}"
        yield Finding(level="warn", message=f"{path} is no event that a host understands", fix=fix)
    for count in engine.deliveries.counts():
        if count.state != "done" and count.error:
            yield Finding(level="warn", message=f"{count.count} events wait for {count.plugin}: {count.error}")


def _worker(engine: Engine) -> Iterator[Finding]:
    now_ms = engine.clock.now_ms()
    return worker_findings(engine.home, engine.spool, hook_notices(engine.catalogue, now_ms), now_ms)
