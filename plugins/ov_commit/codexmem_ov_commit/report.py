"""What the last sweep did: told once to the user of the next session that starts, and shown by ``codexmem status``."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from codexmem_hookspecs.values.read import ContextBlock, ContextSource
from codexmem_hookspecs.values.records import Finding

from codexmem_ov_commit.rejected import FOLDER, Rejected

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from codexmem_hookspecs.services import Services
    from codexmem_hookspecs.values.read import ContextRequest

    from codexmem_ov_commit.sweep import Swept

LAST = "sweep.json"
UNTOLD = "untold.json"
LOCK = "report"
LOCK_WAIT_S = 5.0
TELL_MS = 5_000
"""For a notice, which is on disk."""


def write(services: Services, swept: Swept) -> None:
    """Keep it; what was committed is added to what nobody was told yet. Raises OSError."""
    found = {
        "at": services.clock.now_ms(),
        "committed": swept.committed,
        "kept": swept.kept,
        "left_alone": swept.left_alone,
        "locked": swept.locked,
        "retired": swept.retired,
    }
    with services.folder.lock(LOCK, LOCK_WAIT_S):
        services.folder.write(LAST, json.dumps(found, ensure_ascii=False).encode())
        if swept.committed:
            untold = {**_read(services, UNTOLD), **swept.committed}
            services.folder.write(UNTOLD, json.dumps(untold, ensure_ascii=False).encode())


def forget(services: Services, name: str) -> None:
    """Name a session no more. Raises OSError."""
    with services.folder.lock(LOCK, LOCK_WAIT_S) as held:
        if not held:
            raise OSError("another process writes down what a sweep did")
        untold, last = _read(services, UNTOLD), _read(services, LAST)
        if untold.pop(name, None) is not None:
            services.folder.write(UNTOLD, json.dumps(untold, ensure_ascii=False).encode())
        lists = [last.get(kind) for kind in ("committed", "kept", "left_alone")]
        named = [told for told in lists if isinstance(told, dict) and name in told]
        for told in named:
            del told[name]
        if named:
            services.folder.write(LAST, json.dumps(last, ensure_ascii=False).encode())


def tell(_request: ContextRequest, services: Services) -> ContextBlock:
    """The notice, once."""
    with services.folder.lock(LOCK, LOCK_WAIT_S) as held:
        untold = {name: str(trace) for name, trace in _read(services, UNTOLD).items()} if held else {}
        if untold:
            services.folder.remove(UNTOLD)
    return ContextBlock(source="openviking", text="", notice=notice(untold) if untold else "")


NOTICE = ContextSource(
    name="openviking-commits",
    moments=frozenset({"startup", "resume", "clear"}),
    deadline_ms=TELL_MS,
    provide=tell,
    allowed_ms=lambda services: TELL_MS if _read(services, UNTOLD) else 0,
    priority=95,
)


def notice(committed: Mapping[str, str]) -> str:
    """One line, in the original's words."""
    names, traces = ", ".join(committed), ",".join(filter(None, committed.values()))
    if len(committed) == 1:
        return f"OpenViking session {names} is committed" + (f" (trace_id={traces})" if traces else "")
    return f"OpenViking sessions {names} are committed" + (f" (trace_ids={traces})" if traces else "")


def findings(services: Services) -> Iterator[Finding]:
    """For ``status`` and ``doctor``."""
    if last := _read(services, LAST):
        committed = last.get("committed")
        count = len(committed) if isinstance(committed, dict) else 0
        at = datetime.fromtimestamp(int(str(last.get("at", 0))) / 1_000, UTC).isoformat(timespec="seconds")
        yield Finding(
            level="info",
            message=f"last sweep at {at}: {count} committed, {last.get('locked', 0)} held by others,"
            f" {last.get('retired', 0)} cursors let go",
        )
        for reason, (first, *more) in _by_reason(last.get("kept")):
            who = f"{first} and {len(more)} more wait for their commit" if more else f"{first} waits for its commit"
            yield Finding(level="warn", message=f"session {who}: {reason}", fix="codexmem ov doctor")
        for reason, (first, *more) in _by_reason(last.get("left_alone")):
            who = f"{first} and {len(more)} more are left as they are" if more else f"{first} is left as it is"
            yield Finding(level="info", message=f"session {who} on the server: {reason}")
    if refused := Rejected(services.folder).paths():
        yield Finding(
            level="warn",
            message=f"{len(refused)} messages that OpenViking refused are kept in {services.folder.root}/{FOLDER}",
            fix="read them, and delete the files that you do not need",
        )


def _by_reason(told: object) -> Iterable[tuple[str, list[str]]]:
    names: dict[str, list[str]] = {}
    for name, reason in told.items() if isinstance(told, dict) else ():
        names.setdefault(str(reason), []).append(name)
    return names.items()


def _read(services: Services, name: str) -> dict[str, object]:
    try:
        found = json.loads(services.folder.read(name))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
