"""``codexmem ov``: what of which session is on the server, commit it now, and what is wrong."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from codexmem_ov_commit import checks, report
from codexmem_ov_commit.pending import commit_waiting, waiting
from codexmem_ov_commit.place import Place

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codexmem_hookspecs.services import Services
    from codexmem_hookspecs.values.records import Finding

FAILED = frozenset({"kept", "unreachable"})
"""Results of a commit after which the session still waits. One that is locked is being worked on."""

_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


@click.group("ov")
def command() -> None:
    """OpenViking: which sessions wait for their commit, commit them, and what is wrong."""


@command.command("status")
@_json
@click.pass_obj
def status(services: Services, as_json: bool) -> None:  # noqa: FBT001 - a command's flag
    """Show the server and the sessions that are not wholly committed."""
    place = Place.of(services, "codex")
    alive, connection = place.reach.probe(), place.settings.connection
    found = [
        {
            "session": one.name,
            "turns": one.state.captured,
            "updated_at_ms": one.state.updated_at_ms,
            "ended_at_ms": one.ended_at_ms,
        }
        for one in waiting(services)
    ]
    server = {
        "url": connection.url,
        "named_by": connection.origin or "default",
        "answers": alive.ok,
        "version": alive.text("version"),
        "error": "" if alive.ok else alive.error or f"HTTP {alive.status}",
    }
    told = [asdict(finding) for finding in report.findings(services)]
    _show(
        {"server": server, "waiting": found, "told": told}, lambda: _status_text(server, found, told), as_json=as_json
    )


@command.command("commit")
@click.option("--session", default="", metavar="ID", help="Only this session.")
@_json
@click.pass_obj
def commit(services: Services, session: str, as_json: bool) -> None:  # noqa: FBT001 - a command's flag
    """Send what is new of every session that waits, and commit it now."""
    done = list(commit_waiting(services, only=session))
    if session and not done:
        raise click.ClickException(f"no session {session} waits for a commit; codexmem ov status lists those that do")
    value = {"ok": not any(one.result in FAILED for one in done), "sessions": [asdict(one) for one in done]}
    _show(value, lambda: "\n".join(_commit_text(asdict(one)) for one in done) or "nothing waits", as_json=as_json)
    if not value["ok"]:
        raise click.exceptions.Exit(1)


@command.command("doctor")
@_json
@click.pass_obj
def doctor(services: Services, as_json: bool) -> None:  # noqa: FBT001 - a command's flag
    """Check what belongs to OpenViking; every problem comes with its fix."""
    found: list[tuple[str, Finding]] = [(check.name, one) for check in checks.ALL for one in check.run(services)]
    failed = any(one.level == "fail" for _, one in found)
    value = {"ok": not failed, "findings": [{"check": name, **asdict(one)} for name, one in found]}
    _show(value, lambda: "\n".join(one.shown(name) for name, one in found), as_json=as_json)
    if failed:
        raise click.exceptions.Exit(1)


def _show(value: dict[str, Any], text: Any, *, as_json: bool) -> None:
    """``--json`` may also stand before the command."""
    wanted = as_json or bool(click.get_current_context().find_root().params.get("as_json"))
    click.echo(json.dumps(value, ensure_ascii=False, indent=2) if wanted else text())


def _status_text(server: dict[str, Any], found: list[dict[str, Any]], told: Iterable[dict[str, Any]]) -> str:
    state = f"server {server['version']}" if server["answers"] else f"not reachable: {server['error']}"
    lines = [f"{server['url']} (named by: {server['named_by']}): {state}"]
    lines += [f"{one['level']}: {one['message']}" for one in told]
    lines.append(f"sessions that wait for a commit: {len(found)}" if found else "no session waits for a commit")
    for one in found:
        ended = f"ended {_time(one['ended_at_ms'])}" if one["ended_at_ms"] else f"active {_time(one['updated_at_ms'])}"
        lines.append(f"  {one['session']}: {one['turns']} turns sent, {ended}")
    return "\n".join(lines)


def _commit_text(one: dict[str, Any]) -> str:
    reason = f": {one['reason']}" if one["reason"] else ""
    sent = f", {one['sent']} turns sent" if one["sent"] else ""
    trace = f" (trace_id={one['trace_id']})" if one["trace_id"] else ""
    return f"{one['name']}: {one['result'].replace('_', ' ')}{sent}{trace}{reason}"


def _time(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1_000, UTC).strftime("%Y-%m-%d %H:%M") if ms > 0 else "at an unknown time"
