"""What ``codexmem doctor`` says about OpenViking: files, address, key, server, a second client on the same machine."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.values.records import DoctorCheck, Finding

from codexmem_ov_commit import queue, report
from codexmem_ov_commit.pending import FOLDER_FIX, StateFolderError, assert_writable, waiting
from codexmem_ov_commit.place import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codexmem_hookspecs.services import Services

    from codexmem_ov_commit.server import Answer
    from codexmem_ov_commit.settings import Settings

UNAUTHENTICATED: Final = 401
DENIED: Final = 403
MANY_WAITING: Final = 10
_SHOWN_UNITS: Final = 4
_LEAST_SHOWN: Final = 8
_READY: Final = frozenset({"ok", "not_configured"})
_KEY_FIX: Final = "set OPENVIKING_API_KEY, or api_key in ovcli.conf, to a user's key of this server"
_ORIGINAL: Final = "openviking-memory"
_PLACES: Final = (
    ("CODEX_HOME", ".codex", ("config.toml", "hooks.json"), "codex plugin remove openviking-memory"),
    ("CLAUDE_CONFIG_DIR", ".claude", ("settings.json",), "claude plugin uninstall openviking-memory"),
)
"""Where hosts note plugins down: variable, folder below the user's home, files, and how the plugin is removed."""


def configuration(services: Services) -> Iterator[Finding]:
    """Files and the address, without asking anybody."""
    place = Place.of(services, "codex")
    settings, connection = place.settings, place.settings.connection
    for broken in settings.broken:
        yield Finding(level="warn", message=f"{broken}; it counts as absent", fix="mend it: it must hold a JSON object")
    key = f"key {masked(connection.api_key)}" if connection.api_key else "no key"
    yield Finding(level="ok", message=f"{connection.url} (named by: {connection.origin or 'default'}), {key}")
    named = f"mend it where it was named: {connection.origin or 'default'}"
    for fault in faults_of(connection.url):
        yield Finding(level="warn", message=f"{connection.url}: {fault}", fix=named)
    yield from _original(services)


def connection(services: Services) -> Iterator[Finding]:
    """Whether the server answers, and whether it lets us read."""
    place = Place.of(services, "codex")
    alive = place.reach.probe()
    if not alive.ok:
        yield _absent(place.settings, alive)
        return
    version = alive.text("version") or "of an unknown version"
    yield Finding(level="ok", message=f"server {version} answers at {place.server.url}")
    status = place.server.get("/api/v1/system/status")
    if status.ok:
        yield Finding(level="ok", message=f"it knows us as {status.text('user') or 'nobody in particular'}")
    elif status.status == DENIED:
        yield Finding(level="fail", message=f"the key may not read a user's data: {status.error}", fix=_KEY_FIX)
    elif status.status == UNAUTHENTICATED:
        yield Finding(level="fail", message=f"the server does not know the key: {status.error}", fix=_KEY_FIX)
    else:
        yield Finding(level="warn", message=f"it does not say who we are: {status.error}")
    yield from _readiness(place)


def sessions(services: Services) -> Iterator[Finding]:
    """What is not wholly committed."""
    try:
        found = list(waiting(services))
        assert_writable(services)
    except StateFolderError as error:
        yield Finding(level="fail", message=error.what, fix=FOLDER_FIX)
        return
    ended = sum(bool(one.ended_at_ms) for one in found)
    if found:
        yield Finding(
            level="warn" if ended > MANY_WAITING else "info",
            message=f"sessions that wait for a commit: {len(found)}, ended of them: {ended}",
            fix="codexmem ov commit" if ended else "",
        )
    else:
        yield Finding(level="ok", message="no session waits for a commit")
    folder = Place.of(services, "codex").settings.path("pending_dir")
    if queued := sum(1 for _ in queue.entries(services.open_folder(folder))):
        yield Finding(level="info", message=f"{queued} writes of other clients wait in {folder}")


def masked(key: str) -> str:
    """Enough of a key to know it again, and never all of it."""
    if len(key) <= _LEAST_SHOWN:
        return "****"
    return f"{key[:_SHOWN_UNITS]}…{key[-_SHOWN_UNITS:]}"


def faults_of(url: str) -> Iterator[str]:
    """What is unusual in a server's address."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        yield "it is no address"
        return
    if parts.scheme not in ("http", "https") or not host:
        yield "it must begin with http:// or https:// and name a host"
    for ending in ("/api/v1", "/mcp"):
        if parts.path.rstrip("/").endswith(ending):
            yield f"it ends in {ending}: the server's address alone is wanted"
    if host in ("0.0.0.0", "::"):  # noqa: S104 - where a server listens, which is no address to call
        yield "that is where a server listens; call 127.0.0.1"
    if parts.query or parts.fragment:
        yield "it has a query or a fragment"


def _absent(settings: Settings, alive: Answer) -> Finding:
    url, origin = settings.connection.url, settings.connection.origin or "default"
    if alive.status in (UNAUTHENTICATED, DENIED):
        return Finding(level="fail", message=f"{url} refuses the key: {alive.error}", fix=_KEY_FIX)
    if alive.status:
        return Finding(
            level="fail", message=f"{url} answers with HTTP {alive.status}: {alive.error}", fix="see its log"
        )
    if origin == "default":
        return Finding(
            level="warn",
            message=f"no OpenViking server is named and none runs at {url}; sessions wait for one",
            fix="start it, set OPENVIKING_URL or [ov-commit] url, or disable ov-commit in [plugins]",
        )
    return Finding(
        level="fail",
        message=f"no server at {url} (named by: {origin}): {alive.error}",
        fix="start it, or mend the address",
    )


def _readiness(place: Place) -> Iterator[Finding]:
    """Parts of the server that are not ready; a server that does not tell is not asked further."""
    answer = place.server.get("/ready")
    checks = answer.field("checks")
    for name, state in checks.items() if isinstance(checks, dict) else ():
        told = state.get("status") if isinstance(state, dict) else state
        if told not in _READY:
            yield Finding(level="warn", message=f"the server's {name} is not ready: {told}", fix="see the server's log")


def _original(services: Services) -> Iterator[Finding]:
    """The original plugin sends every turn as well: two clients of one session store it twice."""
    home = services.environ.get("HOME", "")
    for variable, folder, names, fix in _PLACES:
        root = services.environ.get(variable) or os.path.join(home, folder)
        for name in names:
            try:
                text = services.open_folder(root).read(name, 4 * 1024 * 1024).decode("utf-8", "replace")
            except (OSError, Refused):
                continue
            if any(_names_original(line) for line in text.splitlines()):
                yield Finding(
                    level="warn",
                    message=f"OpenViking's own plugin is installed too ({os.path.join(root, name)}): "
                    "both send the same sessions, and the server stores them twice",
                    fix=f"{fix}, or disable ov-commit in [plugins]",
                )
                break


def _names_original(line: str) -> bool:
    """In a table's name, as a key, or as a hook's command; not in a comment."""
    return _ORIGINAL in line and not line.lstrip().startswith(("#", "//"))


ALL: Final = (
    DoctorCheck(name="openviking", summary="OpenViking's settings", run=configuration),
    DoctorCheck(name="openviking-server", summary="OpenViking's server", run=connection),
    DoctorCheck(name="openviking-waiting", summary="sessions that are not committed", run=sessions),
    DoctorCheck(name="openviking-sessions", summary="what was sent to OpenViking", run=report.findings, in_status=True),
)
